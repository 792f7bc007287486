"""Continue: its command line `cn` and its extensions share one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.hosts.host import Host, McpFile

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.hosts.host import Machine


def _user_file(machine: Machine) -> Path:
    return machine.home / ".continue" / "config.yaml"


HOST = Host("continue", "Continue", "cn", mcp=McpFile("yaml", "mcpServers", _user_file, None))
