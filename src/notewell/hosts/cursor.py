"""Cursor. We do not know the format of its transcripts, so its sessions are not captured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import HookFile, Host, McpFile, stdio_entry

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine


def _user_file(machine: Machine) -> Path:
    return machine.home / ".cursor" / "mcp.json"


def _context(event: str, text: str) -> dict[str, Any] | None:
    """Cursor takes text when a session starts, and none with a prompt."""
    return {"additional_context": text} if event == "SessionStart" else None


HOST = Host(
    "cursor",
    "Cursor",
    hooks=HookFile(
        ".cursor",
        None,
        "hooks.json",
        {
            "sessionStart": "session-start",
            "preCompact": "pre-compact",
            "sessionEnd": "session-end",
        },
        form=lambda command, limit: {"command": command},
        # The file has a version of its own beside the hooks.
        new_file='{\n  "version": 1\n}\n',
        context=_context,
    ),
    mcp=McpFile("json", "mcpServers", _user_file, ".cursor/mcp.json", stdio_entry),
)
