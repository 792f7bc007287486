"""Two opinions about a chunk become one score.

The text score is BM25 divided by the most that the question could earn:

                Σ idf(t) · tf / (tf + k)         t runs over the terms of the question,
    share  =   ──────────────────────────        those that no chunk has included
                      Σ idf(t)

so it lies in 0..1, grows with every further term, and can be compared between questions: where
half the weight of a question is missing from the memory, nothing scores high. The idf never turns
negative (FTS5's own does, and sinks everything in a memory of three notes).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from recollect.core.times import decay

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from recollect.core.ports import ModelFacts
    from recollect.core.querying import TextQuery
    from recollect.core.times import TimeSpan

K1 = 1.2
B = 0.75
"""The textbook values of BM25. A smaller B does a little better on conversations and worse on
code; see docs/ranking.md."""

MIN_SCORE = 0.35
BEND = 2.0
STRANGERS = 0.02

FADED = 0.95
"""What age leaves of a score at least. Of two notes that say the same the newer comes first, no
more: the original lets age take everything, and finds nothing older than three months."""

TIME_ASKED = 0.25
NEAR_DAYS = 7.0
"""A note of the time that a question names gains a quarter, one a week off an eighth."""

HEADING_WEIGHT = 0.6
NAME_WEIGHT = 0.4
"""A word in the heading path or the file name says what a chunk is about, a little less surely."""


class TextMatch(NamedTuple):
    """A chunk that has at least one term: how often it has each, field by field."""

    chunk_id: int
    body: tuple[int, ...]
    heading: tuple[int, ...]
    name: tuple[int, ...]
    length: int
    """Words in the body."""

    def has(self, term: int) -> bool:
        return bool(self.body[term] or self.heading[term] or self.name[term])


class TextStats(NamedTuple):
    """What all chunks together say about the terms of a question."""

    chunks: int
    mean_length: float
    having: tuple[int, ...]
    """For each term, how many chunks have it."""


class Candidate(NamedTuple):
    """One chunk and what each leg says of it; `None` where a leg has no opinion."""

    chunk_id: int
    relevance: float
    """What both legs say together: the threshold looks at this."""
    vector: float | None
    text: float | None
    exact: bool
    """It has everything that was asked for: no threshold may hide it."""
    decay: float = 1.0
    recency: float = 1.0

    @property
    def score(self) -> float:
        """Relevance and time: the order is by this."""
        return min(1.0, self.relevance * self.decay * self.recency)


def idf(stats: TextStats, term: int) -> float:
    having = stats.having[term]
    return math.log1p((stats.chunks - having + 0.5) / (having + 0.5))


def text_score(match: TextMatch, stats: TextStats) -> float:
    length = match.length / stats.mean_length if stats.mean_length else 1.0
    saturation = K1 * (1 - B + B * length)
    earned = possible = 0.0
    for term in range(len(stats.having)):
        worth = idf(stats, term)
        frequency = (
            match.body[term]
            + HEADING_WEIGHT * match.heading[term]
            + NAME_WEIGHT * match.name[term]
        )
        earned += worth * frequency / (frequency + saturation)
        possible += worth
    share = earned / possible if possible else 0.0
    # One occurrence of everything in a chunk of mean length earns 1 / (1 + K1);
    # the bend brings that to about two thirds without changing any order.
    return share * (1 + K1) / (1 + K1 * share)


def vector_score(cosine: float, facts: ModelFacts) -> float:
    """Where a cosine lies between what this model gives to strangers and to twins.

    Below the floor a sliver is left, so that even strangers have an order.
    """
    floor = facts.cosine_floor
    if cosine <= floor:
        return STRANGERS * max(0.0, 1 + cosine) / (1 + floor)
    nearness = (cosine - floor) / (facts.cosine_ceiling - floor)
    return STRANGERS + (1 - STRANGERS) * min(1.0, nearness)


def is_exact(match: TextMatch, query: TextQuery) -> bool:
    has_all = all(match.has(term) for term in range(len(query.terms)))
    return has_all or any(
        match.has(number) for number, term in enumerate(query.terms) if term in query.identifiers
    )


def fuse(
    texts: Mapping[int, float],
    vectors: Mapping[int, float],
    exact: frozenset[int],
    vector_weight: float,
) -> list[Candidate]:
    """Weigh the legs against each other. A leg that did not see a chunk gives it 0."""
    return [
        Candidate(
            chunk_id,
            _confidence(
                vector_weight * vectors.get(chunk_id, 0.0)
                + (1 - vector_weight) * texts.get(chunk_id, 0.0)
            ),
            vectors.get(chunk_id),
            texts.get(chunk_id),
            chunk_id in exact,
        )
        for chunk_id in texts.keys() | vectors.keys()
    ]


def _confidence(share: float) -> float:
    """Bend the scale, without changing any order, so that 0.35 means "perhaps".

    Over two LoCoMo workspaces 99 of 100 hits that held the evidence had a share above .24, and the
    best hit for a question about something else .21 in the middle. 0.35 lies at .15, below both: a
    doubtful hit costs an agent a glance, a hidden one the answer.
    """
    return share * (1 + BEND) / (1 + BEND * share)


def ranks(scores: Mapping[int, float]) -> dict[int, int]:
    """The place of each chunk in its leg, from 1; equals share theirs."""
    order = sorted(scores.values(), reverse=True)
    first = {score: place for place, score in reversed(list(enumerate(order, start=1)))}
    return {chunk_id: first[score] for chunk_id, score in scores.items()}


def above(candidates: Iterable[Candidate], min_score: float) -> list[Candidate]:
    return [one for one in candidates if one.exact or one.relevance >= min_score]


def default_threshold(*, words_alone: bool) -> float:
    """What a chunk must reach where nobody said otherwise.

    Words alone cannot tell a weak match from a question put differently, so they hide nothing that
    they found: with a threshold a quarter of MemDaily's Chinese questions got no answer.
    """
    return 0.0 if words_alone else MIN_SCORE


def best_relevance(candidates: Sequence[Candidate]) -> float:
    return max((one.relevance for one in candidates), default=0.0)


def timed(
    candidate: Candidate, day: date | None, today: date, asked: TimeSpan | None
) -> Candidate:
    """What time does to a chunk: a dated note fades a little, one of the time asked for gains.

    Both only order; the threshold was passed before. Notes without a date neither fade nor gain.
    """
    if day is None:
        return candidate
    recency = 1.0
    if asked is not None:
        recency += TIME_ASKED / (1 + asked.distance_days(day) / NEAR_DAYS)
        return candidate._replace(recency=recency)
    left = decay((today - day).days, floor=0.0)
    return candidate._replace(decay=FADED + (1 - FADED) * left)
