"""A note that was not there before. One that is there is never touched: the next number is taken.

memory/2026-11-15-router.md   memory/2026-11-15-router-2.md   …
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from recollect.capture.history import Write, record
from recollect.core.errors import NoteNotWritable
from recollect.notes.below import LINK, NotPlain, descend, disk, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from recollect.capture.place import Place

FOLDER = "memory"
MAX_NUMBER = 999
"""More conversations of one name on one day than anybody has."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
# O_EXCL makes a file or nothing: it neither opens what is there nor goes where a link points.
_NEW_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW


def write_new(place: Place, stem: str, text: str, *, origin: str, now: datetime) -> str:
    """Make `memory/<stem>.md`, or the next number, on disk when done; returns its path.

    Raises `NoteNotWritable`.
    """
    data = text.encode("utf-8", "replace")
    path = f"{FOLDER}/{stem}.md"
    try:
        name = _make(place.notes.root, stem, data)
    except NotPlain as found:
        raise NoteNotWritable(path, found.why, "put a plain folder there") from None
    except OSError as error:
        raise NoteNotWritable(path, in_words(error), "mend that; it is saved next time") from error
    path = f"{FOLDER}/{name}"
    digest = hashlib.sha256(data).hexdigest()
    empty = hashlib.sha256(b"").hexdigest()
    write = Write(path, 0, len(data), digest, empty, digest, origin, "note")
    record(place.folder, write, now)
    return path


def _make(root: Path, stem: str, data: bytes) -> str:
    with descend(disk(), (str(root),)) as folder:
        folder.make_folder(FOLDER)
    parent = _held(root)
    try:
        for name in _names(stem):
            try:
                fd = os.open(name, _NEW_FLAGS, 0o666, dir_fd=parent)
            except FileExistsError:
                continue
            _fill(fd, name, parent, data)
            return name
    finally:
        os.close(parent)
    raise FileExistsError(f"{stem}.md and {MAX_NUMBER} more are there")


def _held(root: Path) -> int:
    """The folder of notes, by descriptor; a link in its place is refused."""
    with descend(disk(), (str(root),)) as folder:
        folder.folder(FOLDER).close()  # Says why, where it is no folder.
    above = os.open(root, _FOLDER_FLAGS)
    try:
        return os.open(FOLDER, _FOLDER_FLAGS, dir_fd=above)
    except NotADirectoryError:
        raise NotPlain(LINK) from None
    finally:
        os.close(above)


def _fill(fd: int, name: str, parent: int, data: bytes) -> None:
    """Whole or not at all: half a note would be taken for all that was said."""
    try:
        with os.fdopen(fd, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(fd)
        os.fsync(parent)
    except BaseException:
        os.unlink(name, dir_fd=parent)
        raise


def _names(stem: str) -> Iterator[str]:
    yield f"{stem}.md"
    for number in range(2, MAX_NUMBER + 2):
        yield f"{stem}-{number}.md"
