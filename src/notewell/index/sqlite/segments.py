"""The default vector driver: plain tables, and sign-bit segments once they are worth having.

    chunks_vec     every vector as float32, by chunk id: the truth, and what is rescored
    vec_tail       the ids that are in no segment; a query compares with them exactly
    vec_segments   one small row for each segment: source, number of rows, number of removed rows
    vec_codes      the large immutable part of a segment, quantized (see `quantization`); only
                   its ids ever change, eight bytes in place, when a row is removed
    vec_state      dims, a random mark of the index, and one that every change renews

Until a source has more than `exact_rows` vectors, all of them are in the tail and answers are
exact. Above that, the tail is sealed into segments whenever it has grown again, so that neither a
query nor a sync has to read much of it. Before sealing, a segment that has lost a quarter of its
rows, or that is small, returns its rows to the tail.

Invariant: a chunk of `chunks_vec` is in `vec_tail`, or live in exactly one segment.
The place of a vector is stored apart from the vector itself: otherwise sealing 16 384 chunks would
rewrite 25 MB of rows to change one number in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import apsw

from notewell.core import unit_rows
from notewell.index.sqlite.connect import select
from notewell.records import dataclass

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
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- readers cache segments by id: never reused
  source TEXT NOT NULL,
  rows INTEGER NOT NULL,
  dead INTEGER NOT NULL DEFAULT 0,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL
);
CREATE TABLE vec_codes (
  segment INTEGER PRIMARY KEY,
  ids BLOB NOT NULL,  -- int64, ascending; the id of a removed row is negated
  mean BLOB NOT NULL,
  shape BLOB NOT NULL,
  bits BLOB NOT NULL,
  codes BLOB NOT NULL  -- last, so that reading the other columns skips its pages
);
CREATE TABLE vec_state (dims INTEGER NOT NULL, born BLOB NOT NULL, version BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class SegmentDriver:
    name: ClassVar[str] = "segments"
    exact_rows: int = 8_192
    """12 MB at 384 dims; a short-lived process reads them for its one query in about 20 ms. With
    10 000 rows, reading all takes 25 ms, but sign bits and a few thousand rows take 9; a
    long-lived process pays for that with 0.9 ms a query instead of 0.5."""
    tail_rows: int = 4_096
    """If there are segments, the tail is sealed at this size: half of `exact_rows`."""
    segment_rows: int = 16_384
    """Large enough for a scan in few long passes, small enough that one mean fits all rows."""
    codes_rows: int = 262_144
    """100 MB at 384 dims; a reader of more rows leaves the codes on disk."""

    def load_error(self) -> None:
        """Plain tables: nothing has to be loaded."""

    def create(self, db: apsw.Connection, dims: int) -> None:
        db.execute(TABLES)
        # Random marks: a counter would repeat a value after a rollback or in a rebuilt index.
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
        from notewell.index.sqlite.stored_rows import fetched

        ((dims,),) = select(db, "SELECT dims FROM vec_state")
        found, rows = fetched(db, _array(sorted(set(ids))), dims)
        return found.tolist(), rows

    def settle(self, db: apsw.Connection) -> None:
        # First, so that the rows that return to the tail are counted and sealed below.
        _dissolve(db, "4 * dead > rows")
        sources = "SELECT source, count(*) FROM vec_tail GROUP BY source"
        for source, rows in select(db, sources):
            sealed = "SELECT 1 FROM vec_segments WHERE source = ? LIMIT 1"
            begun = bool(select(db, sealed, (source,)))
            if rows > (self.tail_rows if begun else self.exact_rows):
                self._seal(db, source)

    def purge(self, db: apsw.Connection) -> None:
        _dissolve(db, "dead > 0")
        self.settle(db)

    def _seal(self, db: apsw.Connection, source: str) -> None:
        import numpy as np

        from notewell.index.sqlite.segment_reader import tail_ids

        _dissolve(db, "source = ? AND 2 * (rows - dead) < ?", (source, self.segment_rows))
        ids = tail_ids(db, source)
        # Pieces of equal size: a small remainder would be dissolved again at the next sealing.
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


def _known(db: apsw.Connection, ids: Sequence[int]) -> Ids:
    if not len(ids):
        return _array(ids)
    return _ids(
        db,
        "SELECT id FROM chunks_vec WHERE id IN (SELECT value FROM carray(?)) ORDER BY id",
        apsw.carray(_array(ids)),
    )


def _bury(db: apsw.Connection, ids: Ids) -> None:
    """Negate these ids (ascending) in their segments, and count them as removed."""
    import numpy as np

    # The ranges of segments may overlap: they only narrow the search, `isin` decides.
    around = "SELECT id FROM vec_segments WHERE first_id <= ? AND last_id >= ?"
    for (segment,) in select(db, around, (int(ids[-1]), int(ids[0]))):
        with db.blob_open("main", "vec_codes", "ids", segment, True) as blob:  # noqa: FBT003
            sealed = np.frombuffer(blob.read(), "<i8")
            slots = np.flatnonzero(np.isin(sealed, ids))
            # In place by a blob handle: an UPDATE would rewrite the whole row, codes included.
            for slot in slots.tolist():
                blob.seek(slot * sealed.itemsize)
                blob.write((-sealed[slot]).tobytes())
        buried = "UPDATE vec_segments SET dead = dead + ? WHERE id = ?"
        db.execute(buried, (len(slots), segment))


def _dissolve(db: apsw.Connection, which: str, values: tuple[str | int, ...] = ()) -> None:
    """Return the live rows of some segments to the tail."""
    import numpy as np

    segments = (
        f"SELECT id, source, ids FROM vec_segments JOIN vec_codes ON segment = id WHERE {which}"  # noqa: S608
    )
    for segment, source, ids in select(db, segments, values):
        sealed = np.frombuffer(ids, "<i8")
        alive = ((chunk, source) for chunk in sealed[sealed > 0].tolist())
        db.executemany("INSERT INTO vec_tail VALUES (?, ?)", alive)
        db.execute("DELETE FROM vec_codes WHERE segment = ?", (segment,))
        db.execute("DELETE FROM vec_segments WHERE id = ?", (segment,))
        _renew(db)


def _seal_piece(db: apsw.Connection, source: str, ids: Ids) -> None:
    from notewell.index.sqlite.quantization import seal
    from notewell.index.sqlite.stored_rows import fetched

    ((dims,),) = select(db, "SELECT dims FROM vec_state")
    ids, vectors = fetched(db, ids, dims)
    # `fetched` sorts by id, so row n of the codes belongs to `ids[n]`.
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
    # Readers compare the version to decide whether their cached rows are current.
    db.execute("UPDATE vec_state SET version = randomblob(8)")


def _ids(db: apsw.Connection, sql: str, value: apsw.SQLiteValue | apsw.CArrayBinding) -> Ids:
    return _array([chunk for (chunk,) in select(db, sql, (value,))])


def _array(ids: Sequence[int]) -> Ids:
    import numpy as np

    return np.array(ids, np.int64)
