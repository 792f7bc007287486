"""Where chunks stand in their notes, and how long they are: what a text score depends on besides
the words. It is the same for every question, so that a store may keep it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.types import Span

K1 = 1.2
B = 0.75
"""The textbook values of BM25. A smaller B does a little better on conversations and worse on
code; see docs/ranking.md."""

NEIGHBOUR_LINES = 3
"""Up to two blank lines may be between two neighbours."""


class Layout(NamedTuple):
    """Of some chunks."""

    numbers: Mapping[int, int]
    """In the order of notes and lines; the pieces of a line have the same number."""
    reaches: Mapping[int, int]
    """For each chunk the number of the last one that is near it."""
    saturation: Mapping[int, float]
    """The frequency at which a word has half of its weight: the larger, the longer the chunk."""

    @classmethod
    def of(
        cls,
        places: Mapping[int, tuple[str, Span]],
        lengths: Mapping[int, int],
        mean_length: float,
    ) -> Layout:
        """`places` has the note and the lines of each chunk, `lengths` its words."""
        in_order = sorted(places, key=places.__getitem__)
        numbers, reaches = dict[int, int](), dict[int, int]()
        for number, one in enumerate(in_order):
            is_piece = number and places[one] == places[in_order[number - 1]]
            numbers[one] = numbers[in_order[number - 1]] if is_piece else number
        for number, one in enumerate(in_order):
            path, (_, end_line) = places[one]
            last = number
            while last + 1 < len(in_order):
                next_path, (start_line, _) = places[in_order[last + 1]]
                if start_line > end_line + NEIGHBOUR_LINES or next_path != path:
                    break
                last += 1
            reaches[one] = numbers[in_order[last]]
        base = 1 - B
        saturation = {
            one: K1 * (base + B * (lengths[one] / mean_length if mean_length else 1.0))
            for one in places
        }
        return cls(numbers, reaches, saturation)

    def neighbours(self, ids: Iterable[int]) -> tuple[dict[int, int], dict[int, int]]:
        """Among these chunks: the next one after a chunk and the last one before it, if they are
        near."""
        numbers, reaches = self.numbers, self.reaches
        after, before = dict[int, int](), dict[int, int]()
        for one, other in pairwise(sorted(ids, key=numbers.__getitem__)):
            if numbers[other] <= reaches[one]:
                after[one], before[other] = other, one
        return after, before
