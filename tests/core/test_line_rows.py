"""The words of a query are looked for once in the text of a hit; each row has the same words as if
it were read alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from notewell.core import ChunkLines, HitText
from notewell.core.form_places import find_forms, finder_of
from notewell.core.line_rows import PART_CHARS
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


def hit_text(lines: list[str]) -> tuple[HitText, ChunkLines]:
    span = Span(1, len(lines))
    known = ChunkLines([(span, "\n".join(lines))])
    # The first line and the last one are around the hit.
    return HitText(known, Span(2, len(lines) - 1), FORMS), known


@given(st.lists(LINES, min_size=3, max_size=8))
def test_a_row_has_the_words_that_it_has_alone(lines: list[str]) -> None:
    text, known = hit_text(lines)
    for row in text.rows(known):
        assert text.whole[row.start : row.start + len(row.text)] == row.text
        assert text.forms_in(row) == finder_of(FORMS).forms_in(row.text)


@given(st.lists(LINES, min_size=3, max_size=8))
def test_the_text_of_the_hit_has_the_places_that_it_has_alone(lines: list[str]) -> None:
    own, places = hit_text(lines)[0].own()
    assert places == find_forms(own, FORMS)


def test_a_word_that_a_part_of_a_line_cuts_off_is_a_word_of_that_part() -> None:
    """A line without blanks is cut anywhere."""
    line = "a" * (PART_CHARS - 6) + "search" * 30
    text, known = hit_text(["", line, ""])
    rows = text.rows(known)
    assert len(rows) > 1
    assert [text.forms_in(row) for row in rows] == [
        finder_of(FORMS).forms_in(row.text) for row in rows
    ]
