"""Vector search in the tables of the segments driver: quantized segments, cached in memory.

    all sealed rows --signs--> a few thousand --codes--> a few dozen --stored rows--> k
    all tail rows   --one matrix product, exact--------------------------------------> k

The first query of a reader reads only sign bits and ids, because a short-lived process makes only
one query; it goes from signs to stored rows directly. From the second query on the codes are in
memory, too. After a commit a reader loads what is new and drops what was removed: an edited note
costs the rows of that note, not the whole index.

Quantization: a cosine is split at the mean µ of the segment, x = µ + d, because text vectors share
a large common part, and the signs of uncentred vectors hardly differ:

    q·x  =  q·µ + µ·d + (q-µ)·d          µ·d is kept per vector ("lean")

Only the last term has to be estimated, twice, each time for fewer rows:

    signs   sign(q-µ) against sign(d) by XOR and popcount, times |d|²/|d|₁ ("pull"), so that
            a vector of few large values counts as long as it is; 1/32 of the bytes: every
            row is scanned
    codes   d as int8 times a step of its own; 1/4 of the bytes, good to about .001

Bits lie word-major: word 0 of all rows, then word 1, and so on. That turns a scan into a few
long passes over contiguous memory; row by row it would take five times as long.

This module imports numpy at the top. Other modules import it inside functions, so that a command
that needs no vectors does not load numpy.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import apsw
import numpy as np

from notewell.core import unit_rows
from notewell.index.sqlite.connect import reading, select
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

REFINED_ROWS = 512
"""Rows that are refined in one pass: as float32 they fit a second-level cache."""

ROUNDING = 1e-6
"""The error of a matrix product in float32: rows that are closer than this are compared again."""

SCRATCH_WORDS = 98_304
"""Words in one pass: 768 KiB fit a second-level cache (16 384 rows of 384 dims)."""

SIGNS_TO_COSINE = np.pi / 2
"""Two random vectors of cosine r agree in 1/2 + asin(r)/pi of their signs; for small r this factor
inverts that. It overestimates the nearest rows, which come first anyway: a sine was no better."""


# -- searching ------------------------------------------------------------------------------------


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
            # unit_rows also refuses a query vector of another model's length.
            unit = unit_rows(query[None], self._dims)[0]
            segments = [segment for source in asked for segment in source.segments.values()]
            found = [source.tail.nearest(unit, k) for source in asked]
            if segments:
                # The codes pay off from the second query on: a short-lived process makes one.
                if self._asked and sum(map(len, segments)) <= self._codes_rows:
                    for source in asked:
                        source.hold_codes(db)
                ids = self._candidates(segments, unit, k)
                found.append(_scored(*fetched(db, ids, self._dims), unit))
        self._answered_by = "bits" if segments else "exact"
        self._asked = True
        return _best(found, k)

    def _brought_up_to_date(self, db: apsw.Connection, sources: Sequence[str]) -> list[_Source]:
        ((dims, born, version),) = select(db, "SELECT dims, born, version FROM vec_state")
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

    def __init__(self, dims: int) -> None:
        self._n = 0
        self._ids = np.empty(0, np.int64)
        self._rows = np.empty((0, dims), np.float32)

    def become(self, db: apsw.Connection, ids: Ids) -> None:
        """Cache exactly these ids; only new ones are read."""
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
        scores = products(self._rows[: self._n], query)
        if k < len(scores):
            bound = scores[highest(scores, k)].min()
            places = np.flatnonzero(scores >= bound - ROUNDING)
        else:
            places = np.arange(len(scores))
        return _scored(self._ids[places], self._rows[places], query)


def _scored(ids: Ids, rows: Vectors, query: Floats) -> Found:
    # Row by row in float64: equal vectors get equal cosines wherever they are stored,
    # which a matrix product does not promise, so that ties really break by id.
    return ids, (rows * query).sum(axis=1, dtype=np.float64)


def _best(found: list[Found], k: int) -> list[tuple[int, float]]:
    if not found:
        return []
    ids = np.concatenate([ids for ids, _ in found])
    cosines = np.concatenate([cosines for _, cosines in found])
    order = np.lexsort((ids, -cosines))[:k]
    return list(zip(ids[order].tolist(), cosines[order].tolist(), strict=True))


def tail_ids(db: apsw.Connection, source: str) -> Ids:
    rows = select(db, "SELECT id FROM vec_tail WHERE source = ? ORDER BY id", (source,))
    return np.array([chunk for (chunk,) in rows], np.int64)


def fetched(db: apsw.Connection, ids: Ids, dims: int) -> tuple[Ids, Vectors]:
    """The stored vectors of these chunks, ascending by id; unknown ids are left out.

    Sorted, so that neighbours are read from one page; joined, because `IN` would first copy the
    ids into a temporary B-tree.
    """
    if not len(ids):  # carray does not accept an empty array.
        return ids, np.empty((0, dims), np.float32)
    rows = select(
        db,
        "SELECT id, vector FROM carray(?) CROSS JOIN chunks_vec ON id = value",
        (apsw.carray(np.sort(ids)),),
    )
    found = np.fromiter((chunk for chunk, _ in rows), np.int64, len(rows))
    vectors = np.frombuffer(b"".join([vector for _, vector in rows]), "<f4")
    return found, vectors.reshape(len(rows), dims)


# -- quantization ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sealed:
    """What one segment stores, beside its ids."""

    mean: bytes
    """float32, one a dimension."""
    shape: bytes
    """float16, three a row: all leans, then all pulls, then all steps."""
    bits: bytes
    """uint64, word-major."""
    codes: bytes
    """int8, one a dimension, row by row."""


def seal(vectors: Floats) -> Sealed:
    mean = vectors.mean(axis=0, dtype=np.float64).astype("<f4")
    apart = vectors - mean
    size = np.abs(apart)
    with np.errstate(invalid="ignore"):  # 0/0 if a vector equals the mean.
        pull = np.nan_to_num(np.square(apart).sum(axis=1) / size.sum(axis=1))
    # Rounded first, so that the codes are computed with the step that is stored.
    step = (size.max(axis=1) / 127).astype("<f2")
    codes = np.rint(apart / np.maximum(step, np.finfo("<f2").smallest_subnormal)[:, None])
    return Sealed(
        mean=mean.tobytes(),
        shape=np.stack([products(apart, mean), pull, step]).astype("<f2").tobytes(),
        bits=np.ascontiguousarray(_words(apart > 0).T).tobytes(),
        codes=np.clip(codes, -127, 127).astype(np.int8).tobytes(),
    )


def _words(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Each row of flags as 64-bit words, the last one padded with zeros."""
    octets = np.packbits(flags, axis=1, bitorder="little")
    words = np.zeros((len(octets), -(-octets.shape[1] // 8)), "<u8")
    words.view(np.uint8)[:, : octets.shape[1]] = octets
    return words


class Scratch:
    """Buffers for one pass over a block of rows. They are reused: the page faults of new memory
    cost more than the pass itself. An index without segments never needs them."""

    @cached_property
    def _words(self) -> NDArray[np.uint64]:
        return np.empty(SCRATCH_WORDS, np.uint64)

    @cached_property
    def _counts(self) -> NDArray[np.uint8]:
        return np.empty(SCRATCH_WORDS, np.uint8)

    def blocks(
        self, bits: NDArray[np.uint64]
    ) -> Iterator[tuple[slice, NDArray[np.uint64], NDArray[np.uint8]]]:
        words, rows = bits.shape
        most = SCRATCH_WORDS // words
        for start in range(0, rows, most):
            stop = min(start + most, rows)
            size = words, stop - start
            room = words * (stop - start)
            yield (
                slice(start, stop),
                self._words[:room].reshape(size),
                self._counts[:room].reshape(size),
            )


class Segment:
    """One segment in memory. Its rows never change; they can only be removed."""

    def __init__(self, ids: bytes, mean: bytes, shape: bytes, bits: bytes) -> None:
        self.mean: Floats = np.frombuffer(mean, "<f4")
        self.lean, self.pull, self.step = (
            np.frombuffer(shape, "<f2").reshape(3, -1).astype(np.float32)
        )
        self.bits: NDArray[np.uint64] = np.frombuffer(bits, "<u8").reshape(-1, len(self.lean))
        self.codes: Codes = np.empty((0, len(self.mean)), np.int8)
        self.bury(ids)

    def __len__(self) -> int:
        return len(self.lean)

    def bury(self, ids: bytes) -> None:
        """Update the ids: a removed row has a negative one and scores below all others."""
        self.ids: NDArray[np.int64] = np.frombuffer(ids, "<i8")
        self.lean[self.ids < 0] = -np.inf

    @property
    def holds_codes(self) -> bool:
        return len(self.codes) == len(self)

    def hold(self, codes: bytes) -> None:
        self.codes = np.frombuffer(codes, np.int8).reshape(len(self), -1)

    def estimate(self, query: Floats, out: Floats, scratch: Scratch) -> None:
        """A rough cosine of every row, from its signs."""
        apart = query - self.mean
        signs = _words((apart > 0)[None])[0][:, None]
        common = query @ self.mean
        weight = np.float32(SIGNS_TO_COSINE * np.abs(apart).mean())
        for block, words, counts in scratch.blocks(self.bits):
            np.bitwise_xor(self.bits[:, block], signs, out=words)
            np.bitwise_count(words, out=counts)
            # Summed as integers: that takes half the time of summing floats.
            differing = np.add.reduce(counts, axis=0, dtype=np.uint16)
            score = np.multiply(differing, -2 * weight, out=out[block])
            score += len(query) * weight
            score *= self.pull[block]
            score += self.lean[block]
            score += common

    def refine(self, query: Floats, slots: NDArray[np.intp]) -> Floats:
        """A close cosine of these rows, from their codes, which must be loaded."""
        near = np.empty(len(slots), np.float32)
        for start in range(0, len(slots), REFINED_ROWS):
            block = slice(start, start + REFINED_ROWS)
            codes = np.take(self.codes, slots[block], axis=0, mode="clip")
            near[block] = products(codes.astype(np.float32), query)
        near *= self.step[slots]
        near += query @ self.mean
        return near


def products(rows: Floats, query: Floats) -> Floats:
    """The product of each row with the query.

    Not `rows @ query`: for more than about 3000 rows OpenBLAS wakes its threads, which then spin
    and took up to ten times the CPU time of the product. `vecdot` multiplies row by row in this
    thread, and leaves the numpy of our caller as it is.
    """
    scores: Floats = np.vecdot(rows, query)
    return scores


def highest(scores: Floats, n: int) -> NDArray[np.intp]:
    """The positions of the `n` highest scores, in no order.

    A full partition of 100 000 scores costs as much as the scan that computed them. A sample gives
    a bound that leaves slightly more than `n`; if the sample misleads, a partition follows.
    """
    if n >= len(scores):
        return np.arange(len(scores))
    if len(scores) > 8 * n:
        sample = scores[::16]
        rank = n // 13 + 8  # A quarter more than n/16, plus 8, against the variance of the sample.
        if rank < len(sample):
            bound = np.partition(sample, len(sample) - rank)[len(sample) - rank]
            above = np.flatnonzero(scores >= bound)
            if n <= len(above) < len(scores) // 2:
                return above[highest(scores[above], n)]
    return np.argpartition(scores, len(scores) - n)[len(scores) - n :]
