"""Which file tells which client about an MCP server, and in which shape.

    claude   Claude Code   ~/.claude.json             .mcp.json            mcpServers
    codex    Codex         ~/.codex/config.toml       .codex/config.toml   mcp_servers (TOML)
    cursor   Cursor        ~/.cursor/mcp.json         .cursor/mcp.json     mcpServers
    vscode   VS Code       <user profile>/mcp.json    .vscode/mcp.json     servers

The first file counts for all projects of the user, the second for one project.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where a client keeps its files."""

    home: Path
    environ: Mapping[str, str]
    platform: str
    """As `sys.platform` says: linux, darwin, win32."""


@dataclass(frozen=True, slots=True)
class Client:
    title: str
    format: Literal["json", "toml"]
    key: str
    """What the servers stand below in the file."""
    user_file: Callable[[Machine], Path]
    project_file: str
    typed: bool
    """Whether an entry says that it is one of standard input and output."""

    def file(self, machine: Machine, project: Path | None) -> Path:
        return self.user_file(machine) if project is None else project / self.project_file

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "stdio"} if self.typed else {}
        return {**entry, "command": command[0], "args": list(command[1:])}


def _claude(machine: Machine) -> Path:
    return _set_folder(machine, "CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"


def _codex(machine: Machine) -> Path:
    return _set_folder(machine, "CODEX_HOME", machine.home / ".codex") / "config.toml"


def _cursor(machine: Machine) -> Path:
    return machine.home / ".cursor" / "mcp.json"


def _vscode(machine: Machine) -> Path:
    if machine.platform == "darwin":
        folder = machine.home / "Library" / "Application Support"
    elif machine.platform == "win32":
        folder = _set_folder(machine, "APPDATA", machine.home / "AppData" / "Roaming")
    else:
        folder = _set_folder(machine, "XDG_CONFIG_HOME", machine.home / ".config")
    return folder / "Code" / "User" / "mcp.json"


def _set_folder(machine: Machine, variable: str, otherwise: Path) -> Path:
    named = machine.environ.get(variable)
    return Path(named) if named else otherwise


CLIENTS: dict[str, Client] = {
    "claude": Client("Claude Code", "json", "mcpServers", _claude, ".mcp.json", typed=True),
    "codex": Client("Codex", "toml", "mcp_servers", _codex, ".codex/config.toml", typed=False),
    "cursor": Client("Cursor", "json", "mcpServers", _cursor, ".cursor/mcp.json", typed=True),
    "vscode": Client("VS Code", "json", "servers", _vscode, ".vscode/mcp.json", typed=True),
}
