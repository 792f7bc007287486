"""Scores are in 0..1, grow with relevance, and make sense in a memory of one note."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.ports import ModelFacts
from recollect.core.querying import TextQuery
from recollect.core.ranking import (
    FADED,
    MIN_SCORE,
    Candidate,
    TextMatch,
    TextStats,
    above,
    default_threshold,
    fuse,
    is_exact,
    ranks,
    text_score,
    timed,
    vector_score,
)
from recollect.core.times import TimeSpan

COUNTS = st.integers(0, 30)


def match(*body: int, length: int = 100) -> TextMatch:
    nothing = (0,) * len(body)
    return TextMatch(1, body, nothing, nothing, length)


@given(st.lists(COUNTS, min_size=1, max_size=6), st.integers(0, 10**6), st.data())
def test_a_text_score_lies_between_0_and_1(
    body: list[int], chunks: int, data: st.DataObject
) -> None:
    having = tuple(data.draw(st.integers(0, chunks)) for _ in body)
    stats = TextStats(chunks, 100.0, having)
    assert 0 <= text_score(match(*body), stats) <= 1


@given(st.lists(COUNTS, min_size=1, max_size=6), st.data())
def test_one_more_occurrence_never_lowers_the_score(body: list[int], data: st.DataObject) -> None:
    stats = TextStats(1000, 100.0, tuple(data.draw(st.integers(0, 1000)) for _ in body))
    more = list(body)
    more[data.draw(st.integers(0, len(body) - 1))] += 1
    assert text_score(match(*more), stats) >= text_score(match(*body), stats)


def test_a_hit_in_a_memory_of_one_note_scores_well() -> None:
    assert text_score(match(1), TextStats(1, 100.0, (1,))) > 0.5


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    stats = TextStats(1000, 100.0, (2, 700))
    assert text_score(match(1, 0), stats) > 3 * text_score(match(0, 1), stats)


def test_all_terms_beat_several_of_one() -> None:
    stats = TextStats(1000, 100.0, (20, 20))
    assert text_score(match(1, 1), stats) > text_score(match(5, 0), stats)


def test_words_that_no_chunk_has_lower_the_score() -> None:
    known, unknown = TextStats(100, 100.0, (5,)), TextStats(100, 100.0, (5, 0))
    assert text_score(match(1), known) > 1.5 * text_score(match(1, 0), unknown)


def test_a_vector_score_is_the_place_between_stranger_and_twin() -> None:
    facts = ModelFacts("p", "m", 2, 400, cosine_floor=0.5, cosine_ceiling=0.9)
    assert vector_score(0.7, facts) == pytest.approx(0.51)
    assert vector_score(1.0, facts) == 1
    assert 0 < vector_score(0.2, facts) < vector_score(0.3, facts) < 0.02
    assert vector_score(-1.0, facts) == 0


def test_a_chunk_with_everything_asked_for_is_exact() -> None:
    query = TextQuery(("alpha", "beta"), frozenset())
    assert is_exact(match(1, 2), query)
    assert not is_exact(match(1, 0), query)


def test_a_chunk_with_the_identifier_is_exact() -> None:
    query = TextQuery(("fix", "a828e60"), frozenset({"a828e60"}))
    assert is_exact(match(0, 1), query)
    assert not is_exact(match(1, 0), query)


def test_no_threshold_hides_an_exact_hit() -> None:
    weak = fuse({1: 0.01, 2: 0.01}, {}, frozenset({1}), vector_weight=0.7)
    assert [one.chunk_id for one in above(weak, 0.9)] == [1]


def test_weight_0_is_the_text_score_alone_and_order_is_kept() -> None:
    made = fuse({1: 0.2, 2: 0.4}, {1: 1.0}, frozenset(), vector_weight=0.0)
    scores = {one.chunk_id: one.score for one in made}
    assert scores[2] > scores[1]
    assert all(0 <= score <= 1 for score in scores.values())


def test_ranks_count_from_1_and_equals_share_a_place() -> None:
    assert ranks({7: 0.5, 3: 0.5, 9: 0.9, 1: 0.1}) == {9: 1, 3: 2, 7: 2, 1: 4}


TODAY = date(2026, 11, 15)


def aged(days: int, asked: TimeSpan | None = None) -> float:
    candidate = Candidate(1, 0.8, None, 0.8, exact=False)
    return timed(candidate, TODAY - timedelta(days=days), TODAY, asked).score


def test_age_orders_but_never_excludes() -> None:
    assert aged(0) == 0.8
    assert 0.8 > aged(3) > aged(30) > aged(300) >= 0.8 * FADED
    assert aged(100_000) >= 0.8 * FADED


def test_a_note_without_a_date_neither_fades_nor_gains() -> None:
    candidate = Candidate(1, 0.8, None, 0.8, exact=False)
    assert timed(candidate, None, TODAY, TimeSpan(TODAY, TODAY)) == candidate


def test_a_note_of_the_time_asked_for_comes_first() -> None:
    march = TimeSpan(date(2026, 3, 1), date(2026, 3, 31))
    inside, near, far = (aged(days, march) for days in (240, 265, 2))
    assert inside > near > far


def test_the_threshold_looks_at_relevance_alone() -> None:
    old = timed(Candidate(1, 0.35, None, 0.35, exact=False), date(2001, 1, 1), TODAY, None)
    assert old.score < 0.35
    assert above([old], 0.35) == [old]


def test_no_score_is_above_1() -> None:
    best = Candidate(1, 1.0, 1.0, 1.0, exact=True)
    assert timed(best, TODAY, TODAY, TimeSpan(TODAY, TODAY)).score == 1.0


def test_words_alone_hide_nothing_they_found() -> None:
    assert default_threshold(words_alone=True) == 0
    assert default_threshold(words_alone=False) == MIN_SCORE
