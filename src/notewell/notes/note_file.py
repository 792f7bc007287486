"""One note as a file: read as clean text with the stat that belongs to it, and locked.

The lock is on the note itself. A lock file would lie among the notes, where tools that sync
folders would carry it around; and agents that keep their state in different places meet at the
same lock. It is advisory: an editor does not take it.
"""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.errors import NotANote, NoteBusy, NoteUnreadable
from notewell.files import LockTimeout, NotPlain, descend, describe_os_error, locked_fd
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes.clean import clean
from notewell.types import Note, NoteStat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.files import Directory

TOO_LARGE = f"larger than {MAX_NOTE_BYTES // 2**20} MiB, the most a note may have"

READ_TRIES = 3
"""A file that changes under three reads is being written; the next sync will see it again."""

READ_BYTES = 64 * 1024
"""What is asked for once a file has given all it promised: mostly nothing."""


@contextmanager
def locked_note(fd: int, path: str, *, wait_s: float) -> Iterator[None]:
    """Hold the lock of an open note, which errors call `path`; closes the descriptor in the end.

    Raises `NoteBusy`.
    """
    try:
        with locked_fd(fd, wait_s=wait_s):
            yield
    except LockTimeout as busy:
        raise NoteBusy(path, busy.waited_s) from None


def note_stat(status: os.stat_result) -> NoteStat:
    return NoteStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def read_note(disk: Directory, names: tuple[str, ...], path: str) -> Note:
    """The note at `names` below the disk's root, known to the user as `path`."""
    try:
        data, stat = _read_bytes(disk, names)
    except NotPlain:
        raise NotANote(path) from None
    except OSError as error:
        why = TOO_LARGE if error.errno == errno.EFBIG else describe_os_error(error)
        raise NoteUnreadable(path, why) from error
    return note_of(path, data, stat)


def note_of(path: str, data: bytes, stat: NoteStat) -> Note:
    """The note with these bytes, its text cleaned; the same for every store."""
    text, repairs = clean(data)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Note(path, text, digest, stat, repairs)


def read_raw(disk: Directory, names: tuple[str, ...], path: str) -> bytes | None:
    """The bytes of a note; None if it is not there. Raises `NoteUnreadable`."""
    try:
        return _read_bytes(disk, names)[0]
    except FileNotFoundError:
        return None
    except NotPlain as refusal:
        raise NoteUnreadable(path, refusal.why) from None
    except OSError as error:
        raise NoteUnreadable(path, describe_os_error(error)) from error


def _read_bytes(disk: Directory, names: tuple[str, ...]) -> tuple[bytes, NoteStat]:
    with descend(disk, names[:-1]) as folder:
        fd = folder.file(names[-1])
    try:
        return _read_steadily(fd)
    finally:
        os.close(fd)


def _read_steadily(fd: int) -> tuple[bytes, NoteStat]:
    """Bytes and the stat that belongs to them.

    The stat is the one from before the read: should the file change afterwards, or go on
    changing through every try, the next scan differs from it and the note is read again.
    """
    data = b""
    before = after = note_stat(os.fstat(fd))
    for _ in range(READ_TRIES):
        before = after
        data = read_all(fd, before.size)
        after = note_stat(os.fstat(fd))
        if (after.size, after.mtime_ns) == (before.size, before.mtime_ns):
            break
    return data, before


def read_all(fd: int, size: int) -> bytes:
    """Everything, from the start; raises EFBIG beyond what a note may have."""
    if size > MAX_NOTE_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    os.lseek(fd, 0, os.SEEK_SET)
    data = bytearray()
    while piece := os.read(fd, max(size + 1 - len(data), READ_BYTES)):
        data += piece
        if len(data) > MAX_NOTE_BYTES:  # it grew
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return bytes(data)
