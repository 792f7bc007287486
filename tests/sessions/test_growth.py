"""A conversation grows byte by byte: each turn is there once, and what was there stays."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.sessions.made_up import HOSTS, Said, openclaw

from notewell.core import ChunkLimits, chunk
from notewell.redaction import Redactor
from notewell.sessions.records import MAX_LINE_BYTES, split_lines
from notewell.sessions.transcript import Transcript, as_text

# What a Markdown parser, a JSON parser and a line counter each have opinions about.
TEXTS = st.one_of(
    st.sampled_from(
        [
            "```", "# Title", "---", "===", "| a | b |\n|---|---|", "- entry", "    code",
            "> said", "<div>", "[x]: y", "a\r\nb\u2028c\x0bd\x85e", "\ud83d", "\0",
            "\U0001f468\u200d\U0001f469\u200d\U0001f467", "索引库在这里" * 3,
            "password: Rosebud-1941!", "-----BEGIN PRIVATE KEY-----\n" + "A1b2" * 16,
            '{"type":"message"}',
        ]
    ),
    st.text(max_size=40),
    # Longer ones cost the square: the text is read anew with each byte.
    st.integers(1, 20).map(lambda count: "word " * count),
)  # fmt: skip
TURNS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), min_size=1, max_size=8)
LIMITS = st.builds(ChunkLimits, tokens=st.integers(8, 60), overlap=st.integers(0, 20))
BLOCK = 61
"""Blocks that fit nothing: a line break or a character may lie across them."""

REDACT = Redactor(b"k" * 32)


def read(data: bytes) -> Transcript:
    blocks = (data[start : start + BLOCK] for start in range(0, len(data), BLOCK))
    return as_text(split_lines(blocks), REDACT)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(list(HOSTS)), TURNS, LIMITS)
@example("openclaw", [("user", "a" * 300), ("assistant", "b")], ChunkLimits(8, 4))
@example("openclaw", [("user", "索引库在这里" * 20), ("user", "word " * 60)], ChunkLimits(8, 4))
@example("openclaw", [*[("user", "word " * 12)] * 4, ("user", "===")], ChunkLimits(8, 0))
def test_each_turn_appears_once_and_earlier_chunks_never_change(
    host: str, turns: Sequence[Said], limits: ChunkLimits
) -> None:
    data = b"".join(HOSTS[host](turns))
    whole = read(data).text.split("\n")
    before = ""
    chunks = chunk(before, limits, is_spoken=True)
    for size in range(len(data) + 1):
        text = read(data[:size]).text
        if text == before:
            continue
        lines = text.split("\n")
        assert lines[:-1] == whole[: len(lines) - 1]
        assert len(lines) == len(before.split("\n")) + 1  # one turn at a time
        grown = chunk(text, limits, is_spoken=True)
        # Pieces of a long line are chunks of the same span: the last span alone may change.
        kept = [one for one in chunks if one.span != chunks[-1].span]
        assert grown[: len(kept)] == kept
        before, chunks = text, grown
    assert before.split("\n") == whole


@settings(max_examples=60)
@given(TURNS, LIMITS)
def test_every_turn_is_in_a_chunk_and_none_has_a_heading(
    turns: Sequence[Said], limits: ChunkLimits
) -> None:
    text = read(b"".join(openclaw(turns))).text
    chunks = chunk(text, limits, is_spoken=True)
    assert {one.heading for one in chunks} <= {""}
    covered = {n for one in chunks for n in range(one.span.start_line, one.span.end_line + 1)}
    assert covered == set(range(1, text.count("\n") + 1))


@given(TURNS)
def test_the_text_is_clean_and_each_line_names_its_speaker(turns: Sequence[Said]) -> None:
    transcript = read(b"".join(openclaw(turns)))
    lines = transcript.text.split("\n")[:-1]
    assert len(lines) == len(transcript.line_map)
    assert list(transcript.line_map) == sorted(set(transcript.line_map))
    transcript.text.encode()
    for line in lines:
        assert line.startswith(("User: ", "Assistant: "))
        assert " ".join(line.split()) == line
        assert "\0" not in line


@given(st.binary(max_size=200))
def test_any_bytes_at_all_can_be_read(data: bytes) -> None:
    read(data)


def test_a_last_line_waits_until_it_is_whole() -> None:
    first, second = openclaw([("user", "one"), ("assistant", "two")])[1:]
    half = read(first + second[:-9])
    assert (half.text, half.pending_bytes) == ("User: one\n", len(second) - 9)
    without_break = read(first + second[:-1])
    assert (without_break.text, without_break.pending_bytes) == ("User: one\nAssistant: two\n", 0)
    assert read(first + second).text == without_break.text


def test_a_broken_line_is_left_out_and_told() -> None:
    first, second = openclaw([("user", "one"), ("assistant", "two")])[1:]
    transcript = read(first + b'{"type":"mess\n' + b"\n" + b"[" * 100_000 + b"\n" + second)
    assert transcript.text == "User: one\nAssistant: two\n"
    assert transcript.line_map == (1, 5)
    assert transcript.repairs == ("2 lines are not JSON and left out",)


def test_a_line_break_that_was_lost_loses_no_turn() -> None:
    first, second = openclaw([("user", "one"), ("assistant", "two")])[1:]
    transcript = read(first.rstrip() + second)
    assert transcript.text == "User: one\nAssistant: two\n"
    assert transcript.line_map == (1, 1)


def test_bad_bytes_and_a_mark_at_the_start_are_repaired() -> None:
    record = json.dumps({"type": "message", "message": {"role": "user", "content": "caf?"}})
    transcript = read(b"\xef\xbb\xbf" + record.encode().replace(b"?", b"\xe9") + b"\r\n")
    assert transcript.text == "User: caf\N{REPLACEMENT CHARACTER}\n"
    assert transcript.repairs == ("1 line is not valid UTF-8 and repaired",)


def test_a_line_too_long_to_be_a_message_is_left_out_and_told() -> None:
    first, second = openclaw([("user", "one"), ("assistant", "two")])[1:]
    block = b"x" * (MAX_LINE_BYTES // 16)
    lines = split_lines([first, *[block] * 17, b"\n" + second])
    transcript = as_text(lines, REDACT)
    assert transcript.text == "User: one\nAssistant: two\n"
    assert transcript.line_map == (1, 3)
    assert transcript.repairs == ("1 line is longer than 64 MiB and left out",)
