"""Which folders to listen to, and which of the sounds matter.

    workspace/            heard, without what is below: MEMORY.md and memory/ come and go here
    ├── node_modules/     not heard
    └── memory/           heard, with every folder below
        └── trips/        heard

Folders, never files: ten thousand notes in one folder are one thing to listen to. The tree is
walked by us and not by the operating system, so that machinery among the notes costs nothing.
What is not there yet is listened for at the nearest folder above it that is.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.notes import IGNORED_FOLDERS, untellable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

NOTE_SUFFIXES = (".md",)


class WatchPaths:
    """The paths of a memory: files, or folders with everything below."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        ignore: Sequence[Path] = (),
        suffixes: tuple[str, ...] = NOTE_SUFFIXES,
    ) -> None:
        self._paths = tuple(dict.fromkeys(_real(path) for path in paths))
        self._ignore = frozenset(_real(path) for path in ignore)
        self._suffixes = suffixes
        self._above = {str(parent) for path in self._paths for parent in Path(path).parents}

    def folders(self) -> Mapping[str, tuple[int, int]]:
        """What to listen to now, each with its identity: a folder that was replaced by another
        of the same name has to be listened to anew."""
        found: dict[str, tuple[int, int]] = {}
        for path in self._paths:
            found.update(_nearest(Path(path).parent))
            found.update(self._below(path))
        return found

    def _below(self, top: str) -> Iterator[tuple[str, tuple[int, int]]]:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            try:
                status = os.lstat(folder)
                if not stat.S_ISDIR(status.st_mode):
                    continue  # One file, heard from the folder it is in; or a link, not followed.
                with os.scandir(folder) as entries:
                    waiting += [one.path for one in entries if self._is_ground(one)]
            except OSError:
                continue  # It went, or is closed to us: the scan is who tells the user.
            yield folder, (status.st_dev, status.st_ino)

    def _is_ground(self, entry: os.DirEntry[str]) -> bool:
        return (
            entry.is_dir(follow_symlinks=False)
            and entry.name not in IGNORED_FOLDERS
            and entry.path not in self._ignore
            and untellable(entry.name) is None
        )

    def matters(self, path: str, listened_to: Collection[str]) -> bool:
        """Whether a sync could find something else than before, now that `path` was heard."""
        if path in self._paths or path in self._above:
            return True
        if not any(path.startswith(f"{one}{os.sep}") for one in self._paths):
            return False
        if path in self._ignore:
            return False
        # A folder that went away is one only in memory.
        return self.is_note(path) or path in listened_to or os.path.isdir(path)  # noqa: PTH112

    def is_note(self, path: str) -> bool:
        return path.lower().endswith(self._suffixes)


def _real(path: Path) -> str:
    """As the operating system will name it: only the last name may be a link."""
    absolute = path.absolute()
    return str(Path(os.path.realpath(absolute.parent)) / absolute.name)


def _nearest(folder: Path) -> dict[str, tuple[int, int]]:
    """This folder, or the first one above it that can be listened to."""
    nearest: dict[str, tuple[int, int]] = {}
    for one in (*reversed(folder.parents), folder):
        with suppress(OSError):
            os.scandir(one).close()  # What may be listed may be listened to.
            status = one.stat()
            nearest = {str(one): (status.st_dev, status.st_ino)}
    return nearest
