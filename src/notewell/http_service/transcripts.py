"""Turns of a conversation, written down in a transcript of our own.

    <state>/agents/<agent>/sessions/<id>.jsonl

    {"type":"session","id":"…","timestamp":"…"}
    {"type":"message","id":"…","timestamp":"…","message":{"role":"user","content":"…"}}

Lines are added in one write under a lock on the file; a line that a crash has torn stays by
itself. Each turn has an id made from the request's key, and what stands there is not added again,
so a request can be made twice. They are redacted when they are read, as all transcripts are.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.errors import NoteNotWritable
from notewell.files import describe_os_error, make_private, sync_directory
from notewell.notes import locked_note
from notewell.sessions import BLOCK_BYTES, MAX_TRANSCRIPT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

WAIT_S = 10.0
"""An append takes milliseconds: whoever holds the lock for this long is stuck."""
LAST_BYTES = 4 * BLOCK_BYTES
"""How far back a request that is made again is looked for: more than one request can write."""
SESSION_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$"
"""It becomes the name of a file: nothing that leads anywhere, and no dot."""
_FLAGS = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


class Turn(NamedTuple):
    role: str
    content: str
    at: str | None = None


def transcript_of(state: Path, agent: str, session: str) -> Path:
    return state / "agents" / agent / "sessions" / f"{session}.jsonl"


def add_turns(file: Path, turns: Sequence[Turn], key: str, now: datetime) -> int:
    """How many were added; those that stand there are not. On disk when it returns.

    Raises `NoteNotWritable`, and `NoteBusy` where others hold the file for too long.
    """
    name = f"sessions/{file.name}"
    try:
        make_private(file.parent)
        fd = os.open(file, _FLAGS, 0o600)
        with locked_note(fd, name, wait_s=WAIT_S):
            return _add(fd, file, list(_records(turns, key, now)), now)
    except OSError as error:
        why = "its disk is full" if error.errno == errno.ENOSPC else describe_os_error(error)
        raise NoteNotWritable(name, why, "mend that, then send the turns again") from error


def _records(turns: Iterable[Turn], key: str, now: datetime) -> Iterable[dict[str, Any]]:
    for number, turn in enumerate(turns):
        id_ = hashlib.sha256(f"{key}\0{number}".encode()).hexdigest()[:16]
        yield {
            "type": "message",
            "id": id_,
            "timestamp": turn.at or now.isoformat(timespec="milliseconds"),
            "message": {"role": turn.role, "content": turn.content},
        }


def _add(fd: int, file: Path, records: list[dict[str, Any]], now: datetime) -> int:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    last = _last(fd, found.st_size)
    new = [one for one in records if not _stands_in(last, one["id"])]
    if not new:
        return 0
    if not found.st_size:
        head = {"type": "session", "id": file.stem, "timestamp": now.isoformat()}
        new.insert(0, head)
        # Before the write, so that a file with anything in it is known to be on disk.
        sync_directory(file.parent)
    data = b"".join(json.dumps(one).encode() + b"\n" for one in new)
    if last and not last.endswith(b"\n"):
        data = b"\n" + data
    if found.st_size + len(data) > MAX_TRANSCRIPT_BYTES:
        raise OSError(errno.EFBIG, "it would be larger than a transcript may be")
    _write(fd, data, found.st_size)
    os.fsync(fd)
    return sum(one["type"] == "message" for one in new)


def _stands_in(data: bytes, id_: str) -> bool:
    """On a line that is all there; one that a crash has torn does not count."""
    at = data.find(id_.encode())
    if at < 0:
        return False
    start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
    try:
        json.loads(data[start : end if end >= 0 else len(data)])
    except ValueError:
        return _stands_in(data[end:], id_) if end >= 0 else False
    return True


def _last(fd: int, size: int) -> bytes:
    os.lseek(fd, max(0, size - LAST_BYTES), os.SEEK_SET)
    blocks = []
    while block := os.read(fd, BLOCK_BYTES):
        blocks.append(block)
    return b"".join(blocks)


def _write(fd: int, data: bytes, end: int) -> None:
    """All or nothing: what fitted on a full disk is taken back."""
    if os.write(fd, data) != len(data):
        os.ftruncate(fd, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
