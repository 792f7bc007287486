"""The order of what was found: what is too weak, what time does, how alike hits may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core.times import decay

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from notewell.core.fusion import Candidate, Fusion
    from notewell.core.times import TimeSpan

MIN_SCORE = 0.35

FADED = 0.95
"""What age leaves of a score at least. Of two notes that say the same the newer comes first, no
more: the original lets age take everything, and finds nothing older than three months."""

TIME_ASKED = 0.25
NEAR_DAYS = 7.0
"""A note of the time that a question names gains a quarter, one a week off an eighth."""

MMR_LAMBDA = 0.7
"""The original's: seven parts relevance, three parts being unlike what is already there."""


def above(candidates: Iterable[Candidate], min_score: float) -> list[Candidate]:
    return [one for one in candidates if one.exact or one.relevance >= min_score]


def default_threshold(fusion: Fusion, *, words_alone: bool) -> float:
    """What a chunk must reach where nobody said otherwise.

    Words alone cannot tell a weak match from a question put differently, so they hide nothing that
    they found: with a threshold a quarter of MemDaily's Chinese questions got no answer. Places
    alone (rrf) say nothing about how good the first one is.
    """
    return 0.0 if words_alone or fusion == "rrf" else MIN_SCORE


def best_relevance(candidates: Sequence[Candidate]) -> float:
    return max((one.relevance for one in candidates), default=0.0)


def timed(
    candidate: Candidate,
    day: date | None,
    today: date,
    asked: TimeSpan | None,
    half_life_days: float | None,
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
    if half_life_days is None:
        return candidate
    left = decay((today - day).days, half_life_days, floor=0.0)
    return candidate._replace(decay=FADED + (1 - FADED) * left)


def diverse(
    scores: Sequence[float], words: Sequence[frozenset[str]], weight: float = MMR_LAMBDA
) -> list[int]:
    """The order, as positions, in which each further one is both good and unlike those before it.

    Maximal marginal relevance (Carbonell, Goldstein 1998), by the Jaccard similarity of words.
    """
    left = list(range(len(scores)))
    likeness = [0.0] * len(scores)
    order: list[int] = []
    while left:
        gain = [weight * scores[one] - (1 - weight) * likeness[one] for one in left]
        best = left[gain.index(max(gain))]
        left.remove(best)
        order.append(best)
        for one in left:
            likeness[one] = max(likeness[one], _jaccard(words[one], words[best]))
    return order


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0
