"""The history: every write of ours to a note, so that it can be undone.

    intended (durable) ── the bytes go to the note ── written ── … ── undone

The line of an entry is written before the note is: a process that is killed in between leaves an
entry that can be undone. Without the line `written`, the note decides: the entry counts if its
bytes are there. One line also says that something was forgotten, and how much. No line holds text:
the text is in the note, and when the user removes it there, no copy must be left here.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from notewell.capture.logs import logs_at
from notewell.errors import NoteUnreadable
from notewell.records import asdict, dataclass, field_names, replace

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.capture.logs import Logs
    from notewell.notes import NoteStore

HISTORY = "history.jsonl"
MAX_BYTES = 4 * 1024 * 1024
"""About 8000 writes: years of them. Older ones can no longer be undone by us."""

ID_CHARS = 8
_INTENDED = "intended"


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes that we added to a note."""

    path: str
    start_byte: int
    end_byte: int
    digest: str
    """sha256 of the added bytes."""
    digest_before: str
    digest_after: str
    """sha256 of the note up to `start_byte`, and up to `end_byte`, at the time of the write."""
    origin: str
    kind: Literal["entry", "note"]
    """An entry in a note, or a whole new note."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A write with its id, its time, and whether it was undone."""

    id: str
    at: datetime
    write: Write
    undone: bool = False
    is_intended: bool = False
    """Nothing says whether the note was written."""


def record(
    place: Path | Logs, write: Write, at: datetime, *, id_: str = "", is_intended: bool = False
) -> str:
    """Returns the id; `id_` replaces an earlier line."""
    values = asdict(write)
    # The time is part of the seed: the same entry may be undone and written again.
    seed = f"{at.isoformat()} {sorted(values.items())}"
    id_ = id_ or hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS]
    line = {"id": id_, "at": at.isoformat(), **values}
    if is_intended:
        line[_INTENDED] = True
    logs_at(place).append(HISTORY, line, max_bytes=MAX_BYTES)
    return id_


def confirm(place: Path | Logs, id_: str, at: datetime) -> None:
    """The note has what was intended."""
    line = {"written": id_, "at": at.isoformat()}
    # Not durable: after a power cut the note decides.
    logs_at(place).append(HISTORY, line, max_bytes=MAX_BYTES, durable=False)


def record_undo(place: Path | Logs, id_: str, at: datetime) -> None:
    line = {"undone": id_, "at": at.isoformat()}
    logs_at(place).append(HISTORY, line, max_bytes=MAX_BYTES)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """That something was forgotten: when, by what, and how much; never its text."""

    id: str
    at: datetime
    by: tuple[str, ...]
    """What it was found by: `session`, `time`, `phrase`."""
    counts: dict[str, int]


def record_forgetting(place: Path | Logs, done: Forgetting) -> None:
    """Once: a call that is repeated after a crash adds no second line."""
    if any(one.id == done.id for one in forgettings(place)):
        return
    line = {"forgot": done.id, "at": done.at.isoformat(), "by": list(done.by), **done.counts}
    logs_at(place).append(HISTORY, line, max_bytes=MAX_BYTES)


def forgettings(place: Path | Logs) -> list[Forgetting]:
    """From the oldest to the newest."""
    lines = logs_at(place).lines(HISTORY)
    found = (_forgetting(line) for line in lines if "forgot" in line)
    return [one for one in found if one is not None]


def _forgetting(line: dict[str, Any]) -> Forgetting | None:
    try:
        counts = {name: value for name, value in line.items() if isinstance(value, int)}
        at = datetime.fromisoformat(line["at"])
        return Forgetting(str(line["forgot"]), at, tuple(map(str, line["by"])), counts)
    except (KeyError, TypeError, ValueError):
        return None


def writes(place: Path | Logs, notes: NoteStore) -> list[Recorded]:
    """From the oldest to the newest."""
    found = _lines(logs_at(place))
    sure = {(one.write.path, one.write.digest) for one in found if not one.is_intended}
    # The last of several attempts, and none if a later one is known to have written it.
    last = {(one.write.path, one.write.digest): one.id for one in found if one.is_intended}
    return [
        one
        for one in found
        if not one.is_intended
        or (
            (key := (one.write.path, one.write.digest)) not in sure
            and last[key] == one.id
            and _is_in_note(notes, one.write)
        )
    ]


def _lines(logs: Logs) -> list[Recorded]:
    by_id: dict[str, Recorded] = {}
    for line in logs.lines(HISTORY):
        undone, written = line.get("undone"), line.get("written")
        # The write may be gone: a log that is too long loses its older half.
        if isinstance(undone, str) and undone in by_id:
            by_id[undone] = replace(by_id[undone], undone=True, is_intended=False)
        elif isinstance(written, str) and written in by_id:
            by_id[written] = replace(by_id[written], is_intended=False)
        elif (recorded := _recorded(line)) is not None:
            by_id[recorded.id] = recorded
    return list(by_id.values())


def _is_in_note(notes: NoteStore, write: Write) -> bool:
    try:
        data = notes.read_bytes(write.path)
    except NoteUnreadable:
        return False
    return bool(data and starts_of(data, write))


def starts_of(data: bytes, write: Write) -> list[int]:
    """Where the bytes of a write are in a note: at their place, or else at any line."""
    size = write.end_byte - write.start_byte
    if _is_ours(data[write.start_byte : write.end_byte], write):
        return [write.start_byte]
    ends = [match.start() for match in re.finditer(b"\n", data)]
    # A line begins after a line break. Our bytes may begin with that break (LF or CRLF), if the
    # line above them had none.
    starts = {0, *(at + 1 for at in ends), *ends, *(at - 1 for at in ends if at)}
    return [at for at in sorted(starts) if _is_ours(data[at : at + size], write)]


def _is_ours(piece: bytes, write: Write) -> bool:
    if len(piece) != write.end_byte - write.start_byte:
        return False
    return hashlib.sha256(piece).hexdigest() == write.digest


def has_note(place: Path | Logs, path: str, digest: str) -> bool:
    """Whether a whole note is recorded and not undone. Raises `StateNotWritable`."""
    logs = logs_at(place)
    # Almost never; each session asks, so the history of a year is not parsed for it.
    if not logs.mentions(HISTORY, digest):
        return False
    return any(
        (one.write.path, one.write.digest, one.undone) == (path, digest, False)
        for one in _lines(logs)
    )


def _recorded(line: dict[str, Any]) -> Recorded | None:
    """None for a line that a later version, or another program, has written."""
    try:
        write = Write(**{name: line[name] for name in field_names(Write)})
        at = datetime.fromisoformat(line["at"])
        is_range = 0 <= write.start_byte < write.end_byte and write.kind in ("entry", "note")
        # Whatever was put into this file: nothing outside the workspace is ever opened.
        is_inside = {"", ".", ".."}.isdisjoint(write.path.split("/"))
        if not (is_range and is_inside):
            return None
        return Recorded(str(line["id"]), at, write, is_intended=line.get(_INTENDED) is True)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
