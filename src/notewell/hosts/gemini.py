"""Gemini CLI. Its settings, hooks and MCP servers are in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.hosts.host import HOOK_TIMEOUT_S, HookFile, Host, McpFile

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine


def _user_file(machine: Machine) -> Path:
    return machine.home / ".gemini" / "settings.json"


HOST = Host(
    "gemini",
    "Gemini CLI",
    hooks=HookFile(
        ".gemini",
        None,
        "settings.json",
        {
            "SessionStart": "session-start",
            "PreCompress": "pre-compact",
            "SessionEnd": "session-end",
        },
        nested=True,
        timeout=HOOK_TIMEOUT_S * 1000,  # It counts milliseconds.
    ),
    mcp=McpFile("json", "mcpServers", _user_file, ".gemini/settings.json"),
)
