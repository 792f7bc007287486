"""Time orders and never excludes; what differs from what is there comes forward."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from notewell.core.ranking import (
    MIN_DECAY,
    MIN_SCORE,
    Candidate,
    above_threshold,
    default_threshold,
    mmr_order,
    time_factors,
)
from notewell.core.times import TimeSpan

TODAY = date(2026, 11, 15)


def with_time(
    candidate: Candidate, day: date | None, asked: TimeSpan | None, half_life_days: float | None
) -> Candidate:
    factors = time_factors(day, TODAY, asked, half_life_days)
    return candidate._replace(decay=factors.decay, recency=factors.recency)


def aged(days: int, asked: TimeSpan | None = None) -> float:
    candidate = Candidate(1, 0.8, None, 0.8, exact=False)
    return with_time(candidate, TODAY - timedelta(days=days), asked, 30.0).score


def test_age_orders_but_never_excludes() -> None:
    assert aged(0) == 0.8
    assert 0.8 > aged(3) > aged(30) > aged(300) >= 0.8 * MIN_DECAY
    assert aged(100_000) >= 0.8 * MIN_DECAY


def test_a_note_without_a_date_neither_fades_nor_gains() -> None:
    candidate = Candidate(1, 0.8, None, 0.8, exact=False)
    assert with_time(candidate, None, TimeSpan(TODAY, TODAY), 30.0) == candidate


def test_a_note_of_the_time_asked_for_comes_first() -> None:
    march = TimeSpan(date(2026, 3, 1), date(2026, 3, 31))
    inside, near, far = (aged(days, march) for days in (240, 265, 2))
    assert inside > near > far


def test_the_threshold_looks_at_relevance_alone() -> None:
    old = with_time(Candidate(1, 0.35, None, 0.35, exact=False), date(2001, 1, 1), None, 30.0)
    assert old.score < 0.35
    assert above_threshold([old], 0.35) == [old]


def test_no_score_is_above_1() -> None:
    best = Candidate(1, 1.0, 1.0, 1.0, exact=True)
    assert with_time(best, TODAY, TimeSpan(TODAY, TODAY), 30.0).score == 1.0


def test_words_alone_hide_nothing_they_found() -> None:
    assert default_threshold("weighted", words_alone=True) == 0
    assert default_threshold("weighted", words_alone=False) == MIN_SCORE


def test_places_alone_hide_nothing() -> None:
    assert default_threshold("rrf", words_alone=False) == 0


def test_age_can_be_switched_off() -> None:
    candidate = Candidate(1, 0.8, None, 0.8, exact=False)
    assert with_time(candidate, date(2001, 1, 1), None, None) == candidate


def test_a_double_comes_after_what_is_new() -> None:
    words = [frozenset({"a", "b"}), frozenset({"a", "b"}), frozenset({"c", "d"})]
    assert mmr_order([0.9, 0.89, 0.6], words) == [0, 2, 1]
    assert mmr_order([0.9, 0.89, 0.6], words, weight=1.0) == [0, 1, 2]


@given(st.lists(st.tuples(st.floats(0, 1), st.frozensets(st.sampled_from("abcd"))), max_size=8))
def test_diversity_loses_and_doubles_nothing(found: list[tuple[float, frozenset[str]]]) -> None:
    order = mmr_order([score for score, _ in found], [words for _, words in found])
    assert sorted(order) == list(range(len(found)))
    if found:
        assert found[order[0]][0] == max(score for score, _ in found)
