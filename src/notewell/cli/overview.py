"""`notewell` without a command: where one stands, and one next command. It writes nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell import __version__
from notewell.cli.host_presence import hosts_of, is_connected, this_machine
from notewell.cli.output import say, short_path
from notewell.cli.parser import build_parser
from notewell.cli.place import IN_DATABASE, location_of, memory_of
from notewell.cli.workspace_candidates import count_markdown, is_wide
from notewell.records import dataclass
from notewell.types import counted

if TYPE_CHECKING:
    from notewell.engines import Status
    from notewell.hosts import Machine

PUBLISHED = "CURRENT"
"""The file that an index folder has when it can answer."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a user has on this machine."""

    workspace: str
    notes: int
    markdown: int
    """Markdown files in the folder, if it has no notes."""
    index: str
    is_indexed: bool
    is_degraded: bool
    elsewhere: int = 0
    """Memories of other folders that are indexed, if this one has no notes."""
    connected: tuple[str, ...] = ()
    """Hosts that have this memory."""
    unconnected: tuple[str, ...] = ()
    """Hosts on this machine that do not."""


def run() -> int:
    arguments = build_parser("status").parse_args(["status"])
    workspace = location_of(arguments).workspace
    with memory_of(arguments) as memory:
        status = memory.status()
    standing = standing_of(status, workspace, this_machine())
    say(f"notewell {__version__}: a memory for AI agents, in Markdown files of yours")
    say("")
    for name, text in facts(standing):
        say(f"{name:<12}{text}")
    command, why = next_step(standing)
    say(f"{'next':<12}{command:<30}{why}")
    say(f"{'':<12}{'notewell --help':<30}all commands")
    return 0


def standing_of(status: Status, workspace: str, machine: Machine) -> Standing:
    hosts = hosts_of(machine)
    connected = [host.title for host in hosts if is_connected(host, machine)]
    # All of the user's home would be a number that says nothing about notes.
    is_counted = workspace != IN_DATABASE and not is_wide(Path(workspace), machine.home)
    return Standing(
        workspace=workspace if workspace == IN_DATABASE else os.path.realpath(workspace),
        notes=status.eligible,
        markdown=count_markdown(Path(workspace)).notes
        if is_counted and not status.eligible
        else 0,
        index=_index_text(status),
        is_indexed=status.counts is not None and status.counts.files > 0,
        is_degraded=status.is_degraded,
        elsewhere=0 if status.eligible else _indexes_beside(status.index_path),
        connected=tuple(connected),
        unconnected=tuple(host.title for host in hosts if host.title not in connected),
    )


def _indexes_beside(index_path: str) -> int:
    own = Path(index_path)
    if not own.is_absolute() or not own.parent.is_dir():  # In a database, or none was made yet.
        return 0
    return sum((folder / PUBLISHED).is_file() for folder in own.parent.iterdir() if folder != own)


def _index_text(status: Status) -> str:
    if status.problem:
        return f"cannot be used: {status.problem}"
    if status.counts is None:
        return "none yet"
    behind = f", {counted(status.dirty, 'note')} behind" if status.dirty else ", up to date"
    return (
        f"{counted(status.counts.files, 'note')}, {counted(status.counts.chunks, 'chunk')}{behind}"
    )


def facts(standing: Standing) -> list[tuple[str, str]]:
    folder = short_path(Path(standing.workspace))
    if not standing.notes:
        beside = f", but {counted(standing.markdown, 'other Markdown file')}"
        has = f"no notes{beside if standing.markdown else ''}"
        return [
            ("workspace", f"none here: {folder} has {has}"),
            *([("elsewhere", _elsewhere_text(standing))] if standing.elsewhere else ()),
            ("hosts", _hosts_text(standing)),
        ]
    return [
        ("workspace", f"{folder}, {counted(standing.notes, 'note')}"),
        ("index", standing.index),
        ("hosts", _hosts_text(standing)),
    ]


def _elsewhere_text(standing: Standing) -> str:
    what = "memory is" if standing.elsewhere == 1 else "memories are"
    return f"{standing.elsewhere} {what} indexed: go to that folder, or add -w FOLDER to a command"


def _hosts_text(standing: Standing) -> str:
    texts = []
    if standing.connected:
        texts.append(f"connected: {', '.join(standing.connected)}")
    if standing.unconnected:
        texts.append(f"not connected: {', '.join(standing.unconnected)}")
    return "; ".join(texts) or "none found on this machine"


def next_step(standing: Standing) -> tuple[str, str]:
    """One command, and what it does."""
    if not standing.notes:
        return "notewell init", "find your notes and make them searchable"
    if standing.is_degraded:
        return "notewell doctor", "find out what is wrong and repair it"
    if not standing.is_indexed:
        return "notewell index", "make the notes searchable"
    if standing.unconnected and not standing.connected:
        return "notewell install", "give this memory to an agent"
    return "notewell search 'a question'", "find the lines that answer it"
