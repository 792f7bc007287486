"""Cline: its command line and its extension for VS Code share one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.hosts.host import Host, McpFile, stdio_entry

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine


def _user_file(machine: Machine) -> Path:
    data = machine.folder("CLINE_DATA_DIR", machine.home / ".cline" / "data")
    default = data / "settings" / "cline_mcp_settings.json"
    return machine.folder("CLINE_MCP_SETTINGS_PATH", default)


HOST = Host(
    "cline",
    "Cline",
    # In seconds. Without it, Cline begins after 3 s without the tools.
    mcp=McpFile("json", "mcpServers", _user_file, None, stdio_entry, waits={"timeout": 60}),
)
