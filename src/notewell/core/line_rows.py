"""The lines of a hit as rows: a line is one row, a long line several, each with some sentences.

Rows depend on the note alone: they are made once and kept with its lines. A row that is read again
knows its words, so that a search only looks which of them are words of the query.

    text   ## Storage ⏎ ⏎ We moved to SQLite. … The old files … ⏎ See also …
    rows   ──────────     ───────────────────  ───────────────   ──────────
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core.cutting import LinePart, parts
from notewell.core.form_places import all_forms, finder_of
from notewell.core.long_lines import Extent
from notewell.records import NamedTuple
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from notewell.core.passages import ChunkLines

GROUP_CHARS = 160
"""Lines are joined until a group has so many: a line of hard-wrapped text says little alone."""
GROUP_MOST_CHARS = 400
"""A line is not joined to a group that would then be longer than this."""
PART_CHARS = 400
"""A longer line is shown in parts."""
LINE_END = "\n"
BLANK = "\n\n"
"""The end of a line, and a blank line."""


class LineRow:
    """One line, or a part of a long one."""

    __slots__ = ("ends_inside", "forms", "inner", "line", "part", "size", "text", "was_read")

    def __init__(
        self,
        line: int,
        text: str,
        size: int,
        part: Extent | None = None,
        inner: str | None = None,
        *,
        ends_inside: bool = False,
    ) -> None:
        self.line = line
        self.text = text
        self.size = size
        """Characters without the space around them."""
        self.part = part
        self.inner = inner
        """What is between the part before it and this one, in the same line."""
        self.ends_inside = ends_inside
        """The line goes on."""
        self.forms: frozenset[str] | None = None
        """Those of its words, from the second time on that it is read."""
        self.was_read = False


class JoinedRow(NamedTuple):
    """A row of a hit."""

    row: LineRow
    joint: str | None
    """What is between the row before it and this one: the end of a line, or nothing, or space; a
    blank line as well, or a text that is not shown (None)."""
    is_near: bool
    """Whether it follows the row before it directly."""


class RowGroup(NamedTuple):
    """Rows of a hit that are read together."""

    first: int
    """The number of its first row in the hit."""
    end: int
    """That of the row after it."""
    span: Span
    text: str
    joint: str | None
    """What is between the group before it and this one, as in `JoinedRow`."""
    starts_inside: bool
    """It begins inside of a long line."""
    ends_inside: bool
    """The last line goes on."""


class HitGroups(NamedTuple):
    """The rows of a hit, and the groups that they make; they are the same for every question."""

    rows: Sequence[LineRow]
    is_near: Sequence[bool]
    """For each row whether it follows the row before it directly; false for the end."""
    groups: Sequence[RowGroup]


def groups_of_hit(lines: ChunkLines, span: Span) -> HitGroups:
    """Of whole lines. With one more line on both sides: they lend their words."""
    return _grouped(rows_of_hit(lines, span), span)


def groups_of_part(lines: ChunkLines, number: int, part: Extent) -> HitGroups:
    """Of a part of a line that is longer than a chunk."""
    return _grouped(list(rows_of_part(lines, number, part)), Span(number, number))


def _grouped(rows: Sequence[JoinedRow], span: Span) -> HitGroups:
    groups = []
    for numbers in group_rows(rows, span):
        (first, before, _), *others = rows[numbers.start : numbers.stop]
        text = first.text + "".join([f"{joint or ''}{row.text}" for row, joint, _ in others])
        last = rows[numbers.stop - 1].row
        group = RowGroup(
            numbers.start,
            numbers.stop,
            Span(first.line, last.line),
            text,
            before,
            first.part is not None and first.part.start > 0,
            last.ends_inside,
        )
        groups.append(group)
    is_near = [*[near for _, _, near in rows], False]
    return HitGroups([row for row, _, _ in rows], is_near, groups)


def shared_forms(rows: Sequence[LineRow], forms: frozenset[str]) -> list[Set[str]]:
    """Which of these forms the words of each row have."""
    if not forms:
        return [forms] * len(rows)
    known = [row.forms for row in rows]
    if None not in known:
        return [forms & own for own in known if own is not None]
    known = [_known_forms(row) for row in rows]
    unknown = [row.text for row, own in zip(rows, known, strict=True) if own is None]
    found = iter(_forms_in(unknown, forms))
    return [next(found) if own is None else forms & own for own in known]


def _known_forms(row: LineRow) -> frozenset[str] | None:
    """Those of its words; None the first time. Most rows of a large memory are read once, and to
    look for a few forms in a text takes less than to split it."""
    if row.forms is None and row.was_read:
        row.forms = all_forms(row.text)
    row.was_read = True
    return row.forms


def _forms_in(texts: Sequence[str], forms: frozenset[str]) -> Iterator[Set[str]]:
    """Looked for in all texts at once: no word goes on after the end of a line."""
    places = finder_of(forms).places(LINE_END.join(texts)) if texts else []
    at = end = 0
    for text in texts:
        end += len(text) + 1
        first = at
        while at < len(places) and places[at].start < end:
            at += 1
        yield {place.form for place in places[first:at]}


def rows_of_line(number: int, text: str) -> tuple[LineRow, ...]:
    """None for a blank line."""
    bare = text.strip()
    if not bare:
        return ()
    if len(text) <= PART_CHARS:
        return (LineRow(number, text, len(bare)),)
    sentences = parts(text, GROUP_CHARS, GROUP_MOST_CHARS)
    return tuple(_part_rows(number, sentences, 0, len(text.rstrip())))


def rows_of_hit(lines: ChunkLines, span: Span) -> list[JoinedRow]:
    """The lines with text, and one more on both sides."""
    rows: list[JoinedRow] = []
    joint: str | None = LINE_END
    for number in range(span.start_line - 1, span.end_line + 2):
        if lines.long_line(number):
            joint = None
        own = lines.rows(number)
        if not own:
            joint = joint and BLANK
            continue
        rows.append(_joined(own[0], own[0].inner or joint))
        rows += [_joined(row, row.inner) for row in own[1:]]
        joint = LINE_END
    return rows


def _joined(row: LineRow, joint: str | None) -> JoinedRow:
    return JoinedRow(row, joint, joint is not None and joint != BLANK)


def rows_of_part(lines: ChunkLines, number: int, part: Extent) -> Iterator[JoinedRow]:
    """The sentences of a part of a line that is longer than a chunk."""
    line = lines.long_line(number)
    for run in line.runs(part) if line else ():
        sentences = parts(run.text, GROUP_CHARS, GROUP_MOST_CHARS)
        line_end = line.end if line else run.end
        for row in _part_rows(number, sentences, run.start, line_end):
            yield _joined(row, row.inner)


def _part_rows(
    number: int, sentences: Iterator[LinePart], begin: int, line_end: int
) -> Iterator[LineRow]:
    inner, end = None, begin
    for start, text in sentences:
        part = Extent(begin + start, begin + start + len(text))
        if start:
            inner = " " if part.start > end else ""
        end = part.end
        yield LineRow(number, text, len(text), part, inner, ends_inside=end < line_end)


def group_rows(rows: Sequence[JoinedRow], span: Span) -> Iterator[range]:
    """Every row of the span is in one group; a blank line ends a group."""
    first, chars = -1, 0
    start_line, end_line = span
    for at, (row, _, is_near) in enumerate(rows):
        size = row.size
        is_full = chars >= GROUP_CHARS or chars + size > GROUP_MOST_CHARS
        is_inside = start_line <= row.line <= end_line
        if first >= 0 and (is_full or not is_inside or not is_near):
            yield range(first, at)
            first, chars = -1, 0
        if is_inside:
            first, chars = at if first < 0 else first, chars + size
    if first >= 0:
        yield range(first, len(rows))
