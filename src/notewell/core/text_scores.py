"""What the words of a chunk say about it: BM25, divided by the most the question could earn.

                Σ worth(t) · f / (f + k)         t runs over the terms of the question,
    share  =   ──────────────────────────        those that no chunk has included
                      Σ worth(t)

so it lies in 0..1, grows with every further term, and can be compared between questions: where
half the weight of a question is missing from the memory, nothing scores high. The idf never turns
negative (FTS5's own does, and sinks everything in a memory of three notes).

`f` counts the term in the body, a little less in heading and file name, and a little in the chunks
before and after: a question is often answered across two of them. Words that stand close together,
as they do in the question, add to the share. See docs/ranking.md for what each of this is worth.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core.terms import TextQuery
    from notewell.types import Span

K1 = 1.2
B = 0.75
"""The textbook values of BM25. A smaller B does a little better on conversations and worse on
code; see docs/ranking.md."""

HEADING_WEIGHT = 0.6
NAME_WEIGHT = 0.4
"""A word in the heading path or the file name says what a chunk is about, a little less surely."""

NEIGHBOUR_WEIGHT = 0.15
NEIGHBOUR_LINES = 3
"""So much of a word counts when the chunk before or after has it, across two blank lines."""

CLOSE = 0.2
CLOSE_WORDS = 8
"""What two words of the question side by side add at most, and how far apart they still do."""

FAINT_WEIGHT = 0.4
"""What is left of a pair of characters that has a particle in it: 的 in 王的 says nothing."""


class TextMatch(NamedTuple):
    """A chunk that has at least one term: how often it has each, field by field."""

    chunk_id: int
    body: Sequence[float]
    heading: Sequence[float]
    name: Sequence[float]
    length: int
    """Words in the body."""
    gaps: Sequence[int] = ()
    """How far each term is from the next one of the question at the nearest; 0 where one of the
    two is missing."""

    def has(self, term: int) -> bool:
        return bool(self.body[term] or self.heading[term] or self.name[term])


class TextStats(NamedTuple):
    """What all chunks together say about the terms of a question."""

    chunks: int
    mean_length: float
    having: tuple[int, ...]
    """For each term, how many chunks have it."""


class Worth(NamedTuple):
    """What the parts of a question are worth."""

    terms: tuple[float, ...]
    neighbours: tuple[float, ...]
    """For each term but the last, it and the next one close together."""

    @property
    def possible(self) -> float:
        return sum(self.terms)


def idf(stats: TextStats, term: int) -> float:
    having = stats.having[term]
    return math.log1p((stats.chunks - having + 0.5) / (having + 0.5))


def worth_of(query: TextQuery, stats: TextStats) -> Worth:
    terms = tuple(
        idf(stats, number) * (FAINT_WEIGHT if term in query.faint else 1.0)
        for number, term in enumerate(query.terms)
    )
    # Pairs of characters stand side by side by nature; that they do says nothing new.
    apart = [0.0 if term in query.pairs else terms[n] for n, term in enumerate(query.terms)]
    return Worth(terms, tuple(map(min, apart, apart[1:])))


def text_score(match: TextMatch, stats: TextStats, worth: Worth) -> float:
    possible = worth.possible
    if not possible:
        return 0.0
    length = match.length / stats.mean_length if stats.mean_length else 1.0
    saturation = K1 * (1 - B + B * length)
    earned = 0.0
    for term, value in enumerate(worth.terms):
        frequency = (
            match.body[term]
            + HEADING_WEIGHT * match.heading[term]
            + NAME_WEIGHT * match.name[term]
        )
        earned += value * frequency / (frequency + saturation)
    share = earned / possible
    share += CLOSE * _closeness(match, worth) / possible * (1 - share)
    # One occurrence of everything in a chunk of mean length earns 1 / (1 + K1);
    # the bend brings that to about two thirds without changing any order.
    return share * (1 + K1) / (1 + K1 * share)


def _closeness(match: TextMatch, worth: Worth) -> float:
    return sum(
        value / gap
        for value, gap in zip(worth.neighbours, match.gaps, strict=False)
        if 0 < gap <= CLOSE_WORDS
    )


def with_neighbours(
    matches: Iterable[TextMatch], places: Mapping[int, tuple[str, Span]]
) -> list[TextMatch]:
    """Each match with a little of what the chunks before and after it have, if they match too.

    `places` says which lines of which note a chunk is.
    """
    in_order = sorted(matches, key=lambda match: places[match.chunk_id])
    lent = [match.body for match in in_order]
    for number, (match, after) in enumerate(pairwise(in_order)):
        (path, span), (next_path, next_span) = places[match.chunk_id], places[after.chunk_id]
        if path == next_path and next_span.start_line <= span.end_line + NEIGHBOUR_LINES:
            lent[number] = _and_some(lent[number], after.body)
            lent[number + 1] = _and_some(lent[number + 1], match.body)
    return [match._replace(body=body) for match, body in zip(in_order, lent, strict=True)]


def _and_some(body: Sequence[float], beside: Sequence[float]) -> Sequence[float]:
    return [own + NEIGHBOUR_WEIGHT * lent for own, lent in zip(body, beside, strict=True)]


def is_exact(match: TextMatch, query: TextQuery) -> bool:
    """Whether it has everything that was asked for: no threshold may hide it."""
    has_all = all(match.has(term) for term in range(len(query.terms)))
    return has_all or any(
        match.has(number) for number, term in enumerate(query.terms) if term in query.identifiers
    )
