"""The limits of an excerpt, to the character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.limits import GET_CHARS
from notewell.notes import excerpt_of

HALF = GET_CHARS // 2


@pytest.mark.parametrize(("over", "taken"), [(0, 2), (1, 1)])
def test_two_lines_fit_if_they_and_their_line_break_fill_the_limit_exactly(
    over: int, taken: int
) -> None:
    first, second = "a" * HALF, "b" * (GET_CHARS - HALF - 1 + over)
    excerpt = excerpt_of("a.md", f"{first}\n{second}\nlast", 1, 10)
    assert excerpt.text == "\n".join([first, second][:taken])
    assert len(excerpt.text) <= GET_CHARS
    assert (excerpt.end_line, excerpt.next_from) == (taken, taken + 1)
    assert not excerpt.cut


@pytest.mark.parametrize(("over", "cut"), [(0, False), (1, True)])
def test_only_a_line_that_is_longer_than_the_limit_is_cut(over: int, cut: bool) -> None:
    excerpt = excerpt_of("a.md", "a" * (GET_CHARS + over) + "\nlast\n", 1, 10)
    assert excerpt.text == "a" * GET_CHARS
    assert excerpt.cut is cut
    assert (excerpt.end_line, excerpt.total_lines) == (1, 2)
    following = (1, GET_CHARS + 1) if cut else (2, None)
    assert (excerpt.next_from, excerpt.next_char) == following


@pytest.mark.parametrize(("count", "next_from"), [(1, 2), (2, 3), (3, None), (4, None)])
def test_reading_ends_with_the_last_line(count: int, next_from: int | None) -> None:
    excerpt = excerpt_of("a.md", "one\ntwo\nthree\n", 1, count)
    assert excerpt.end_line == min(count, 3)
    assert excerpt.next_from == next_from


def test_an_excerpt_behind_the_end_is_empty() -> None:
    excerpt = excerpt_of("a.md", "one\n", 2, 1)
    assert (excerpt.text, excerpt.start_line, excerpt.end_line) == ("", 2, 1)
    assert excerpt.next_from is None


@given(
    lines=st.lists(
        st.sampled_from(["", "a", "a" * (HALF - 1), "a" * HALF, "ab" * GET_CHARS, "b" * 30_001]),
        max_size=12,
    ),
    count=st.integers(1, 5),
)
def test_reading_on_shows_every_character_once(lines: list[str], count: int) -> None:
    text = "".join(f"{line}\n" for line in lines)
    shown: str | None = None
    at, char = 1, 1
    while True:
        excerpt = excerpt_of("a.md", text, at, count, char)
        assert len(excerpt.text) <= GET_CHARS
        shown = excerpt.joined_to(shown)
        if excerpt.next_from is None:
            break
        before, (at, char) = (at, char), (excerpt.next_from, excerpt.next_char or 1)
        assert (at, char) > before, "a reader must get on"
    assert shown == "\n".join(lines)
