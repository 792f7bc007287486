"""Vectors that were kept and went bad are computed again; none of them reaches an answer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.hardening.damage.damaged_memory import DamagedMemory
from tests.hardening.damage.damages import folder_called, garbage_in, index_is_gone

from notewell.errors import StateNotWritable
from notewell.index.sqlite import open_writer
from notewell.index.sqlite.connect import PAGE_BYTES, transaction

SEED = 20261115
DIMS = 64
ROWS = {
    "half a number": b"\x00" * (4 * DIMS - 2),
    "too short": np.ones(DIMS - 1, "<f4").tobytes(),
    "too long": np.ones(DIMS + 1, "<f4").tobytes(),
    "of another model": np.full(384, 384**-0.5, "<f4").tobytes(),
    "empty": b"",
    "zero": bytes(4 * DIMS),
    "NaN": np.full(DIMS, np.nan, "<f4").tobytes(),
    "infinite": np.full(DIMS, np.inf, "<f4").tobytes(),
    "far too large": np.full(DIMS, 3e38, "<f4").tobytes(),
    "not of length 1": np.full(DIMS, 5.0, "<f4").tobytes(),
    "a text": "x" * 4 * DIMS,
    "a number": 7,
}


@pytest.fixture(scope="module")
def damaged(quick_path: Path) -> DamagedMemory:
    return DamagedMemory(quick_path, dims=DIMS).healthy()


@pytest.fixture(autouse=True)
def put_back(damaged: DamagedMemory) -> Iterator[None]:
    yield
    damaged.restore()


def rebuilt(damaged: DamagedMemory) -> None:
    """The index is lost: the one that is built from notes and cache answers as before."""
    before = damaged.notes()
    index_is_gone(damaged)
    with damaged.memory() as memory:
        report = memory.sync()
        assert report.rebuilt
        assert report.trouble is None
        assert damaged.asked(memory) is None
        assert memory.status().problem is None
    assert damaged.notes() == before


@pytest.mark.parametrize("dims", [DIMS, 384], ids=["dims told right", "dims told wrong"])
@pytest.mark.parametrize("row", ROWS)
def test_rows_that_are_no_vectors_are_computed_again(
    damaged: DamagedMemory, row: str, dims: int
) -> None:
    with closing(open_writer(damaged.folder / "cache.sqlite")) as db, transaction(db):
        db.execute("UPDATE embedding_cache SET embedding = ?, dims = ?", (ROWS[row], dims))
    rebuilt(damaged)


def test_flipped_bits_in_the_cache_cost_vectors_and_nothing_else(damaged: DamagedMemory) -> None:
    draw, cache = random.Random(SEED), damaged.folder / "cache.sqlite"
    sound = damaged.kept[cache.name]
    for _ in range(40):
        data = bytearray(sound)
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        cache.write_bytes(data)
        rebuilt(damaged)
        damaged.restore()


def test_pages_of_the_cache_that_are_zero_or_in_a_wrong_place_do_no_harm(
    damaged: DamagedMemory,
) -> None:
    cache = damaged.folder / "cache.sqlite"
    sound = damaged.kept[cache.name]
    for at in range(0, len(sound), PAGE_BYTES):
        for page in (bytes(PAGE_BYTES), sound[-PAGE_BYTES:]):
            cache.write_bytes(sound[:at] + page + sound[at + PAGE_BYTES :])
            rebuilt(damaged)
            damaged.restore()


def test_a_cache_of_garbage_is_begun_anew(damaged: DamagedMemory) -> None:
    garbage_in("cache.sqlite")(damaged)
    rebuilt(damaged)
    with damaged.memory() as memory:
        assert memory.status().cache_entries > 0


def test_a_folder_in_the_place_of_the_cache_is_told_and_search_goes_on(
    damaged: DamagedMemory,
) -> None:
    folder_called("cache.sqlite")(damaged)
    note = damaged.workspace / "memory" / "new.md"
    note.write_text("a new note with a quokka\n", encoding="utf-8")
    try:
        with damaged.memory() as memory:
            with pytest.raises(
                StateNotWritable, match=r"cannot write to '.*/main-.*': unable to open"
            ):
                memory.sync()
            assert memory.search("quokka", mode="keyword").hits[0].path == "memory/new.md"
            assert memory.search("router Turris").hits[0].path == "MEMORY.md"
    finally:
        note.unlink()
