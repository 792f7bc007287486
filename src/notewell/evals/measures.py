"""How good an order is. Each measure takes one question's hits and gives a number in 0..1.

any@k    at least one piece of evidence is in the first k
all@k    every piece of it is
ndcg@k   earlier is better, by 1 / log2(place + 1), against one piece a place from the first on
mrr@k    1 / place of the first piece
chars@k  what has to be read: not a share, but it keeps large chunks from winning for free
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.evals.dataset import Evidence

BOOTSTRAPS = 2000
SEED = 20261115


class Found(NamedTuple):
    """A hit, as far as measuring goes."""

    path: str
    start_line: int
    end_line: int
    chars: int
    score: float


class Interval(NamedTuple):
    """A mean, and where it would be in 95 of 100 repetitions with other questions."""

    mean: float
    low: float
    high: float


def shows(hit: Found, evidence: Evidence) -> bool:
    return any(
        hit.path == place.path
        and hit.start_line <= place.end_line
        and hit.end_line >= place.start_line
        for place in evidence.places
    )


def any_at(hits: Sequence[Found], evidence: Sequence[Evidence], k: int) -> float:
    return float(any(shows(hit, one) for hit in hits[:k] for one in evidence))


def all_at(hits: Sequence[Found], evidence: Sequence[Evidence], k: int) -> float:
    return float(all(any(shows(hit, one) for hit in hits[:k]) for one in evidence))


def ndcg_at(hits: Sequence[Found], evidence: Sequence[Evidence], k: int) -> float:
    """A piece counts where it is first seen; of several in one hit, the best one counts."""
    left = list(evidence)
    earned = 0.0
    for place, hit in enumerate(hits[:k], start=1):
        seen = max((one.gain for one in left if shows(hit, one)), default=0)
        earned += seen / math.log2(place + 1)
        left = [one for one in left if not shows(hit, one)]
    gains = sorted((one.gain for one in evidence), reverse=True)[:k]
    best = sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))
    return min(1.0, earned / best)  # The sums may differ in the last digit.


def reciprocal_rank(hits: Sequence[Found], evidence: Sequence[Evidence], k: int) -> float:
    for place, hit in enumerate(hits[:k], start=1):
        if any(shows(hit, one) for one in evidence):
            return 1 / place
    return 0.0


def chars_at(hits: Sequence[Found], evidence: Sequence[Evidence], k: int) -> float:
    del evidence
    return float(sum(hit.chars for hit in hits[:k]))


MEASURES: Mapping[str, Callable[[Sequence[Found], Sequence[Evidence], int], float]] = {
    "any": any_at,
    "all": all_at,
    "ndcg": ndcg_at,
    "mrr": reciprocal_rank,
    "chars": chars_at,
}
SHARES = ("any", "all", "ndcg", "mrr")


def interval(values: Sequence[float]) -> Interval:
    """Bootstrap: draw as many questions again, with repetition, two thousand times."""
    import numpy as np

    if not values:
        return Interval(0.0, 0.0, 0.0)
    every = np.asarray(values, dtype=np.float64)
    choice = np.random.default_rng(SEED)  # The same questions give the same interval.
    means = [every[choice.integers(0, len(every), len(every))].mean() for _ in range(BOOTSTRAPS)]
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(every.mean()), float(low), float(high))
