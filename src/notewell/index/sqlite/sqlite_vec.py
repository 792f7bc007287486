"""The other vector driver: a vec0 table of the sqlite-vec extension.

It compares every row at each query, so it is exact and its cost grows with the index.
The extension is loaded into each connection on first use. Loading is disabled again at once, so
that no SQL can load anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import apsw

from notewell.core import unit_rows
from notewell.errors import BadSetting
from notewell.index.sqlite.connect import reading, select
from notewell.index.sqlite.vectors import exact_cosines
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from notewell.index.sqlite.vectors import VectorReader
    from notewell.ports import Vectors

MOST = 4_096
"""vec0 refuses a larger k."""


@dataclass(frozen=True, slots=True)
class SqliteVecDriver:
    name: ClassVar[str] = "sqlite-vec"
    library: Path | None = None
    """None: the one of the Python package."""

    def load_error(self) -> str | None:
        db = apsw.Connection(":memory:")
        try:
            _load(db, self.library)
        except BadSetting as error:
            return str(error)
        except apsw.Error as error:
            return self._why_not_loaded(error)
        finally:
            db.close()
        return None

    def _why_not_loaded(self, error: apsw.Error) -> str:
        """SQLite tries a second name, with a suffix, and its message names only that one."""
        if self.library is None:
            return str(error)
        if self.library.is_file():
            why = "it is no library of sqlite-vec for this system"
            return f"SQLite cannot load {self.library}: {why}"
        return f"there is no file {self.library}: check store.vector.extensionPath"

    def create(self, db: apsw.Connection, dims: int) -> None:
        _load(db, self.library)
        db.execute("CREATE TABLE vec_state (dims INTEGER NOT NULL)")
        db.execute("INSERT INTO vec_state VALUES (?)", (dims,))
        # A declaration takes no bound values; int() makes this one safe. While the length is
        # unknown no vector is stored, but the table must exist, and vec0 refuses length 0.
        db.execute(
            "CREATE VIRTUAL TABLE chunks_vec USING vec0 (id INTEGER PRIMARY KEY, "
            f"source TEXT PARTITION KEY, vector float[{int(dims) or 1}] distance_metric=cosine)"
        )

    def add(self, db: apsw.Connection, source: str, ids: Sequence[int], vectors: Vectors) -> None:
        _load(db, self.library)
        rows = zip(ids, unit_rows(vectors, _dims(db)), strict=True)
        db.executemany(
            "INSERT INTO chunks_vec (id, source, vector) VALUES (?, ?, ?)",
            ((chunk, source, row.tobytes()) for chunk, row in rows),
        )

    def remove(self, db: apsw.Connection, ids: Sequence[int]) -> None:
        _load(db, self.library)
        db.executemany("DELETE FROM chunks_vec WHERE id = ?", ((chunk,) for chunk in ids))

    def stored(self, db: apsw.Connection, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        import numpy as np

        _load(db, self.library)
        one = "SELECT id, vector FROM chunks_vec WHERE id = ?"
        rows = [row for chunk in sorted(set(ids)) for row in select(db, one, (chunk,))]
        vectors = np.frombuffer(b"".join(vector for _, vector in rows), "<f4")
        return [chunk for chunk, _ in rows], vectors.reshape(len(rows), _dims(db))

    def settle(self, db: apsw.Connection) -> None:
        """Nothing to do: vec0 merges its blocks by itself."""

    def purge(self, db: apsw.Connection) -> None:
        """Nothing to do: vec0 overwrites a vector with zeros when it is deleted."""

    def count(self, db: apsw.Connection, sources: Sequence[str]) -> int:
        _load(db, self.library)
        rows = select(db, "SELECT source, count(*) FROM chunks_vec GROUP BY source")
        return sum(count for source, count in rows if source in sources)

    def reader(self) -> VectorReader:
        return SqliteVecReader(self.library)


class SqliteVecReader:
    """Keeps nothing: vec0 reads its blocks through SQLite's page cache."""

    def __init__(self, library: Path | None = None) -> None:
        self._library = library

    @property
    def answered_by(self) -> str:
        return "sqlite-vec"

    def cosines(
        self, db: apsw.Connection, query: NDArray[np.float32], ids: Sequence[int]
    ) -> dict[int, float]:
        found, rows = SqliteVecDriver(self._library).stored(db, ids)
        return dict(zip(found, exact_cosines(rows, query).tolist(), strict=True))

    def nearest(
        self, db: apsw.Connection, query: NDArray[np.float32], sources: Sequence[str], k: int
    ) -> list[tuple[int, float]]:
        if k < 1:
            return []
        _load(db, self._library)
        nearest = (
            "SELECT id, distance FROM chunks_vec WHERE vector MATCH ? AND k = ? AND source = ?"
        )
        with reading(db):
            unit = unit_rows(query[None], _dims(db))[0].tobytes()
            found = [
                (1.0 - distance, chunk)
                for source in dict.fromkeys(sources)
                for chunk, distance in select(db, nearest, (unit, min(k, MOST), source))
            ]
        best = sorted(found, key=lambda row: (-row[0], row[1]))[:k]
        return [(chunk, cosine) for cosine, chunk in best]


def _dims(db: apsw.Connection) -> int:
    ((dims,),) = select(db, "SELECT dims FROM vec_state")
    return int(dims)


def _load(db: apsw.Connection, library: Path | None) -> None:
    try:
        select(db, "SELECT vec_version()")
    except apsw.SQLError:
        path = str(library) if library else _packaged_library()
        db.enable_load_extension(True)  # noqa: FBT003 - apsw takes it by position only
        try:
            db.load_extension(path)
        finally:
            db.enable_load_extension(False)  # noqa: FBT003


def _packaged_library() -> str:
    try:
        import sqlite_vec
    except ImportError as error:
        raise BadSetting(
            "store.vector.driver",
            "needs the extra `sqlite-vec`: `pip install '.[sqlite-vec]'` in a checkout",
        ) from error
    return str(sqlite_vec.loadable_path())
