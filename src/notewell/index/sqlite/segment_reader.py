"""Vector search in the tables of the segments driver: quantized segments, cached in memory.

    all sealed rows --signs--> a few thousand --codes--> a few dozen --stored rows--> k
    all tail rows   --one matrix product, exact--------------------------------------> k

The first query of a reader reads only sign bits and ids, because a short-lived process makes only
one query; it goes from signs to stored rows directly. From the second query on the codes are in
memory, too. After a commit a reader loads what is new and drops what was removed: an edited note
costs the rows of that note, not the whole index.

`quantization` explains signs and codes. Both modules import numpy at the top. Others import them
inside functions, so that a command that needs no vectors does not load numpy.
"""

from __future__ import annotations

from itertools import chain, count
from math import inf, sqrt
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import apsw
import numpy as np

from notewell.core import unit_rows
from notewell.index.sqlite.connect import reading, select
from notewell.index.sqlite.quantization import Scratch, Segment, highest, products
from notewell.index.sqlite.stored_rows import StoredRows, fetched
from notewell.index.sqlite.vectors import exact_cosines
from notewell.last_values import LastValues
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from notewell.ports import Vectors

    Ids: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]
    Codes: TypeAlias = NDArray[np.int8]
    Found: TypeAlias = tuple[Ids, NDArray[np.float64]]

BY_SIGNS, BY_SIGNS_A_RESULT = 2_048, 16
"""How many rows pass the sign filter: 2048 + 16 k. The error of signs does not depend on k, so
most of it is constant. Of the 24 nearest in 100 000 generated rows .998 are found, of the 200
nearest .995; the worst of some hundred queries found .875 of its 24 (`bench/vectors.py`)."""

BY_CODES, BY_CODES_A_RESULT = 16, 1
"""How many rows pass the codes: 16 + k. Their error is .0002, at most .001."""

ROUNDING = 1e-6
"""The error of a matrix product in float32: rows that are closer than this are compared again."""

FEW_ROWS = 256
"""So many rows are compared with every query, once. Of a source with at most so many, a copy in
float64 is kept: to convert them for every query takes longer than to compare them."""
KEPT_NUMBERS = 1_000_000
"""Of these copies, in all readers of a process: 8 MB."""


# -- searching ------------------------------------------------------------------------------------


class AllCosines(NamedTuple):
    """A query, and the cosines of all chunks of a small index."""

    query: Floats
    by_id: dict[int, float]


class SegmentReader:
    """See `VectorReader`. The cached data belongs to one source and one state of the index."""

    def __init__(self, codes_rows: int) -> None:
        self._codes_rows = codes_rows
        self._born = b""
        self._resident: dict[str, _Source] = {}
        self._asked = False
        self._answered_by = "exact"
        self._scores = np.empty(0, np.float32)
        self._scratch = Scratch()
        self._stored = StoredRows()
        self._compared: list[RowTable] = []
        """The resident rows that the last query was compared with."""
        self._compared_version = b""
        self._all: AllCosines | None = None
        """Those of the last query; None if it was not compared with all rows."""

    @property
    def answered_by(self) -> str:
        return self._answered_by

    def nearest(
        self, db: apsw.Connection, query: NDArray[np.float32], sources: Sequence[str], k: int
    ) -> list[tuple[int, float]]:
        if k < 1:
            return []
        # One snapshot for the version check and all rows that are read after it.
        with reading(db):
            asked = self._brought_up_to_date(db, sources)
            segments = [segment for source in asked for segment in source.segments.values()]
            self._compared = [source.tail.table() for source in asked]
            self._all = None
            if not segments and sum(map(len, self._compared)) <= FEW_ROWS:
                return self._compare_all(query, k)
            # unit_rows also refuses a query vector of another model's length.
            unit = unit_rows(query[None], self._dims)[0]
            found = [source.tail.nearest(unit, k) for source in asked]
            if segments:
                # The codes pay off from the second query on: a short-lived process makes one.
                if self._asked and sum(map(len, segments)) <= self._codes_rows:
                    for source in asked:
                        source.hold_codes(db)
                nearest = self._candidates(segments, unit, k)
                ids, rows = self._stored.fetched(db, nearest, self._dims, self._compared_version)
                found.append(_scored(ids, rows, unit))
        self._answered_by = "bits" if segments else "exact"
        self._asked = True
        return _best(found, k)

    def _brought_up_to_date(self, db: apsw.Connection, sources: Sequence[str]) -> list[_Source]:
        ((dims, born, version),) = select(db, "SELECT dims, born, version FROM vec_state")
        self._compared_version = version
        if born != self._born:
            self._resident.clear()
            self._dims, self._born = dims, born
        asked = [
            self._resident.setdefault(name, _Source(name, dims)) for name in dict.fromkeys(sources)
        ]
        if db.txn_state() == apsw.SQLITE_TXN_WRITE:
            # A rollback would make the rows that we read now invalid, and reuse their ids.
            self._resident.clear()
        for source in asked:
            source.bring_to(db, version)
        return asked

    def _compare_all(self, query: Floats, k: int) -> list[tuple[int, float]]:
        tables = [table for table in self._compared if len(table)]
        self._answered_by, self._asked = "exact", True
        precise = query.astype(np.float64)
        length = sqrt(precise @ precise) if query.shape == (self._dims,) else 0.0
        if not 0.0 < length < inf:
            unit_rows(query[None], self._dims)  # Says why it is refused.
        found = [(table.ids, exact_cosines(table.rows, query)) for table in tables]
        self._all = AllCosines(query, _by_id(found))
        return _best([(ids, products / length) for ids, products in found], k)

    def cosines(
        self, db: apsw.Connection, query: NDArray[np.float32], ids: Sequence[int]
    ) -> dict[int, float]:
        with reading(db):
            ((dims, version),) = select(db, "SELECT dims, version FROM vec_state")
            # The version is random, so that no other state of an index has the same one.
            tables = self._compared if version == self._compared_version else []
            wanted = set(ids)
            if tables and self._all is not None and self._all.query is query:
                known = self._all.by_id
                if wanted <= known.keys():  # Most of them are wanted.
                    found = known.copy()
                    for other in known.keys() - wanted:
                        del found[other]
                    return found
            parts, rest = _gathered(np.array(sorted(wanted), np.int64), tables)
            if len(rest):
                parts.append(self._stored.fetched(db, rest, dims, version))
        return _by_id([(found, exact_cosines(rows, query)) for found, rows in parts])

    def _candidates(self, segments: list[Segment], query: Floats, k: int) -> Ids:
        """The ids of the sealed rows whose stored vectors are compared exactly."""
        starts = np.cumsum([0, *map(len, segments)]).tolist()
        scores = self._room(starts[-1])
        for segment, start in zip(segments, starts, strict=False):
            segment.estimate(query, scores[start : start + len(segment)], self._scratch)
        places = highest(scores, BY_SIGNS + BY_SIGNS_A_RESULT * k)
        places = np.sort(places[scores[places] > -np.inf])  # Removed rows score -inf.
        bounds = np.searchsorted(places, starts).tolist()
        picks = [
            (segment, places[low:high] - start)
            for segment, start, low, high in zip(
                segments, starts, bounds, bounds[1:], strict=False
            )
        ]
        ids = np.concatenate([segment.ids[slots] for segment, slots in picks])
        if not all(segment.holds_codes for segment in segments):
            return ids
        near = np.concatenate([segment.refine(query, slots) for segment, slots in picks])
        return ids[highest(near, BY_CODES + BY_CODES_A_RESULT * k)]

    def _room(self, rows: int) -> Floats:
        if len(self._scores) < rows:
            self._scores = np.empty(rows + rows // 8, np.float32)
        return self._scores[:rows]


class RowTable:
    """Vectors by the id of their chunk."""

    def __init__(self, ids: Ids, rows: Vectors) -> None:
        self._order = np.argsort(ids)
        self.ids, self.rows = ids, rows

    def __len__(self) -> int:
        return len(self.ids)

    def in_float64(self) -> RowTable:
        """The same numbers, ascending by id."""
        return RowTable(self.ids[self._order], self.rows[self._order].astype(np.float64))

    def rows_of(self, wanted: Ids) -> tuple[Ids, Vectors]:
        """Those of the wanted ones that it has."""
        if not len(self.ids) or np.array_equal(self.ids, wanted):
            return self.ids, self.rows
        near = np.searchsorted(self.ids, wanted, sorter=self._order)
        places = self._order[np.minimum(near, len(self.ids) - 1)]
        places = places[self.ids[places] == wanted]
        return self.ids[places], self.rows[places]


def _gathered(wanted: Ids, tables: Sequence[RowTable]) -> tuple[list[tuple[Ids, Vectors]], Ids]:
    """The vectors of these chunks, and the chunks that the tables lack."""
    parts: list[tuple[Ids, Vectors]] = []
    for table in tables:
        if not len(table):
            continue
        parts.append(table.rows_of(wanted))
        if len(parts[-1][0]) == len(wanted):  # Of a small index the first one has all.
            return parts, wanted[:0]
        wanted = np.setdiff1d(wanted, parts[-1][0], assume_unique=True)
    return parts, wanted


class _Source:
    """The cached data of one source."""

    def __init__(self, name: str, dims: int) -> None:
        self.tail = _Tail(dims)
        self.segments: dict[int, Segment] = {}
        self._name = name
        self._dead: dict[int, int] = {}
        self._version = b""

    def bring_to(self, db: apsw.Connection, version: bytes) -> None:
        if version == self._version:
            return
        self.tail.become(db, tail_ids(db, self._name))
        self._follow_segments(db)
        self._version = version

    def _follow_segments(self, db: apsw.Connection) -> None:
        now = dict(select(db, "SELECT id, dead FROM vec_segments WHERE source = ?", (self._name,)))
        for gone in self.segments.keys() - now.keys():
            del self.segments[gone]
        for segment, dead in now.items():
            if segment not in self.segments:
                columns = "SELECT ids, mean, shape, bits FROM vec_codes WHERE segment = ?"
                (stored,) = select(db, columns, (segment,))
                self.segments[segment] = Segment(*stored)
            elif dead != self._dead.get(segment):
                # Only the ids of a segment ever change, so its bits and codes are not read again.
                ((ids,),) = select(db, "SELECT ids FROM vec_codes WHERE segment = ?", (segment,))
                self.segments[segment].bury(ids)
        self._dead = now

    def hold_codes(self, db: apsw.Connection) -> None:
        for key, segment in self.segments.items():
            if not segment.holds_codes:
                ((codes,),) = select(db, "SELECT codes FROM vec_codes WHERE segment = ?", (key,))
                segment.hold(codes)


class _Tail:
    """The unsealed rows in one matrix, in any order, with spare capacity."""

    _states = count()
    _kept: ClassVar[LastValues[RowTable]] = LastValues(KEPT_NUMBERS)

    def __init__(self, dims: int) -> None:
        self._state = next(self._states)
        self._n = 0
        self._ids = np.empty(0, np.int64)
        self._rows = np.empty((0, dims), np.float32)
        self._table: RowTable | None = None

    def table(self) -> RowTable:
        """Valid until `become`."""
        if self._table is None:
            self._table = RowTable(self._ids[: self._n], self._rows[: self._n])
        if self._n > FEW_ROWS:
            return self._table
        size = self._n * self._rows.shape[1]
        return self._kept.get(self._state, size, self._table.in_float64)

    def become(self, db: apsw.Connection, ids: Ids) -> None:
        """Cache exactly these ids; only new ones are read."""
        self._table, self._state = None, next(self._states)
        cached = self._ids[: self._n]
        stays = np.isin(cached, ids)
        # Ids are unique. To find that out, numpy would load its module of masked arrays.
        missing = np.setdiff1d(ids, cached[stays], assume_unique=True)
        fresh, rows = fetched(db, missing, self._rows.shape[1])
        kept = int(stays.sum())
        # Rows that stay fill the holes of removed ones, so that few rows are copied.
        holes = np.flatnonzero(~stays[:kept])
        movers = kept + np.flatnonzero(stays[kept:])
        self._ids[holes], self._rows[holes] = self._ids[movers], self._rows[movers]
        self._n = kept + len(fresh)
        if self._n > len(self._ids):
            self._grow(kept)
        self._ids[kept : self._n], self._rows[kept : self._n] = fresh, rows

    def _grow(self, kept: int) -> None:
        room = self._n + self._n // 8
        ids, rows = self._ids[:kept], self._rows[:kept]
        self._ids = np.empty(room, np.int64)
        self._rows = np.empty((room, rows.shape[1]), np.float32)
        self._ids[:kept], self._rows[:kept] = ids, rows

    def nearest(self, query: Floats, k: int) -> Found:
        if self._n <= max(FEW_ROWS, 2 * k):  # To leave out some would take longer.
            table = self.table()
            return _scored(table.ids, table.rows, query)
        ids, rows = self._ids[: self._n], self._rows[: self._n]
        scores = products(rows, query)
        bound = scores[highest(scores, k)].min()
        places = np.flatnonzero(scores >= bound - ROUNDING)
        return _scored(ids[places], rows[places], query)


def _scored(ids: Ids, rows: Vectors, query: Floats) -> Found:
    # Row by row in float64: equal vectors get equal cosines wherever they are stored,
    # which a matrix product does not promise, so that ties really break by id.
    return ids, np.vecdot(rows.astype(np.float64, copy=False), query.astype(np.float64))


def _by_id(found: list[Found]) -> dict[int, float]:
    """The cosines, ascending by id."""
    pairs = [zip(ids.tolist(), cosines.tolist(), strict=True) for ids, cosines in found]
    return dict(pairs[0] if len(pairs) == 1 else sorted(chain.from_iterable(pairs)))


def _best(found: list[Found], k: int) -> list[tuple[int, float]]:
    if not found:
        return []
    (ids, cosines), *others = found
    if others:
        ids = np.concatenate([ids for ids, _ in found])
        cosines = np.concatenate([cosines for _, cosines in found])
    order = np.lexsort((ids, -cosines))[:k]
    return list(zip(ids[order].tolist(), cosines[order].tolist(), strict=True))


def tail_ids(db: apsw.Connection, source: str) -> Ids:
    rows = select(db, "SELECT id FROM vec_tail WHERE source = ? ORDER BY id", (source,))
    return np.array([chunk for (chunk,) in rows], np.int64)
