"""Which lines were found on which days: what is recalled again and again is worth keeping.

One JSON line an answer. Nothing of the question is kept; the oldest lines go first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.files import append_json_line, read_json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from pathlib import Path

    from notewell.types import Span

NAME = "recalled.jsonl"
MAX_PLACES = 20
"""Of one answer; what stands further down was hardly read."""


def note_recall(folder: Path, places: Iterable[tuple[str, Span]], day: date) -> None:
    """These lines were shown in answer to a question of that day."""
    told = [[path, span.start_line, span.end_line] for path, span in places][:MAX_PLACES]
    if told:
        append_json_line(folder / NAME, {"day": day.isoformat(), "places": told})


def recall_days(folder: Path) -> dict[tuple[str, int], set[str]]:
    """For each line of each note, the days on which it was shown."""
    found: dict[tuple[str, int], set[str]] = {}
    for line in read_json_lines(folder / NAME):
        for place in _places(line.get("places")):
            for number in range(place[1], min(place[2], place[1] + 200) + 1):
                found.setdefault((place[0], number), set()).add(str(line.get("day")))
    return found


def _places(told: object) -> list[tuple[str, int, int]]:
    places = told if isinstance(told, list) else []
    return [
        (path, first, last)
        for path, first, last in (one for one in places if isinstance(one, list) and len(one) == 3)
        if isinstance(path, str) and isinstance(first, int) and isinstance(last, int)
    ]
