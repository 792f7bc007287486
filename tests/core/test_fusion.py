"""Two legs, one score: every way of weighing keeps it in 0..1 and says what it was told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core.ranking import (
    FUSIONS,
    Candidate,
    Fusion,
    LegScores,
    above_threshold,
    fuse,
    ranks,
    vector_score,
)
from notewell.core.vector_weights import SEED_WEIGHT
from notewell.ports import ModelFacts


def legs(
    texts: dict[int, float], vectors: dict[int, float], exact: frozenset[int] = frozenset()
) -> LegScores:
    return LegScores(texts, vectors, vectors, exact)


def test_a_vector_score_is_the_place_between_stranger_and_twin() -> None:
    facts = ModelFacts("p", "m", 2, 400, cosine_floor=0.5, cosine_ceiling=0.9)
    assert vector_score(0.7, facts) == pytest.approx(0.51)
    assert vector_score(1.0, facts) == 1
    assert 0 < vector_score(0.2, facts) < vector_score(0.3, facts) < 0.02
    assert vector_score(-1.0, facts) == 0


def test_no_threshold_hides_an_exact_hit() -> None:
    weak = [Candidate(one, 0.01, None, 0.01, exact=one == 1) for one in (1, 2)]
    assert [one.chunk_id for one in above_threshold(weak, 0.9)] == [1]


def test_weight_0_is_the_text_score_alone_and_order_is_kept() -> None:
    scores = fuse(legs({1: 0.2, 2: 0.4}, {1: 1.0}), {1: 0.0, 2: 0.0})
    assert scores[2] > scores[1]


SCORES = st.dictionaries(st.integers(1, 9), st.floats(0, 1), max_size=9)


@given(SCORES, SCORES, st.floats(0, 1), st.sampled_from(FUSIONS))
def test_every_fusion_gives_a_score(
    texts: dict[int, float], vectors: dict[int, float], weight: float, fusion: Fusion
) -> None:
    weights = dict.fromkeys(legs(texts, vectors).chunk_ids(), weight)
    made = fuse(legs(texts, vectors), weights, fusion)
    assert made.keys() == texts.keys() | vectors.keys()
    assert all(0 <= score <= 1 for score in made.values())


def test_the_seeds_formula_is_what_their_page_says() -> None:
    told = legs({1: 0.5, 2: 0.4}, {1: 0.6, 3: 0.8})
    weights = dict.fromkeys(told.chunk_ids(), SEED_WEIGHT)
    assert fuse(told, weights, "seed") == pytest.approx(
        {1: 0.7 * 0.6 + 0.3, 2: 0.3 / 2, 3: 0.7 * 0.8}
    )


def test_places_alone_count_in_rrf() -> None:
    one = fuse(legs({1: 0.9, 2: 0.1}, {1: 0.9, 2: 0.1}), {1: 0.5, 2: 0.5}, "rrf")
    other = fuse(legs({1: 0.3, 2: 0.2}, {1: 0.5, 2: 0.4}), {1: 0.5, 2: 0.5}, "rrf")
    assert one == other
    assert max(one.values()) == 1


def test_each_chunk_has_a_weight_of_its_own() -> None:
    made = fuse(legs({1: 0.4, 2: 0.4}, {1: 0.8, 2: 0.8}), {1: 0.0, 2: 1.0})
    assert [one for one, score in made.items() if score > 0.8] == [2]


def test_ranks_count_from_1_and_equals_share_a_place() -> None:
    assert ranks({7: 0.5, 3: 0.5, 9: 0.9, 1: 0.1}) == {9: 1, 3: 2, 7: 2, 1: 4}
