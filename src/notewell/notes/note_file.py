"""One note as a file: read as clean text with the stat that belongs to it, and locked.

A line is what `sed -n` takes for one: it ends at `\\n` only. So CRLF is one line break,
a lone CR is none (it becomes a space), and VT, FF, U+0085 or U+2028 are ordinary characters. The
text of a UTF-8 file has as many `\\n` as the file, so line numbers agree with every editor. A byte
order mark and CRLF are another way to write the same text and are not reported; all that was lost
or guessed is named for the user.

The lock is on the note itself. A lock file would lie among the notes, where tools that sync
folders would carry it around; and agents that keep their state in different places meet at the
same lock. It is advisory: an editor does not take it.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.errors import NotANote, NoteBusy, NoteUnreadable
from notewell.files import (
    LockTimeout,
    NotPlain,
    descend,
    describe_os_error,
    locked_fd,
    note_stat,
)
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes.scope import TOO_LARGE
from notewell.types import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.files import Directory
    from notewell.types import NoteStat

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_SURROGATE = re.compile("[\ud800-\udfff]")

READ_TRIES = 3
"""A file that changes during three reads is being written; the next sync reads it again."""

READ_BYTES = 64 * 1024
"""The size of a read after the expected end of the file: it mostly returns nothing."""


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


def read_note(disk: Directory, names: tuple[str, ...], path: str) -> Note:
    """The note at `names` below the root of the disk; errors call it `path`."""
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
    # Of the text, not of the bytes: new line ends alone do not make a note new to the index.
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
    """The bytes, and the stat from before the read.

    If the file changes after it, or during every try, the next scan sees a different stat and the
    note is read again. A stat from after the read could hide such a change.
    """
    data = b""
    before = after = note_stat(os.fstat(fd))
    for _ in range(READ_TRIES):
        before = after
        data = read_all(fd, before.size)
        after = note_stat(os.fstat(fd))
        # Not ctime: a chmod or a hard link changes it and leaves the bytes alone.
        if (after.size, after.mtime_ns) == (before.size, before.mtime_ns):
            break
    return data, before


def read_all(fd: int, size: int) -> bytes:
    """The whole file from its start; raises EFBIG beyond the size limit of a note."""
    if size > MAX_NOTE_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    os.lseek(fd, 0, os.SEEK_SET)
    data = bytearray()
    while piece := os.read(fd, max(size + 1 - len(data), READ_BYTES)):
        data += piece
        if len(data) > MAX_NOTE_BYTES:  # it grew
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return bytes(data)


# -- bytes to text -------------------------------------------------------------------------------


def clean(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a file, valid Unicode without NUL, and what had to be repaired to get it."""
    text, repairs = _decode(data)
    if "\0" in text:
        repairs.append(_count(text.count("\0"), "NUL character was", "NUL characters were"))
        text = text.replace("\0", REPLACEMENT)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\r" in text:
        lone = text.count("\r")
        repairs.append(_count(lone, "lone carriage return was", "lone carriage returns were"))
        text = text.replace("\r", " ")
    # Files that were joined by `cat` may begin with more than one byte order mark.
    return text.lstrip("\ufeff"), tuple(repairs)


def _decode(data: bytes) -> tuple[str, list[str]]:
    if data.startswith(codecs.BOM_UTF16_LE):
        return _decode_utf16(data[2:], "utf-16-le")
    if data.startswith(codecs.BOM_UTF16_BE):
        return _decode_utf16(data[2:], "utf-16-be")
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        # This second pass only counts: `surrogateescape` makes one surrogate from each bad byte.
        bad = len(_SURROGATE.findall(data.decode("utf-8", "surrogateescape")))
        repair = _count(
            bad, "byte was not valid UTF-8 and was", "bytes were not valid UTF-8 and were"
        )
        return data.decode("utf-8", "replace"), [repair]


def _decode_utf16(data: bytes, codec: str) -> tuple[str, list[str]]:
    # An odd byte at the end is half of a character: the file was cut there.
    half = len(data) % 2
    whole = data[: len(data) - half].decode(codec, "surrogatepass")
    text, bad = _SURROGATE.subn(REPLACEMENT, whole)
    repairs = ["it is UTF-16; UTF-8 is safer"]
    if bad + half:
        repairs.append(
            _count(
                bad + half,
                "character was not valid UTF-16 and was",
                "characters were not valid UTF-16 and were",
            )
        )
    return text + REPLACEMENT * half, repairs


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many} replaced"
