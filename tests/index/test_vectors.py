"""One suite for every vector driver; what only segments promise stands at the end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.core import unit_rows
from notewell.errors import BadSetting, EmbedderFailed
from notewell.index.sqlite.quantization import Scratch, Segment, highest, seal
from notewell.index.sqlite.segments import SegmentDriver
from notewell.index.sqlite.sqlite_vec import SqliteVecDriver
from notewell.index.sqlite.store import DRIVERS, vector_driver

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from notewell.index.sqlite.vectors import VectorDriver, VectorReader
    from notewell.ports import Vectors

DIMS = 70  # Not a multiple of 64, so that the last word of the signs is padded.
BOTH = ["memory", "sessions"]
TINY = SegmentDriver(exact_rows=6, tail_rows=3, segment_rows=8)
TINY_WITHOUT_CODES = SegmentDriver(exact_rows=6, tail_rows=3, segment_rows=8, codes_rows=0)
EVERY_DRIVER: dict[str, VectorDriver] = {
    "segments": SegmentDriver(),
    "segments, tiny": TINY,
    "segments, codes on disk": TINY_WITHOUT_CODES,
    "sqlite-vec": SqliteVecDriver(),
}


def vector_of(chunk: int) -> Vectors:
    """A vector of its own for every id, with a part that all have in common."""
    return np.float32(0.2) + np.random.default_rng(chunk).standard_normal(DIMS, np.float32)


@dataclass
class Index:
    """A file with one driver's tables, a writer, and beside it what the answer should be."""

    driver: VectorDriver
    path: Path
    truth: dict[int, str] = field(default_factory=dict)
    newest: int = 0

    def __post_init__(self) -> None:
        self.writer = apsw.Connection(str(self.path))
        self.writer.pragma("journal_mode", "wal")
        self.writer.pragma("synchronous", "off")
        with self.writer:
            self.writer.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, source TEXT)")
            self.driver.create(self.writer, DIMS)

    def connect(self) -> apsw.Connection:
        return apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)

    def add(self, source: str, n: int) -> list[int]:
        ids = list(range(self.newest + 1, self.newest + n + 1))
        with self.writer:
            vectors = np.array([vector_of(chunk) for chunk in ids]).reshape(n, DIMS)
            self.driver.add(self.writer, source, ids, vectors)
        self.newest += n
        self.truth |= dict.fromkeys(ids, source)
        return ids

    def remove(self, ids: Iterable[int]) -> None:
        gone = list(ids)
        with self.writer:
            self.driver.remove(self.writer, gone)
        for chunk in gone:
            self.truth.pop(chunk, None)

    def settle(self) -> None:
        with self.writer:
            self.driver.settle(self.writer)

    def expected(self, query: Vectors, sources: Sequence[str], k: int) -> list[tuple[int, float]]:
        wide = query.astype(np.float64)
        cosines = [
            (chunk, float(row @ wide / np.linalg.norm(row) / np.linalg.norm(wide)))
            for chunk, source in self.truth.items()
            if source in sources
            for row in [vector_of(chunk).astype(np.float64)]
        ]
        return sorted(cosines, key=lambda found: (-found[1], found[0]))[:k]


def assert_same(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> None:
    assert [chunk for chunk, _ in found] == [chunk for chunk, _ in expected]
    assert [cosine for _, cosine in found] == pytest.approx(
        [cosine for _, cosine in expected], abs=1e-5
    )


@pytest.fixture(params=EVERY_DRIVER)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return Index(EVERY_DRIVER[request.param], tmp_path / "index.sqlite")


def test_an_empty_index_has_nothing_near(index: Index) -> None:
    reader = index.driver.reader()
    assert reader.nearest(index.connect(), vector_of(1), BOTH, 5) == []
    assert reader.answered_by in {"exact", "sqlite-vec"}
    assert index.driver.count(index.connect(), BOTH) == 0


def test_the_nearest_are_those_brute_force_finds(index: Index) -> None:
    index.add("memory", 40)
    index.settle()
    index.add("memory", 2)
    db, reader = index.connect(), index.driver.reader()
    for chunk in (1, 20, 42, 1000):
        query = vector_of(chunk)
        expected = index.expected(query, BOTH, 10)
        assert_same(reader.nearest(db, query, BOTH, 10), expected)


def test_only_the_asked_sources_answer(index: Index) -> None:
    index.add("memory", 15)
    index.add("sessions", 15)
    index.settle()
    db, reader = index.connect(), index.driver.reader()
    for sources in (["sessions"], ["memory"], BOTH, ["memory", "memory"], []):
        expected = index.expected(vector_of(3), sources, 6)
        assert_same(reader.nearest(db, vector_of(3), sources, 6), expected)
        assert index.driver.count(db, sources) == 15 * len(set(sources))


def test_a_k_larger_than_the_index_returns_all_of_it(index: Index) -> None:
    index.add("memory", 12)
    index.settle()
    found = index.driver.reader().nearest(index.connect(), vector_of(1), BOTH, 10_000)
    assert_same(found, index.expected(vector_of(1), BOTH, 12))


def test_a_k_below_one_returns_nothing(index: Index) -> None:
    index.add("memory", 3)
    assert index.driver.reader().nearest(index.connect(), vector_of(1), BOTH, 0) == []


def test_a_reader_sees_what_another_connection_commits(index: Index) -> None:
    index.add("memory", 20)
    index.settle()
    db, reader = index.connect(), index.driver.reader()
    reader.nearest(db, vector_of(5), BOTH, 3)
    index.remove([5])
    assert_same(reader.nearest(db, vector_of(5), BOTH, 3), index.expected(vector_of(5), BOTH, 3))
    (added,) = index.add("sessions", 1)
    assert reader.nearest(db, vector_of(added), BOTH, 1)[0][0] == added


def test_a_reader_inside_a_snapshot_answers_from_that_snapshot(index: Index) -> None:
    index.add("memory", 20)
    db, reader = index.connect(), index.driver.reader()
    before = index.expected(vector_of(5), BOTH, 3)
    db.execute("BEGIN")
    assert_same(reader.nearest(db, vector_of(5), BOTH, 3), before)
    index.remove([5])
    index.settle()
    assert_same(reader.nearest(db, vector_of(5), BOTH, 3), before)
    db.execute("COMMIT")
    assert_same(reader.nearest(db, vector_of(5), BOTH, 3), index.expected(vector_of(5), BOTH, 3))


def test_a_reader_goes_on_with_another_connection(index: Index) -> None:
    index.add("memory", 20)
    index.settle()
    reader = index.driver.reader()
    for _ in range(3):
        found = reader.nearest(index.connect(), vector_of(7), BOTH, 4)
        assert_same(found, index.expected(vector_of(7), BOTH, 4))


def test_a_reader_handed_another_index_forgets_the_first(index: Index, tmp_path: Path) -> None:
    index.add("memory", 20)
    index.settle()
    other = Index(index.driver, tmp_path / "other.sqlite", newest=500)
    other.add("memory", 3)
    # The same ids as in the first index, but other vectors.
    with other.writer:
        other.driver.add(other.writer, "memory", [1, 2], np.stack([vector_of(91), vector_of(92)]))
    reader = index.driver.reader()
    assert reader.nearest(index.connect(), vector_of(1), BOTH, 1)[0][0] == 1
    assert_same(reader.nearest(other.connect(), vector_of(91), BOTH, 1), [(1, 1.0)])


def test_what_was_rolled_back_is_not_remembered(index: Index) -> None:
    index.add("memory", 20)
    reader = index.driver.reader()
    index.writer.execute("BEGIN")
    index.driver.add(index.writer, "memory", [21], vector_of(99)[None])
    assert reader.nearest(index.writer, vector_of(99), BOTH, 1)[0][0] == 21
    index.writer.execute("ROLLBACK")
    index.add("memory", 1)  # the id 21 again, with its own vector
    assert_same(reader.nearest(index.writer, vector_of(21), BOTH, 1), [(21, 1.0)])
    expected = index.expected(vector_of(99), BOTH, 3)
    assert_same(reader.nearest(index.writer, vector_of(99), BOTH, 3), expected)


def test_removing_an_unknown_id_is_fine(index: Index) -> None:
    index.add("memory", 9)
    index.settle()
    index.remove([9, 10, 4000])
    index.remove([9])
    index.remove([])
    assert index.driver.count(index.connect(), BOTH) == 8


def test_ties_are_broken_by_id(index: Index) -> None:
    with index.writer:
        index.driver.add(index.writer, "memory", range(1, 21), np.tile(vector_of(1), (20, 1)))
        index.driver.settle(index.writer)
    found = index.driver.reader().nearest(index.connect(), vector_of(2), BOTH, 20)
    assert [chunk for chunk, _ in found] == list(range(1, 21))
    assert len({cosine for _, cosine in found}) == 1


def test_stored_vectors_come_back_with_length_one(index: Index) -> None:
    index.add("memory", 10)
    index.settle()
    found, rows = index.driver.stored(index.connect(), [7, 3, 999, 7])
    assert found == [3, 7]
    expected = [vector_of(chunk) / np.linalg.norm(vector_of(chunk)) for chunk in found]
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert index.driver.stored(index.connect(), [])[1].shape == (0, DIMS)


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_is_refused(index: Index, poison: float) -> None:
    bad = np.stack([vector_of(1), vector_of(2)])
    bad[1, 3] = poison
    with pytest.raises(EmbedderFailed, match="vector 2 of 2 is not finite"):
        index.driver.add(index.writer, "memory", [1, 2], bad)
    assert index.driver.count(index.writer, BOTH) == 0


def test_a_zero_vector_is_refused(index: Index) -> None:
    with pytest.raises(EmbedderFailed, match="vector 1 of 1 is zero"):
        index.driver.add(index.writer, "memory", [1], np.zeros((1, DIMS), np.float32))


def test_vectors_of_another_size_are_refused(index: Index) -> None:
    with pytest.raises(EmbedderFailed, match=f"1 x {DIMS + 1}, but this index holds {DIMS}"):
        index.driver.add(index.writer, "memory", [1], np.ones((1, DIMS + 1), np.float32))


def test_as_many_ids_as_vectors_are_wanted(index: Index) -> None:
    with pytest.raises(ValueError, match="zip"), index.writer:
        index.driver.add(index.writer, "memory", [1, 2], vector_of(1)[None])


def test_a_query_that_does_not_fit_is_refused(index: Index) -> None:
    index.add("memory", 3)
    for bad in (np.zeros(DIMS, np.float32), np.ones(DIMS - 1, np.float32)):
        with pytest.raises(EmbedderFailed):
            index.driver.reader().nearest(index.connect(), bad, BOTH, 2)


operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(BOTH), st.integers(0, 12)),
        st.tuples(st.just("remove"), st.sampled_from(["old", "new", "any"]), st.integers(0, 9)),
        st.tuples(st.just("settle"), st.just(""), st.just(0)),
        st.tuples(st.just("ask"), st.sampled_from(BOTH), st.integers(1, 40)),
    ),
    max_size=25,
)


@pytest.mark.parametrize("name", ["segments, tiny", "segments, codes on disk", "sqlite-vec"])
@settings(deadline=None, max_examples=60)
@given(steps=operations)
def test_after_any_changes_the_nearest_are_those_of_brute_force(
    name: str, steps: list[tuple[str, str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = Index(EVERY_DRIVER[name], Path(folder) / "index.sqlite")
        db, reader = index.connect(), index.driver.reader()
        for verb, which, n in [*steps, ("ask", "memory", 7)]:
            if verb == "add":
                index.add(which, n)
            elif verb == "remove":
                index.remove(_picked(sorted(index.truth), which, n))
            elif verb == "settle":
                index.settle()
            else:
                _assert_answers(index, db, reader, [which], n)
            if isinstance(index.driver, SegmentDriver):
                _assert_filed_once(index)
        _assert_answers(index, db, reader, BOTH, 9)
        db.close()
        index.writer.close()


def _picked(alive: list[int], which: str, n: int) -> list[int]:
    if which == "any":
        return alive[n % 3 :: 3]
    return alive[:n] if which == "old" else alive[len(alive) - n :]


def _assert_answers(
    index: Index, db: apsw.Connection, reader: VectorReader, sources: list[str], k: int
) -> None:
    query = vector_of(k + 7)
    expected = index.expected(query, sources, k)
    assert_same(reader.nearest(db, query, sources, k), expected)
    fresh = index.driver.reader()
    assert_same(fresh.nearest(db, query, sources, k), expected)
    alive = [chunk for chunk, source in index.truth.items() if source in sources]
    assert index.driver.count(db, sources) == len(alive)


def _assert_filed_once(index: Index) -> None:
    """The invariant of the segments driver, told from its tables."""
    filed = list(index.writer.execute("SELECT id, source FROM vec_tail").fetchall())
    joined = "SELECT source, dead, rows, ids FROM vec_segments JOIN vec_codes ON segment = id"
    for source, dead, rows, ids in index.writer.execute(joined).fetchall():
        assert isinstance(ids, bytes)
        held = np.frombuffer(ids, "<i8")
        assert (len(held), int((held < 0).sum())) == (rows, dead)
        filed += [(chunk, source) for chunk in held[held > 0].tolist()]
    assert sorted(filed) == sorted(index.truth.items())
    stored = index.writer.execute("SELECT id, source FROM chunks_vec").fetchall()
    assert sorted(stored) == sorted(index.truth.items())


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
    _assert_filed_once(index)


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


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_is_chosen_by_name(name: str) -> None:
    assert vector_driver(name).name == name


def test_an_unknown_driver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadSetting, match="'faiss' is unknown; choose 'segments' or 'sqlite-vec'"):
        vector_driver("faiss")


def test_a_missing_extension_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    with pytest.raises(BadSetting, match=r"pip install '\.\[sqlite-vec\]'"):
        vector_driver("sqlite-vec").create(apsw.Connection(":memory:"), DIMS)


def test_no_other_extension_can_be_loaded_afterwards(tmp_path: Path) -> None:
    index = Index(SqliteVecDriver(), tmp_path / "index.sqlite")
    with pytest.raises(apsw.ExtensionLoadingError, match="not authorized"):
        index.writer.load_extension("anything")


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
