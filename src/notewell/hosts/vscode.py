"""VS Code: an MCP client only; it calls no hooks that we know of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.hosts.host import Host, McpFile, stdio_entry

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine


def _user_file(machine: Machine) -> Path:
    if machine.platform == "darwin":
        folder = machine.home / "Library" / "Application Support"
    elif machine.platform == "win32":
        folder = machine.folder("APPDATA", machine.home / "AppData" / "Roaming")
    else:
        folder = machine.folder("XDG_CONFIG_HOME", machine.home / ".config")
    return folder / "Code" / "User" / "mcp.json"


HOST = Host(
    "vscode",
    "VS Code",
    "code",
    # VS Code calls the list `servers`, unlike all the others.
    mcp=McpFile("json", "servers", _user_file, ".vscode/mcp.json", stdio_entry),
)
