"""The scores of both search legs, keywords and vectors, become one order.

Fusion makes one score of two:

weighted   both scores, each in 0..1, added by weight; the default
rrf        the ranks alone: 1 / (60 + rank) in each leg, added by weight
seed       OpenClaw's documented formula: 0.7 · cosine + 0.3 / (1 + keyword rank)

`vector_weights.py` says what the weights are, `nearness.py` whether anything is near at all.
Then a threshold drops weak chunks, time changes the order a little, and MMR may make the hits more
diverse. The measurements behind the defaults are in docs/ranking.md.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from math import exp2, fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.errors import EmbedderFailed
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set
    from datetime import date

    import numpy as np
    from numpy.typing import NDArray

    from notewell.core.times import TimeSpan
    from notewell.ports import ModelFacts, Vectors

Fusion: TypeAlias = Literal["weighted", "rrf", "seed"]
FUSIONS: tuple[Fusion, ...] = ("weighted", "rrf", "seed")

RRF_RANKS = 60
"""The constant of the paper (Cormack, Clarke, Büttcher 2009): it flattens the first ranks."""

BEND = 3.0
"""How strongly `fuse` bends the scale of weighted scores, without changing the order, so that 0.35
means "perhaps".

In two LoCoMo workspaces, 99 % of the hits with the evidence had a share above .20, and the best
hit for a query about the other workspace had a median of .18. The threshold 0.35 is a share of
.12, below both: a doubtful hit costs little time, a missing one costs the answer."""
UNRELATED_SCORE = 0.02
"""The score of a cosine at the model's floor."""


class LegScores(NamedTuple):
    """The scores of each leg, by the id of the chunk."""

    texts: Mapping[int, float]
    vectors: Mapping[int, float]
    """Empty in a keyword search."""
    cosines: Mapping[int, float]
    exact: frozenset[int]
    """Chunks that have every term of the query; see `text_scores.exact_matches`."""
    estimates: Mapping[int, float] = MappingProxyType({})
    """The expected vector score of chunks whose vector is not computed yet."""

    def chunk_ids(self) -> Set[int]:
        """The chunks that a leg found."""
        return self.texts.keys() | self.vectors.keys()


class Candidate(NamedTuple):
    """One chunk with the score of each leg; None if the leg did not find it."""

    chunk_id: int
    relevance: float
    """The fused score; the threshold applies to this."""
    vector: float | None
    text: float | None
    exact: bool
    """It has every term of the query: the threshold does not apply to it."""
    decay: float = 1.0
    recency: float = 1.0
    echo: float = 1.0
    """Less than 1 for a chunk in which the user asked the same question."""
    speaker: float = 1.0
    """The factor of who speaks, if the question is about the user."""
    rerank: float | None = None

    @property
    def score(self) -> float:
        """Relevance, time, speakers and echoes; hits are sorted by this."""
        # A reranker has compared query and chunk directly, so its score replaces all others.
        if self.rerank is not None:
            return self.rerank
        return min(1.0, self.relevance * self.decay * self.recency * self.speaker) * self.echo

    def passes(self, min_score: float) -> bool:
        """Whether it is relevant enough to be shown."""
        return self.exact or self.relevance >= min_score


class TimeFactors(NamedTuple):
    """How time changes the score of what was written on one day."""

    decay: float = 1.0
    recency: float = 1.0


def unit_rows(vectors: NDArray[np.float32], dims: int) -> Vectors:
    """The same vectors with length 1. Raises `EmbedderFailed` for one that must not be stored.

    A NaN compares false with everything, so one of them would end up at the top or the bottom of
    every answer without an error. A zero vector has no cosine.
    """
    import numpy as np

    if vectors.ndim != 2 or vectors.shape[1] != dims:
        got = " x ".join(str(side) for side in vectors.shape)
        raise _refused(f"its vectors are {got}, but this index holds {dims} dimensions")
    lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0.0))
    if len(bad):
        kind = "zero" if lengths[bad[0]] == 0.0 else "not finite"
        raise _refused(f"vector {bad[0] + 1} of {len(vectors)} is {kind}")
    unit: Vectors = (vectors / lengths[:, None]).astype("<f4")
    return unit


def _refused(why: str) -> EmbedderFailed:
    # A store does not know the provider's name. The embedder's own check does and comes first, so
    # this message appears only if that check has a gap.
    return EmbedderFailed("configured", f"{why}; nothing was stored")


def with_windows(
    cosines: Mapping[int, float], best_windows: Mapping[int, float], share: float
) -> dict[int, float]:
    """The cosine of each chunk, mixed with that of its best window. A chunk without windows is
    one window by itself."""
    best_of, rest = best_windows.get, 1 - share
    return {
        chunk_id: rest * cosine + share * best_of(chunk_id, cosine)
        for chunk_id, cosine in cosines.items()
    }


def vector_score(cosine: float, facts: ModelFacts) -> float:
    """The position of a cosine between what this model gives to unrelated texts and to
    near-duplicates.

    Below the floor the score is small but not 0, so that unrelated texts have an order too.
    """
    return vector_scores((cosine,), facts)[0]


def vector_scores(cosines: Iterable[float], facts: ModelFacts) -> list[float]:
    """The same for many: a search has a hundred of them, so each is computed without a call."""
    floor, span = facts.cosine_floor, facts.cosine_ceiling - facts.cosine_floor
    to_floor, related = 1 + floor, 1 - UNRELATED_SCORE
    return [
        (
            UNRELATED_SCORE + related * share
            if (share := (cosine - floor) / span) < 1.0
            else UNRELATED_SCORE + related
        )
        if cosine > floor
        else (UNRELATED_SCORE * (1 + cosine) / to_floor if cosine > -1.0 else 0.0)
        for cosine in cosines
    ]


def estimated_vectors(
    texts: Mapping[int, float], vectors: Mapping[int, float]
) -> dict[int, float]:
    """The expected vector score of chunks that have none yet: with no words of the query, that of
    a middling chunk; with all of them, that of the nearest.

    With 0 instead, each note without a vector would come after all others, and a note that was
    saved a moment ago is often the one that is asked for.
    """
    if not vectors:
        return {}
    mean, most = fsum(vectors.values()) / len(vectors), max(vectors.values())
    return {
        chunk_id: mean + (most - mean) * min(1.0, score)
        for chunk_id, score in texts.items()
        if chunk_id not in vectors
    }


def fuse(
    legs: LegScores, weights: Mapping[int, float], fusion: Fusion = "weighted"
) -> dict[int, float]:
    """The relevance of each chunk of `weights`, which says how much its vector counts. A leg that
    did not find the chunk gives it 0, or the estimate."""
    vector_part, text_part, bend = _FUSIONS[fusion](legs)
    vector_of, text_of, full = vector_part.get, text_part.get, 1 + bend
    return {
        chunk_id: (
            share := weight * vector_of(chunk_id, 0.0) + (1 - weight) * text_of(chunk_id, 0.0)
        )
        * full
        / (1 + bend * share)
        for chunk_id, weight in weights.items()
    }


_Scores: TypeAlias = "Mapping[int, float]"
_FusionParts: TypeAlias = "tuple[_Scores, _Scores, float]"
"""The scores of vectors and of texts, and how strongly the scale of their sum is bent."""


def _weighted(legs: LegScores) -> _FusionParts:
    return _with_estimates(legs), legs.texts, BEND


def _rrf(legs: LegScores) -> _FusionParts:
    return _by_rank(_with_estimates(legs)), _by_rank(legs.texts), 0.0


def _seed(legs: LegScores) -> _FusionParts:
    # OpenClaw counts ranks from 0, we from 1. A negative cosine would lower the keyword score.
    texts = {chunk_id: 1 / rank for chunk_id, rank in ranks(legs.texts).items()}
    return {chunk_id: max(0.0, value) for chunk_id, value in legs.cosines.items()}, texts, 0.0


def _with_estimates(legs: LegScores) -> _Scores:
    return {**legs.vectors, **legs.estimates} if legs.estimates else legs.vectors


_FUSIONS: dict[Fusion, Callable[[LegScores], _FusionParts]] = {
    "weighted": _weighted,
    "rrf": _rrf,
    "seed": _seed,
}


def _by_rank(scores: Mapping[int, float]) -> dict[int, float]:
    """Scaled so that rank 1 has score 1: the sum stays in 0..1."""
    first = RRF_RANKS + 1
    return {chunk_id: first / (RRF_RANKS + rank) for chunk_id, rank in ranks(scores).items()}


def ranks(scores: Mapping[int, float]) -> dict[int, int]:
    """The rank of each chunk in its leg, from 1; equal scores have the same rank."""
    order = sorted(scores.values(), reverse=True)
    # Reversed, so that the first of several equal scores is written last and stays.
    first = {score: rank for rank, score in reversed(list(enumerate(order, start=1)))}
    return {chunk_id: first[score] for chunk_id, score in scores.items()}


class Ranks:
    """The same for a few of the chunks."""

    def __init__(self, scores: Mapping[int, float]) -> None:
        self._scores = scores
        self._ascending = sorted(scores.values())

    def of(self, chunk_id: int) -> int | None:
        """None if the leg did not find it."""
        score = self._scores.get(chunk_id)
        if score is None:
            return None
        return len(self._ascending) - bisect_right(self._ascending, score) + 1


# -- order --------------------------------------------------------------------------------------

MIN_SCORE = 0.35

MIN_DECAY = 0.95
"""The lowest factor for age. Of two notes with the same text the newer comes first, no more. In
OpenClaw the factor goes to 0, and a search finds nothing that is older than three months."""

TIME_BONUS = 0.25
NEAR_DAYS = 7.0
"""A note from the time that a query names gains a quarter, one a week away an eighth."""

MMR_LAMBDA = 0.7
"""OpenClaw's value: 70 % relevance, 30 % difference from the hits before."""


def above_threshold(candidates: Iterable[Candidate], min_score: float) -> list[Candidate]:
    return [candidate for candidate in candidates if candidate.passes(min_score)]


def default_threshold(fusion: Fusion, *, words_alone: bool) -> float:
    """The minimum relevance, unless the caller sets one.

    Words alone cannot distinguish a weak match from a query in other words, so a keyword search
    has no threshold: with one, a quarter of MemDaily's Chinese queries had no hits. Ranks alone
    (rrf) say nothing about how good the first chunk is.
    """
    return 0.0 if words_alone or fusion == "rrf" else MIN_SCORE


def decay(age_days: float, half_life_days: float = 30.0, *, floor: float) -> float:
    """The factor for the age of a note: 1 today, one half after a half-life (above 0), never less
    than the floor. A note from the future counts as today's."""
    return max(floor, exp2(-max(0.0, age_days) / half_life_days))


@lru_cache(maxsize=4096)  # A search asks about some two hundred days, most of them again.
def time_factors(
    day: date | None, today: date, query_time: TimeSpan | None, half_life_days: float | None
) -> TimeFactors:
    """An old note loses a little, a note from the time that the query names gains. A note without
    a date has neither.

    Both change the order only: the threshold was applied before.
    """
    if day is None:
        return TimeFactors()
    if query_time is not None:
        bonus = TIME_BONUS / (1 + query_time.distance_days(day) / NEAR_DAYS)
        # Age does not count then: who names a time in the past wants old notes.
        return TimeFactors(recency=1.0 + bonus)
    if half_life_days is None:
        return TimeFactors()
    fresh = decay((today - day).days, half_life_days, floor=0.0)
    return TimeFactors(decay=MIN_DECAY + (1 - MIN_DECAY) * fresh)


def mmr_order(
    scores: Sequence[float], words: Sequence[frozenset[str]], weight: float = MMR_LAMBDA
) -> list[int]:
    """Indexes in an order in which each item is both relevant and different from those before.

    Maximal marginal relevance (Carbonell, Goldstein 1998), with the Jaccard similarity of words.
    """
    remaining = list(range(len(scores)))
    # To the most similar item that is already in the order.
    similarity = [0.0] * len(scores)
    order: list[int] = []
    while remaining:
        gains = [weight * scores[item] - (1 - weight) * similarity[item] for item in remaining]
        best = remaining[gains.index(max(gains))]
        remaining.remove(best)
        order.append(best)
        for item in remaining:
            similarity[item] = max(similarity[item], _jaccard(words[item], words[best]))
    return order


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    common = len(left & right)
    return common / (len(left) + len(right) - common) if common else 0.0
