"""Small files of ours in the state folder: read whole, replaced whole, one writer at a time.

They are memory aids, not the user's notes: one that cannot be read counts as empty, and each has
a size it never outgrows. What was written is on disk when the call returns, its name included: a
conversation would be saved twice if a power cut took away that it had been.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from notewell.errors import StateNotWritable
from notewell.files import make_private, sync_directory
from notewell.notes import in_words, locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOCK_WAIT_S = 10.0
"""A capture takes milliseconds: whoever holds the lock for this long is stuck."""

MAX_LOG_BYTES = 1024 * 1024
"""Some 4000 lines. Beyond it the older half goes."""

MAX_STATE_BYTES = 4 * 1024 * 1024
"""Our own files are far smaller; a larger one is not ours."""


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""A link in place of a file of ours is not ours: what it leads to must not be written to."""


@contextmanager
def held(file: Path, *, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Alone with a state file; the lock lies beside it, because the file itself is replaced.

    Raises `NoteBusy` and `StateNotWritable`.
    """
    beside = file.with_name(f"{file.name}.lock")
    try:
        make_private(file.parent)
        fd = os.open(beside, os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
    except OSError as error:
        raise StateNotWritable(str(beside), in_words(error)) from error
    with locked(fd, str(beside), wait_s=wait_s):
        yield


def read_json(file: Path) -> dict[str, Any]:
    """Empty for a file that is not there, torn, or not an object."""
    try:
        with file.open("rb") as opened:
            found = json.loads(opened.read(MAX_STATE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """All at once: whoever reads sees the old value or the new one."""
    replace(file, json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def replace(file: Path, data: bytes) -> None:
    # Whoever is here holds the lock, so one name is enough, and what a kill left of it goes.
    beside = file.with_name(f".{file.name}.tmp")
    try:
        make_private(file.parent)
        beside.unlink(missing_ok=True)
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(fd, "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fsync(opened.fileno())
            beside.replace(file)
            sync_directory(file.parent)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise StateNotWritable(str(file), in_words(error)) from error


def add_line(
    file: Path,
    value: Mapping[str, Any],
    *,
    max_bytes: int = MAX_LOG_BYTES,
    durable: bool = True,
) -> None:
    """One JSON line more; a log that is too long loses its older half first.

    One that is not `durable` may lose its last lines in a power cut, and costs no wait.
    """
    line = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    with held(file):
        try:
            if file.stat().st_size + len(line) > max_bytes:
                replace(file, _newer_half(_read(file)))
        except FileNotFoundError:
            pass
        _append(file, line, durable=durable)


def _newer_half(data: bytes) -> bytes:
    half = data[len(data) // 2 :]
    return half[half.find(b"\n") + 1 :]


def _append(file: Path, line: bytes, *, durable: bool) -> None:
    """In one write; behind a line that was torn by a crash, on a line of its own."""
    try:
        fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | _NOFOLLOW, 0o600)
        with os.fdopen(fd, "r+b", buffering=0) as opened:
            end = opened.seek(0, os.SEEK_END)
            if end:
                opened.seek(end - 1)
                line = line if opened.read(1) == b"\n" else b"\n" + line
            else:
                # Before the write, so that a file with anything in it is known to be on disk.
                sync_directory(file.parent)
            _write_whole(fd, line, end)
            if durable:
                os.fsync(fd)
    except OSError as error:
        raise StateNotWritable(str(file), in_words(error)) from error


def _write_whole(fd: int, line: bytes, end: int) -> None:
    """A disk that is nearly full takes a part and calls that success; the part goes again."""
    if os.write(fd, line) != len(line):
        os.ftruncate(fd, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The log from its beginning; what is no JSON object is passed over."""
    for line in _read(file).split(b"\n"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StateNotWritable(str(file), in_words(error)) from error
