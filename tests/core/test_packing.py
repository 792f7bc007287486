"""An answer shows the best lines of its hits, and never more than its budget has room for."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from notewell.core import (
    ChunkLines,
    Extent,
    LineScores,
    numbered_lines,
    pack_hits,
    score_lines,
)
from notewell.core.cutting import pieces
from notewell.core.line_rows import GROUP_MOST_CHARS
from notewell.core.packing import LEAST_CHARS, ROOM_CHARS
from notewell.records import replace
from notewell.types import Hit, ScoredLines, ScoreParts, Span, Utterance

FILLER = "They talked about the weather and the long way home, and nobody was in a hurry."


def scored(text: str, weights: dict[str, float], hit: float = 1.0) -> tuple[ScoredLines, ...]:
    lines = text.split("\n")
    span = Span(1, len(lines))
    return score_lines(
        ChunkLines([numbered_lines(span, text)]), span, LineScores(hit, span, weights)
    )


def made(text: str, weights: dict[str, float] | None = None, score: float = 1.0) -> Hit:
    groups = scored(text, weights or {}, score)
    span = Span(1, text.count("\n") + 1)
    parts = ScoreParts(None, score, None, 1, 1.0, 1.0)
    return Hit("id", "a.md", span, score, text[:700], "memory", "", parts, len(text), lines=groups)


def numbers(hit: Hit) -> list[int]:
    return [n for one in hit.shown for n in range(one.span.start_line, one.span.end_line + 1)]


# -- groups and scores ---------------------------------------------------------------------------


@given(st.lists(st.sampled_from(["", " ", "a", "word " * 10, "x" * 90, "y " * 400]), min_size=1))
def test_every_line_with_text_is_in_one_group(lines: list[str]) -> None:
    groups = scored("\n".join(lines), {})
    covered = [n for group in groups for n in range(group.span[0], group.span[1] + 1)]
    assert sorted(set(covered)) == [n for n, line in enumerate(lines, start=1) if line.strip()]
    # A long line is in several groups, each with other words of it.
    assert " ".join(group.text for group in groups).split() == " ".join(lines).split()
    assert all(len(group.text) <= GROUP_MOST_CHARS + 90 for group in groups)


def test_short_lines_are_read_together_and_a_blank_line_parts_them() -> None:
    wrapped = "Overseas, they were on the march, invading\nthe north and sowing chaos."
    groups = scored(f"{wrapped}\n\n{FILLER * 3}\nshort", {})
    assert [group.span for group in groups] == [(1, 2), (4, 4), (5, 5)]
    assert groups[0].text == wrapped


def test_lines_that_are_near_in_meaning_come_first() -> None:
    text = "\n".join([FILLER * 3] * 4)
    span = Span(1, 4)
    whole = Extent(0, 1000)
    near = {1: [(whole, 0.2)], 2: [(whole, 0.3)], 3: [(whole, 0.9)], 4: [(whole, 0.2)]}
    scores = LineScores(1.0, span, {}, near=near, typical=0.4)
    groups = score_lines(ChunkLines([numbered_lines(span, text)]), span, scores)
    assert max(groups, key=lambda one: one.score).span == (3, 3)
    # A line without a vector is neither near nor far.
    del near[1]
    groups = score_lines(ChunkLines([numbered_lines(span, text)]), span, scores)
    assert [one.span[0] for one in sorted(groups, key=lambda one: -one.score)] == [3, 1, 2, 4]


def test_of_a_long_line_the_part_that_is_near_comes_first() -> None:
    line = " ".join(FILLER for _ in range(12))
    span, middle = Span(1, 1), len(line) // 2
    near = {1: [(Extent(0, middle), 0.2), (Extent(middle, len(line)), 0.9)]}
    scores = LineScores(1.0, span, {}, near=near)
    groups = score_lines(ChunkLines([numbered_lines(span, line)]), span, scores)
    assert len(groups) > 3
    assert groups[0].score < groups[-1].score


def test_the_words_of_the_question_decide_within_a_hit() -> None:
    text = "\n".join([FILLER * 3, "The walrus is red. " + FILLER * 2, FILLER * 3, FILLER * 3])
    groups = scored(text, {"walrus": 2.0, "red": 1.0})
    # The line after it gets a part of its words, the line before it less.
    assert [groups.index(one) for one in sorted(groups, key=lambda one: -one.score)][:3] == [
        1,
        2,
        0,
    ]


def test_lines_outside_of_the_best_chunk_count_a_little_less() -> None:
    text = "\n".join([FILLER * 3, FILLER * 3])
    lines = ChunkLines([numbered_lines(Span(1, 2), text)])
    first, second = score_lines(lines, Span(1, 2), LineScores(1.0, Span(2, 2), {}))
    assert first.score < second.score


def test_of_a_long_line_the_sentences_with_the_words_score_best() -> None:
    line = f"{FILLER} " * 20 + "The walrus is red. " + f"{FILLER} " * 20
    groups = scored(line, {"walrus": 1.0})
    best = max(groups, key=lambda group: group.score)
    assert "walrus is red" in best.text
    assert best.text.startswith("They talked")
    assert (best.starts_inside, best.ends_inside) == (True, True)
    assert (groups[0].starts_inside, groups[-1].ends_inside) == (False, False)


# -- a line that is longer than a chunk ----------------------------------------------------------

SENTENCES = [
    f"Sentence number {n} talks about the harbour and the ships in it." for n in range(60)
]


def found(line: str, first: int, last: int, part: Extent) -> Hit:
    """A hit in the pieces `first` to `last` of a line."""
    cuts = list(pieces(line, 800))
    best = Extent(cuts[first].start, cuts[last].end)
    lines = ChunkLines((), [(7, cut) for cut in cuts])
    scores = LineScores(1.0, Span(7, 7), {"number_31": 1.0, "31": 1.0}, best)
    groups = score_lines(lines, Span(7, 7), scores, part)
    return replace(made("x"), span=Span(7, 7), lines=groups)


def test_pieces_of_one_line_are_joined_again_and_ends_are_marked() -> None:
    line = " ".join(SENTENCES)
    first, last = line.index(SENTENCES[20]), line.index(SENTENCES[40])
    (hit,) = pack_hits([found(line, 2, 2, Extent(first, last))], 4000)
    assert hit.shown_text == f"…{line[first:last].strip()}…"
    assert [one.span for one in hit.shown] == [(7, 7)]
    (hit,) = pack_hits([found(line, 0, 4, Extent(0, len(line)))], 8000)
    assert hit.shown_text == line


def test_of_a_long_line_the_best_sentences_are_shown_and_a_gap_is_marked() -> None:
    line = " ".join(SENTENCES)
    (hit,) = pack_hits([found(line, 0, 0, Extent(0, len(line)))], 800)
    first, *_, last = hit.shown
    assert SENTENCES[0] in first.text
    assert SENTENCES[31] in last.text
    assert last.text.startswith("…")
    assert "\n…" in hit.shown_text
    assert "L7" not in hit.shown_text


def test_a_piece_that_is_not_known_is_a_gap() -> None:
    cuts = list(pieces(" ".join(SENTENCES), 800))
    lines = ChunkLines((), [(7, cut) for cut in (cuts[0], cuts[2])])
    scores = LineScores(1.0, Span(7, 7), {}, Extent(0, 800))
    groups = score_lines(lines, Span(7, 7), scores, Extent(0, cuts[2].end))
    (hit,) = pack_hits([replace(made("x"), span=Span(7, 7), lines=groups)], 4000)
    assert [one.text.strip("…") for one in hit.shown] == [cuts[0].text, cuts[2].text]


# -- the choice ----------------------------------------------------------------------------------

TEXTS = st.lists(st.sampled_from(["", "red walrus", FILLER, FILLER * 3, "z" * 900]), min_size=1)


@given(st.lists(TEXTS, max_size=6), st.integers(200, 5000))
def test_what_is_shown_fits_and_nothing_is_shown_twice(notes: list[list[str]], room: int) -> None:
    hits = [
        made("\n".join(lines), {"walrus": 1.0}, 1 - place / 10)
        for place, lines in enumerate(notes)
    ]
    packed = pack_hits(hits, room)
    assert [hit.span for hit in packed] == [hit.span for hit in hits]
    assert sum(len(hit.shown_text) for hit in packed if hit.shown) <= room
    for hit in packed:
        assert numbers(hit) == sorted(numbers(hit))
        # Joined where they touch: there is a gap before each part but the first, inside of a long
        # line or between lines.
        for before, after in pairwise(hit.shown):
            is_marked = before.text.endswith("…") or after.text.startswith("…")
            assert before.span.end_line + (not is_marked) < after.span.start_line + is_marked
        words = [word for shown in hit.shown for word in shown.text.strip("…").split()]
        assert len(words) <= sum(len(group.text.split()) for group in hit.lines)


def test_a_gap_is_marked_with_the_number_of_the_next_line() -> None:
    lines = [f"{FILLER * 3} {n}" for n in range(1, 9)]
    lines[2], lines[6] = f"The walrus is red. {FILLER * 2}", f"A walrus is tall. {FILLER * 2}"
    (hit,) = pack_hits([made("\n".join(lines), {"walrus": 1.0})], 400)
    assert numbers(hit) == [3, 7]
    assert hit.shown_text == f"… L3\n{lines[2]}\n… L7\n{lines[6]}"


def test_neighbours_are_one_part_without_a_mark() -> None:
    text = f"{FILLER * 3}\n\n{FILLER * 3}"
    (hit,) = pack_hits([made(text)], 4000)
    assert hit.shown_text == text
    assert [one.span for one in hit.shown] == [(1, 3)]


def test_each_hit_is_shown_if_there_is_room_and_else_the_best_are() -> None:
    strong = "\n".join(f"The walrus {n} is red. {FILLER * 2}" for n in range(30))
    hits = [made(strong, {"walrus": 1.0}), made(f"{FILLER}\n{FILLER}", score=0.2)]
    assert all(hit.shown for hit in pack_hits(hits, 2 * ROOM_CHARS))
    assert [bool(hit.shown) for hit in pack_hits(hits, 2 * ROOM_CHARS - 1)] == [True, False]


def test_a_heading_is_not_shown_alone() -> None:
    text = f"## Red walrus\n\n{FILLER * 3}\n\n{FILLER * 3}"
    strong = made(
        "\n".join(f"The walrus {n} is red. {FILLER * 2}" for n in range(9)), {"walrus": 1}
    )
    _, hit = pack_hits([strong, made(text, {"walrus": 1.0}, 0.1)], 900)
    assert hit.shown == ()
    (hit,) = pack_hits([made(text, {"walrus": 1.0})], 300)
    assert numbers(hit) == [1, 2, 3]


def test_lines_that_do_not_fit_leave_room_for_shorter_ones_and_are_cut_last() -> None:
    long_line, short = f"walrus {'x' * 380}", "The harbour."
    (hit,) = pack_hits([made(f"{long_line}\n\n{short}", {"walrus": 1.0})], 300)
    assert numbers(hit) == [1, 2, 3]
    assert short in hit.shown_text
    assert [one.is_cut for one in hit.shown] == [True]
    assert 300 - LEAST_CHARS < len(hit.shown_text) <= 300
    assert pack_hits([made(long_line)], LEAST_CHARS)[0].shown == ()


def test_a_hit_without_scored_lines_shows_its_snippet() -> None:
    (hit,) = pack_hits([replace(made("from another engine"), lines=())], 4000)
    assert hit.shown_text == "from another engine"


def test_what_a_surface_makes_longer_is_counted_as_it_is_shown() -> None:
    hits = [made("\n".join(["<" * 200] * 20))]
    (hit,) = pack_hits(hits, 1000, lambda text: text.replace("<", "&lt;"))
    assert len(hit.shown_text) <= 1000
    assert "<" not in hit.shown_text


def test_the_speaker_is_the_one_of_the_first_line_that_is_shown() -> None:
    hit = made(f"User: {FILLER * 3}\nAssistant: the walrus is red. {FILLER * 3}", {"walrus": 1.0})
    said = Utterance("User", "2026-11-02T14:05Z", "claude", None)
    (shown,) = pack_hits([replace(hit, said=said)], 300)
    assert shown.shown[0].span == (2, 2)
    assert shown.said is not None
    assert shown.said.speaker == "Assistant"
