"""OpenCode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import Host, McpFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.hosts.host import Machine

START_TIMEOUT_MS = 30_000
"""Instead of its 5 s, in which a busy machine may not have started the server."""


def _user_file(machine: Machine) -> Path:
    folder = machine.folder("XDG_CONFIG_HOME", machine.home / ".config")
    return folder / "opencode" / "opencode.json"


def _entry(command: Sequence[str]) -> dict[str, Any]:
    # Its command is one list, with the program as the first word.
    return {"type": "local", "command": list(command), "enabled": True}


HOST = Host(
    "opencode",
    "OpenCode",
    mcp=McpFile(
        "json",
        "mcp",
        _user_file,
        "opencode.json",
        _entry,
        waits={"timeout": START_TIMEOUT_MS},
    ),
)
