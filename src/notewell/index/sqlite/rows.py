"""The questions to SQLite that only the proof asks; each reads all rows of something."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from notewell.index.sqlite.connect import select

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from notewell.index.sqlite.vectors import VectorDriver


class ChunkRow(NamedTuple):
    path: str
    line: int
    embedded: int
    """See index/schema.py: waiting, embedded, unread."""


class CacheRow(NamedTuple):
    digest: str
    model: str
    dims: int
    vector: bytes


def chunk_rows(db: apsw.Connection) -> dict[int, ChunkRow]:
    rows = db.execute("SELECT id, path, start_line, embedded FROM chunks")
    return {chunk_id: ChunkRow(path, line, state) for chunk_id, path, line, state in rows}


def chunks_of_nothing(db: apsw.Connection) -> list[tuple[str, int]]:
    """The chunks of notes that the index does not know."""
    rows = select(
        db,
        "SELECT path, start_line FROM chunks "
        "WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.path = chunks.path) "
        "ORDER BY path, start_line",
    )
    return [(path, line) for path, line in rows]


def worded(db: apsw.Connection) -> set[int]:
    """The chunks whose words are indexed."""
    return {chunk_id for (chunk_id,) in db.execute("SELECT rowid FROM chunks_fts")}


def dims(db: apsw.Connection) -> int:
    ((found,),) = select(db, "SELECT dims FROM vec_state")
    return int(found)


def vectors(db: apsw.Connection, driver: VectorDriver) -> Iterator[tuple[int, bytes]]:
    driver.count(db, ())  # sqlite-vec is loaded by the first question that is asked of it.
    for chunk_id, vector in db.execute("SELECT id, vector FROM chunks_vec"):
        yield int(chunk_id), bytes(vector) if isinstance(vector, bytes) else b""


def filed(db: apsw.Connection, driver: VectorDriver) -> Counter[int] | None:
    """How many times each vector is filed where a query looks; None where the driver keeps that
    to itself. Once is right: never is never found, twice is found twice."""
    if driver.name != "segments":
        return None
    import numpy as np

    found = Counter(chunk_id for (chunk_id,) in db.execute("SELECT id FROM vec_tail"))
    for (ids,) in db.execute("SELECT ids FROM vec_codes JOIN vec_segments ON segment = id"):
        held = np.frombuffer(ids, "<i8")
        found.update(held[held > 0].tolist())
    return found


def cache_rows(db: apsw.Connection) -> Iterator[CacheRow]:
    rows = db.execute("SELECT hash, model, dims, embedding FROM embedding_cache")
    for digest, model, length, vector in rows:
        yield CacheRow(digest, model, length, vector if isinstance(vector, bytes) else b"")
