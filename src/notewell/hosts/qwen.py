"""Qwen Code, which has the files of Gemini CLI and the events of Claude Code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.hosts.host import HOOK_TIMEOUT_S, HookFile, Host, McpFile

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine


def _user_file(machine: Machine) -> Path:
    return machine.home / ".qwen" / "settings.json"


HOST = Host(
    "qwen",
    "Qwen Code",
    hooks=HookFile(
        ".qwen",
        None,
        "settings.json",
        {
            "SessionStart": "session-start",
            "PreCompact": "pre-compact",
            "SessionEnd": "session-end",
        },
        nested=True,
        timeout=HOOK_TIMEOUT_S * 1000,  # It counts milliseconds.
    ),
    mcp=McpFile("json", "mcpServers", _user_file, ".qwen/settings.json"),
)
