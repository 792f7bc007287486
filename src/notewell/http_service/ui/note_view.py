"""One note with its chunks, the origin of its lines, and its history; and a summary per day.

The origin of lines is searched in the note as it is now: in the history by the digest of the added
bytes, and otherwise (written elsewhere, or long ago) by the marker at the end of an entry.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from notewell.capture import Cut, decide_cut, writes
from notewell.core import MARKER_NAME, note_date
from notewell.errors import NoteUnreadable
from notewell.records import dataclass
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime, tzinfo

    from notewell.capture import Logs, Recorded
    from notewell.index import ListedNote, OutlinedChunk
    from notewell.memory import Memory
    from notewell.notes import NoteStore

MAX_CHARS = 1_000_000
"""The UI shows no more of a note: browsers get slow, and nobody reads a megabyte there."""
MAX_WRITES = 300
"""The newest writes of one note. Each is searched in the whole note."""

_MARKER = re.compile(rf"<!-- @({MARKER_NAME})(?: #({MARKER_NAME}))? -->[ \t]*$")


class LineOrigin(NamedTuple):
    """Lines that were appended, and by whom."""

    span: Span
    origin: str
    at: datetime | None
    id: str | None


class NoteWrite(NamedTuple):
    """One recorded write to the note."""

    recorded: Recorded
    can_undo: bool


@dataclass(frozen=True, slots=True)
class NoteView:
    path: str
    text: str
    cut: bool
    """Whether the text was truncated."""
    chunks: list[OutlinedChunk]
    origins: list[LineOrigin]
    history: list[NoteWrite]
    """The newest first."""


def view_note(memory: Memory, path: str) -> NoteView:
    """Raises `NotANote` and `NoteUnreadable`."""
    text = memory.inspect.text(path)
    data, located = _locate_writes(memory.notes, memory.journal.logs, path)
    recorded = [_origin(data, write, cut) for write, cut in located if cut]
    return NoteView(
        path=path,
        text=text[:MAX_CHARS],
        cut=len(text) > MAX_CHARS,
        # From the index, so they may be older than the text.
        chunks=memory.inspect.outline(path),
        origins=sorted([*recorded, *marked_origins(text, recorded)]),
        history=[NoteWrite(write, cut is not None) for write, cut in reversed(located)],
    )


def _locate_writes(
    notes: NoteStore, logs: Logs, path: str
) -> tuple[bytes, list[tuple[Recorded, Cut | None]]]:
    """The bytes of the note, and each write with the position of its bytes, if still there."""
    # The newest: only they can usually be undone.
    own = [write for write in writes(logs, notes) if write.write.path == path][-MAX_WRITES:]
    try:
        data = notes.read_bytes(path) if own else b""
    except NoteUnreadable:
        data = None
    if data is None:
        return b"", [(write, None) for write in own]
    return data, [(write, None if write.undone else _locate(data, write)) for write in own]


def _locate(data: bytes, write: Recorded) -> Cut | None:
    decision = decide_cut(data, write.write)
    return decision if isinstance(decision, Cut) else None


def _origin(data: bytes, write: Recorded, cut: Cut) -> LineOrigin:
    added = data[cut.start_byte : cut.end_byte]
    # An append may begin with blank lines that separate it from the text before.
    leading = len(added) - len(added.lstrip(b"\r\n"))
    first = data.count(b"\n", 0, cut.start_byte + leading) + 1
    last = first + added.strip(b"\r\n").count(b"\n")
    return LineOrigin(Span(first, last), write.write.origin, write.at, write.id)


def marked_origins(text: str, recorded: list[LineOrigin]) -> list[LineOrigin]:
    """Entries found by their markers, without those that the history has."""
    covered = {line for origin in recorded for line in range(origin.span[0], origin.span[1] + 1)}
    lines = text.split("\n")
    origins = []
    for number, line in enumerate(lines, start=1):
        # The substring test first: the regular expression is slow on long lines.
        has_marker = "<!-- @" in line and number not in covered
        marker = _MARKER.search(line) if has_marker else None
        if marker:
            span = Span(_first_line(lines, number), number)
            origins.append(LineOrigin(span, marker[1], None, marker[2]))
    return origins


def _first_line(lines: list[str], last: int) -> int:
    """An entry is a list item: it begins at the last line that is not indented."""
    first = last
    while first > 1 and lines[first - 1][:1] in (" ", "\t", ""):
        first -= 1
    return first


# -- per day -------------------------------------------------------------------------------------


class DaySummary(NamedTuple):
    day: str
    notes: int
    entries: int
    """Entries that Notewell wrote on that day and that were not undone."""
    chars: int
    """Of the notes with this date."""


def day_of(note: ListedNote) -> str | None:
    """The day of a note or transcript; None if it has no date."""
    # The index knows the day of transcripts, whose names have no date.
    if note.day is not None:
        return note.day
    day = note_date(note.path)
    return day.isoformat() if day else None


def summarize_days(
    notes: Iterable[ListedNote],
    chars: Mapping[str, int],
    writes: Iterable[Recorded],
    zone: tzinfo | None = None,
) -> list[DaySummary]:
    """From the first day to the last; days without content are left out.

    Without a `zone`, entries are counted by the local calendar of this machine.

    Transcripts do not count: otherwise each day with a conversation would look like a day with
    notes.
    """
    dated = [(day_of(note), note.path) for note in notes if note.source == "memory"]
    note_counts = Counter(day for day, _ in dated if day)
    entry_counts = Counter(
        write.at.astimezone(zone).date().isoformat() for write in writes if not write.undone
    )
    char_counts: Counter[str] = Counter()
    for day, path in dated:
        if day:
            char_counts[day] += chars.get(path, 0)
    return [
        DaySummary(day, note_counts[day], entry_counts[day], char_counts[day])
        for day in sorted(note_counts.keys() | entry_counts.keys())
    ]
