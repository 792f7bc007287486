"""A reader gives the vectors that the driver stores, although it keeps those of the last query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from tests.index.vector_index import BOTH, EVERY_DRIVER, Index, vector_of

from notewell.index.sqlite.vectors import VectorReader


@pytest.fixture(params=EVERY_DRIVER)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return Index(EVERY_DRIVER[request.param], tmp_path / "index.sqlite")


def assert_as_stored(
    index: Index, reader: VectorReader, db: apsw.Connection, ids: Sequence[int]
) -> None:
    found, rows = reader.stored(db, ids)
    expected, expected_rows = index.driver.stored(db, ids)
    assert found == expected
    assert np.array_equal(rows, expected_rows)


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
        reader.nearest(db, vector_of(3), sources, 5)
        assert_as_stored(index, reader, db, ASKED)
        assert_as_stored(index, reader, db, [])


def test_a_vector_that_was_removed_since_the_query_is_not_given(index: Index) -> None:
    index.add("memory", 30)
    index.settle()
    db, reader = index.connect(), index.driver.reader()
    reader.nearest(db, vector_of(3), BOTH, 5)
    index.remove([3, 12])
    assert reader.stored(db, [3, 7, 12])[0] == [7]
    assert_as_stored(index, reader, db, ASKED)


def test_inside_a_snapshot_it_is_still_given(index: Index) -> None:
    index.add("memory", 30)
    db, reader = index.connect(), index.driver.reader()
    db.execute("BEGIN")
    reader.nearest(db, vector_of(3), BOTH, 5)
    index.remove([3])
    assert reader.stored(db, [3, 7])[0] == [3, 7]
    db.execute("COMMIT")
    assert reader.stored(db, [3, 7])[0] == [7]
