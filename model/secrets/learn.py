"""From texts with and without secrets to the weights of `notewell.redaction.learned`.

    generated texts (texts.py), documents without secrets ──▶ candidates and their features
        ──▶ logistic regression ──▶ a byte for each feature

The features are those of the product, from its own code. What its rules find already teaches less
than what they miss. Documents have no secret that the rules miss, so each of their candidates is
a counterexample; some of them are real-looking keys, which is why the bar is not learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from notewell.redaction import learned, redactor
from notewell.redaction.context import MASKED, TABLE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from model.secrets.marks import Text

KNOWN_WEIGHT = 0.2
"""Of a secret that a rule finds, too."""
DOCUMENT_WEIGHT = 1.5
RIDGE = 0.5
STEPS = 300
RATE = 0.1
MEAN_DECAY, SQUARE_DECAY = 0.9, 0.99


class Example(NamedTuple):
    """The features of one value."""

    features: set[int]
    is_secret: bool
    weight: float


def examples_of(text: Text) -> Iterator[Example]:
    secrets = [_span(text.text, secret) for secret in text.secrets]
    hidden = _without_known(text.text)
    for one in learned.possible_secrets(hidden):
        weight = 1.0 if text.kind else DOCUMENT_WEIGHT  # A document has no kind.
        yield Example(_features(one), _is_in(secrets, one.span), weight)
    if secrets and MASKED in hidden:
        for one in learned.possible_secrets(text.text):
            if hidden[one.span[0]] == MASKED and _is_in(secrets, one.span):
                yield Example(_features(one), is_secret=True, weight=KNOWN_WEIGHT)


def _span(text: str, secret: str) -> tuple[int, int]:
    start = text.index(secret)
    return start, start + len(secret)


def _is_in(secrets: Iterable[tuple[int, int]], span: tuple[int, int]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in secrets)


def _features(one: learned.PossibleSecret) -> set[int]:
    return one.own_features() | one.features_around()


def _without_known(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return learned.hidden(data, [(one.start, one.end) for one in redactor.find_by_rules(data)])


def learn(examples: Sequence[Example]) -> NDArray[np.int8]:
    """Weights in steps of `1 / SCALE`, one for each place of the table: logistic regression, with
    the steps of Adam over all examples at once."""
    counts = np.array([len(one.features) for one in examples])
    starts = np.cumsum(counts) - counts
    places = np.fromiter((index for one in examples for index in one.features), np.int32)
    signs = np.array([1.0 if one.is_secret else -1.0 for one in examples])
    importance = np.array([one.weight for one in examples])
    limit = 127 / learned.SCALE
    weights, mean, square = np.zeros((3, 1 << TABLE_BITS))
    for step in range(1, STEPS + 1):
        margins = signs * np.add.reduceat(weights[places], starts)
        slope = -importance * signs / (1 + np.exp(np.clip(margins, -50, 50)))
        gradient = np.bincount(places, np.repeat(slope, counts), len(weights)) + RIDGE * weights
        mean += (gradient - mean) * (1 - MEAN_DECAY)
        square += (gradient**2 - square) * (1 - SQUARE_DECAY)
        rate = RATE * (1 - step / (STEPS + 1))
        weights -= (
            rate
            * (mean / (1 - MEAN_DECAY**step))
            / (np.sqrt(square / (1 - SQUARE_DECAY**step)) + 1e-8)
        )
        weights = np.clip(weights, -limit, limit)
    rounded: NDArray[np.int8] = np.round(weights * learned.SCALE).astype(np.int8)
    return rounded


def scores(weights: NDArray[np.int8], examples: Iterable[Example]) -> NDArray[np.float64]:
    sums = [int(weights[list(one.features)].astype(np.int64).sum()) for one in examples]
    return np.array(sums) / learned.SCALE
