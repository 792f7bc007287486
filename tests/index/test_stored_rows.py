"""A reader compares the vectors that are stored, although it keeps those of the last query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest
from tests.index.vector_index import BOTH, EVERY_DRIVER, Index, vector_of

from notewell.index.sqlite.vectors import VectorReader, exact_cosines


@pytest.fixture(params=EVERY_DRIVER)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return Index(EVERY_DRIVER[request.param], tmp_path / "index.sqlite")


def assert_as_stored(
    index: Index, reader: VectorReader, db: apsw.Connection, ids: Sequence[int]
) -> None:
    expected, rows = index.driver.stored(db, ids)
    for query in (ASKED_FOR, vector_of(8)):
        found = reader.cosines(db, query, ids)
        assert list(found) == expected
        assert list(found.values()) == exact_cosines(rows, query).tolist()


ASKED_FOR = vector_of(3)
ASKED = (20, 3, 3, 7, 12, 1, 999)
"""In no order, twice, and one that is not there."""


def test_before_and_after_a_query(index: Index) -> None:
    index.add("memory", 15)
    index.add("sessions", 15)
    index.settle()
    index.add("memory", 2)
    db, reader = index.connect(), index.driver.reader()
    assert_as_stored(index, reader, db, ASKED)
    for sources in (BOTH, ["memory"]):
        reader.nearest(db, ASKED_FOR, sources, 5)
        assert_as_stored(index, reader, db, ASKED)
        assert_as_stored(index, reader, db, [])


def test_in_a_small_index_the_same_query_is_not_compared_twice(index: Index) -> None:
    index.add("memory", 25)
    index.add("sessions", 3)
    db, reader = index.connect(), index.driver.reader()
    reader.nearest(db, ASKED_FOR, BOTH, 5)
    assert_as_stored(index, reader, db, range(1, 29))
    assert_as_stored(index, reader, db, ASKED)
    index.remove([3])
    assert_as_stored(index, reader, db, ASKED)


def test_a_vector_that_was_removed_since_the_query_is_not_given(index: Index) -> None:
    index.add("memory", 30)
    index.settle()
    db, reader = index.connect(), index.driver.reader()
    reader.nearest(db, ASKED_FOR, BOTH, 5)
    index.remove([3, 12])
    assert list(reader.cosines(db, ASKED_FOR, [3, 7, 12])) == [7]
    assert_as_stored(index, reader, db, ASKED)


def test_inside_a_snapshot_it_is_still_given(index: Index) -> None:
    index.add("memory", 30)
    db, reader = index.connect(), index.driver.reader()
    db.execute("BEGIN")
    reader.nearest(db, ASKED_FOR, BOTH, 5)
    index.remove([3])
    assert list(reader.cosines(db, ASKED_FOR, [3, 7])) == [3, 7]
    db.execute("COMMIT")
    assert list(reader.cosines(db, ASKED_FOR, [3, 7])) == [7]
