"""Text scores are in 0..1, grow with relevance, and make sense in a memory of one note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core.layout import Layout
from notewell.core.terms import TextQuery, text_query
from notewell.core.text_scores import (
    NEIGHBOUR_WEIGHT,
    QueryWeights,
    TextMatch,
    TextMatches,
    TextStats,
    exact_matches,
    query_weights,
    text_scores,
)
from notewell.types import Span

COUNTS = st.integers(0, 30)


def match(*body: float, chunk_id: int = 1, gaps: tuple[int, ...] = ()) -> TextMatch:
    nothing = (0,) * len(body)
    return TextMatch(chunk_id, body, nothing, nothing, 100, gaps)


def text_score(one: TextMatch, stats: TextStats, weights: QueryWeights) -> float:
    places = {one.chunk_id: ("a.md", Span(1, 1))}
    return scores([one], places, stats, weights)[one.chunk_id]


def scores(
    rows: list[TextMatch],
    places: dict[int, tuple[str, Span]],
    stats: TextStats,
    weights: QueryWeights,
) -> dict[int, float]:
    matches = TextMatches.of(rows)
    return text_scores(matches, Layout.of(places, matches.lengths, stats.mean_length), weights)


def scored(stats: TextStats, *body: int, gaps: tuple[int, ...] = ()) -> float:
    query = TextQuery(tuple(f"t{number}" for number in range(len(body))), frozenset())
    return text_score(match(*body, gaps=gaps), stats, query_weights(query, stats))


@given(st.lists(COUNTS, min_size=1, max_size=6), st.integers(0, 10**6), st.data())
def test_a_text_score_lies_between_0_and_1(
    body: list[int], chunks: int, data: st.DataObject
) -> None:
    having = tuple(data.draw(st.integers(0, chunks)) for _ in body)
    stats = TextStats(chunks, 100.0, having)
    assert 0 <= scored(stats, *body) <= 1


@given(st.lists(COUNTS, min_size=1, max_size=6), st.data())
def test_one_more_occurrence_never_lowers_the_score(body: list[int], data: st.DataObject) -> None:
    stats = TextStats(1000, 100.0, tuple(data.draw(st.integers(0, 1000)) for _ in body))
    more = list(body)
    more[data.draw(st.integers(0, len(body) - 1))] += 1
    assert scored(stats, *more) >= scored(stats, *body)


def test_a_hit_in_a_memory_of_one_note_scores_well() -> None:
    assert scored(TextStats(1, 100.0, (1,)), 1) > 0.5


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    stats = TextStats(1000, 100.0, (2, 700))
    assert scored(stats, 1, 0) > 3 * scored(stats, 0, 1)


def test_all_terms_beat_several_of_one() -> None:
    stats = TextStats(1000, 100.0, (20, 20))
    assert scored(stats, 1, 1) > scored(stats, 5, 0)


def test_words_that_no_chunk_has_lower_the_score() -> None:
    known, unknown = TextStats(100, 100.0, (5,)), TextStats(100, 100.0, (5, 0))
    assert scored(known, 1) > 1.5 * scored(unknown, 1, 0)


def test_a_chunk_with_everything_asked_for_is_exact() -> None:
    query = TextQuery(("alpha", "beta"), frozenset())
    matches = [match(1, 2, chunk_id=1), match(1, 0, chunk_id=2)]
    assert exact_matches(TextMatches.of(matches), query) == {1}


def test_a_chunk_with_the_identifier_is_exact() -> None:
    query = TextQuery(("fix", "a828e60"), frozenset({"a828e60"}))
    matches = [match(0, 1, chunk_id=1), match(1, 0, chunk_id=2)]
    assert exact_matches(TextMatches.of(matches), query) == {1}


STATS = TextStats(1000, 100.0, (20, 20))


@pytest.mark.parametrize(("nearer", "farther"), [(1, 2), (2, 8), (8, 9)])
def test_words_that_stand_closer_together_score_higher(nearer: int, farther: int) -> None:
    assert scored(STATS, 1, 1, gaps=(nearer,)) > scored(STATS, 1, 1, gaps=(farther,))


@given(st.lists(COUNTS, min_size=2, max_size=6), st.data())
def test_closeness_keeps_a_score_between_0_and_1(body: list[int], data: st.DataObject) -> None:
    gaps = tuple(data.draw(st.integers(0, 20)) for _ in body[1:])
    stats = TextStats(1000, 100.0, tuple(data.draw(st.integers(0, 1000)) for _ in body))
    assert scored(stats, *body) <= scored(stats, *body, gaps=gaps) <= 1


def test_that_pairs_of_characters_stand_side_by_side_says_nothing() -> None:
    query = text_query("索引库")
    assert query.terms == ("索引", "引库")
    worth = query_weights(query, STATS)
    assert text_score(match(1, 1, gaps=(1,)), STATS, worth) == text_score(
        match(1, 1), STATS, worth
    )


def test_a_pair_with_a_particle_is_worth_less() -> None:
    query = text_query("寧王的本名")
    assert query.faint == {"王的", "的本"}
    worth = query_weights(query, TextStats(1000, 100.0, (5,) * len(query.terms)))
    by_term = dict(zip(query.terms, worth.terms, strict=True))
    assert by_term["王的"] < by_term["寧王"] == by_term["本名"]


def test_a_chunk_borrows_a_little_from_those_beside_it() -> None:
    matches = [match(1, 0, chunk_id=1), match(0, 1, chunk_id=2), match(0, 4, chunk_id=3)]
    places = {
        1: ("a.md", Span(1, 3)),
        2: ("a.md", Span(5, 9)),  # behind a blank line: still the next one
        3: ("b.md", Span(1, 2)),
    }
    worth = query_weights(TextQuery(("alpha", "beta"), frozenset()), STATS)
    lent = scores(matches, places, STATS, worth)
    assert lent[1] == text_score(match(1, NEIGHBOUR_WEIGHT), STATS, worth)
    assert lent[2] == text_score(match(NEIGHBOUR_WEIGHT, 1), STATS, worth)
    assert lent[3] == text_score(match(0, 4), STATS, worth)


def test_a_chunk_borrows_from_both_sides() -> None:
    matches = [match(1, 0, chunk_id=1), match(0, 1, chunk_id=2), match(2, 0, chunk_id=3)]
    places = {1: ("a.md", Span(1, 3)), 2: ("a.md", Span(4, 6)), 3: ("a.md", Span(7, 9))}
    worth = query_weights(TextQuery(("alpha", "beta"), frozenset()), STATS)
    both = scores(matches, places, STATS, worth)[2]
    assert both == pytest.approx(text_score(match(3 * NEIGHBOUR_WEIGHT, 1), STATS, worth))


def test_a_chunk_further_down_lends_nothing() -> None:
    matches = [match(1, 0, chunk_id=1), match(0, 1, chunk_id=2)]
    places = {1: ("a.md", Span(1, 3)), 2: ("a.md", Span(40, 44))}
    worth = query_weights(TextQuery(("alpha", "beta"), frozenset()), STATS)
    alone = [text_score(one, STATS, worth) for one in matches]
    assert list(scores(matches, places, STATS, worth).values()) == alone


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS), min_size=1, max_size=4), st.integers(1, 9))
def test_matches_by_term_give_each_match_back(
    counts: list[tuple[int, int, int]], length: int
) -> None:
    rows = [
        TextMatch(number, one, one[::-1], (0, 0, number), length, (number, 0))
        for number, one in enumerate(counts)
    ]
    matches = TextMatches.of(rows)
    assert matches == rows
    assert matches[:1] == rows[:1]
    assert len(matches) == len(rows)
    assert TextMatches.of(list(matches)) == matches
