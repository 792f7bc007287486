"""Ranked chunks become passages: what is found is small, what is read is whole.

Small chunks are found more surely than large ones, but a reader wants the lines around them, and
six hits should be six different things. So, best first:

    found     ▓▓ 1st      ▓▓ 3rd ▓▓ 2nd              ▓▓ 4th
    merged    ▓▓          ▓▓▓▓▓▓▓                    ▓▓        neighbours are one hit
    widened  ░▓▓░░        ▓▓▓▓▓▓▓░                  ░▓▓░       to a fair size, never into others

A hit has the score of its best chunk. A piece of a line that was too long stays as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.core.words import words
from notewell.limits import SNIPPET_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from notewell.types import Span

MERGED_CHARS = 2400
"""Neighbours are one hit as long as it stays below this: three chunks in a row."""

WIDE_CHARS = 1090
"""A smaller hit is widened to this: six, some of them merged, are 8 500 characters."""

BLANK_LINES = 2
"""Chunks with no more than this between them are neighbours: blank lines belong to none."""


@dataclass(slots=True)
class Passage:
    """Consecutive lines of one note around the chunks that were found there."""

    path: str
    start_line: int
    end_line: int
    best: int
    """The chunk, by id, that was found first."""

    def touches(self, path: str, span: Span) -> bool:
        return (
            self.path == path
            and span.start_line <= self.end_line + 1 + BLANK_LINES
            and self.start_line <= span.end_line + 1 + BLANK_LINES
        )

    def covers(self, line: int) -> bool:
        return self.start_line <= line <= self.end_line


class Lines:
    """The lines of one note, as far as its chunks are known."""

    def __init__(self, chunks: Iterable[tuple[Span, str]]) -> None:
        self._texts: dict[int, str] = {}
        for span, text in chunks:
            self._texts |= enumerate(text.split("\n"), start=span.start_line)

    def known(self, line: int) -> bool:
        return line in self._texts

    def text(self, first: int, last: int) -> str:
        return "\n".join(self._texts.get(line, "") for line in range(first, last + 1))

    def chars(self, first: int, last: int) -> int:
        return sum(len(self._texts.get(line, "")) + 1 for line in range(first, last + 1)) - 1


def merge(
    found: Sequence[tuple[int, str, Span]], notes: Mapping[str, Lines], limit: int
) -> list[Passage]:
    """At most `limit` passages from chunks given as id, path and span, best first."""
    passages: list[Passage] = []
    for chunk_id, path, span in found:
        near = next((one for one in passages if one.touches(path, span)), None)
        if near is not None and _join(near, span, notes[path]):
            continue
        if near is not None and near.covers(span.start_line) and near.covers(span.end_line):
            continue
        if len(passages) < limit:
            passages.append(Passage(path, span.start_line, span.end_line, chunk_id))
    return passages


def fair(
    passages: Sequence[Passage],
    source: Callable[[Passage], str],
    quota: Callable[[str], int],
    limit: int,
) -> list[Passage]:
    """The first `limit`, no source with more than its quota while another still has some."""
    taken: list[Passage] = []
    counts: dict[str, int] = {}
    for passage in passages:
        name = source(passage)
        if len(taken) < limit and counts.get(name, 0) < quota(name):
            counts[name] = counts.get(name, 0) + 1
            taken.append(passage)
    chosen = {id(passage) for passage in taken}
    spare = [one for one in passages if id(one) not in chosen][: limit - len(taken)]
    chosen |= {id(passage) for passage in spare}
    return [passage for passage in passages if id(passage) in chosen]


def _join(passage: Passage, span: Span, lines: Lines) -> bool:
    first, last = min(passage.start_line, span.start_line), max(passage.end_line, span.end_line)
    both = (passage.start_line, passage.end_line, span.start_line, span.end_line)
    if not all(lines.known(line) for line in both) or lines.chars(first, last) > MERGED_CHARS:
        return False
    passage.start_line, passage.end_line = first, last
    return True


def widen(passages: Sequence[Passage], notes: Mapping[str, Lines]) -> None:
    """Give small passages the lines around them, the best first, none twice."""
    for passage in passages:
        others = [one for one in passages if one is not passage and one.path == passage.path]
        _grow(passage, others, notes[passage.path])


def _grow(passage: Passage, others: Sequence[Passage], lines: Lines) -> None:
    if not lines.known(passage.start_line) or not lines.known(passage.end_line):
        return
    room = WIDE_CHARS - lines.chars(passage.start_line, passage.end_line)
    open_ends = {-1, 1}
    while open_ends:
        for step in sorted(open_ends):
            line = _next_line(passage, step, lines)
            cost = lines.chars(line, line) + 1 if line else room + 1
            if cost > room or any(one.covers(line) for one in others):
                open_ends.discard(step)
                continue
            room -= cost
            if step < 0:
                passage.start_line = line
            else:
                passage.end_line = line


def _next_line(passage: Passage, step: int, lines: Lines) -> int:
    """The next line with text above or below, across blank ones; 0 where there is none."""
    edge = passage.start_line if step < 0 else passage.end_line
    for distance in range(1, BLANK_LINES + 2):
        if lines.known(edge + step * distance):
            return edge + step * distance
    return 0


# -- snippets -----------------------------------------------------------------------------------

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
