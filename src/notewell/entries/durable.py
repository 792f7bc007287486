"""New files forced to the disk: LanceDB itself never waits for it.

Whatever LanceDB commits are new files, beside the old ones; nothing is written in place. So what
has to be forced out is what was not there before. It matters most before old versions are thrown
away: a power cut must not find the new ones empty and the old ones gone.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def forced_out(folder: Path) -> Iterator[None]:
    """What appears in the folder meanwhile is on the disk when this ends; raises `OSError`."""
    before = _files(folder)
    yield
    new = {path for path, inode in _files(folder) - before}
    for path in new:
        _sync(path, os.O_RDONLY)
    if os.name == "posix" and new:  # Elsewhere a folder cannot be opened.
        for place in {str(folder), *map(os.path.dirname, new)}:
            _sync(place, os.O_RDONLY | os.O_DIRECTORY)


def _files(folder: Path) -> set[tuple[str, int]]:
    """With their inodes: a file that was replaced is a new one."""
    found = set()
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118 - many of them, and only a name
            found.add((path, os.lstat(path).st_ino))
    return found


def _sync(path: str, flags: int) -> None:
    fd = os.open(path, flags)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
