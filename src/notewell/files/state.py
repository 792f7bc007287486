"""Small state files of our own: a JSON object that is replaced whole, or a log of JSON lines.

    state_lock ── read_json ── change ── write_json        one writer at a time
    append_json_line ── read_json_lines                    takes the lock itself

They help us remember and are not the user's notes: a file that cannot be read counts as empty, and
each has a size it never outgrows. What `write_json` wrote is on disk when it returns, its name
included: a session would be saved twice if a power cut removed the record that it was saved.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from notewell.errors import StateBusy, StateNotWritable
from notewell.files.atomic import replace_file
from notewell.files.locks import LockFailed, LockTimeout, file_lock
from notewell.files.nofollow import describe_os_error
from notewell.files.private import (
    PRIVATE_FILE,
    give_to_owner,
    make_private,
    sync_directory,
    sync_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOCK_WAIT_S = 10.0
"""A write takes milliseconds: a process that holds the lock for this long is stuck."""

MAX_LOG_BYTES = 1024 * 1024
"""About 4000 lines. A longer log loses its older half."""

MAX_STATE_BYTES = 4 * 1024 * 1024
"""Our own files are far smaller; a larger one is not ours."""

# A link in place of a file of ours is not ours: the file it points to must not be written to.
_APPEND_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def state_lock(file: Path, *, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Exclude other writers of a state file. Raises `StateBusy` and `StateNotWritable`.

    The lock is a file of its own beside it, because the state file itself is replaced: a lock on
    the old file would exclude nobody who opens the new one.
    """
    lock = file.with_name(f"{file.name}.lock")
    try:
        make_private(file.parent)
    except OSError as error:
        raise StateNotWritable(str(lock), describe_os_error(error)) from error
    try:
        # `StateBusy` does not say who holds it.
        with file_lock(lock, wait_s=wait_s, names_holder=False):
            yield
    except LockTimeout as busy:
        raise StateBusy(str(lock), busy.waited_s) from None
    except LockFailed as failed:
        raise StateNotWritable(str(lock), describe_os_error(failed.error)) from failed.error


def read_json(file: Path) -> dict[str, Any]:
    """Empty for a file that is missing, torn, or not an object."""
    try:
        with file.open("rb") as opened:
            value = json.loads(opened.read(MAX_STATE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Replace the file; the caller holds its lock. Raises `StateNotWritable`."""
    # A lone surrogate (from a file name, say) cannot be encoded; it is kept as an escape.
    write_state(file, json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def write_state(file: Path, data: bytes) -> None:
    """The same for bytes that are not JSON."""
    try:
        make_private(file.parent)
        replace_file(file, data, durable=True, temporary=file.with_name(f".{file.name}.tmp"))
    except OSError as error:
        raise StateNotWritable(str(file), describe_os_error(error)) from error


def append_json_line(
    file: Path,
    *values: Mapping[str, Any],
    max_bytes: int = MAX_LOG_BYTES,
    durable: bool = True,
) -> None:
    """Append lines to a log; a log that has grown too long loses its older half first.

    A log that is not `durable` may lose its last lines in a power cut, and costs no fsync.
    """
    texts = "".join([f"{json.dumps(value, ensure_ascii=False)}\n" for value in values])
    lines = texts.encode("utf-8", "backslashreplace")
    with state_lock(file):
        if _size(file) + len(lines) > max_bytes:
            write_state(file, _newer_half(_read(file)))
        _append(file, lines, durable=durable)


def read_json_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The log from its beginning; a line that is not a JSON object is skipped."""
    for line in _read(file).split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def has_bytes(file: Path, part: bytes) -> bool:
    """Whether the file has these bytes anywhere: cheaper than to parse a long log."""
    return part in _read(file)


def _newer_half(data: bytes) -> bytes:
    half = data[len(data) // 2 :]
    return half[half.find(b"\n") + 1 :]


def _append(file: Path, lines: bytes, *, durable: bool) -> None:
    """In one write; after a line that a crash has torn, on a line of its own."""
    try:
        fd = os.open(file, _APPEND_FLAGS, PRIVATE_FILE)
        with os.fdopen(fd, "r+b", buffering=0) as opened:
            end = opened.seek(0, os.SEEK_END)
            if end:
                opened.seek(end - 1)
                lines = lines if opened.read(1) == b"\n" else b"\n" + lines
            else:
                give_to_owner(fd, file.parent.stat())
                # Before the write, so that a file with content is known to have its name on disk.
                sync_directory(file.parent)
            _write_whole(fd, lines, end)
            if durable:
                sync_file(fd)
    except OSError as error:
        raise StateNotWritable(str(file), describe_os_error(error)) from error


def _write_whole(fd: int, lines: bytes, end: int) -> None:
    """A disk that is nearly full accepts a part and reports success; that part is cut off."""
    if os.write(fd, lines) != len(lines):
        os.ftruncate(fd, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StateNotWritable(str(file), describe_os_error(error)) from error


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StateNotWritable(str(file), describe_os_error(error)) from error
