"""The lines of a hit as rows: a line is one row, a long line several, each with some sentences.

A row knows where it begins in the text of the hit, so that the words of the query are looked for
once in the whole text and not in each row.

    text   ## Storage ⏎ ⏎ We moved to SQLite. … The old files … ⏎ See also …
    rows   ──────────     ───────────────────  ───────────────   ──────────
    words                          ▲                   ▲
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from notewell.core.cutting import LinePart, parts
from notewell.core.form_places import FormPlace, finder_of
from notewell.core.long_lines import Extent
from notewell.core.words import without_markers
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.core.passages import ChunkLines
    from notewell.types import Span

GROUP_CHARS = 160
"""Lines are joined until a group has so many: a line of hard-wrapped text says little alone."""
GROUP_MOST_CHARS = 400
"""A line is not joined to a group that would then be longer than this."""
PART_CHARS = 400
"""A longer line is shown in parts."""
LINE_END = "\n"
BLANK = "\n\n"
"""The end of a line, and a blank line."""

_TOKEN_EDGES = frozenset(("", " ", "\t", "\r", "\n"))
KEPT_LINES = 1024
"""Long lines whose parts are kept, of about a kilobyte: the same lines come again in every hit."""


class LineRow(NamedTuple):
    """One line, or a part of a long one."""

    line: int
    text: str
    joint: str | None
    """What is between the row before it and this one: the end of a line, or nothing, or space; a
    blank line as well, or a text that is not shown (None)."""
    start: int = -1
    """Where it begins in the text of the hit; less than 0 for a row of another text."""
    part: Extent | None = None
    starts_inside: bool = False
    ends_inside: bool = False

    @property
    def is_near(self) -> bool:
        """Whether it follows the row before it directly."""
        return self.joint is not None and self.joint != BLANK


class HitText:
    """The lines of a hit and one more on both sides, without the markers of entries, and where
    they have the words of the query."""

    def __init__(self, lines: ChunkLines, span: Span, forms: frozenset[str]) -> None:
        self.first_line = span.start_line - 1
        self.whole = without_markers(lines.text(self.first_line, span.end_line + 1))
        self.texts = self.whole.split("\n")
        self._finder = finder_of(forms)
        self._places = self._finder.places(self.whole) if forms else []
        self._starts = [place[0] for place in self._places]

    def own(self) -> tuple[str, list[FormPlace]]:
        """The text of the hit alone, and the places in it."""
        start, end = len(self.texts[0]) + 1, len(self.whole) - len(self.texts[-1]) - 1
        places = self._places[bisect_left(self._starts, start) : bisect_left(self._starts, end)]
        moved = [FormPlace(first - start, last - start, form) for first, last, form in places]
        return self.whole[start:end], moved

    def rows(self, lines: ChunkLines) -> list[LineRow]:
        """The lines with text."""
        rows: list[LineRow] = []
        joint: str | None = LINE_END
        starts = accumulate((len(text) + 1 for text in self.texts), initial=0)
        for number, (text, start) in enumerate(
            zip(self.texts, starts, strict=False), self.first_line
        ):
            if lines.long_line(number):
                joint = None
            if not text or text.isspace():
                joint = joint and BLANK
                continue
            if len(text) <= PART_CHARS:
                rows.append(LineRow(number, text, joint, start))
            else:
                rows += _cut(number, text, joint, start)
            joint = LINE_END
        return rows

    def forms_in(self, row: LineRow) -> set[str]:
        start, end = row.start, row.start + len(row.text)
        # Inside of a token a word may begin that the whole token does not have.
        if row.part is not None and not self._is_whole(start, end):
            return self._finder.forms_in(row.text)
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return {place[2] for place in self._places[first:last]}

    def _is_whole(self, start: int, end: int) -> bool:
        """Whether no token goes on before or after."""
        before = self.whole[start - 1] if start else ""
        return before in _TOKEN_EDGES and self.whole[end : end + 1] in _TOKEN_EDGES


def part_rows(lines: ChunkLines, number: int, part: Extent) -> Iterator[LineRow]:
    """The sentences of a part of a line that is longer than a chunk."""
    line = lines.long_line(number)
    for run in line.runs(part) if line else ():
        line_end = line.end if line else run.end
        yield from _rows_of(number, _parts(run.text), None, run.start, line_end)


def _cut(number: int, text: str, joint: str | None, start: int) -> Iterator[LineRow]:
    for row in _rows_of(number, _kept_parts(text), joint, 0, len(text.rstrip())):
        yield row._replace(start=start + row.part.start) if row.part else row


def _rows_of(
    number: int, sentences: Sequence[LinePart], joint: str | None, begin: int, line_end: int
) -> Iterator[LineRow]:
    end = begin
    for start, text in sentences:
        part = Extent(begin + start, begin + start + len(text))
        if start:
            joint = " " if part.start > end else ""
        end = part.end
        yield LineRow(number, text, joint, -1, part, part.start > 0, part.end < line_end)


def _parts(text: str) -> tuple[LinePart, ...]:
    return tuple(parts(text, GROUP_CHARS, GROUP_MOST_CHARS))


_kept_parts = lru_cache(maxsize=KEPT_LINES)(_parts)


def groups_of(rows: Sequence[LineRow], span: Span) -> Iterator[range]:
    """Every row of the span is in one group; a blank line ends a group."""
    first, chars = -1, 0
    for at, row in enumerate(rows):
        size = len(row.text.strip())
        is_full = chars >= GROUP_CHARS or chars + size > GROUP_MOST_CHARS
        is_inside = span.start_line <= row.line <= span.end_line
        if first >= 0 and (not is_inside or not row.is_near or is_full):
            yield range(first, at)
            first, chars = -1, 0
        if is_inside:
            first, chars = at if first < 0 else first, chars + size
    if first >= 0:
        yield range(first, len(rows))


def words_in_rows(
    rows: Sequence[LineRow], weights: Mapping[str, float], text: HitText | None
) -> list[set[str]]:
    """The forms of the query in each row."""
    if not weights:
        return [set() for _ in rows]
    if text is not None:
        return [text.forms_in(row) for row in rows]
    finder = finder_of(frozenset(weights))
    return [finder.forms_in(row.text) for row in rows]
