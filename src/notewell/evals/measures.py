"""Measures of a ranking. Each takes the hits of one question and returns a number in 0..1.

any@k    at least one piece of evidence is in the first k hits
all@k    all pieces are
ndcg@k   earlier is better, by 1 / log2(rank + 1), relative to the ideal ranking
mrr@k    1 / rank of the first piece
any-seen, all-seen   likewise, in the text that a model reads (see `seen`)
chars@k  how much text the hits have: not a share, but it shows when large chunks win
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.evals.dataset import Evidence

BOOTSTRAPS = 2000
SEED = 20261115


class EvalHit(NamedTuple):
    """A hit with what the measures need."""

    path: str
    start_line: int
    end_line: int
    chars: int
    score: float


class Interval(NamedTuple):
    """A mean and its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def shows(hit: EvalHit, evidence: Evidence) -> bool:
    return any(
        hit.path == place.path
        and hit.start_line <= place.end_line
        and hit.end_line >= place.start_line
        for place in evidence.places
    )


def any_at(hits: Sequence[EvalHit], evidence: Sequence[Evidence], k: int) -> float:
    return float(any(shows(hit, piece) for hit in hits[:k] for piece in evidence))


def all_at(hits: Sequence[EvalHit], evidence: Sequence[Evidence], k: int) -> float:
    return float(all(any(shows(hit, piece) for hit in hits[:k]) for piece in evidence))


def ndcg_at(hits: Sequence[EvalHit], evidence: Sequence[Evidence], k: int) -> float:
    """A piece counts at its first hit; if one hit shows several, only the best one counts.

    Else a long chunk with all pieces would score above the ideal ranking.
    """
    left = list(evidence)
    dcg = 0.0
    for rank, hit in enumerate(hits[:k], start=1):
        gain = max((piece.gain for piece in left if shows(hit, piece)), default=0)
        dcg += gain / math.log2(rank + 1)
        left = [piece for piece in left if not shows(hit, piece)]
    gains = sorted((piece.gain for piece in evidence), reverse=True)[:k]
    ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
    return min(1.0, dcg / ideal)  # The sums may differ in the last digit.


def reciprocal_rank(hits: Sequence[EvalHit], evidence: Sequence[Evidence], k: int) -> float:
    for rank, hit in enumerate(hits[:k], start=1):
        if any(shows(hit, piece) for piece in evidence):
            return 1 / rank
    return 0.0


def chars_at(hits: Sequence[EvalHit], evidence: Sequence[Evidence], k: int) -> float:
    del evidence  # It has the signature of the other measures.
    return float(sum(hit.chars for hit in hits[:k]))


MEASURES: Mapping[str, Callable[[Sequence[EvalHit], Sequence[Evidence], int], float]] = {
    "any": any_at,
    "all": all_at,
    "ndcg": ndcg_at,
    "mrr": reciprocal_rank,
    "chars": chars_at,
}
SHARES = ("any", "all", "ndcg", "mrr")
SEEN: Mapping[str, Callable[[Sequence[bool]], float]] = {
    "any-seen": lambda pieces: float(any(pieces)),
    "all-seen": lambda pieces: float(all(pieces)),
}
"""Measures of what a model reads (see `seen`): at least one piece of evidence, and all of them."""


def interval(values: Sequence[float]) -> Interval:
    """Bootstrap: 2000 samples of the same size, drawn with replacement."""
    import numpy as np  # Here: loading a dataset or a saved run does not need it.

    if not values:
        return Interval(0.0, 0.0, 0.0)
    sample = np.asarray(values, dtype=np.float64)
    size = len(sample)
    rng = np.random.default_rng(SEED)  # A fixed seed: the same values give the same interval.
    means = [sample[rng.integers(0, size, size)].mean() for _ in range(BOOTSTRAPS)]
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(sample.mean()), float(low), float(high))
