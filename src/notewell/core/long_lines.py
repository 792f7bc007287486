"""Lines that are longer than a chunk: each piece is found like a chunk and read like a line.

    line 7    ░░░░░░│▓▓▓▓▓▓│░░░░░░│      │▓▓▓▓▓▓│      pieces, two of them found
    extents      ░░░▓▓▓▓▓▓▓░░            ░▓▓▓▓▓▓░░     widened to where sentences begin and end

Lines have numbers; a place in a long line is an extent of its characters.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from notewell.core.cutting import LinePart, sentence_ends
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SPACE_CHARS = 8
"""White space around a piece is not stored. A larger gap is a piece that is not known: equal
pieces of one line are one chunk."""


class Extent(NamedTuple):
    """Characters `start` up to, not including, `end` of one line."""

    start: int
    end: int

    @property
    def chars(self) -> int:
        return self.end - self.start

    def holds(self, other: Extent) -> bool:
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: Extent) -> bool:
        """Whether they have a character in common, if neither is empty."""
        return self.start < other.end and other.start < self.end

    def joined(self, other: Extent) -> Extent:
        return Extent(min(self.start, other.start), max(self.end, other.end))

    def within(self, other: Extent) -> Extent:
        return Extent(max(self.start, other.start), min(self.end, other.end))


class LongLine:
    """What is known of one line."""

    def __init__(self, cuts: Iterable[LinePart]) -> None:
        """The same piece may be given several times."""
        self._cuts = sorted(set(cuts))
        self._starts = [cut.start for cut in self._cuts]

    @property
    def end(self) -> int:
        return self._cuts[-1].end

    def runs(self, extent: Extent) -> list[LinePart]:
        """The text of an extent, without the parts that are not known."""
        runs: list[LinePart] = []
        for cut in self._cuts[max(0, bisect_right(self._starts, extent.start) - 1) :]:
            if cut.start >= extent.end:
                break
            common = Extent(cut.start, cut.end).within(extent)
            text = cut.text[common.start - cut.start : common.end - cut.start]
            if not text:
                continue
            if runs and common.start - runs[-1].end <= SPACE_CHARS:
                start, before = runs.pop()
                gap = " " * (common.start - start - len(before))
                runs.append(LinePart(start, f"{before}{gap}{text}"))
            else:
                runs.append(LinePart(common.start, text))
        return runs

    def widened(self, extent: Extent, chars: int, bounds: Extent) -> Extent:
        """The same extent with whole sentences around it, up to so many characters in all."""
        room = chars - extent.chars
        if room <= 0:
            return extent
        reach = Extent(extent.start - room, extent.end + room).within(bounds)
        runs = (run for run in self.runs(reach) if run.start <= extent.start < run.end)
        run = next(runs, None)
        if run is None:
            return extent
        left, right = extent.start - run.start, run.end - extent.end
        before = min(left, max(room // 2, room - right))
        first = extent.start - before
        last = extent.end + min(right, room - before)
        return Extent(
            self._sentence_start(run, first, extent.start),
            self._sentence_end(run, extent.end, last),
        )

    @staticmethod
    def _sentence_start(run: LinePart, first: int, last: int) -> int:
        """The first start of a sentence from `first` on; `last` if there is none."""
        if not first:
            return 0
        ends = sentence_ends(run.text, first - run.start, last - run.start)
        return run.start + next(iter(ends)) if ends else last

    def _sentence_end(self, run: LinePart, first: int, last: int) -> int:
        if last == self.end:
            return last
        ends = sentence_ends(run.text, first - run.start, last - run.start)
        return run.start + ends[-1] if ends else first
