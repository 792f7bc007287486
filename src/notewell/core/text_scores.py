"""How well the words of a chunk match a query: BM25, divided by the maximum for the query.

                Σ weight(t) · f / (f + k)        t: every term of the query, also those
    share  =   ───────────────────────────       that no chunk has
                      Σ weight(t)

So the share is in 0..1, grows with every further term, and can be compared between queries: if
the memory does not have half the weight of a query, no chunk has a high score. The idf is never
negative (that of FTS5 is, and in a memory of three notes it makes every score useless).

`f` is the frequency of the term in the body, plus less in heading and file name, plus a little in
the chunks before and after: an answer often spans two chunks. Terms that are close together, as in
the query, add to the share. docs/ranking.md has the measured effect of each part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from notewell.core.layout import K1
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.core.layout import Layout
    from notewell.core.terms import TextQuery

HEADING_WEIGHT = 0.6
NAME_WEIGHT = 0.4
"""A word in the heading path or the file name is about the subject, but less precise."""

NEIGHBOUR_WEIGHT = 0.15
"""The share of a word that counts if the chunk before or after has it."""

CLOSE = 0.2
CLOSE_WORDS = 8
"""The most that two adjacent terms of the query add, and the largest distance that counts."""

FAINT_WEIGHT = 0.4
"""The factor for a bigram that contains a particle: 的 in 王的 has no meaning of its own."""


class TextMatch(NamedTuple):
    """A chunk that has at least one term: the frequency of each term in each field."""

    chunk_id: int
    body: Sequence[float]
    heading: Sequence[float]
    name: Sequence[float]
    length: int
    """Words in the body."""
    gaps: Sequence[int] = ()
    """The smallest distance of each term to the next term of the query; 0 if one of the two is
    missing."""


class TermCounts(NamedTuple):
    """How often each chunk has one term, by field; chunks without it are left out."""

    body: dict[int, float]
    heading: dict[int, float]
    name: dict[int, float]

    def chunk_ids(self) -> set[int]:
        return {*self.body, *self.heading, *self.name}


class TextMatches(Sequence[TextMatch]):
    """The chunks that have at least one term, best first. The counts are kept by term: most chunks
    lack most terms, and a search looks at a hundred chunks."""

    __slots__ = ("gaps", "ids", "layout", "lengths", "terms")

    def __init__(
        self,
        ids: Sequence[int],
        lengths: Mapping[int, int],
        terms: Sequence[TermCounts],
        gaps: Sequence[Mapping[int, int]],
        layout: Layout | None = None,
    ) -> None:
        """The counts are those of `ids`; the others may have more. A store that keeps it gives the
        `layout`."""
        self.ids = ids
        self.lengths = lengths
        self.terms = terms
        self.gaps = gaps
        self.layout = layout

    @classmethod
    def of(cls, matches: Sequence[TextMatch]) -> TextMatches:
        numbers = range(len(matches[0].body) if matches else 0)
        terms = [
            TermCounts(
                {one.chunk_id: one.body[term] for one in matches if one.body[term]},
                {one.chunk_id: one.heading[term] for one in matches if one.heading[term]},
                {one.chunk_id: one.name[term] for one in matches if one.name[term]},
            )
            for term in numbers
        ]
        gaps = [
            {one.chunk_id: one.gaps[at] for one in matches if one.gaps and one.gaps[at]}
            for at in numbers[:-1]
        ]
        lengths = {one.chunk_id: one.length for one in matches}
        return cls(list(lengths), lengths, terms, gaps)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> TextMatch: ...
    @overload
    def __getitem__(self, at: slice) -> list[TextMatch]: ...
    def __getitem__(self, at: int | slice) -> TextMatch | list[TextMatch]:
        if isinstance(at, slice):
            return [self._row(one) for one in self.ids[at]]
        return self._row(self.ids[at])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _row(self, chunk_id: int) -> TextMatch:
        body, heading, name = (
            tuple([term[field].get(chunk_id, 0) for term in self.terms]) for field in range(3)
        )
        gaps = tuple([gaps.get(chunk_id, 0) for gaps in self.gaps])
        return TextMatch(chunk_id, body, heading, name, self.lengths[chunk_id], gaps)


def least_gap(one: Sequence[int], other: Sequence[int]) -> int:
    """The least distance between the places of two terms, which ascend; 0 if one has none."""
    # Both lists ascend, so one pass as in a merge meets the smallest distance.
    least, i, j = 0, 0, 0
    while i < len(one) and j < len(other):
        gap = abs(one[i] - other[j])
        least = min(least, gap) if least else gap
        i, j = (i + 1, j) if one[i] < other[j] else (i, j + 1)
    return least


class TextStats(NamedTuple):
    """Statistics of all chunks for the terms of a query."""

    chunks: int
    mean_length: float
    having: tuple[int, ...]
    """For each term, how many chunks have it."""


class QueryWeights(NamedTuple):
    """The weights of the parts of a query."""

    terms: tuple[float, ...]
    neighbours: tuple[float, ...]
    """For each term but the last: the weight of it and the next term close together."""
    possible: float
    """That of a chunk which has all terms."""


def idf(stats: TextStats, term: int) -> float:
    having = stats.having[term]
    return math.log1p((stats.chunks - having + 0.5) / (having + 0.5))


def query_weights(query: TextQuery, stats: TextStats) -> QueryWeights:
    terms = tuple(
        idf(stats, number) * (FAINT_WEIGHT if term in query.faint else 1.0)
        for number, term in enumerate(query.terms)
    )
    # Bigrams of one word overlap, so they are always adjacent: that says nothing new.
    separate = [0.0 if term in query.pairs else terms[n] for n, term in enumerate(query.terms)]
    return QueryWeights(terms, tuple(map(min, separate, separate[1:])), sum(terms))


def text_scores(matches: TextMatches, layout: Layout, weights: QueryWeights) -> dict[int, float]:
    """The score of each match, by chunk. `layout` has at least these chunks."""
    possible = weights.possible
    if not possible:
        return dict.fromkeys(matches.ids, 0.0)
    earned = _earned(matches, layout, weights)
    shares = {chunk_id: value / possible for chunk_id, value in earned.items()}
    for chunk_id, value in _closeness(matches, weights).items():
        if chunk_id in shares:
            shares[chunk_id] += CLOSE * value / possible * (1 - shares[chunk_id])
    # A chunk of mean length with every term once has 1 / (1 + K1). The curve raises that to about
    # two thirds, without changing the order.
    highest = 1 + K1
    return {chunk_id: share * highest / (1 + K1 * share) for chunk_id, share in shares.items()}


def _earned(matches: TextMatches, layout: Layout, weights: QueryWeights) -> dict[int, float]:
    """The sum of the weights of the terms, each as far as its frequency goes."""
    after, before = layout.neighbours(matches.ids)
    saturation = layout.saturation
    earned = dict.fromkeys(matches.ids, 0.0)
    for value, (body, heading, name) in zip(weights.terms, matches.terms, strict=True):
        frequencies = dict(body)
        frequency_of = frequencies.get
        # First what the chunk before lends, then the one after: the order of a sum changes its
        # last digit.
        for neighbour_of in (after.get, before.get):
            for chunk_id, count in body.items():
                other = neighbour_of(chunk_id)
                if other is not None:
                    frequencies[other] = frequency_of(other, 0.0) + NEIGHBOUR_WEIGHT * count
        for chunk_id, count in heading.items():
            frequencies[chunk_id] = frequency_of(chunk_id, 0.0) + HEADING_WEIGHT * count
        for chunk_id, count in name.items():
            frequencies[chunk_id] = frequency_of(chunk_id, 0.0) + NAME_WEIGHT * count
        for chunk_id, frequency in frequencies.items():
            earned[chunk_id] += value * frequency / (frequency + saturation[chunk_id])
    return earned


def _closeness(matches: TextMatches, weights: QueryWeights) -> dict[int, float]:
    close = dict[int, float]()
    for value, gaps in zip(weights.neighbours, matches.gaps, strict=False):
        for chunk_id, gap in gaps.items():
            if gap <= CLOSE_WORDS:
                close[chunk_id] = close.get(chunk_id, 0) + value / gap
    return close


def exact_matches(matches: TextMatches, query: TextQuery) -> set[int]:
    """The chunks that have all terms, or an identifier: no threshold applies to them."""
    if not matches:  # Then they have no terms either.
        return set()
    exact = set[int]()
    for term in query.identifiers:
        exact |= matches.terms[query.terms.index(term)].chunk_ids()
    # The rarest first: then the rest is soon empty.
    rarest, *others = sorted(matches.terms, key=lambda term: len(term.body)) or [_NOWHERE]
    having_all = rarest.chunk_ids()
    for one in others:
        if not having_all:
            break
        having_all &= one.chunk_ids()
    return exact | having_all


_NOWHERE = TermCounts({}, {}, {})
