"""Hostile Markdown costs a bounded multiple of plain prose, and no other note suffers from it."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hardening.attacks.shapes import PLAIN, SHAPES

from notewell import open_memory
from notewell.capture.review import statements
from notewell.config import Settings
from notewell.core import ChunkLimits, chunk
from notewell.core.chunking import PARSED_CHARS
from notewell.notes import Block, Entry
from notewell.testing import HashEmbedder

CHARS = 8_000
FACTOR = 150
"""Prose takes 0.25 µs a character; the worst, lists in lists of two letters, 13 here."""
STEEPEST = 1.6
TRIES = 3
"""Others are at work on the same machine: what is slow is slow each time."""
NOISE_S = 0.05
"""Below it a slope says more about the machine than about us."""


def took_s(work: Callable[[], object]) -> float:
    """Of processor time: others are at work on the same machine. Garbage is not ours to count."""
    gc.collect()
    gc.disable()
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        gc.enable()


@pytest.fixture(scope="module")
def plain_s() -> float:
    return took_s(lambda: chunk(PLAIN * (CHARS // len(PLAIN)), ChunkLimits()))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_note_is_cut_in_a_bounded_multiple_of_the_time(
    shape: str, plain_s: float
) -> None:
    short, long = SHAPES[shape](CHARS), SHAPES[shape](3 * CHARS)
    seen = []
    for _ in range(TRIES):
        short_s = took_s(lambda: chunk(short, ChunkLimits()))
        long_s = took_s(lambda: chunk(long, ChunkLimits()))
        slope = math.log(long_s / short_s) / math.log(len(long) / len(short))
        seen.append((short_s / plain_s, slope))
        if short_s < FACTOR * plain_s and (slope < STEEPEST or long_s < NOISE_S):
            return
    raise AssertionError(f"times as long as a plain note, and the power it grows by: {seen}")


@pytest.mark.parametrize("shape", SHAPES)
def test_no_line_of_a_hostile_note_is_lost(shape: str) -> None:
    text = SHAPES[shape](2_000)
    covered = {
        number
        for one in chunk(text, ChunkLimits())
        for number in range(one.span.start_line, one.span.end_line + 1)
    }
    said = {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert said <= covered


def test_ten_thousand_levels_are_no_recursion() -> None:
    for unit in (">", "- ", "[", "*a", "  - ", "1. ", "<b>", "> - "):
        assert chunk(unit * 10_000 + "deep", ChunkLimits())


def test_five_megabytes_on_one_line_are_cut_without_a_parser() -> None:
    line = "word " * 1_000_000
    assert len(line) > PARSED_CHARS
    began = time.thread_time()
    assert len(chunk(line, ChunkLimits())) == 1  # Its pieces are all the same text.
    assert time.thread_time() - began < 10


@pytest.mark.parametrize(
    "text", ["<!-- @" + " " * 60_000, "<!-- " * 12_000, ("\t" * 500 + "<!-- @a\n") * 100]
)
def test_what_an_append_and_a_review_read_stays_quick(text: str) -> None:
    began = time.thread_time()
    Block(Entry(text, "test"))
    list(statements("memory/2026-11-15.md", text))
    assert time.thread_time() - began < 10


def test_a_sync_goes_on_with_the_other_notes(tmp_path: Path) -> None:
    folder = tmp_path / "ws" / "memory"
    folder.mkdir(parents=True)
    for number, shape in enumerate(SHAPES.values()):
        text = shape(3_000)
        (folder / f"hostile-{number:02}.md").write_text(text, encoding="utf-8")
    odd = {
        "nul.md": b"a\0b\0",
        "latin.md": b"caf\xe9 \xff\xfe",
        "surrogates.md": "a \ud800 b".encode("utf-8", "surrogatepass"),
        "utf16.md": "\ufeffwide".encode("utf-16-le"),
        "bom.md": "\ufeff# Begin".encode(),
        "empty.md": b"",
    }
    for name, data in odd.items():
        (folder / name).write_bytes(data)
    (folder / "zz-good.md").write_text("The walrus sleeps in Basel.\n", encoding="utf-8")
    with open_memory(
        tmp_path / "ws",
        state_dir=tmp_path / "state",
        settings=Settings(),
        embedder=HashEmbedder(),
    ) as memory:
        report = memory.sync(vectors=False)
        assert report.trouble is None
        assert report.notes == len(SHAPES) + len(odd) + 1
        found = memory.search("walrus Basel", mode="keyword")
    assert found.hits[0].path == "memory/zz-good.md"
