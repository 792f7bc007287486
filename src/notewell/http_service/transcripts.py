"""Appends conversation turns to a transcript file of our own.

    <state>/agents/<agent>/sessions/<id>.jsonl

    {"type":"session","id":"…","timestamp":"…"}
    {"type":"message","id":"…","timestamp":"…","message":{"role":"user","content":"…"}}

Lines are added in one write under a lock on the file. A line that a crash cut short stays a line
of its own. The id of each turn is derived from the key of the request, and a turn that is already
in the file is not added again, so a request can be repeated. Secrets are masked when a transcript
is read, as for all transcripts.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.errors import NoteNotWritable
from notewell.files import describe_os_error, make_private, sync_directory, sync_file
from notewell.hosts import SPEAKERS, Turn, parse_time
from notewell.notes import locked_note
from notewell.sessions import BLOCK_BYTES, MAX_TRANSCRIPT_BYTES, SaidMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

LOCK_WAIT_S = 10.0
"""An append takes milliseconds: a process that holds the lock for this long is stuck."""
TAIL_BYTES = 4 * BLOCK_BYTES
"""How far back to search for a repeated request: more than one request can write."""
SESSION_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$"
"""It becomes a file name: no slash and no dot, so it cannot leave the folder."""
_FLAGS = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


class NewTurn(NamedTuple):
    role: str
    content: str
    at: str | None = None


def transcript_file(state: Path, agent: str, session: str) -> Path:
    return state / "agents" / agent / "sessions" / f"{session}.jsonl"


def add_turns(file: Path, turns: Sequence[NewTurn], key: str, now: datetime) -> int:
    """The number of added turns; turns that are already there are skipped. Durable on return.

    Raises `NoteNotWritable`, and `NoteBusy` if another process holds the lock for too long.
    """
    name = f"sessions/{file.name}"
    try:
        make_private(file.parent)
        # O_APPEND: each write goes to the end, whoever else writes. O_NONBLOCK: see `tokens`.
        while True:
            fd = os.open(file, _FLAGS, 0o600)
            with locked_note(fd, name, wait_s=LOCK_WAIT_S):
                # `notewell forget` replaces the file while it holds the lock of the old one.
                if os.path.samestat(os.fstat(fd), os.stat(file)):  # noqa: PTH116
                    return _add(fd, file, list(_records(turns, key, now)), now)
    except OSError as error:
        why = "its disk is full" if error.errno == errno.ENOSPC else describe_os_error(error)
        raise NoteNotWritable(name, why, "fix that, then send the turns again") from error


def _records(turns: Iterable[NewTurn], key: str, now: datetime) -> Iterable[dict[str, Any]]:
    for number, turn in enumerate(turns):
        yield {
            "type": "message",
            "id": turn_id(key, number),
            "timestamp": turn.at or now.isoformat(timespec="milliseconds"),
            "message": {"role": turn.role, "content": turn.content},
        }


def turn_id(key: str, number: int) -> str:
    """The same key and position give the same id, so a repeated request is recognized."""
    return hashlib.sha256(f"{key}\0{number}".encode()).hexdigest()[:16]


def said_turns(turns: Sequence[NewTurn], key: str, now: datetime) -> list[SaidMessage]:
    """The turns for conversations that are rows of a database."""
    return [
        SaidMessage(
            Turn(SPEAKERS[turn.role], turn.content, turn_id(key, number)),
            parse_time(turn.at) or now,
            number,
        )
        for number, turn in enumerate(turns)
    ]


def _add(fd: int, file: Path, records: list[dict[str, Any]], now: datetime) -> int:
    before = os.fstat(fd)
    if not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    tail = _read_tail(fd, before.st_size)
    new = [record for record in records if not _contains_record(tail, record["id"])]
    if not new:
        return 0
    if not before.st_size:
        at = now.isoformat()
        header = {"type": "session", "id": file.stem, "timestamp": at, "host": "http"}
        new.insert(0, header)
        # Before the first write: a file that has content is then known to survive a power loss.
        sync_directory(file.parent)
    data = b"".join(json.dumps(record).encode() + b"\n" for record in new)
    if tail and not tail.endswith(b"\n"):
        # A crash cut the last line short. The new lines must not continue it.
        data = b"\n" + data
    if before.st_size + len(data) > MAX_TRANSCRIPT_BYTES:
        raise OSError(errno.EFBIG, "the transcript would be larger than allowed")
    _write(fd, data, before.st_size)
    sync_file(fd)
    return sum(record["type"] == "message" for record in new)


def _contains_record(data: bytes, id_: str) -> bool:
    """Whether a complete line has this id. A line that a crash cut short does not count."""
    position = data.find(id_.encode())
    if position < 0:
        return False
    start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
    try:
        json.loads(data[start : end if end >= 0 else len(data)])
    except ValueError:
        # The match was in a damaged line; the id may occur again in a later one.
        return _contains_record(data[end:], id_) if end >= 0 else False
    return True


def _read_tail(fd: int, size: int) -> bytes:
    # Only the tail: a transcript can be large, and a repeated request comes soon.
    os.lseek(fd, max(0, size - TAIL_BYTES), os.SEEK_SET)
    blocks = []
    while block := os.read(fd, BLOCK_BYTES):
        blocks.append(block)
    return b"".join(blocks)


def _write(fd: int, data: bytes, end: int) -> None:
    """All or nothing: after a short write on a full disk, the file is truncated again."""
    if os.write(fd, data) != len(data):
        os.ftruncate(fd, end)
        # A short write without an error means a full disk.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
