"""Where chunks stand: which of those that were found are beside each other in their note."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from notewell.core.layout import NEIGHBOUR_LINES, Layout
from notewell.types import Span

SPANS = st.tuples(st.integers(1, 12), st.integers(0, 4)).map(lambda at: Span(at[0], sum(at)))
PLACES = st.dictionaries(
    st.integers(1, 20), st.tuples(st.sampled_from(("a.md", "b.md")), SPANS), max_size=12
)


def layout(places: dict[int, tuple[str, Span]]) -> Layout:
    return Layout.of(places, dict.fromkeys(places, 10), 10.0)


@given(PLACES, st.data())
def test_neighbours_are_those_that_follow_each_other_among_the_found_chunks(
    places: dict[int, tuple[str, Span]], data: st.DataObject
) -> None:
    """Whether the layout is that of these chunks or of the whole index."""
    best_first = data.draw(st.permutations(sorted(places)))
    found = best_first[: data.draw(st.integers(0, len(places)))]
    in_order = sorted(found, key=places.__getitem__)  # Of one place, the better one comes first.
    expected = {
        one: other
        for one, other in pairwise(in_order)
        if places[one][0] == places[other][0]
        and places[other][1].start_line <= places[one][1].end_line + NEIGHBOUR_LINES
    }
    after, before = layout(places).neighbours(found)
    assert after == expected
    assert before == {other: one for one, other in expected.items()}
    assert layout({one: places[one] for one in found}).neighbours(found) == (after, before)


def test_a_word_of_a_long_chunk_needs_more_occurrences() -> None:
    places = {1: ("a.md", Span(1, 3)), 2: ("a.md", Span(5, 9))}
    saturation = Layout.of(places, {1: 10, 2: 40}, 25.0).saturation
    assert saturation[1] < saturation[2]
    assert Layout.of(places, {1: 0, 2: 0}, 0.0).saturation[1] > 0
