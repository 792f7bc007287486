"""Which folder could be the workspace: what was found, and in which order it is proposed.

`find_candidates` looks at folders and writes nothing. `proposals` is a pure function of what it
found: the first proposal is the default answer of `notewell init`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.cli.workspace_sources import (
    is_own_checkout,
    is_vault,
    is_workspace,
    markdown_folders,
    named_folders,
)
from notewell.notes import IGNORED_FOLDERS, is_note_name
from notewell.records import dataclass
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.hosts import Machine

Kind: TypeAlias = Literal["workspace", "openclaw", "vault", "project", "markdown", "empty", "new"]

MAX_ENTRIES = 20_000
"""Of a folder that nobody has chosen yet: a look at it must take less than a second."""
MIN_NOTES = 3
"""A folder beside others is proposed if it has this many: programs come with a README or two."""
SHOWN = 8
"""More proposals than this are not a question any more; a user can type any path."""
NEW_FOLDER = "notes"


@dataclass(frozen=True, slots=True)
class MarkdownCount:
    """The Markdown files of a folder."""

    notes: int
    bytes: int
    is_cut: bool = False
    """There may be more: the count ended at its limit."""

    def __str__(self) -> str:
        more = "more than " if self.is_cut else ""
        return f"{more}{counted(self.notes, 'Markdown file')}, {size_text(self.bytes)}"


@dataclass(frozen=True, slots=True)
class WorkspaceCandidate:
    """A folder that could be the workspace."""

    folder: Path
    kind: Kind
    count: MarkdownCount
    host: str = ""
    """The host that uses the folder."""
    place: tuple[str, ...] = ()
    """The options that name its memory, if they are not `-w FOLDER`."""

    @property
    def words(self) -> tuple[str, ...]:
        """The options of a command for this memory."""
        return self.place or ("-w", str(self.folder))

    @property
    def description(self) -> str:
        what = {
            "workspace": "a workspace",
            "openclaw": "workspace of OpenClaw",
            "vault": "Obsidian vault",
            "project": f"project of {self.host}",
            "markdown": "a folder of Markdown",
            "empty": "this folder, which has no notes yet",
            "new": "an empty folder" if self.folder.is_dir() else "a new folder",
        }[self.kind]
        return what if self.kind in ("empty", "new") else f"{what}: {self.count}"


def find_candidates(here: Path, machine: Machine) -> list[WorkspaceCandidate]:
    """All folders that this folder, the settings, the hosts, Obsidian and the user's home name."""
    found = [] if is_own_checkout(here) else [_candidate(here)]
    for named in named_folders(machine):
        kind = named.kind or kind_of(named.folder)
        count = count_markdown(named.folder)
        found.append(WorkspaceCandidate(named.folder, kind, count, named.host, named.place))
    found += map(_candidate, markdown_folders(machine.home))
    return found


def proposals(
    found: Sequence[WorkspaceCandidate], here: Path, home: Path
) -> list[WorkspaceCandidate]:
    """What the user may choose from, the best first, each folder once."""
    usable = [one for one in found if _is_proposed(one, here) and not is_too_wide(one, home)]
    ranked = sorted(usable, key=lambda one: _rank(one, here))
    by_path: dict[str, WorkspaceCandidate] = {}
    for one in ranked:
        by_path.setdefault(os.path.realpath(one.folder), one)
    shown = list(by_path.values())[:SHOWN]
    new = WorkspaceCandidate(home / NEW_FOLDER, "new", MarkdownCount(0, 0))
    if os.path.realpath(new.folder) not in by_path:
        shown.append(new)
    return shown


def is_too_wide(candidate: WorkspaceCandidate, home: Path) -> bool:
    """Whether all Markdown of the user's home, or of the machine, would be indexed: the files of
    every program, and what other people sent."""
    if candidate.kind in ("workspace", "openclaw"):  # Its own files say what belongs to it.
        return False
    return is_wide(candidate.folder, home)


def is_wide(folder: Path, home: Path) -> bool:
    """Whether it is the user's home or a folder above it."""
    real, real_home = (Path(os.path.realpath(one)) for one in (folder, home))
    return real == real_home or real in real_home.parents


def kind_of(folder: Path) -> Kind:
    """What the folder is by what lies in it."""
    if is_workspace(folder):
        return "workspace"
    if is_vault(folder):
        return "vault"
    return "markdown"


def _candidate(folder: Path) -> WorkspaceCandidate:
    count = count_markdown(folder)
    kind = kind_of(folder)
    if kind == "markdown" and not count.notes:
        kind = "empty"
    return WorkspaceCandidate(folder, kind, count)


def _is_proposed(candidate: WorkspaceCandidate, here: Path) -> bool:
    if candidate.folder == here:
        return True
    least = MIN_NOTES if candidate.kind == "markdown" else 1
    # A workspace without notes is one that the user has begun.
    return candidate.kind == "workspace" or candidate.count.notes >= least


def _rank(candidate: WorkspaceCandidate, here: Path) -> tuple[int, int]:
    """The folder in which the user stands comes first, if it has notes."""
    if candidate.folder == here and candidate.kind != "empty":
        return 0, 0
    order: tuple[Kind, ...] = ("workspace", "openclaw", "vault", "markdown", "project", "empty")
    return 1 + order.index(candidate.kind), -candidate.count.notes


# -- counting ------------------------------------------------------------------------------------


def count_markdown(folder: Path, limit: int = MAX_ENTRIES) -> MarkdownCount:
    """Looks at no more than `limit` files and folders, and follows no link."""
    notes = size = seen = 0
    waiting = [os.path.realpath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > limit:
                        return MarkdownCount(notes, size, is_cut=True)
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in IGNORED_FOLDERS:
                            waiting.append(entry.path)
                    elif is_note_name(entry.name) and entry.is_file(follow_symlinks=False):
                        notes += 1
                        size += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue  # A folder that may not be read has nothing to count.
    return MarkdownCount(notes, size)


def size_text(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{max(size / 1e3, 0.1):.1f} KB"
