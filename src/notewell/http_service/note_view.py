"""One note with everything that is known of it: its chunks, who wrote which lines, what can go.

Whose lines they are is looked up in the note as it is now: in the history, by the digest of what
was added, and for what the history does not know (another machine wrote it, or it was long ago) by
the mark at the end of an entry.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from notewell.capture import Cut, decide_cut, writes
from notewell.core import NAME
from notewell.errors import NoteUnreadable
from notewell.types import Span

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from notewell.capture import Recorded
    from notewell.index import OutlinedChunk
    from notewell.memory import Memory
    from notewell.notes import NoteStore

MAX_CHARS = 1_000_000
"""A page shows no more of a note; nobody reads a megabyte in a browser."""
MAX_WRITES = 300
"""The newest of one note; each is looked for in the whole of it."""

_MARK = re.compile(rf"<!-- @({NAME})(?: #({NAME}))? -->[ \t]*$")


class Origin(NamedTuple):
    """Lines that somebody appended."""

    span: Span
    origin: str
    at: datetime | None
    id: str | None


class Written(NamedTuple):
    """One write of ours to the note, and whether it can be taken back."""

    recorded: Recorded
    can_undo: bool


@dataclass(frozen=True, slots=True)
class NoteView:
    path: str
    text: str
    cut: bool
    """Whether it goes on behind this text."""
    chunks: list[OutlinedChunk]
    origins: list[Origin]
    history: list[Written]
    """From the newest to the oldest."""


def view_note(memory: Memory, path: str) -> NoteView:
    """Raises `NotANote` and `NoteUnreadable`."""
    text = memory.looking().text(path)
    data, found = _written(memory.notes, memory.captures, path)
    told = [_origin(data, one, cut) for one, cut in found if cut]
    return NoteView(
        path=path,
        text=text[:MAX_CHARS],
        cut=len(text) > MAX_CHARS,
        chunks=memory.looking().outline(path),
        origins=sorted([*told, *marked(text, told)]),
        history=[Written(one, cut is not None) for one, cut in reversed(found)],
    )


def _written(
    notes: NoteStore, folder: Path, path: str
) -> tuple[bytes, list[tuple[Recorded, Cut | None]]]:
    """The note as it is, and each write with where its bytes are now."""
    ours = [one for one in writes(folder) if one.write.path == path][-MAX_WRITES:]
    try:
        data = notes.read_bytes(path) if ours else b""
    except NoteUnreadable:
        data = None
    if data is None:
        return b"", [(one, None) for one in ours]
    return data, [(one, None if one.undone else _cut(data, one)) for one in ours]


def _cut(data: bytes, one: Recorded) -> Cut | None:
    found = decide_cut(data, one.write)
    return found if isinstance(found, Cut) else None


def _origin(data: bytes, one: Recorded, cut: Cut) -> Origin:
    added = data[cut.start_byte : cut.end_byte]
    blank = len(added) - len(added.lstrip(b"\r\n"))
    first = data.count(b"\n", 0, cut.start_byte + blank) + 1
    last = first + added.strip(b"\r\n").count(b"\n")
    return Origin(Span(first, last), one.write.origin, one.at, one.id)


def marked(text: str, known: list[Origin]) -> list[Origin]:
    """Entries by their marks, without those that are known already."""
    taken = {line for one in known for line in range(one.span[0], one.span[1] + 1)}
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines, start=1):
        mark = _MARK.search(line) if "<!-- @" in line and number not in taken else None
        if mark:
            span = Span(_first_line(lines, number), number)
            found.append(Origin(span, mark[1], None, mark[2]))
    return found


def _first_line(lines: list[str], last: int) -> int:
    """An entry is a list entry: it begins where a line is not indented."""
    first = last
    while first > 1 and lines[first - 1][:1] in (" ", "\t", ""):
        first -= 1
    return first
