"""The default vector driver: plain tables, and sign-bit segments once they are worth having.

    chunks_vec     every vector as float32, by chunk id: what is rescored, and the truth
    vec_tail       the ids that are in no segment; a query compares with them exactly
    vec_segments   one small row a segment: its source, its size, how many of its rows died
    vec_codes      the large immutable part of a segment (see `bits`); only its ids are ever
                   touched, eight bytes in place, when a row dies
    vec_state      dims, the index's own mark, and a mark that every change renews

Until a source has more than `exact_rows` vectors all of it is tail, and answers are exact.
Above that the tail is sealed into segments whenever it has grown again, so that neither a query
nor a sync ever has much of it to read. A segment that has lost a quarter of its rows, and one
that turned out small when there is something to seal, gives them back to the tail first.

Invariant: a chunk of `chunks_vec` is in `vec_tail`, or alive in exactly one segment.
Where a vector is filed is kept apart from the vector itself: sealing 16 384 chunks would
otherwise rewrite 25 MB of rows for the sake of one number in each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import apsw

from notewell.index.sqlite.connect import select
from notewell.index.vector_check import unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from notewell.index.sqlite.vectors import VectorReader
    from notewell.ports import Vectors

    Ids = NDArray[np.int64]

TABLES = """
CREATE TABLE chunks_vec (id INTEGER PRIMARY KEY, source TEXT NOT NULL, vector BLOB NOT NULL);
CREATE TABLE vec_tail (id INTEGER PRIMARY KEY, source TEXT NOT NULL);
CREATE TABLE vec_segments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a reader knows a segment by its id: never used twice
  source TEXT NOT NULL,
  rows INTEGER NOT NULL,
  dead INTEGER NOT NULL DEFAULT 0,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL
);
CREATE TABLE vec_codes (
  segment INTEGER PRIMARY KEY,
  ids BLOB NOT NULL,  -- int64, ascending; that of a dead row is negated
  mean BLOB NOT NULL,
  shape BLOB NOT NULL,
  bits BLOB NOT NULL,
  codes BLOB NOT NULL  -- last, so that reading the others does not walk through its pages
);
CREATE TABLE vec_state (dims INTEGER NOT NULL, born BLOB NOT NULL, version BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class SegmentDriver:
    name: ClassVar[str] = "segments"

    exact_rows: int = 8_192
    """12 MB at 384 dims, which a short-lived process reads for its one query in about 20 ms.
    Of 10 000 rows it would read all in 25 ms, but signs and a few thousand rows in 9; a process
    that stays pays for that with a query of 0.9 ms instead of 0.5."""
    tail_rows: int = 4_096
    """Beside segments the tail is sealed at this size: half of what is read at once without."""
    segment_rows: int = 16_384
    """Enough that a scan is a few long passes, few enough that a mean fits them all."""
    codes_rows: int = 262_144
    """100 MB at 384 dims; a reader of more sealed rows than this leaves the codes on disk."""

    def create(self, db: apsw.Connection, dims: int) -> None:
        db.execute(TABLES)
        # Random marks, because counters come back: after a rollback, and in a rebuilt index.
        db.execute("INSERT INTO vec_state VALUES (?, randomblob(8), randomblob(8))", (dims,))

    def add(self, db: apsw.Connection, source: str, ids: Sequence[int], vectors: Vectors) -> None:
        ((dims,),) = select(db, "SELECT dims FROM vec_state")
        rows = zip(ids, unit_rows(vectors, dims), strict=True)
        db.executemany(
            "INSERT INTO chunks_vec VALUES (?, ?, ?)",
            ((chunk, source, row.tobytes()) for chunk, row in rows),
        )
        db.executemany("INSERT INTO vec_tail VALUES (?, ?)", ((chunk, source) for chunk in ids))
        _renew(db)

    def remove(self, db: apsw.Connection, ids: Sequence[int]) -> None:
        known = _known(db, ids)
        if not len(known):
            return
        sealed = _ids(
            db,
            "SELECT value FROM carray(?) WHERE value NOT IN (SELECT id FROM vec_tail)",
            apsw.carray(known),
        )
        if len(sealed):
            _bury(db, sealed)
        for table in ("vec_tail", "chunks_vec"):
            db.execute(
                f"DELETE FROM {table} WHERE id IN (SELECT value FROM carray(?))",  # noqa: S608
                (apsw.carray(known),),
            )
        _renew(db)

    def stored(self, db: apsw.Connection, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        ((dims,),) = select(db, "SELECT dims FROM vec_state")
        found, rows = fetched(db, _array(sorted(set(ids))), dims)
        return found.tolist(), rows

    def settle(self, db: apsw.Connection) -> None:
        _dissolve(db, "4 * dead > rows")
        sources = "SELECT source, count(*) FROM vec_tail GROUP BY source"
        for source, rows in select(db, sources):
            sealed = "SELECT 1 FROM vec_segments WHERE source = ? LIMIT 1"
            begun = bool(select(db, sealed, (source,)))
            if rows > (self.tail_rows if begun else self.exact_rows):
                self._seal(db, source)

    def _seal(self, db: apsw.Connection, source: str) -> None:
        import numpy as np

        _dissolve(db, "source = ? AND 2 * (rows - dead) < ?", (source, self.segment_rows))
        ids = tail_ids(db, source)
        # Pieces of one size: a small remainder would only be taken apart again the next time.
        for piece in np.array_split(ids, -(-len(ids) // self.segment_rows)):
            _seal_piece(db, source, piece)
        db.execute("DELETE FROM vec_tail WHERE source = ?", (source,))
        _renew(db)

    def count(self, db: apsw.Connection, sources: Sequence[str]) -> int:
        rows = select(
            db,
            "SELECT source, count(*) FROM vec_tail GROUP BY source "
            "UNION ALL SELECT source, rows - dead FROM vec_segments",
        )
        return sum(count for source, count in rows if source in sources)

    def reader(self) -> VectorReader:
        from notewell.index.sqlite.segment_reader import SegmentReader

        return SegmentReader(self.codes_rows)


def tail_ids(db: apsw.Connection, source: str) -> Ids:
    return _ids(db, "SELECT id FROM vec_tail WHERE source = ? ORDER BY id", source)


def fetched(db: apsw.Connection, ids: Ids, dims: int) -> tuple[Ids, Vectors]:
    """The stored vectors of these chunks, ascending by id; an unknown id is left out.

    In the order of the table, so that neighbours share a page; as a join, because `IN` would
    copy the ids into a tree of its own first.
    """
    import numpy as np

    if not len(ids):  # carray takes no empty array
        return ids, np.empty((0, dims), np.float32)
    rows = select(
        db,
        "SELECT id, vector FROM carray(?) CROSS JOIN chunks_vec ON id = value",
        (apsw.carray(np.sort(ids)),),
    )
    found = np.fromiter((chunk for chunk, _ in rows), np.int64, len(rows))
    vectors = np.frombuffer(b"".join([vector for _, vector in rows]), "<f4")
    return found, vectors.reshape(len(rows), dims)


def _known(db: apsw.Connection, ids: Sequence[int]) -> Ids:
    if not len(ids):
        return _array(ids)
    return _ids(
        db,
        "SELECT id FROM chunks_vec WHERE id IN (SELECT value FROM carray(?)) ORDER BY id",
        apsw.carray(_array(ids)),
    )


def _bury(db: apsw.Connection, ids: Ids) -> None:
    """Negate these ids (ascending) in place, wherever they are sealed, and count them as dead."""
    import numpy as np

    around = "SELECT id FROM vec_segments WHERE first_id <= ? AND last_id >= ?"
    for (segment,) in select(db, around, (int(ids[-1]), int(ids[0]))):
        with db.blob_open("main", "vec_codes", "ids", segment, True) as blob:  # noqa: FBT003
            held = np.frombuffer(blob.read(), "<i8")
            here = np.flatnonzero(np.isin(held, ids))
            for slot in here.tolist():
                blob.seek(slot * held.itemsize)
                blob.write((-held[slot]).tobytes())
        buried = "UPDATE vec_segments SET dead = dead + ? WHERE id = ?"
        db.execute(buried, (len(here), segment))


def _dissolve(db: apsw.Connection, which: str, values: tuple[str | int, ...] = ()) -> None:
    """Give the living rows of some segments back to the tail."""
    import numpy as np

    segments = (
        f"SELECT id, source, ids FROM vec_segments JOIN vec_codes ON segment = id WHERE {which}"  # noqa: S608
    )
    for segment, source, ids in select(db, segments, values):
        held = np.frombuffer(ids, "<i8")
        alive = ((chunk, source) for chunk in held[held > 0].tolist())
        db.executemany("INSERT INTO vec_tail VALUES (?, ?)", alive)
        db.execute("DELETE FROM vec_codes WHERE segment = ?", (segment,))
        db.execute("DELETE FROM vec_segments WHERE id = ?", (segment,))
        _renew(db)


def _seal_piece(db: apsw.Connection, source: str, ids: Ids) -> None:
    from notewell.index.sqlite.sign_codes import seal

    ((dims,),) = select(db, "SELECT dims FROM vec_state")
    ids, vectors = fetched(db, ids, dims)
    sealed = seal(vectors)
    ((segment,),) = select(
        db,
        "INSERT INTO vec_segments (source, rows, first_id, last_id) VALUES (?, ?, ?, ?) "
        "RETURNING id",
        (source, len(ids), int(ids[0]), int(ids[-1])),
    )
    db.execute(
        "INSERT INTO vec_codes VALUES (?, ?, ?, ?, ?, ?)",
        (segment, ids.tobytes(), sealed.mean, sealed.shape, sealed.bits, sealed.codes),
    )


def _renew(db: apsw.Connection) -> None:
    db.execute("UPDATE vec_state SET version = randomblob(8)")


def _ids(db: apsw.Connection, sql: str, value: apsw.SQLiteValue | apsw.CArrayBinding) -> Ids:
    return _array([chunk for (chunk,) in select(db, sql, (value,))])


def _array(ids: Sequence[int]) -> Ids:
    import numpy as np

    return np.array(ids, np.int64)
