"""A note's lines become chunks: none lost, none too long, numbered as `sed -n` does."""

from __future__ import annotations

from itertools import pairwise

import pytest
from apsw.unicode import grapheme_length
from hypothesis import example, given
from hypothesis import strategies as st

from notewell.core.chunking import (
    FRONT_MATTER_LINES,
    PARSED_CHARS,
    ChunkLimits,
    chunk,
    find_units,
)
from notewell.core.cutting import fitting_chars, pieces, token_weight
from notewell.types import Span

DEFAULT = ChunkLimits()
SMALL = ChunkLimits(tokens=16, overlap=4)

# Plain st.text() seldom fills a chunk; lines a Markdown parser has opinions about do.
LINES = st.one_of(
    st.sampled_from(
        [
            "",
            "   ",
            "# Title",
            "## Section",
            "###### deep",
            "---",
            "===",
            "- entry",
            "  - nested entry",
            "1. first",
            "> quoted",
            "```python",
            "```",
            "~~~",
            "| a | b |",
            "|---|---|",
            "[ref]: https://example.org",
            "<div>",
            "</div>",
            "    indented code",
            "索引库在这里",
            "👨‍👩‍👧‍👦 family",
        ]
    ),
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=90),
    st.integers(20, 300).map(lambda count: "word " * count),
    st.integers(20, 300).map(lambda count: "é" * count),
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)
LIMITS = st.builds(ChunkLimits, tokens=st.integers(8, 400), overlap=st.integers(0, 100))


def lines_of(text: str, span: Span) -> str:
    return "\n".join(text.split("\n")[span.start_line - 1 : span.end_line])


@given(TEXTS, LIMITS)
@example("---\na: 1\n---\ntext", SMALL)
@example("# A\n## B\n### C\n" + "x" * 200, SMALL)
@example("# a\n" * 50, SMALL)
def test_every_line_that_says_something_is_in_a_chunk_or_above_it(
    text: str, limits: ChunkLimits
) -> None:
    chunks = chunk(text, limits)
    covered = {
        number for one in chunks for number in range(one.span.start_line, one.span.end_line + 1)
    }
    above = {heading for one in chunks if one.piece for heading in one.heading.split(" › ")}
    for number, line in enumerate(text.split("\n"), start=1):
        assert not line.strip() or number in covered or " ".join(line.split()) in above


def test_a_title_above_a_line_that_is_cut_is_no_chunk_of_its_own() -> None:
    text = "# Harbour\n\n## Cranes\n\n" + "The cranes were built in 1921. " * 40
    chunks = chunk(text, ChunkLimits(60, 0))
    assert {one.span for one in chunks} == {Span(5, 5)}
    assert {one.heading for one in chunks} == {"# Harbour › ## Cranes"}


def test_a_title_that_the_pieces_of_a_line_do_not_have_stays_a_chunk() -> None:
    text = "## Cranes\n# Harbour\n" + "The cranes were built in 1921. " * 40
    assert chunk(text, ChunkLimits(60, 0))[0].span == Span(1, 2)


@given(TEXTS, LIMITS)
def test_no_chunk_is_heavier_than_the_limit(text: str, limits: ChunkLimits) -> None:
    for one in chunk(text, limits):
        # A single grapheme can be heavier than a tiny limit; it is never cut without need.
        assert token_weight(one.text) <= limits.max_weight or grapheme_length(one.text) == 1


@given(TEXTS, LIMITS)
def test_a_chunk_is_its_lines_or_a_piece_of_one_line(text: str, limits: ChunkLimits) -> None:
    for one in chunk(text, limits):
        lines = lines_of(text, one.span)
        if one.span.start_line == one.span.end_line:
            assert one.text in lines
        else:
            assert one.text == lines


@given(TEXTS, LIMITS)
def test_chunks_come_in_order_and_only_once(text: str, limits: ChunkLimits) -> None:
    chunks = chunk(text, limits)
    starts = [one.span.start_line for one in chunks]
    assert starts == sorted(starts)
    assert len({(one.span, one.text) for one in chunks}) == len(chunks)


@given(TEXTS)
def test_the_units_of_a_note_cover_each_line_once(text: str) -> None:
    lines = text.split("\n")
    covered = [number for unit in find_units(lines) for number in range(unit.start, unit.end)]
    assert covered == list(range(len(lines)))


@given(TEXTS, TEXTS, LIMITS)
def test_what_is_appended_below_a_new_heading_leaves_earlier_chunks_alone(
    before: str, after: str, limits: ChunkLimits
) -> None:
    # The first line is text: a `---` there would open front matter.
    closed = f"text\n\n{before}\n\n# Close\n\n{'word ' * limits.tokens}"
    if _is_open(closed):
        return
    old = chunk(closed, limits)
    new = chunk(f"{closed}\n\n# Later\n{after}", limits)
    assert new[: len(old)] == old


def _is_open(text: str) -> bool:
    """Whether a fence or an HTML block is still open: then everything below belongs to it."""
    return any(unit.heading == "# Close" for unit in find_units(text.split("\n"))) is False


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=2000), LIMITS)
@example("\r\r0", SMALL)
def test_nothing_makes_the_chunker_raise(text: str, limits: ChunkLimits) -> None:
    chunk(text, limits)


def test_small_sections_share_a_chunk_and_a_large_one_has_its_own() -> None:
    text = "# A\n\nshort\n\n# B\n\nshort too\n\n# C\n\n" + "word " * 100 + "\n\n# D\n\nend"
    assert [one.span for one in chunk(text, DEFAULT)] == [Span(1, 11), Span(13, 15)]


def test_the_heading_path_is_that_of_the_first_line() -> None:
    text = (
        "intro " * 100 + "\n\n# A\n\n" + "a " * 300 + "\n\n## B\n\n" + "b " * 300 + "\n\n# C\n\nc"
    )
    assert [one.heading for one in chunk(text, DEFAULT)] == ["", "# A", "# A › ## B", "# C"]


def test_a_setext_heading_counts_and_front_matter_does_not() -> None:
    text = "---\ntitle: x\n---\n\nTitle\n=====\n\ntext"
    assert [unit.heading for unit in find_units(text.split("\n"))] == ["", "# Title", ""]


def test_a_heading_goes_with_what_it_announces() -> None:
    text = "para\n\n## Next\n\n" + "word " * 15
    limits = ChunkLimits(tokens=22, overlap=0)
    assert [one.span for one in chunk(text, limits)] == [Span(1, 1), Span(3, 5)]


def test_a_comment_in_a_fence_is_no_heading_and_the_fence_stays_whole() -> None:
    fence = "```sh\n# install\npip install x\n```"
    text = "word " * 60 + "\n\n" + fence + "\n\nafter"
    limits = ChunkLimits(tokens=80, overlap=0)
    chunks = chunk(text, limits)
    assert any(fence in one.text for one in chunks)
    assert {one.heading for one in chunks} == {""}


def test_overlap_repeats_the_last_lines_of_the_chunk_before() -> None:
    text = "\n".join(f"- entry number {number}" for number in range(40))
    limits = ChunkLimits(tokens=50, overlap=10)
    chunks = chunk(text, limits)
    for one, following in pairwise(chunks):
        repeated = one.span.end_line - following.span.start_line + 1
        assert repeated == 2


def test_overlap_does_not_cross_a_heading() -> None:
    text = "# A\n\n" + "a\n" * 200 + "\n# B\n\n" + "b\n" * 10
    last = chunk(text, ChunkLimits(tokens=60, overlap=20))[-1]
    assert last.text.startswith("# B")


@pytest.mark.parametrize("character", ["é", "👨‍👩‍👧‍👦", "e\u0301", "索"])
def test_a_long_line_is_cut_between_graphemes(character: str) -> None:
    line = character * 500
    cut = list(pieces(line, 100))
    assert "".join(piece.text for piece in cut) == line
    assert all(len(piece.text) % len(character) == 0 for piece in cut)


def test_a_long_line_is_cut_after_a_word_where_there_is_one() -> None:
    assert list(pieces("alpha beta gamma delta epsilon", 12)) == [
        (0, "alpha beta"),
        (11, "gamma delta"),
        (23, "epsilon"),
    ]


def test_the_digest_changes_with_the_heading_above() -> None:
    one, other = (chunk(f"{title}\n\n{'text ' * 200}", SMALL) for title in ("# A", "# B"))
    assert {chunk.digest for chunk in one}.isdisjoint(chunk.digest for chunk in other)


def test_a_note_without_words_has_no_chunks() -> None:
    assert chunk("\n  \n\n", DEFAULT) == []
    assert chunk("", DEFAULT) == []


def test_cjk_weighs_a_token_a_character() -> None:
    assert token_weight("索引") == 8
    assert token_weight("abcd") == 4
    assert all(len(one.text) <= 400 for one in chunk("索引" * 1000, DEFAULT))


def test_equal_pieces_of_one_line_are_one_chunk() -> None:
    chunks = chunk("a" * 100_000 + "b", DEFAULT)
    assert [one.piece for one in chunks] == [True, True]
    assert {one.span for one in chunks} == {Span(1, 1)}


# -- exactly at the limits -----------------------------------------------------------------------

TIGHT = ChunkLimits(tokens=16, overlap=0)
WEIGHT = TIGHT.max_weight


@pytest.mark.parametrize(("extra", "spans"), [(0, [(1, 2)]), (1, [(1, 1), (2, 2)])])
def test_lines_share_a_chunk_up_to_the_limit_with_the_line_break_counted(
    extra: int, spans: list[tuple[int, int]]
) -> None:
    first = "x" * 31
    text = f"{first}\n{'y' * (WEIGHT - len(first) - 1 + extra)}"
    assert [tuple(one.span) for one in chunk(text, TIGHT)] == spans


@pytest.mark.parametrize(("extra", "pieces_of_it"), [(0, [False]), (1, [True, True])])
def test_a_line_is_cut_only_above_the_limit(extra: int, pieces_of_it: list[bool]) -> None:
    line = "x" * (WEIGHT + extra)
    assert [one.piece for one in chunk(line, TIGHT)] == pieces_of_it
    # The same for a line of a paragraph that is larger than a chunk.
    assert [one.piece for one in chunk(f"y\n{line}", TIGHT)] == [False, *pieces_of_it]


@pytest.mark.parametrize(("weight", "start"), [(16, 2), (17, 3)])
def test_a_line_is_repeated_up_to_the_overlap(weight: int, start: int) -> None:
    limits = ChunkLimits(tokens=16, overlap=4)
    lines = ["a" * 40, "b" * weight, "c" * 40]
    assert chunk("\n".join(lines), limits)[1].span == Span(start, 3)


@pytest.mark.parametrize(("weight", "chunks"), [(15, 1), (16, 2)])
def test_a_heading_closes_a_chunk_from_a_quarter_of_the_limit_on(weight: int, chunks: int) -> None:
    # The blank line before the heading belongs to the text and weighs its line break.
    text = f"{'x' * (weight - 1)}\n\n# B\n\ny"
    assert len(chunk(text, TIGHT)) == chunks


@pytest.mark.parametrize(
    ("tokens", "overlap", "weights"),
    [
        (7, 0, (32, 0)),
        (8, 4, (32, 16)),
        (8, 5, (32, 16)),
        (9, 4, (36, 16)),
        (9, 5, (36, 18)),
        (400, -1, (1600, 0)),
    ],
)
def test_limits_that_make_no_sense_are_bounded(
    tokens: int, overlap: int, weights: tuple[int, int]
) -> None:
    limits = ChunkLimits(tokens, overlap)
    assert (limits.max_weight, limits.overlap_weight) == weights


@pytest.mark.parametrize(("lines", "first"), [(FRONT_MATTER_LINES, True), (201, False)])
def test_front_matter_ends_within_its_limit(lines: int, first: bool) -> None:
    text = ["---", *["a: 1"] * (lines - 2), "---", "text"]
    assert (find_units(text)[0].end == lines) is first


@pytest.mark.parametrize(("extra", "is_parsed"), [(0, True), (1, False)])
def test_a_note_is_parsed_up_to_its_limit(extra: int, is_parsed: bool) -> None:
    lines = ["# A", "x" * (PARSED_CHARS - len("# A") - 2 + extra)]
    assert (find_units(lines)[0].heading == "# A") is is_parsed


@pytest.mark.parametrize(
    ("text", "limit", "count"), [("索引库", 8, 2), ("索引库", 7, 1), ("索", 1, 1)]
)
def test_as_many_characters_fit_as_weigh_the_limit(text: str, limit: int, count: int) -> None:
    assert fitting_chars(text, 0, limit) == count


# -- conversations -------------------------------------------------------------------------------

DIALOGUE = """User: when do we ship?
Assistant: On Friday at nine, if the tests of the whole week have passed on every machine.
User: and the router, which one did we choose for the office in the end?
Assistant: The Turris Omnia, because it runs our own firmware.
"""


def test_a_question_and_its_answer_are_in_one_chunk() -> None:
    # Without exchanges, the second question would fill up the first chunk.
    chunks = chunk(DIALOGUE, ChunkLimits(tokens=40, overlap=0), is_spoken=True)
    assert [one.span for one in chunks] == [Span(1, 2), Span(3, 4)]
    assert [one.heading for one in chunks] == ["", ""]


def test_a_conversation_that_fits_is_one_chunk() -> None:
    (one,) = chunk(DIALOGUE, DEFAULT, is_spoken=True)
    assert one.span == Span(1, 4)


def test_a_chunk_less_than_two_thirds_full_takes_the_beginning_of_the_next_exchange() -> None:
    chunks = chunk(DIALOGUE, ChunkLimits(tokens=48, overlap=0), is_spoken=True)
    assert [one.span for one in chunks] == [Span(1, 3), Span(4, 4)]


@pytest.mark.parametrize(
    ("greeting", "first"),
    [
        ("Assistant: hello", "User: hello\nAssistant: hello\nUser: how do I deploy?"),
        ("Assistant: hello, what can I do?", "User: hello\nAssistant: hello, what can I do?"),
    ],
    ids=["less", "full"],
)
def test_an_exchange_that_is_too_long_begins_a_chunk_if_the_current_one_is_two_thirds_full(
    greeting: str, first: str
) -> None:
    answer = "Assistant: " + " ".join(f"step {number}." for number in range(40))
    text = f"User: hello\n{greeting}\nUser: how do I deploy?\n{answer}\n"
    chunks = chunk(text, SMALL, is_spoken=True)
    assert chunks[0].text == first
    assert [one.span.end_line for one in chunks if not one.piece][-1] == 3


def test_messages_of_the_user_in_a_row_begin_one_exchange() -> None:
    text = "Assistant: hello, how can I help?\nUser: wait\nUser: which port?\nAssistant: 51820\n"
    chunks = chunk(text, ChunkLimits(tokens=12, overlap=0), is_spoken=True)
    assert [one.span for one in chunks] == [Span(1, 1), Span(2, 4)]
