"""Hits are different things, whole enough to be read, and never the same line twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from notewell.core.chunking import ChunkLimits, chunk
from notewell.core.cutting import pieces
from notewell.core.long_lines import Extent
from notewell.core.passages import (
    MERGED_CHARS,
    WIDE_CHARS,
    ChunkLines,
    FoundChunk,
    Passage,
    merge_passages,
    numbered_lines,
    widen_passages,
)
from notewell.types import Span

LINES = [f"line {number} " + "x" * 80 for number in range(1, 101)]
NOTE = {"a.md": ChunkLines([numbered_lines(Span(1, 100), "\n".join(LINES))])}


def merged(*spans: tuple[int, int], limit: int = 6) -> list[tuple[int, int]]:
    found = [FoundChunk(number, "a.md", Span(*span)) for number, span in enumerate(spans)]
    return [(one.start_line, one.end_line) for one in merge_passages(found, NOTE, limit)]


def widened(*spans: tuple[int, int]) -> list[tuple[int, int]]:
    passages = [Passage("a.md", *span, best=0) for span in spans]
    widen_passages(passages, NOTE)
    return [(one.start_line, one.end_line) for one in passages]


def test_neighbours_are_one_hit_at_the_place_of_the_better() -> None:
    assert merged((50, 55), (10, 15), (16, 20), (5, 8)) == [(50, 55), (5, 20)]


def test_what_lies_apart_stays_apart() -> None:
    assert merged((10, 12), (20, 22)) == [(10, 12), (20, 22)]


def test_a_hit_does_not_grow_past_its_limit() -> None:
    assert merged((1, 20), (21, 40)) == [(1, 20), (21, 40)]
    assert NOTE["a.md"].chars(1, 40) > MERGED_CHARS


def test_a_chunk_inside_a_hit_is_not_shown_again() -> None:
    assert merged((1, 26), (5, 6)) == [(1, 26)]


def test_other_notes_are_other_hits() -> None:
    notes = {**NOTE, "b.md": NOTE["a.md"]}
    found = [FoundChunk(1, "a.md", Span(1, 2)), FoundChunk(2, "b.md", Span(3, 4))]
    assert [one.path for one in merge_passages(found, notes, 6)] == ["a.md", "b.md"]


def test_no_more_hits_than_asked_for_and_later_chunks_still_join() -> None:
    assert merged((10, 12), (50, 52), (90, 92), (13, 14), limit=2) == [(10, 14), (50, 52)]


def test_a_small_hit_is_widened_on_both_sides() -> None:
    ((first, last),) = widened((50, 50))
    assert first < 50 < last
    assert abs((50 - first) - (last - 50)) <= 1
    assert NOTE["a.md"].chars(first, last) <= WIDE_CHARS


def test_at_the_edge_of_a_note_a_hit_grows_to_the_other_side() -> None:
    ((first, last),) = widened((1, 1))
    assert first == 1
    assert NOTE["a.md"].chars(1, last) > WIDE_CHARS - 200


def test_a_hit_is_not_widened_into_another() -> None:
    (one, other) = widened((50, 50), (52, 52))
    assert one[1] < other[0]


def test_a_hit_that_is_large_enough_stays_as_it_is() -> None:
    assert widened((1, 30)) == [(1, 30)]


def test_unknown_lines_end_a_hit() -> None:
    lines = ChunkLines([{5: "five", 6: "six"}, {30: "thirty"}])
    passage = Passage("a.md", 5, 5, best=0)
    widen_passages([passage], {"a.md": lines})
    assert (passage.start_line, passage.end_line) == (5, 6)


# -- lines that are longer than a chunk ----------------------------------------------------------

LONG = "".join(f"Sentence {n} says something about the harbour. " for n in range(400))
CUTS = list(pieces(LONG, 800))
LONG_NOTE = {"a.md": ChunkLines([{1: "one", 2: "two"}], [(3, cut) for cut in CUTS])}


def parts(*numbers: int) -> list[Passage]:
    """The passages of these pieces of line 3, best first."""
    ranked = [
        FoundChunk(n, "a.md", Span(3, 3), Extent(CUTS[n].start, CUTS[n].end)) for n in numbers
    ]
    passages = merge_passages(ranked, LONG_NOTE, 6)
    widen_passages(passages, LONG_NOTE)
    return passages


def test_near_pieces_of_one_line_are_one_hit_and_far_ones_are_two() -> None:
    near, far = parts(5, 12, 6)
    assert (near.best, far.best) == (5, 12)
    assert near.part is not None
    assert near.part.start == CUTS[5].start
    assert near.part.end == CUTS[6].end


def test_a_part_of_a_line_is_widened_to_whole_sentences() -> None:
    (passage,) = parts(5)
    part = passage.part
    assert part is not None
    assert CUTS[5].end - CUTS[5].start < part.chars <= WIDE_CHARS
    assert LONG[part.start :].startswith("Sentence")
    assert LONG[: part.end].rstrip().endswith(".")


def test_two_parts_of_a_line_do_not_overlap() -> None:
    one, other = parts(4, 7)
    assert one.part is not None
    assert other.part is not None
    assert one.part.end <= other.part.start


def test_a_hit_of_whole_lines_is_not_widened_over_a_long_line() -> None:
    passage = Passage("a.md", 1, 1, best=0)
    lines = ChunkLines([{1: "one", 2: "two"}, {4: "four"}], [(3, CUTS[0])])
    widen_passages([passage], {"a.md": lines})
    assert (passage.start_line, passage.end_line) == (1, 2)


TEXTS = st.lists(
    st.one_of(
        st.just(""), st.sampled_from(["# A", "## B", "- entry"]), st.text("ab ", max_size=200)
    ),
    min_size=1,
    max_size=80,
).map("\n".join)


@given(TEXTS, st.randoms(use_true_random=False), st.integers(1, 8))
def test_passages_never_overlap_and_hold_their_best_chunk(
    text: str, order: object, limit: int
) -> None:
    chunks = [one for one in chunk(text, ChunkLimits(24, 0)) if not one.piece]
    order.shuffle(chunks)  # type: ignore[attr-defined]
    lines = {"a.md": ChunkLines(numbered_lines(one.span, one.text) for one in chunks)}
    found = [FoundChunk(number, "a.md", one.span) for number, one in enumerate(chunks)]
    passages = merge_passages(found, lines, limit)
    widen_passages(passages, lines)
    assert len(passages) <= limit
    assert bool(passages) == bool(chunks)
    for one in passages:
        span = chunks[one.best].span
        assert one.start_line <= span.start_line <= span.end_line <= one.end_line
    covered = [line for one in passages for line in range(one.start_line, one.end_line + 1)]
    assert len(covered) == len(set(covered))


@given(TEXTS, st.randoms(use_true_random=False), st.integers(1, 8), st.integers(1, 4))
def test_known_sizes_of_chunks_change_no_passage(
    text: str, order: object, limit: int, kept: int
) -> None:
    """Lines are counted only if the chunks could be too long together."""
    chunks = [one for one in chunk(text * 4, ChunkLimits(160, 0)) if not one.piece]
    order.shuffle(chunks)  # type: ignore[attr-defined]
    chunks = chunks[: max(1, len(chunks) * kept // 4)]
    lines = {"a.md": ChunkLines(numbered_lines(one.span, one.text) for one in chunks)}
    sized = [
        FoundChunk(number, "a.md", one.span, chars=len(one.text))
        for number, one in enumerate(chunks)
    ]
    counted = [one._replace(chars=MERGED_CHARS) for one in sized]
    passages = [merge_passages(found, lines, limit) for found in (sized, counted)]
    quick, slow = ([(one.start_line, one.end_line, one.best) for one in of] for of in passages)
    assert quick == slow
