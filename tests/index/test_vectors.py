"""One suite for every vector driver. `test_segments` has what only segments promise."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.vector_index import (
    BOTH,
    DIMS,
    EVERY_DRIVER,
    Index,
    assert_filed_once,
    assert_same,
    vector_of,
)

from notewell.errors import BadSetting, EmbedderFailed
from notewell.index.sqlite.segments import SegmentDriver
from notewell.index.sqlite.sqlite_vec import SqliteVecDriver
from notewell.index.sqlite.store import DRIVERS, vector_driver

if TYPE_CHECKING:
    from notewell.index.sqlite.vectors import VectorReader


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
                assert_filed_once(index)
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
