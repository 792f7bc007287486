"""What only the segments driver promises: sealed rows, codes, few writes, no threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.vector_index import (
    BOTH,
    DIMS,
    TINY,
    Index,
    assert_filed_once,
    assert_same,
    vector_of,
)

from notewell.core import unit_rows
from notewell.index.sqlite.quantization import Scratch, Segment, highest, seal
from notewell.index.sqlite.segments import SegmentDriver

if TYPE_CHECKING:
    pass


def _segments(index: Index) -> list[tuple[int, int]]:
    rows = index.writer.execute("SELECT rows, dead FROM vec_segments ORDER BY id").fetchall()
    return [(int(str(size)), int(str(dead))) for size, dead in rows]


def test_a_small_source_stays_exact_and_a_grown_one_is_sealed_in_even_pieces(
    tmp_path: Path,
) -> None:
    index = Index(TINY, tmp_path / "index.sqlite")
    db, reader = index.connect(), index.driver.reader()
    index.add("memory", 6)
    index.settle()
    reader.nearest(db, vector_of(1), BOTH, 1)
    assert (_segments(index), reader.answered_by) == ([], "exact")
    index.add("memory", 11)
    index.settle()
    reader.nearest(db, vector_of(1), BOTH, 1)
    assert (_segments(index), reader.answered_by) == ([(6, 0), (6, 0), (5, 0)], "bits")


def test_a_segment_that_lost_a_quarter_gives_its_rows_back(tmp_path: Path) -> None:
    index = Index(TINY, tmp_path / "index.sqlite")
    index.add("memory", 16)
    index.settle()
    index.remove([1, 2])
    index.settle()
    assert _segments(index) == [(8, 2), (8, 0)]
    index.remove([3])
    index.settle()  # five rows are more than a tail may keep beside a segment
    assert _segments(index) == [(8, 0), (5, 0)]
    assert_filed_once(index)


def test_small_segments_are_joined_when_there_is_something_to_seal(tmp_path: Path) -> None:
    driver = SegmentDriver(exact_rows=6, tail_rows=3, segment_rows=40)
    index = Index(driver, tmp_path / "index.sqlite")
    db, reader = index.connect(), index.driver.reader()
    for added in (7, 4, 4):
        index.add("memory", added)
        index.settle()
        # A reader that holds the older segment does not take the new one for it.
        expected = index.expected(vector_of(1), BOTH, 20)
        assert_same(reader.nearest(db, vector_of(1), BOTH, 20), expected)
    assert _segments(index) == [(15, 0)]


@pytest.mark.parametrize("held", [True, False])
def test_the_dead_do_not_crowd_out_the_living(tmp_path: Path, *, held: bool) -> None:
    index = Index(SegmentDriver(exact_rows=100), tmp_path / "index.sqlite")
    index.add("memory", 400)
    index.settle()
    db, reader = index.connect(), index.driver.reader()
    if held:
        for _ in range(2):  # the second time the codes are read as well
            reader.nearest(db, vector_of(1), BOTH, 3)
    index.remove([chunk for chunk, _ in index.expected(vector_of(1), BOTH, 90)])
    for _ in range(2):
        expected = index.expected(vector_of(1), BOTH, 3)
        assert_same(reader.nearest(db, vector_of(1), BOTH, 3), expected)


def test_ties_are_broken_by_id_whatever_the_order_in_memory(tmp_path: Path) -> None:
    index = Index(SegmentDriver(), tmp_path / "index.sqlite")
    with index.writer:
        index.driver.add(index.writer, "memory", range(1, 101), np.tile(vector_of(1), (100, 1)))
    db, reader = index.connect(), index.driver.reader()
    reader.nearest(db, vector_of(2), BOTH, 5)
    index.remove([2, 3])  # the last rows move up into their places
    found = reader.nearest(db, vector_of(2), BOTH, 50)
    assert [chunk for chunk, _ in found] == [1, *range(4, 53)]


@pytest.mark.parametrize("common", [0.0, 1.0, 4.0])
def test_signs_tell_a_cosine_roughly_and_codes_closely(common: float) -> None:
    draw = np.random.default_rng(5)
    rows = common * draw.standard_normal(384) + draw.standard_normal((3000, 384))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    sealed = seal(rows)
    ids = np.arange(1, 3001).tobytes()
    segment = Segment(ids, sealed.mean, sealed.shape, sealed.bits)
    segment.hold(sealed.codes)
    query = unit_rows(rows[17:20].sum(axis=0)[None], 384)[0]
    estimates = np.empty(3000, np.float32)
    segment.estimate(query, estimates, Scratch())
    np.testing.assert_allclose(estimates, rows @ query, atol=0.3)
    assert np.abs(estimates - rows @ query).mean() < 0.06
    np.testing.assert_allclose(segment.refine(query, np.arange(3000)), rows @ query, atol=0.003)


def test_equal_vectors_can_be_sealed() -> None:
    vector = np.array([0.6, 0.8, 0.0], np.float32)
    sealed = seal(np.tile(vector, (5, 1)))
    segment = Segment(np.arange(1, 6).tobytes(), sealed.mean, sealed.shape, sealed.bits)
    scores = np.empty(5, np.float32)
    segment.estimate(vector, scores, Scratch())
    np.testing.assert_allclose(scores, 1.0, atol=1e-6)


def test_deleting_writes_little(tmp_path: Path) -> None:
    """A dead row costs eight bytes of its segment, not a new copy of it."""
    index = Index(SegmentDriver(exact_rows=100), tmp_path / "index.sqlite")
    index.add("memory", 3000)
    index.settle()
    index.writer.pragma("wal_checkpoint", "truncate")
    index.remove([1500])
    pages = (index.path.parent / "index.sqlite-wal").stat().st_size / 4096
    assert pages < 12


def test_one_edit_reads_one_row(tmp_path: Path) -> None:
    index = Index(SegmentDriver(), tmp_path / "index.sqlite")
    index.add("memory", 2000)
    db, reader = index.connect(), index.driver.reader()
    reader.nearest(db, vector_of(1), BOTH, 3)
    index.remove([77])
    index.add("memory", 1)
    db.status(apsw.SQLITE_DBSTATUS_CACHE_MISS, reset=True)
    found = reader.nearest(db, vector_of(2001), BOTH, 3)
    read = db.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)
    assert_same(found, index.expected(vector_of(2001), BOTH, 3))
    assert read[0] < 20


def test_sealed_rows_are_found_as_well_as_exact_ones(tmp_path: Path) -> None:
    """Vectors with a large common part, which plain sign codes cannot tell apart."""
    draw = np.random.default_rng(3)
    centres = draw.standard_normal((100, DIMS))
    rows = centres[draw.integers(0, 100, 20_050)] + 0.6 * draw.standard_normal((20_050, DIMS))
    rows += 3 * draw.standard_normal(DIMS)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors, queries = rows[50:].astype(np.float32), rows[:50].astype(np.float32)
    index = Index(SegmentDriver(), tmp_path / "index.sqlite")
    with index.writer:
        index.driver.add(index.writer, "memory", range(1, 20_001), vectors)
        index.driver.settle(index.writer)
    db, reader = index.connect(), index.driver.reader()
    recalls = []
    for query in queries:
        true = set((np.argsort(-(vectors @ query))[:24] + 1).tolist())
        found = reader.nearest(db, query, BOTH, 24)
        recalls.append(len(true & {chunk for chunk, _ in found}) / 24)
    assert reader.answered_by == "bits"
    assert np.mean(recalls) >= 0.98
    assert min(recalls) >= 0.8


@given(
    scores=st.lists(st.integers(-50, 50), min_size=1, max_size=60),
    copies=st.integers(1, 40),
    n=st.integers(1, 30),
)
def test_highest_finds_the_highest(scores: list[int], copies: int, n: int) -> None:
    array = np.array(scores * copies, np.float32)
    places = highest(array, n)
    assert len(set(places.tolist())) == min(n, len(array))
    assert sorted(array[places]) == sorted(array)[-n:]


NO_THREAD_WAKES = """
import os, sys, time
NO_THREADS = 77
from pathlib import Path
import apsw, numpy as np
from notewell.index.sqlite.segments import SegmentDriver

def switches():
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    texts = [(task / "status").read_text(encoding="utf-8") for task in tasks]
    lines = [line for text in texts for line in text.splitlines()]
    return sorted(line for line in lines if "ctxt_switches" in line)

def sleeping():
    # A thread that woke spins for a while; its switches are counted when it sleeps again.
    before, deadline = switches(), time.monotonic() + 30
    while True:
        time.sleep(0.1)
        if switches() == before or time.monotonic() > deadline:
            return before
        before = switches()

db = apsw.Connection(":memory:")
db.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, source TEXT)")
driver, rows = SegmentDriver(), np.random.default_rng(1).standard_normal((6000, 384), np.float32)
driver.create(db, 384)
driver.add(db, "memory", range(1, 6001), rows)
reader = driver.reader()
before = sleeping()
if not before:
    sys.exit(NO_THREADS)
near = reader.nearest(db, rows[7], ["memory"], 3)
assert near[0][0] == 8
assert "numpy.ma" not in sys.modules, "a search need not wait for masked arrays"
assert sleeping() == before, "a thread of OpenBLAS woke"
rows @ rows[7]
assert sleeping() != before, "this test would not notice"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which threads ran")
def test_a_scan_wakes_no_thread_of_the_numpy_of_our_caller() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "4"}
    command = [sys.executable, "-c", NO_THREAD_WAKES]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    if done.returncode == 77:
        pytest.skip("one core, or another library than OpenBLAS")
    assert done.returncode == 0, done.stderr.decode()
