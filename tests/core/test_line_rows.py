"""A row says which forms its words have, the first time and later."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from notewell.core import ChunkLines
from notewell.core.form_places import find_forms
from notewell.core.line_rows import (
    BLANK,
    LINE_END,
    PART_CHARS,
    rows_of_hit,
    rows_of_line,
    shared_forms,
)
from notewell.types import Span

FORMS = frozenset(("stori", "memory_search", "search", "o'brien", "索引", "cafe", "2026"))
TOKENS = (
    "stories",
    "Story,",
    "memorySearch",
    "o'Brien's",
    "two",
    "索引库",
    "café.",
    "2026-11-02!",
    "end.",
    "stories。search",
    "x" * 90,
    "\t",
    "",
    "<!-- @user #stories -->",
)
LINES = st.lists(st.sampled_from(TOKENS), max_size=60).map(" ".join)


def note(*lines: str) -> ChunkLines:
    return ChunkLines([dict(enumerate(lines, start=1))])


def alone(text: str) -> set[str]:
    return {place.form for place in find_forms(text, FORMS)}


@given(st.lists(LINES, max_size=5))
def test_a_row_has_the_forms_that_are_found_in_its_text(lines: list[str]) -> None:
    known = note(*lines)
    rows = [row for at in range(1, len(lines) + 1) for row in known.rows(at)]
    # The second time each row knows all of its words; of the last two, one is read once more.
    assert shared_forms(rows[:-1], FORMS) == [alone(row.text) for row in rows[:-1]]
    for _ in range(2):
        assert shared_forms(rows, FORMS) == [alone(row.text) for row in rows]


def test_a_word_that_a_part_of_a_line_cuts_off_is_a_word_of_that_part() -> None:
    """A line without blanks is cut anywhere."""
    rows = rows_of_line(1, "a" * (PART_CHARS - 6) + "search" * 30)
    assert len(rows) > 1
    assert shared_forms(rows, FORMS) == [alone(row.text) for row in rows]


def test_a_row_knows_what_is_before_it() -> None:
    known = note("one", "two", "", "four", "", "six")
    rows = rows_of_hit(known, Span(2, 4))
    assert [(row.line, joint) for row, joint, _ in rows] == [
        (1, LINE_END),
        (2, LINE_END),
        (4, BLANK),
    ]
