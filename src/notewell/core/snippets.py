"""The part of a chunk that shows why it was found."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from notewell.core.words import words
from notewell.limits import SNIPPET_CHARS

if TYPE_CHECKING:
    from collections.abc import Mapping

ELLIPSIS = "…"


def snippet(text: str, worth: Mapping[str, float], max_chars: int = SNIPPET_CHARS) -> str:
    """The window of a chunk with the most worth of distinct terms, from a line's start if it can.

    `worth` says what each term of the question is worth; with none found, the beginning is shown.
    """
    if len(text) <= max_chars:
        return text
    start = _best_start(text, worth, max_chars - 2 * len(ELLIPSIS))
    end = min(len(text), start + max_chars - (2 if start else 1) * len(ELLIPSIS))
    shown = text[start:end].strip()
    return f"{ELLIPSIS if start else ''}{shown}{ELLIPSIS if end < len(text) else ''}"


def _best_start(text: str, worth: Mapping[str, float], room: int) -> int:
    found = [
        (word.start, form)
        for word in words(text)
        for form in word.forms
        if worth.get(form, 0.0) > 0 and word.end - word.start <= room
    ]
    if not found:
        return 0
    starts = [start for start, _ in found]

    def value(first: int) -> float:
        last = bisect_right(starts, starts[first] + room - 1)
        return sum(worth[form] for form in {form for _, form in found[first:last]})

    best = max(range(len(found)), key=lambda first: (value(first), -first))
    last = bisect_right(starts, starts[best] + room - 1) - 1
    return _readable_start(text, starts[best], starts[last], room)


def _readable_start(text: str, first: int, last: int, room: int) -> int:
    """Centre the matches, then go back to where the line, or at least a word, begins."""
    centred = max(0, min(first, (first + last - room) // 2, len(text) - room))
    for mark in ("\n", " "):
        begin = text.rfind(mark, 0, first + 1) + 1
        if begin <= first and last - begin < room and begin >= centred - room // 4:
            return begin
    return centred
