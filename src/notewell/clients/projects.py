"""The folders that hosts were started in, as their own files list them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.clients.plugins import document_of
from notewell.hosts import HOSTS

if TYPE_CHECKING:
    from notewell.hosts import Host, Machine

MAX_PROJECTS = 200
"""Of one host. Claude Code forgets none; each one costs a look at its folder."""


class HostProject(NamedTuple):
    """A folder in which a host found instructions for its model."""

    folder: Path
    host: Host


def host_projects(machine: Machine) -> list[HostProject]:
    """The projects with instructions, those of the first host first, each folder once."""
    found: dict[Path, HostProject] = {}
    for host in HOSTS.values():
        for folder in _folders(host, machine):
            found.setdefault(folder, HostProject(folder, host))
    return list(found.values())


def _folders(host: Host, machine: Machine) -> list[Path]:
    projects = host.projects
    if projects is None:
        return []
    listed = document_of(projects.file(machine), projects.format).get(projects.key)
    # The last ones are the newest: hosts add a folder at the end.
    names = list(listed)[-MAX_PROJECTS:] if isinstance(listed, dict) else []
    folders = [Path(name) for name in reversed(names) if Path(name).is_absolute()]
    return [
        folder
        for folder in folders
        if any(_is_file(folder / name) for name in projects.instructions)
    ]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # A folder that may not be entered; a name with a zero byte.
        return False
