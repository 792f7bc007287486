"""Which note an entry goes to, and the way there."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from notewell.files import descend, identity
from notewell.notes.section import Section

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from notewell.files import Directory


def user_day(moment: datetime, zone: tzinfo) -> date:
    """The day it is for a user in `zone`: what `moment` is called in UTC says nothing about it.

    Ask once, when the writing begins: an entry that is begun before midnight belongs to that day.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone: it could be any of two days")
    return moment.astimezone(zone).date()


@dataclass(frozen=True, slots=True)
class Target:
    """A note that is there or will be, reached anew each time, never through a link."""

    disk: Directory
    folders: tuple[str, ...]
    """From the disk down: the workspace by its absolute path, then perhaps `memory`."""
    name: str

    @property
    def path(self) -> str:
        return "/".join((*self.folders[1:], self.name))

    def open(self) -> int:
        """A descriptor to read and append; the file, and its folder, are made when missing."""
        with descend(self.disk, self.folders[:1]) as root:
            for name in self.folders[1:]:
                root.make_folder(name)
        with descend(self.disk, self.folders) as folder:
            return folder.file_to_append(self.name)

    def is_at(self, fd: int) -> bool:
        """Whether the open file is still the one that the path leads to."""
        try:
            with descend(self.disk, self.folders) as folder:
                found = folder.stat(self.name)
        except FileNotFoundError:
            return False
        return identity(found) == identity(os.fstat(fd))

    def sync_folders(self) -> None:
        """Returns when the way to the note is on disk."""
        for depth in range(1, len(self.folders) + 1):
            with descend(self.disk, self.folders[:depth]) as folder:
                folder.sync()


def target_of(disk: Directory, root: Path, to: date | Section) -> Target:
    if isinstance(to, Section):
        return Target(disk, (str(root),), _curated_name(disk, root))
    day = date(to.year, to.month, to.day)  # a datetime is a date too, and prints as more
    return Target(disk, (str(root), "memory"), f"{day.isoformat()}.md")


def _curated_name(disk: Directory, root: Path) -> str:
    """`MEMORY.md`, unless the user has chosen `memory.md`."""
    with closing(disk.folder(str(root))) as folder:
        for name in ("MEMORY.md", "memory.md"):
            try:
                folder.stat(name)
            except FileNotFoundError:
                continue
            return name
    return "MEMORY.md"
