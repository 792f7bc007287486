"""The measures: numbers worked out by hand, and what must hold for all of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.evals.dataset import Evidence, EvidenceLines
from notewell.evals.measures import (
    MEASURES,
    SHARES,
    EvalHit,
    all_at,
    any_at,
    chars_at,
    interval,
    ndcg_at,
    reciprocal_rank,
    shows,
)


def hit(path: str, start: int = 1, end: int = 5, chars: int = 100) -> EvalHit:
    return EvalHit(path, start, end, chars, 0.5)


def piece(path: str, start: int = 1, end: int = 5, gain: int = 1) -> Evidence:
    return Evidence((EvidenceLines(path, start, end),), gain)


@pytest.mark.parametrize(
    ("start", "end", "seen"),
    [(1, 3, False), (1, 4, True), (4, 4, True), (5, 9, True), (6, 9, True), (7, 9, False)],
)
def test_a_hit_shows_evidence_when_their_lines_meet(start: int, end: int, seen: bool) -> None:
    assert shows(hit("a.md", start, end), piece("a.md", 4, 6)) is seen
    assert not shows(hit("b.md", start, end), piece("a.md", 4, 6))


def test_evidence_in_several_places_is_shown_by_any_of_them() -> None:
    both = Evidence((EvidenceLines("a.md", 1, 1), EvidenceLines("b.md", 7, 7)))
    assert shows(hit("b.md", 6, 8), both)
    assert not shows(hit("b.md", 1, 1), both)


def test_any_needs_one_piece_and_all_needs_each() -> None:
    hits, evidence = [hit("x"), hit("a"), hit("y"), hit("b")], [piece("a"), piece("b")]
    assert [any_at(hits, evidence, k) for k in (1, 2, 4)] == [0, 1, 1]
    assert [all_at(hits, evidence, k) for k in (1, 2, 3, 4)] == [0, 0, 0, 1]


def test_reciprocal_rank_counts_the_first_piece_among_the_first_k() -> None:
    hits = [hit("x"), hit("y"), hit("a")]
    assert reciprocal_rank(hits, [piece("a")], 3) == pytest.approx(1 / 3)
    assert reciprocal_rank(hits, [piece("a")], 2) == 0


def test_ndcg_by_hand() -> None:
    evidence = [piece("a"), piece("b")]
    ideal = 1 + 1 / math.log2(3)
    assert ndcg_at([hit("a"), hit("b")], evidence, 5) == pytest.approx(1)
    assert ndcg_at([hit("x"), hit("a")], evidence, 5) == pytest.approx((1 / math.log2(3)) / ideal)
    assert ndcg_at([hit("a")], evidence, 1) == pytest.approx(1)


def test_ndcg_weighs_by_gain() -> None:
    evidence = [piece("a", gain=3), piece("b", gain=1)]
    ideal = 3 + 1 / math.log2(3)
    reverse = 1 + 3 / math.log2(3)
    assert ndcg_at([hit("b"), hit("a")], evidence, 5) == pytest.approx(reverse / ideal)


def test_the_same_evidence_twice_and_two_pieces_in_one_hit_count_once() -> None:
    evidence = [piece("a", 1, 1), piece("a", 5, 5)]
    ideal = 1 + 1 / math.log2(3)
    assert ndcg_at([hit("a"), hit("a")], evidence, 5) == pytest.approx(1 / ideal)
    assert all_at([hit("a")], evidence, 1) == 1


def test_chars_are_those_of_the_first_k() -> None:
    assert chars_at([hit("a", chars=10), hit("b", chars=5)], [], 1) == 10


paths = st.sampled_from("abcdef")
spans = st.tuples(st.integers(1, 20), st.integers(0, 8)).map(lambda one: (one[0], sum(one)))
hits_of = st.lists(
    st.builds(lambda path, span: hit(path, span[0], span[1]), paths, spans),
    min_size=0,
    max_size=12,
)
evidence_of = st.lists(
    st.builds(
        lambda path, span, gain: piece(path, span[0], span[1], gain),
        paths,
        spans,
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=4,
)


@given(hits_of, evidence_of, st.integers(1, 15))
def test_shares_lie_between_0_and_1_and_all_is_at_most_any(
    hits: list[EvalHit], evidence: list[Evidence], k: int
) -> None:
    for share in SHARES:
        assert 0 <= MEASURES[share](hits, evidence, k) <= 1
    assert all_at(hits, evidence, k) <= any_at(hits, evidence, k)
    assert (reciprocal_rank(hits, evidence, k) > 0) == bool(any_at(hits, evidence, k))


@given(hits_of, evidence_of, st.integers(1, 15))
def test_looking_at_more_hits_never_finds_less(
    hits: list[EvalHit], evidence: list[Evidence], k: int
) -> None:
    for measure in ("any", "all", "mrr", "chars"):
        value = MEASURES[measure]
        assert value(hits, evidence, k) <= value(hits, evidence, k + 1)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(1, 10))
def test_the_best_order_has_ndcg_1_and_no_other_has_more(gains: list[int], k: int) -> None:
    evidence = [piece(f"{number}", gain=gain) for number, gain in enumerate(gains)]
    best = sorted(evidence, key=lambda one: -one.gain)
    order = [hit(one.places[0].path) for one in best]
    assert ndcg_at(order, evidence, k) == pytest.approx(1)
    assert ndcg_at(order[::-1], evidence, k) <= ndcg_at(order, evidence, k)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_an_interval_is_around_its_mean_and_always_the_same(values: list[float]) -> None:
    shown = interval(values)
    assert shown.low - 1e-9 <= shown.mean <= shown.high + 1e-9
    assert min(values) - 1e-9 <= shown.low
    assert shown.high <= max(values) + 1e-9
    assert interval(values) == shown


def test_more_questions_make_a_narrower_interval() -> None:
    few, many = interval([0.0, 1.0] * 10), interval([0.0, 1.0] * 500)
    assert many.high - many.low < few.high - few.low
    assert interval([]) == (0, 0, 0)
