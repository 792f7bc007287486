"""Copilot CLI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts.host import Host, McpFile, plain_entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.hosts.host import Machine


def _user_file(machine: Machine) -> Path:
    return machine.home / ".copilot" / "mcp-config.json"


def _entry(command: Sequence[str]) -> dict[str, Any]:
    # Without the list of tools it offers none of them to the model.
    return {"type": "local", **plain_entry(command), "tools": ["*"]}


HOST = Host("copilot", "Copilot CLI", mcp=McpFile("json", "mcpServers", _user_file, None, _entry))
