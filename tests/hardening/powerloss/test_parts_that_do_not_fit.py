"""What a disk that does not sync when it is told to may leave: pages of two different moments."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from tests.hardening.powerloss.workplace import look, memory, write_notes

from notewell.errors import IndexUnreadable
from notewell.index.sqlite import open_writer


def test_a_chunk_that_waits_for_ever_ends_the_sync_and_the_next_one_mends_it(
    tmp_path: Path,
) -> None:
    write_notes(tmp_path)
    with memory(tmp_path) as opened:
        opened.sync()
        right = look(tmp_path)
    (generation,) = tmp_path.glob("state/memory/*/index-1.sqlite")
    make_chunks_wait_in_their_index_alone(generation)

    with memory(tmp_path) as opened:
        with pytest.raises(IndexUnreadable, match="do not fit together"):
            opened.sync()
        assert "damaged" in str(opened.sync().rebuilt)
    assert look(tmp_path) == right


def make_chunks_wait_in_their_index_alone(generation: Path) -> None:
    """`chunks_without_vector` lists them, their rows say that they have one."""

    def alone(*statements: str) -> list[apsw.SQLiteValues]:
        db = open_writer(generation)
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        db.pragma("writable_schema", 1)
        rows = [row for one in statements for row in db.execute(one).fetchall()]
        db.close()
        return rows

    name = "name = 'chunks_without_vector'"
    alone("UPDATE chunks SET embedded = 0")
    ((page, sql),) = alone(f"SELECT rootpage, sql FROM sqlite_schema WHERE {name}")
    alone(f"DELETE FROM sqlite_schema WHERE {name}")
    alone(
        "UPDATE chunks SET embedded = 1",
        "INSERT INTO sqlite_schema VALUES "
        f"('index', 'chunks_without_vector', 'chunks', {page}, '{sql}')",
    )
