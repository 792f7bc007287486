"""A note that was not there before. One that is there is never touched: the next number is taken.

memory/2026-11-15-router.md   memory/2026-11-15-router-2.md   …
"""

from __future__ import annotations

import hashlib
import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from notewell.capture.history import Write, record, writes
from notewell.errors import NoteNotWritable
from notewell.files import LINK, NotPlain, WritableDir, descend, describe_os_error, disk
from notewell.notes import read_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.writer import Place

FOLDER = "memory"
MAX_NUMBER = 999
"""More conversations of one name on one day than anybody has."""

_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def write_new(place: Place, stem: str, text: str) -> str:
    """Make `memory/<stem>.md`, or the next number, on disk when done; returns its path.

    Raises `NoteNotWritable`.
    """
    path = f"{FOLDER}/{stem}.md"
    try:
        name = _make(place.notes.root, stem, encoded(text))
    except NotPlain as found:
        raise NoteNotWritable(path, found.why, "put a plain folder there") from None
    except OSError as error:
        raise NoteNotWritable(
            path, describe_os_error(error), "mend that; it is saved next time"
        ) from error
    return f"{FOLDER}/{name}"


def encoded(text: str) -> bytes:
    """As it is written."""
    return text.encode("utf-8", "replace")


def find_made(place: Place, stem: str, digest: str) -> str | None:
    """The path of a note that `write_new` made before, told by the sha256 of its bytes."""
    try:
        with closing(WritableDir(_held(place.notes.root))) as parent:
            for name in _names(stem):
                if _digest(parent, name) == digest:
                    return f"{FOLDER}/{name}"
    except (FileNotFoundError, NotPlain):
        pass  # No number is left out, so behind the first that is missing there is none.
    return None


def record_made(
    place: Place, path: str, text_digest: str, size: int, *, origin: str, now: datetime
) -> None:
    """Into the history, once. Raises `StateNotWritable`."""
    for one in writes(place.folder):
        if (one.write.path, one.write.digest, one.undone) == (path, text_digest, False):
            return
    empty = hashlib.sha256(b"").hexdigest()
    write = Write(path, 0, size, text_digest, empty, text_digest, origin, "note")
    record(place.folder, write, now)


def _digest(parent: WritableDir, name: str) -> str:
    fd = parent.file(name)
    try:
        return hashlib.sha256(read_all(fd, os.fstat(fd).st_size)).hexdigest()
    finally:
        os.close(fd)


def _make(root: Path, stem: str, data: bytes) -> str:
    with descend(disk(), (str(root),)) as folder:
        folder.make_folder(FOLDER)
        folder.sync()
    with closing(WritableDir(_held(root))) as parent:
        for name in _names(stem):
            with suppress(FileExistsError):
                os.close(parent.new_file(name, data))
                parent.sync()
                return name
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


def _names(stem: str) -> Iterator[str]:
    yield f"{stem}.md"
    for number in range(2, MAX_NUMBER + 2):
        yield f"{stem}-{number}.md"
