"""Ranked chunks become passages: small units are searched, larger ones are read.

Small chunks are found more precisely than large ones, but a reader needs the lines around them,
and six hits should be six different passages. So, best first:

    found     ▓▓ 1st      ▓▓ 3rd ▓▓ 2nd              ▓▓ 4th
    merged    ▓▓          ▓▓▓▓▓▓▓                    ▓▓        neighbours are one hit
    widened  ░▓▓░░        ▓▓▓▓▓▓▓░                  ░▓▓░       up to a limit, never into others

A hit has the score of its best chunk. The pieces of a line that is longer than a chunk are merged
and widened in the same way, inside of their line (see `long_lines`). A snippet is the part of a
passage with the most terms of the query.
"""

from __future__ import annotations

from bisect import bisect_right
from math import fsum
from typing import TYPE_CHECKING

from notewell.core.form_places import find_forms
from notewell.core.line_rows import groups_of_hit, groups_of_part, rows_of_line
from notewell.core.long_lines import Extent, LongLine
from notewell.core.words import ASKED, without_markers
from notewell.limits import SNIPPET_CHARS
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from notewell.core.cutting import LinePart
    from notewell.core.form_places import FormPlace
    from notewell.core.line_rows import HitGroups, LineRow
    from notewell.types import Span

MERGED_CHARS = 2400
"""Neighbours are merged up to this size: three chunks in a row."""

WIDE_CHARS = 1090
"""A smaller hit is widened to this size: six hits, some of them merged, are 8 500 characters."""

_QUESTION_MARKS = ("?", "？", "؟")

KEPT_WIDE = 256
"""The next question has many of the same passages. A few hundred bytes each."""

BLANK_LINES = 2
"""Chunks with at most this many lines between them are neighbours: no chunk has blank edges."""


class FoundChunk(NamedTuple):
    """A chunk that was found, and where it is."""

    id: int
    path: str
    span: Span
    part: Extent | None = None
    """Of a line that is longer than a chunk; None for whole lines."""
    chars: int = MERGED_CHARS
    """At most so many characters."""


class Passage:
    """Consecutive lines of one note with one or more of the chunks that were found."""

    __slots__ = ("best", "end_line", "part", "path", "start_line")

    def __init__(
        self, path: str, start_line: int, end_line: int, best: int, part: Extent | None = None
    ) -> None:
        """`best` is the id of the chunk with the best rank, `part` that of a line that is longer
        than a chunk; None for whole lines."""
        self.path = path
        self.start_line = start_line
        self.end_line = end_line
        self.best = best
        self.part = part

    def reaches(self, found: FoundChunk) -> bool:
        """Whether both are near parts of one line."""
        is_line = (self.path, self.start_line) == (found.path, found.span.start_line)
        if not is_line or self.part is None or found.part is None:
            return False
        return self.part.joined(found.part).chars <= MERGED_CHARS

    def covers(self, line: int) -> bool:
        return self.start_line <= line <= self.end_line


def numbered_lines(span: Span, text: str) -> dict[int, str]:
    """The lines of a text that begins with the first line of the span."""
    return dict(enumerate(text.split("\n"), start=span.start_line))


class ChunkLines:
    """The lines of one note that are in the given chunks."""

    def __init__(
        self, chunks: Iterable[Mapping[int, str]], pieces: Iterable[tuple[int, LinePart]] = ()
    ) -> None:
        """`chunks` are the lines of each, by number; `pieces` are those of long lines, each with
        the number of its line."""
        self._texts: dict[int, str] = {}
        for lines in chunks:
            # Chunks overlap; the text of a shared line is the same in both.
            self._texts |= lines
        cuts: dict[int, list[LinePart]] = {}
        for line, cut in pieces:
            cuts.setdefault(line, []).append(cut)
        self._long = {line: LongLine(of_line) for line, of_line in cuts.items()}
        self._rows: dict[int, tuple[LineRow, ...]] = {}
        self._groups: dict[Span, HitGroups] = {}
        self._part_groups: dict[tuple[int, Extent], HitGroups] = {}
        self._chars: dict[tuple[int, int], int] = {}
        self.wide: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {}
        """The widened lines of a passage, by its own and those of the others in the note."""

    def has(self, line: int) -> bool:
        """Whether the whole line is known."""
        return line in self._texts

    def long_line(self, line: int) -> LongLine | None:
        """A line that is longer than a chunk."""
        return self._long.get(line)

    def line(self, number: int) -> str:
        return self._texts.get(number, "")

    def rows(self, number: int) -> tuple[LineRow, ...]:
        """The rows of a line without the marker of an entry; none if it is blank."""
        rows = self._rows.get(number)
        if rows is None:
            text = without_markers(self._texts.get(number, ""))
            self._rows[number] = rows = rows_of_line(number, text)
        return rows

    def groups(self, span: Span) -> HitGroups:
        """The rows of a hit and the groups in which they are read."""
        groups = self._groups.get(span)
        if groups is None:
            self._groups[span] = groups = groups_of_hit(self, span)
        return groups

    def groups_of_part(self, line: int, part: Extent) -> HitGroups:
        """The same for a part of a line that is longer than a chunk."""
        groups = self._part_groups.get((line, part))
        if groups is None:
            self._part_groups[line, part] = groups = groups_of_part(self, line, part)
        return groups

    def text(self, first: int, last: int) -> str:
        return "\n".join([self._texts.get(line, "") for line in range(first, last + 1)])

    def chars(self, first: int, last: int) -> int:
        known = self._chars.get((first, last))
        if known is None:
            known = last - first + sum([len(self.line(at)) for at in range(first, last + 1)])
            self._chars[first, last] = known
        return known


def merge_passages(
    ranked: Sequence[FoundChunk], notes: Mapping[str, ChunkLines], limit: int
) -> list[Passage]:
    """At most `limit` passages from ranked chunks, best first."""
    passages: list[Passage] = []
    found_in: dict[str, list[FoundChunk]] = {}
    for found in ranked:
        found_in.setdefault(found.path, []).append(found)
    by_note: dict[str, list[Passage]] = {path: [] for path in found_in}
    for found in ranked:
        _, path, span, part, _ = found
        others = by_note[path]
        # Up to these lines, a chunk is a neighbour.
        first, last = span.start_line - 1 - BLANK_LINES, span.end_line + 1 + BLANK_LINES
        near = None
        for passage in others:
            if (
                passage.reaches(found)
                if part or passage.part
                else first <= passage.end_line and passage.start_line <= last
            ):
                near = passage
                break
        if near is not None and _join(near, found, found_in[path], notes):
            continue
        # Too large to join, but all its lines are in the passage already (overlap).
        if near is not None and near.covers(span.start_line) and near.covers(span.end_line):
            continue
        if len(passages) < limit:
            others.append(Passage(path, *span, best=found.id, part=found.part))
            passages.append(others[-1])
    return passages


def apply_quotas(
    passages: Sequence[Passage],
    source: Callable[[Passage], str],
    quota: Callable[[str], int],
    limit: int,
) -> list[Passage]:
    """The first `limit` passages. No source has more than its quota while another has passages."""
    within: list[Passage] = []
    counts: dict[str, int] = {}
    for passage in passages:
        name = source(passage)
        if counts.get(name, 0) < quota(name):
            counts[name] = counts.get(name, 0) + 1
            within.append(passage)
            if len(within) >= limit:
                return within
    # By identity: a passage is mutable and has no hash.
    chosen = {id(passage) for passage in within}
    rest = [passage for passage in passages if id(passage) not in chosen]
    chosen |= {id(passage) for passage in rest[: limit - len(within)]}
    return [passage for passage in passages if id(passage) in chosen]


def _join(
    passage: Passage,
    found: FoundChunk,
    of_note: Sequence[FoundChunk],
    notes: Mapping[str, ChunkLines],
) -> bool:
    if passage.part and found.part:
        passage.part = passage.part.joined(found.part)
        return True
    start_line, end_line = found.span
    first, last = min(passage.start_line, start_line), max(passage.end_line, end_line)
    # The lines are made and counted only if the chunks there may be too long together.
    if _most_chars(of_note, first, last) > MERGED_CHARS:
        lines = notes[found.path]
        edges = (passage.start_line, passage.end_line, start_line, end_line)
        if not all(lines.has(line) for line in edges) or lines.chars(first, last) > MERGED_CHARS:
            return False
    passage.start_line, passage.end_line = first, last
    return True


def _most_chars(of_note: Sequence[FoundChunk], first: int, last: int) -> int:
    """As `ChunkLines.chars`, or more: what two chunks share is counted twice."""
    inside = [chars for _, _, (start, end), _, chars in of_note if start <= last and end >= first]
    return sum(inside) + last - first


def widen_passages(passages: Sequence[Passage], notes: Mapping[str, ChunkLines]) -> None:
    """Add the surrounding lines to small passages, best first; no line is in two passages."""
    by_note: dict[str, list[Passage]] = {}
    for passage in passages:
        by_note.setdefault(passage.path, []).append(passage)
    for passage in passages:
        others = [other for other in by_note[passage.path] if other is not passage]
        if passage.part:
            passage.part = _wide_part(passage, passage.part, others, notes[passage.path])
        else:
            _become_wide(passage, others, notes[passage.path])


def _wide_part(
    passage: Passage, part: Extent, others: Sequence[Passage], lines: ChunkLines
) -> Extent:
    line = lines.long_line(passage.start_line)
    if line is None:
        return part
    same = [one.part for one in others if one.part and one.start_line == passage.start_line]
    before = max((one.end for one in same if one.end <= part.start), default=0)
    after = min((one.start for one in same if one.start >= part.end), default=line.end)
    return line.widened(part, WIDE_CHARS, Extent(before, after))


def _become_wide(passage: Passage, others: Sequence[Passage], lines: ChunkLines) -> None:
    key = tuple([(one.start_line, one.end_line) for one in (passage, *others)])
    wide = lines.wide.get(key)
    if wide is None:
        _grow(passage, others, lines)
        if len(lines.wide) >= KEPT_WIDE:
            lines.wide.clear()
        lines.wide[key] = (passage.start_line, passage.end_line)
    else:
        passage.start_line, passage.end_line = wide


def _grow(passage: Passage, others: Sequence[Passage], lines: ChunkLines) -> None:
    if not lines.has(passage.start_line) or not lines.has(passage.end_line):
        return
    room = WIDE_CHARS - lines.chars(passage.start_line, passage.end_line)
    # One line up, then one line down, until neither direction has room.
    open_ends = {-1, 1}
    while open_ends:
        for step in sorted(open_ends):
            line = _next_line(passage, step, lines)
            cost = len(lines.line(line)) + 1 if line else room + 1
            if cost > room or any(other.covers(line) for other in others):
                open_ends.discard(step)
                continue
            room -= cost
            if step < 0:
                passage.start_line = line
            else:
                passage.end_line = line


def add_answers(passages: Sequence[Passage], notes: Mapping[str, ChunkLines]) -> None:
    """A passage of a conversation that ends with a message of the user, or with a question of the
    assistant, gets the next message too."""
    for passage in passages:
        lines, after = notes[passage.path], passage.end_line + 1
        last = lines.text(passage.end_line, passage.end_line)
        is_asked = last.startswith(ASKED) or last.rstrip().endswith(_QUESTION_MARKS)
        taken = any(other.path == passage.path and other.covers(after) for other in passages)
        if is_asked and lines.has(after) and not taken:
            passage.end_line = after


def _next_line(passage: Passage, step: int, lines: ChunkLines) -> int:
    """The next line above or below that is in a chunk, across blank lines; 0 if there is none, or
    only a part of it would have room."""
    edge = passage.start_line if step < 0 else passage.end_line
    for distance in range(1, BLANK_LINES + 2):
        line = edge + step * distance
        if lines.long_line(line):
            return 0
        if lines.has(line):
            return line
    return 0


# -- snippets -----------------------------------------------------------------------------------

ELLIPSIS = "…"


def snippet(text: str, weights: Mapping[str, float], max_chars: int = SNIPPET_CHARS) -> str:
    """The window of a text with the highest sum of weights of distinct terms. It begins at the
    start of a line if possible; without any term, at the start of the text.

    `weights` has the weight of each term of the query.
    """
    if len(text) <= max_chars:
        return text
    # The window leaves room for an ellipsis at both ends.
    places = find_forms(text, weights)
    start = _best_start(text, weights, places, max_chars - 2 * len(ELLIPSIS))
    end = min(len(text), start + max_chars - (2 if start else 1) * len(ELLIPSIS))
    shown = text[start:end].strip()
    return f"{ELLIPSIS if start else ''}{shown}{ELLIPSIS if end < len(text) else ''}"


def _best_start(
    text: str, weights: Mapping[str, float], places: Sequence[FormPlace], room: int
) -> int:
    matches = [
        (start, form) for start, end, form in places if weights[form] > 0 and end - start <= room
    ]
    if not matches:
        return 0
    starts = [start for start, _ in matches]

    def value(first: int) -> float:
        last = bisect_right(starts, starts[first] + room - 1)
        # A set: the same term ten times is not worth more than two different terms.
        # `fsum`: the order of a set differs between processes, and so would a rounded sum.
        return fsum(weights[form] for form in {form for _, form in matches[first:last]})

    # Of equal windows the first: the beginning of a passage needs no context. No window has more
    # than all terms of the text.
    most, best, best_value = fsum(weights[form] for form in {form for _, form in matches}), 0, -1.0
    for first in range(len(matches)):
        if best_value < most and (now := value(first)) > best_value:
            best, best_value = first, now
    last = bisect_right(starts, starts[best] + room - 1) - 1
    return _readable_start(text, starts[best], starts[last], room)


def _readable_start(text: str, first: int, last: int, room: int) -> int:
    """Centre the matches, then go back to the start of the line, or at least of a word."""
    centred = max(0, min(first, (first + last - room) // 2, len(text) - room))
    for mark in ("\n", " "):
        begin = text.rfind(mark, 0, first + 1) + 1
        if begin <= first and last - begin < room and begin >= centred - room // 4:
            return begin
    return centred
