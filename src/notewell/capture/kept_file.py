"""A file with a kept conversation: its end, and how messages are appended.

    {"type":"session","id":"…","timestamp":"…","cwd":"…","host":"…"}
    {"type":"message","id":"…","timestamp":"…","message":{"role":"user","content":"…"},
     "source":{"end":48211,"check":"…"}}
    {"type":"custom","customType":"position","timestamp":"…","source":{…}}
    {"type":"custom","customType":"forgotten","id":"…","timestamp":"…","source":{…}}

OpenClaw's format, so the reader of its transcripts reads these files too. `source` is the position
in the host's file behind the message. A message and its position are one line: whenever a process
is killed, the last complete line says what is kept and where to go on. A torn rest is cut off by
the next append.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.errors import StateNotWritable
from notewell.files import (
    PRIVATE_FILE,
    describe_os_error,
    give_to_owner,
    sync_directory,
    sync_file,
)
from notewell.sessions import SourcePosition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

FORGOTTEN = "forgotten"
END_BYTES = 256 * 1024
"""How much of the end is read first: more than a turn."""
_FLAGS = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


class KeptEnd(NamedTuple):
    """The end of a kept file."""

    size: int = 0
    """Without a torn rest; 0 for a new file."""
    position: SourcePosition | None = None
    """Up to where the host's file is kept; None if it cannot be said."""
    ids: frozenset[str] = frozenset()
    """Of the last messages."""


class KeptFile:
    """An open file; the caller holds the lock of its folder."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = path
        self._fd = fd

    def end(self) -> KeptEnd:
        size, back = os.fstat(self._fd).st_size, END_BYTES
        while True:
            start = max(0, size - back)
            end = _end_of(self._read(start, size), start)
            if end is not None or not start:
                return end or KeptEnd()
            # A single line, or damage, is longer than what was read.
            back *= 4

    def ids(self, end: KeptEnd) -> frozenset[str]:
        """Of all messages before the end."""
        lines = self._read(0, end.size).split(b"\n")
        return _ids(record for line in lines if (record := _record(line)))

    def records(self) -> list[dict[str, Any]]:
        """All that can be read, in order."""
        lines = self._read(0, os.fstat(self._fd).st_size).split(b"\n")
        return [record for line in lines if (record := _record(line))]

    def append(self, records: Iterable[dict[str, Any]], end: KeptEnd) -> None:
        """On disk when this returns; on a failure the file ends as before. Raises OSError."""
        data = b"".join(map(encoded, records))
        if os.fstat(self._fd).st_size > end.size:
            os.ftruncate(self._fd, end.size)
        if not end.size:
            # Before the first write: a file with content is then known to survive a power cut.
            sync_directory(self._path.parent)
        # A disk that is nearly full accepts a part and reports success.
        if os.write(self._fd, data) != len(data):
            os.ftruncate(self._fd, end.size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync_file(self._fd)

    def _read(self, start: int, end: int) -> bytes:
        os.lseek(self._fd, start, os.SEEK_SET)
        blocks = []
        while start < end and (block := os.read(self._fd, end - start)):
            blocks.append(block)
            start += len(block)
        return b"".join(blocks)


@contextmanager
def open_kept(path: Path, *, create: bool) -> Iterator[KeptFile]:
    """Raises `StateNotWritable`, also for the errors of the file's methods."""
    try:
        # O_NONBLOCK: a pipe with this name must not stop the hook.
        fd = os.open(path, _FLAGS | (os.O_CREAT if create else 0), PRIVATE_FILE)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise StateNotWritable(str(path), "it is not a regular file")
            give_to_owner(fd, path.parent.stat())
            yield KeptFile(path, fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise StateNotWritable(str(path), describe_os_error(error)) from error


def _end_of(data: bytes, start: int) -> KeptEnd | None:
    """The end by the last bytes of a file, which begin at `start`; None if no line is valid."""
    lines = data.split(b"\n")
    size = start + len(data) - len(lines.pop())
    records: list[dict[str, Any]] = []
    # The first line may be cut off at its beginning.
    for line in reversed(lines if not start else lines[1:]):
        record = _record(line)
        if record:
            records.append(record)
        elif not records:
            size -= len(line) + 1
    if not records:
        return None
    return KeptEnd(size, _position(records[0]), _ids(records))


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("type"), str) else None


def _position(record: dict[str, Any]) -> SourcePosition | None:
    match record.get("source"):
        case {"end": int(end), "check": str(check)}:
            return SourcePosition(end, check)
    return None


def record_id(record: dict[str, Any]) -> str:
    """The id of a message; empty for any other record."""
    id_ = record.get("id")
    return id_ if record["type"] != "session" and isinstance(id_, str) else ""


def _ids(records: Iterable[dict[str, Any]]) -> frozenset[str]:
    found = (record.get("id") for record in records if _is_message(record))
    return frozenset(id_ for id_ in found if isinstance(id_, str))


def _is_message(record: dict[str, Any]) -> bool:
    """Also one that was forgotten: it must not be kept again."""
    return record["type"] == "message" or record.get("customType") == FORGOTTEN


def forgotten_message(record: dict[str, Any]) -> dict[str, Any]:
    """What stays of a message that was forgotten: its id and its position, no text."""
    names: tuple[str, ...] = ("id", "timestamp", "source")
    kept = {name: record[name] for name in names if name in record}
    return {"type": "custom", "customType": FORGOTTEN, **kept}


def encoded(record: dict[str, Any]) -> bytes:
    # Half a surrogate pair cannot be encoded; it becomes `?`.
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def kept_end(file: Path | None) -> KeptEnd:
    if file is None:
        return KeptEnd()
    with open_kept(file, create=False) as opened:
        return opened.end()


def kept_ids(file: Path, end: KeptEnd) -> frozenset[str]:
    with open_kept(file, create=False) as opened:
        return opened.ids(end)


def date_by_messages(
    file: Path, lines: Sequence[dict[str, Any]], before_s: float, now: datetime
) -> None:
    """Give a file the time of its last message, or the one that it had."""
    times = (datetime.fromisoformat(line["timestamp"]).timestamp() for line in lines)
    at_s = min(max(before_s, *times, 0.0), now.timestamp())
    with suppress(OSError):  # Not all file systems have times; then it is kept longer.
        os.utime(file, (at_s, at_s))
