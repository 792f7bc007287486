"""What there is of each day: notes that carry its date, and entries that were written on it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import note_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import tzinfo

    from notewell.capture import Recorded
    from notewell.index import ListedNote


class Day(NamedTuple):
    day: str
    notes: int
    entries: int
    """What Notewell wrote on that day and nobody took back."""
    chars: int
    """Of the notes that carry the date."""


def day_of(note: ListedNote) -> str | None:
    """The day a note or transcript is of; None for one without a date."""
    if note.day is not None:
        return note.day
    found = note_date(note.path)
    return found.isoformat() if found else None


def days(
    notes: Iterable[ListedNote],
    chars: Mapping[str, int],
    writes: Iterable[Recorded],
    zone: tzinfo | None = None,
) -> list[Day]:
    """From the first day to the last, those of which there is nothing left out.

    Without a `zone`, an entry is of the day that this machine's calendar had when it was written.

    A transcript is no note: it would make every day on which somebody talked look like one on
    which something was kept.
    """
    dated = [(day_of(note), note.path) for note in notes if note.source == "memory"]
    found = Counter(day for day, _ in dated if day)
    entries = Counter(
        one.at.astimezone(zone).date().isoformat() for one in writes if not one.undone
    )
    length: Counter[str] = Counter()
    for day, path in dated:
        if day:
            length[day] += chars.get(path, 0)
    known = sorted(found.keys() | entries.keys())
    return [Day(day, found[day], entries[day], length[day]) for day in known]
