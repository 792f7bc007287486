"""A file with the tables of one vector driver, and the answers that brute force gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from notewell.index.sqlite.segments import SegmentDriver
from notewell.index.sqlite.sqlite_vec import SqliteVecDriver

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from notewell.index.sqlite.vectors import VectorDriver
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


def assert_filed_once(index: Index) -> None:
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
