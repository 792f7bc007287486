"""The edge to LanceDB: the only file that imports it.

    <folder>/entries-<digest of the model>.lance    one table a model
        id  owner  text  importance  category  created_at_ms  model  by_words  vector

A table holds vectors of one model, so two models never meet in a search, whatever their lengths.
Filters are built from columns and values (`lancedb.expr`), never from strings: what a user wrote
cannot become part of a condition.

Every `add` makes a fragment and a version, files that each reader has to open: beyond a few dozen
they are folded into one. And LanceDB's `delete` only marks a row; the text stays in the file. So
a table is written anew after a deletion, and what was forgotten is gone from the disk.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from notewell.entries.durable import forced_out
from notewell.entries.errors import EntriesUnreadable, LanceMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lancedb.db import DBConnection
    from lancedb.expr import Expr
    from lancedb.table import Table

    from notewell.ports import Vectors

    Row = dict[str, Any]
    T = TypeVar("T")

PREFIX = "entries-"
COLUMNS = ("id", "owner", "text", "importance", "category", "created_at_ms", "model", "by_words")
MAX_FRAGMENTS = 32
"""Each is a file that every search opens; folding a hundred took 46 ms, as long as a store."""
READ_TRIES = 3
"""A version may be tidied away between finding and reading it; the next one is there then."""
ALL = 2**31 - 1
_OLD = timedelta(milliseconds=1)  # LanceDB warns of 0; for us, alone as we are, it is the same.


def table_name(model: str) -> str:
    return PREFIX + hashlib.sha256(model.encode()).hexdigest()[:16]


class Tables:
    """The tables of a folder. Whoever writes holds the lock; readers need none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._db: DBConnection | None = None
        self._open: dict[str, Table] = {}

    # -- reading ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Ours, in order. Asked of the disk: LanceDB would also name a table whose making was cut
        short, which cannot be opened; without a manifest there is nothing in it."""
        found = self._folder.glob(f"{PREFIX}*.lance/_versions/*.manifest")
        return sorted({path.parent.parent.stem for path in found})

    def rows(self, name: str, where: Expr, columns: Sequence[str] = COLUMNS) -> list[Row]:
        def read(table: Table) -> list[Row]:
            asked: Any = table.search().where(where).select(list(columns)).limit(ALL)
            return list(asked.to_arrow().to_pylist())

        return self._reading(name, read)

    def nearest(
        self, name: str, vector: Vectors, where: Expr, limit: int
    ) -> list[tuple[Row, float]]:
        """The rows nearest in meaning, each with its cosine, the nearest first."""

        def read(table: Table) -> list[tuple[Row, float]]:
            asked: Any = table.search(vector, vector_column_name="vector")
            asked = asked.distance_type("cosine").where(where, prefilter=True).limit(limit)
            found = asked.select([*COLUMNS, "_distance"]).to_arrow().to_pylist()
            return [(row, 1.0 - row.pop("_distance")) for row in found]

        return self._reading(name, read)

    def fragments(self, name: str) -> int:
        stats: Any = self._reading(name, lambda table: table.stats())
        return int(stats["fragment_stats"]["num_fragments"])

    # -- writing ---------------------------------------------------------------------------------

    def add(self, name: str, rows: Sequence[Row], vectors: Vectors) -> None:
        """On disk when this returns: one commit for all of them."""

        def write() -> None:
            data = _as_table(rows, vectors)
            if name not in self.names():
                self._open[name] = self._connected().create_table(name, data)
            else:
                self._opened(name).add(data)

        self._writing(write)

    def delete(self, name: str, where: Expr) -> None:
        """The rows, and their text in the files: a table without them takes this one's place."""

        def write() -> None:
            table = self._opened(name)
            table.delete(where)
            kept = table.to_arrow()
            if kept.num_rows == 0:
                self._open.pop(name, None)
                self._connected().drop_table(name)
            else:
                table.add(kept, mode="overwrite")

        self._writing(write)
        self._drop_old_versions(name)

    def tidy(self, name: str) -> None:
        """Fold the fragments of many single stores into one, if they have become many."""
        if self.fragments(name) > MAX_FRAGMENTS:
            self._writing(lambda: self._opened(name).optimize())
            self._drop_old_versions(name)

    def _drop_old_versions(self, name: str) -> None:
        """Only what is on the disk by now may take the old files' place."""

        def drop() -> None:
            if name in self.names():
                self._opened(name).optimize(cleanup_older_than=_OLD, delete_unverified=True)

        self._writing(drop)

    # -- LanceDB itself --------------------------------------------------------------------------

    def _connected(self) -> DBConnection:
        if self._db is None:
            lancedb = _lancedb()
            # 0 s: what another process stored a moment ago is seen by the next read.
            self._db = lancedb.connect(self._folder, read_consistency_interval=timedelta(0))
        assert self._db is not None  # noqa: S101 - set above
        return self._db

    def _opened(self, name: str) -> Table:
        if name not in self._open:
            self._open[name] = self._connected().open_table(name)
        return self._open[name]

    def _reading(self, name: str, read: Callable[[Table], T]) -> T:
        for _ in range(READ_TRIES - 1):
            try:
                return read(self._opened(name))
            except (OSError, RuntimeError, ValueError):
                self._open.pop(name, None)
        return self._guarded(lambda: read(self._opened(name)))

    def _writing(self, write: Callable[[], None]) -> None:
        def forced() -> None:
            with forced_out(self._folder):
                write()

        self._guarded(forced)

    def _guarded(self, work: Callable[[], T]) -> T:
        """LanceDB raises built-in errors only; here they become ours."""
        try:
            return work()
        except (OSError, RuntimeError, ValueError) as error:
            self._open.clear()
            raise EntriesUnreadable(str(self._folder), _first_line(error)) from error


def owned_by(owner: str) -> Expr:
    _lancedb()
    from lancedb.expr import col, lit

    return col("owner") == lit(owner)


def having(column: str, value: str | bool) -> Expr:
    _lancedb()
    from lancedb.expr import col, lit

    return col(column) == lit(value)


def holding(column: str, value: str) -> Expr:
    """Whatever the case."""
    _lancedb()
    from lancedb.expr import col, lit

    return col(column).lower().contains(lit(value.lower()))


def one_of(column: str, values: Sequence[str]) -> Expr:
    _lancedb()
    from lancedb.expr import col

    return col(column).isin(list(values))


def _as_table(rows: Sequence[Row], vectors: Vectors) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]

    text = dict.fromkeys(("id", "owner", "text", "category", "model"), pa.string())
    kinds = {**text, "importance": pa.float64(), "created_at_ms": pa.int64()}
    kinds["by_words"] = pa.bool_()
    columns = {name: pa.array([row[name] for row in rows], kinds[name]) for name in COLUMNS}
    flat = pa.array(vectors.reshape(-1), pa.float32())
    columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    return pa.table(columns)


def _lancedb() -> Any:
    """A second and 350 MB: paid by the first who asks for entries, not by who imports this."""
    try:
        import lancedb
    except ModuleNotFoundError as error:
        raise LanceMissing from error
    return lancedb


def _first_line(error: Exception) -> str:
    return (str(error).strip().split("\n")[0] or type(error).__name__)[:300]
