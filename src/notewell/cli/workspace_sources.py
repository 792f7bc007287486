"""Where folders with notes are named: settings, OpenClaw, Obsidian, hosts, and the user's home.

Everything here only reads. What cannot be read names no folder: `notewell doctor` and
`notewell config check` report it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from notewell.errors import NotewellError
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.hosts import Machine

OBSIDIAN = {
    "win32": "AppData/Roaming/obsidian",
    "darwin": "Library/Application Support/obsidian",
    "linux": ".config/obsidian",
}
"""Where Obsidian lists the vaults that it has opened, below the user's home."""
FLATPAK = ".var/app/md.obsidian.Obsidian/config/obsidian"
NOT_NOTES = frozenset({"AppData", "Applications", "Documents", "Downloads", "Library", "snap"})
"""Folders in the user's home that hold other folders, programs, or what others sent."""
MAX_FOLDERS = 200
"""In the user's home: each one costs a look into it."""


class NamedFolder(NamedTuple):
    """A folder that some file names."""

    folder: Path
    kind: Literal["openclaw", "project"] | None = None
    """None: what lies in it decides."""
    host: str = ""
    place: tuple[str, ...] = ()
    """The options that name its memory, if they are not `-w FOLDER`."""


def named_folders(machine: Machine) -> list[NamedFolder]:
    """The folders that are there."""
    named = [
        *_configured(machine),
        *_openclaw(machine),
        *(NamedFolder(folder) for folder in obsidian_vaults(machine)),
        *_projects(machine),
    ]
    return [one for one in named if _is_folder(one.folder)]


def markdown_folders(home: Path) -> list[Path]:
    """The folders in the user's home and in Documents, which may have notes."""
    found: list[Path] = []
    for base in (home, home / "Documents"):
        try:
            children = sorted(base.iterdir())
        except OSError:
            continue
        found += [one for one in children if _may_have_notes(one)]
    return found[:MAX_FOLDERS]


def _may_have_notes(folder: Path) -> bool:
    name = folder.name
    if name.startswith(".") or name in NOT_NOTES or not _is_folder(folder):
        return False
    return not is_own_checkout(folder)


def is_own_checkout(folder: Path) -> bool:
    """Whether it is the source of Notewell, from which a new user has just installed it: its
    documentation would be the first folder that they are offered."""
    return (folder / "src" / "notewell" / "cli" / "init.py").is_file() and not is_workspace(folder)


def is_workspace(folder: Path) -> bool:
    """Whether it has the layout of a workspace, or a settings file of its own."""
    from notewell.config import workspace_file

    layout = any((folder / name).is_file() for name in ("MEMORY.md", "memory.md"))
    return layout or _is_folder(folder / "memory") or workspace_file(folder) is not None


def is_vault(folder: Path) -> bool:
    return _is_folder(folder / ".obsidian")


def obsidian_vaults(machine: Machine) -> list[Path]:
    """The vaults that Obsidian lists, the last opened first."""
    from notewell.files import read_json

    folders = [machine.home / OBSIDIAN.get(machine.platform, OBSIDIAN["linux"])]
    if machine.platform == "linux":
        folders.append(machine.home / FLATPAK)
    times: dict[str, float] = {}
    for folder in folders:
        vaults = read_json(folder / "obsidian.json").get("vaults")
        for vault in vaults.values() if isinstance(vaults, dict) else ():
            match vault:
                case {"path": str(path), "ts": int() | float() as opened}:
                    times[path] = opened
                case {"path": str(path)}:
                    times[path] = 0
    return [Path(path) for path in sorted(times, key=lambda path: -times[path])]


def _configured(machine: Machine) -> Iterator[NamedFolder]:
    """The folder that the user's settings give to the agent `main`."""
    from notewell.config import ConfigScope, read_configuration

    try:
        configuration = read_configuration(ConfigScope(), machine.environ)
    except NotewellError:
        return
    agent = configuration.agents.get(configuration.default_agent)
    if agent and agent.workspace:
        yield NamedFolder(agent.workspace)


def _openclaw(machine: Machine) -> Iterator[NamedFolder]:
    from notewell.config import from_openclaw

    try:
        openclaw = from_openclaw(environment=machine.environ)
    except NotewellError:
        return
    if openclaw.config_file is None and not _is_folder(openclaw.state_dir):
        return
    default = openclaw.configuration.default_agent
    for id_, agent in openclaw.agents.items():
        place = ("--openclaw",) if id_ == default else ("--openclaw", "--agent", id_)
        if agent.config.workspace:
            yield NamedFolder(agent.config.workspace, "openclaw", "OpenClaw", place)


def _projects(machine: Machine) -> Iterator[NamedFolder]:
    from notewell.clients import host_projects

    for project in host_projects(machine):
        yield NamedFolder(project.folder, "project", project.host.title)


def _is_folder(path: Path) -> bool:
    # Not `Path.is_dir`, which raises if a folder above may not be entered.
    return os.path.isdir(path)  # noqa: PTH112
