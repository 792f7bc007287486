"""One write of ours taken back: exactly the bytes it added, and nothing else.

    read, lock ── are our bytes there, unchanged, once? ── would what is left still read right?
                                                                  │
                          the note without them, beside it ── still the same file? ── rename

An entry is known by its digest. Where the user has edited above it, it is looked for at the
beginning of every line; what stands there twice, or was changed, is the user's to remove.
Renaming gives the note a new inode, which is what an appender that waits for the lock looks for.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.capture.history import record_undo, writes
from notewell.errors import BadRequest, NoteUnreadable, NotewellError
from notewell.files import NotPlain, descend, describe_os_error, disk, identity
from notewell.notes import locked_note, read_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.history import Recorded, Write

WAIT_S = 10.0
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class CannotUndo(NotewellError):
    """The note is as it was."""

    def __init__(self, id_: str, path: str, why: str) -> None:
        super().__init__(f"cannot undo {id_!r} in {path!r}: {why}; nothing was changed")
        self.id = id_
        self.path = path
        self.why = why


@dataclass(frozen=True, slots=True)
class Cut:
    """What is to be taken out."""

    start_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True)
class Kept:
    """Nothing is taken out, and why."""

    why: str


def decide_cut(data: bytes, write: Write) -> Cut | Kept:
    """Where our bytes are now, if taking them out leaves the rest as it was meant."""
    starts = _found(data, write)
    if not starts:
        return Kept("what was added is no longer there, or was changed since; edit the note")
    if len(starts) > 1:
        return Kept("what was added stands there more than once now; edit the note")
    start = starts[0]
    end = start + write.end_byte - write.start_byte
    why = _why_not(data[:start], data[start:end], data[end:])
    return Kept(why) if why else Cut(start, end)


def _found(data: bytes, write: Write) -> list[int]:
    size = write.end_byte - write.start_byte
    if _is_ours(data[write.start_byte : write.end_byte], write):
        return [write.start_byte]
    ends = [found.start() for found in re.finditer(b"\n", data)]
    # A line begins behind a line break; what we add may begin with the one a torn line lacked.
    starts = {0, *(at + 1 for at in ends), *ends, *(at - 1 for at in ends if at)}
    return [at for at in sorted(starts) if _is_ours(data[at : at + size], write)]


def _is_ours(piece: bytes, write: Write) -> bool:
    if len(piece) != write.end_byte - write.start_byte:
        return False
    return hashlib.sha256(piece).hexdigest() == write.digest


def _why_not(before: bytes, ours: bytes, after: bytes) -> str | None:
    if not after.strip():
        return None
    if before and not before.endswith(b"\n"):
        return "the line before it would run into the line behind it; edit the note"
    has_heading = any(line.startswith(b"#") for line in ours.split(b"\n"))
    if has_heading and not after.lstrip().startswith(b"#"):
        return "its heading has later entries below it; undo those first"
    return None


def undo(root: Path, folder: Path, id_: str, *, now: datetime, wait_s: float = WAIT_S) -> Recorded:
    """Take back the write with this id, or one that begins so.

    Raises `BadRequest` for an id that is none, `CannotUndo`, and `NoteBusy`.
    """
    recorded = _only(folder, id_)
    write = recorded.write
    try:
        with _open(root, write.path) as note, locked_note(note.fd, write.path, wait_s=wait_s):
            note.take_out(recorded)
    except (OSError, NotPlain) as error:
        why = error.why if isinstance(error, NotPlain) else describe_os_error(error)
        raise CannotUndo(recorded.id, write.path, why) from error
    with suppress(NotewellError):
        # The bytes are out: what goes wrong here is no reason to say that they are not. Asked
        # again, `decide_cut` finds that they are gone.
        record_undo(folder, recorded.id, now)
    return recorded


def _only(folder: Path, id_: str) -> Recorded:
    known = [one for one in writes(folder) if id_ and one.id.startswith(id_)]
    if len(known) != 1:
        many = "more than one write has" if known else "no write has"
        raise BadRequest(f"{many} the id {id_!r}: `notewell history` lists them")
    if known[0].undone:
        raise BadRequest(f"{known[0].id!r} has been undone already")
    return known[0]


def read_bytes(root: Path, path: str) -> bytes:
    """A note as it is. Raises `NoteUnreadable`."""
    *folders, name = path.split("/")
    try:
        with descend(disk(), (str(root), *folders)) as parent:
            fd = parent.file(name)
        try:
            return read_all(fd, os.fstat(fd).st_size)
        finally:
            os.close(fd)
    except NotPlain as found:
        raise NoteUnreadable(path, found.why) from None
    except OSError as error:
        raise NoteUnreadable(path, describe_os_error(error)) from error


@dataclass(frozen=True, slots=True)
class _Note:
    """An open note in an open folder; `locked` closes the note."""

    parent: int
    name: str
    fd: int

    def take_out(self, recorded: Recorded) -> None:
        was = os.fstat(self.fd)
        data = read_all(self.fd, was.st_size)
        cut = decide_cut(data, recorded.write)
        if isinstance(cut, Kept):
            raise CannotUndo(recorded.id, recorded.write.path, cut.why)
        rest = data[: cut.start_byte] + data[cut.end_byte :]
        if recorded.write.kind == "note" and not rest:
            self._require_same(was, recorded)
            os.unlink(self.name, dir_fd=self.parent)
        else:
            self._replace(rest, was, recorded)
        os.fsync(self.parent)

    def _replace(self, rest: bytes, was: os.stat_result, recorded: Recorded) -> None:
        # We hold the note's lock, so one name is enough, and what a kill left of it goes.
        beside = f".{self.name}.notewell-undo"
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=self.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        fd = os.open(beside, flags, stat.S_IMODE(was.st_mode), dir_fd=self.parent)
        try:
            with os.fdopen(fd, "wb") as opened:
                os.fchmod(fd, stat.S_IMODE(was.st_mode))
                opened.write(rest)
                opened.flush()
                os.fsync(fd)
            self._require_same(was, recorded)
            os.replace(beside, self.name, src_dir_fd=self.parent, dst_dir_fd=self.parent)
        except BaseException:
            os.unlink(beside, dir_fd=self.parent)
            raise

    def _require_same(self, was: os.stat_result, recorded: Recorded) -> None:
        """An editor does not ask for our lock."""
        now = os.stat(self.name, dir_fd=self.parent, follow_symlinks=False)
        same = identity(now) == identity(was)
        if not same or (now.st_size, now.st_mtime_ns) != (was.st_size, was.st_mtime_ns):
            why = "another program changed the note meanwhile; try again"
            raise CannotUndo(recorded.id, recorded.write.path, why)


@contextmanager
def _open(root: Path, path: str) -> Iterator[_Note]:
    """Each step down refuses a link, so none can be slipped in."""
    *folders, name = path.split("/")
    here = os.open(root, _FOLDER)
    try:
        for step in folders:
            below = os.open(step, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        with descend(disk(), (str(root), *folders)) as parent:
            parent.stat(name)  # A note that is gone is not made anew.
            # For writing, though it is replaced: what its owner made read-only stays as it is.
            fd = parent.file_to_append(name)
        yield _Note(here, name, fd)
    finally:
        os.close(here)
