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
from itertools import zip_longest
from typing import TYPE_CHECKING

from notewell.records import NamedTuple

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
"""A word in the heading path or the file name is about the subject, but less precise."""

NEIGHBOUR_WEIGHT = 0.15
NEIGHBOUR_LINES = 3
"""The share of a word that counts if the chunk before or after has it; up to two blank lines may
be between the two chunks."""

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

    def has(self, term: int) -> bool:
        return bool(self.body[term] or self.heading[term] or self.name[term])


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


def text_score(
    match: TextMatch,
    stats: TextStats,
    weights: QueryWeights,
    before: TextMatch | None = None,
    after: TextMatch | None = None,
) -> float:
    """With the matches in the chunks before and after, if they match too."""
    possible = weights.possible
    if not possible:
        return 0.0
    _, bodies, headings, names, words, gaps = match
    if before is not None or after is not None:
        bodies = _with_share(bodies, before, after)
    length = words / stats.mean_length if stats.mean_length else 1.0
    saturation = K1 * (1 - B + B * length)
    earned = 0.0
    if any(headings) or any(names):
        for value, body, heading, name in zip(weights.terms, bodies, headings, names, strict=True):
            if body or heading or name:
                frequency = body + HEADING_WEIGHT * heading + NAME_WEIGHT * name
                earned += value * frequency / (frequency + saturation)
    else:  # Nearly every chunk: most words of a question are in no heading.
        for value, body in zip(weights.terms, bodies, strict=True):
            if body:
                earned += value * body / (body + saturation)
    share = earned / possible
    if any(gaps):
        share += CLOSE * _closeness(match, weights) / possible * (1 - share)
    # A chunk of mean length with every term once has 1 / (1 + K1). The curve raises that to about
    # two thirds, without changing the order.
    return share * (1 + K1) / (1 + K1 * share)


def _closeness(match: TextMatch, weights: QueryWeights) -> float:
    return sum(
        value / gap
        for value, gap in zip(weights.neighbours, match.gaps, strict=False)
        if 0 < gap <= CLOSE_WORDS
    )


def text_scores(
    matches: Iterable[TextMatch],
    places: Mapping[int, tuple[str, Span]],
    stats: TextStats,
    weights: QueryWeights,
) -> dict[int, float]:
    """The score of each match, by chunk. `places` has the note and the lines of each chunk."""
    in_order = sorted(matches, key=lambda match: places[match[0]])
    scores: dict[int, float] = {}
    before = None
    for match, after in zip_longest(in_order, in_order[1:]):
        is_near = after is not None and _is_near(places[match[0]], places[after[0]])
        scores[match[0]] = text_score(match, stats, weights, before, after if is_near else None)
        before = match if is_near else None
    return scores


def _is_near(place: tuple[str, Span], after: tuple[str, Span]) -> bool:
    (path, (_, end_line)), (next_path, (start_line, _)) = place, after
    return start_line <= end_line + NEIGHBOUR_LINES and path == next_path


def _with_share(
    own: Sequence[float], before: TextMatch | None, after: TextMatch | None
) -> Sequence[float]:
    """With a share of the frequencies of the chunks around it."""
    if before is not None and after is not None:
        around = zip(own, before.body, after.body, strict=True)
        return [one + NEIGHBOUR_WEIGHT * b + NEIGHBOUR_WEIGHT * a for one, b, a in around]
    other = before or after
    if other is None:
        return own
    return [one + NEIGHBOUR_WEIGHT * o for one, o in zip(own, other.body, strict=True)]


def exact_matches(matches: Iterable[TextMatch], query: TextQuery) -> set[int]:
    """The chunks that have all terms, or an identifier: no threshold applies to them."""
    numbers = [query.terms.index(term) for term in query.identifiers]
    return {
        match[0]
        for match in matches
        if 0 not in match.body
        or ((any(match.heading) or any(match.name)) and _has_all(match))
        or (numbers and any(match.has(number) for number in numbers))
    }


def _has_all(match: TextMatch) -> bool:
    return all(map(any, zip(match.body, match.heading, match.name, strict=True)))
