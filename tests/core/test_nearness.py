"""Whether anything is near: the best of both legs, against a limit that fits what they say."""

import pytest

from notewell.core.nearness import NEAR_BY_VECTORS, near_limit, nearness
from notewell.core.ranking import LegScores


def _legs(texts: dict[int, float], vectors: dict[int, float], *exact: int) -> LegScores:
    return LegScores(texts, vectors, {}, frozenset(exact))


def test_the_best_of_each_leg_counts_also_of_different_chunks() -> None:
    near = nearness(_legs({1: 0.5, 2: 0.1}, {2: 0.8}))
    assert near == pytest.approx(NEAR_BY_VECTORS * 0.8 + (1 - NEAR_BY_VECTORS) * 0.5)
    assert nearness(_legs({1: 0.5}, {})) == 0.5
    assert nearness(_legs({1: 0.1}, {1: 0.1}, 1)) == 1.0
    assert nearness(_legs({}, {})) is None


def test_across_scripts_the_vectors_decide_alone() -> None:
    assert nearness(_legs({1: 0.5}, {2: 0.8}), across_scripts=True) == 0.8


def test_more_chunks_raise_the_limit_and_fewer_lower_it() -> None:
    for across in (False, True):
        limits = [
            near_limit(chunks, words_alone=False, across_scripts=across)
            for chunks in (1, 64, 128, 4096)
        ]
        assert limits == sorted(limits)
        assert len(set(limits)) == 4
    assert near_limit(1, words_alone=True) == 0
