"""The tables in LanceDB, the lock for their writer, and fsync. Only this file imports LanceDB.

    <folder>/entries-<digest of the model>.lance    one table for each model
        id  owner  text  importance  category  created_at_ms  model  by_words  vector

A table has vectors of one model, so vectors of two models are never compared. Filters are built
from columns and values (`lancedb.expr`), never from strings: text of a user cannot become part of
a condition.

Every `add` makes a fragment and a version, which are files that each reader has to open: beyond a
few dozen they are compacted. LanceDB's `delete` only marks a row, and the text stays in the file.
So a table is rewritten after a deletion, and forgotten text is gone from the disk.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from notewell.entries.entry import EntriesBusy, EntriesUnreadable, LanceMissing
from notewell.files import LockFailed, LockTimeout, describe_os_error, file_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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
"""Each is a file that every search opens. Compacting a hundred took 46 ms, as long as a store."""
READ_TRIES = 3
"""Another process may remove a version before we read it; then there is a newer one."""
ALL = 2**31 - 1
_OLD = timedelta(milliseconds=1)  # LanceDB warns about 0; under the writer's lock both mean all.
LOCK_FILE = "notewell.lock"
WAIT_S = 10.0
"""A store takes milliseconds and compaction a few hundred: a longer holder is stuck."""


def table_name(model: str) -> str:
    return PREFIX + hashlib.sha256(model.encode()).hexdigest()[:16]


class Tables:
    """The tables of a folder. A writer must hold `writer_lock`; readers need no lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._db: DBConnection | None = None
        self._open: dict[str, Table] = {}

    # -- reading ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Our tables, sorted. Read from the disk: LanceDB also lists a table whose creation was
        interrupted, which cannot be opened. Without a manifest a table is empty."""
        manifests = self._folder.glob(f"{PREFIX}*.lance/_versions/*.manifest")
        return sorted({path.parent.parent.stem for path in manifests})

    def rows(self, name: str, where: Expr, columns: Sequence[str] = COLUMNS) -> list[Row]:
        def read(table: Table) -> list[Row]:
            query: Any = table.search().where(where).select(list(columns)).limit(ALL)
            return list(query.to_arrow().to_pylist())

        return self._reading(name, read)

    def nearest(
        self, name: str, vector: Vectors, where: Expr, limit: int
    ) -> list[tuple[Row, float]]:
        """The nearest rows with their cosines, the nearest first."""

        def read(table: Table) -> list[tuple[Row, float]]:
            query: Any = table.search(vector, vector_column_name="vector")
            # prefilter: another owner's rows must not use up the limit.
            query = query.distance_type("cosine").where(where, prefilter=True).limit(limit)
            rows = query.select([*COLUMNS, "_distance"]).to_arrow().to_pylist()
            return [(row, 1.0 - row.pop("_distance")) for row in rows]

        return self._reading(name, read)

    def fragments(self, name: str) -> int:
        stats: Any = self._reading(name, lambda table: table.stats())
        return int(stats["fragment_stats"]["num_fragments"])

    # -- writing ---------------------------------------------------------------------------------

    def add(self, name: str, rows: Sequence[Row], vectors: Vectors) -> None:
        """One commit for all rows, which are on disk when this returns."""

        def write() -> None:
            data = _as_table(rows, vectors)
            if name not in self.names():
                self._open[name] = self._connected().create_table(name, data)
            else:
                self._opened(name).add(data)

        self._writing(write)

    def delete(self, name: str, where: Expr) -> None:
        """Remove the rows, and their text from the files: the table is rewritten."""

        def write() -> None:
            table = self._opened(name)
            table.delete(where)
            # `delete` marked the rows; only a new copy of the others removes the text.
            kept = table.to_arrow()
            if kept.num_rows == 0:
                self._open.pop(name, None)
                self._connected().drop_table(name)
            else:
                table.add(kept, mode="overwrite")

        self._writing(write)
        self._drop_old_versions(name)

    def tidy(self, name: str) -> None:
        """Compact the fragments of many single stores, if there are many."""
        if self.fragments(name) > MAX_FRAGMENTS:
            self._writing(lambda: self._opened(name).optimize())
            self._drop_old_versions(name)

    def _drop_old_versions(self, name: str) -> None:
        """The new files were synced before: a power cut must not find them empty and the old
        ones gone."""

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
        # The handle may point to a version that another process has removed: open it again.
        for _ in range(READ_TRIES - 1):
            try:
                return read(self._opened(name))
            except (OSError, RuntimeError, ValueError):
                self._open.pop(name, None)
        return self._guarded(lambda: read(self._opened(name)))

    def _writing(self, write: Callable[[], None]) -> None:
        def write_synced() -> None:
            with synced(self._folder):
                write()

        self._guarded(write_synced)

    def _guarded(self, work: Callable[[], T]) -> T:
        """LanceDB raises built-in exceptions only; they become `EntriesUnreadable` here."""
        try:
            return work()
        except (OSError, RuntimeError, ValueError) as error:
            self._open.clear()  # The next call opens the tables again.
            raise EntriesUnreadable(str(self._folder), _first_line(error)) from error


# -- filters -------------------------------------------------------------------------------------


def owned_by(owner: str) -> Expr:
    _lancedb()
    from lancedb.expr import col, lit

    return col("owner") == lit(owner)


def equals(column: str, value: str | bool) -> Expr:
    _lancedb()
    from lancedb.expr import col, lit

    return col(column) == lit(value)


def contains(column: str, value: str) -> Expr:
    """Ignoring case."""
    _lancedb()
    from lancedb.expr import col, lit

    return col(column).lower().contains(lit(value.lower()))


def is_in(column: str, values: Sequence[str]) -> Expr:
    _lancedb()
    from lancedb.expr import col

    return col(column).isin(list(values))


def _as_table(rows: Sequence[Row], vectors: Vectors) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]

    text = dict.fromkeys(("id", "owner", "text", "category", "model"), pa.string())
    kinds = {**text, "importance": pa.float64(), "created_at_ms": pa.int64()}
    kinds["by_words"] = pa.bool_()
    columns = {name: pa.array([row[name] for row in rows], kinds[name]) for name in COLUMNS}
    # A list of fixed size: LanceDB takes only such a column as a vector.
    flat = pa.array(vectors.reshape(-1), pa.float32())
    columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    return pa.table(columns)


def _lancedb() -> Any:
    # Imported here: it takes a second and 350 MB, which only a use of entries should cost.
    try:
        import lancedb
    except ModuleNotFoundError as error:
        raise LanceMissing from error
    return lancedb


def _first_line(error: Exception) -> str:
    # LanceDB's messages can have many lines; the first one has the reason.
    return (str(error).strip().split("\n")[0] or type(error).__name__)[:300]


# -- one writer, and fsync -----------------------------------------------------------------------


@contextmanager
def writer_lock(folder: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """One writer at a time, across processes; makes the folder if it is missing.

    LanceDB allows two processes to append at once. But a search for a duplicate and the store
    after it must be one step, and so must a rewrite of the table. Readers do not need the lock.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EntriesUnreadable(str(folder), describe_os_error(error)) from error
    try:
        with file_lock(folder / LOCK_FILE, wait_s=wait_s):
            yield
    except LockTimeout as busy:
        raise EntriesBusy(str(folder), busy.waited_s) from None
    except LockFailed as failed:
        raise EntriesUnreadable(str(folder), describe_os_error(failed.error)) from failed.error


@contextmanager
def synced(folder: Path) -> Iterator[None]:
    """Files that appear in the folder during the block are on disk afterwards; raises `OSError`.

    LanceDB never calls fsync. It commits by adding files and writes nothing in place, so it is
    enough to sync the new files.
    """
    before = _files(folder)
    yield
    new = {path for path, inode in _files(folder) - before}
    for path in new:
        _fsync(path, os.O_RDONLY)
    if sys.platform != "win32" and new:  # Other systems cannot open a folder.
        for parent in {str(folder), *map(os.path.dirname, new)}:
            _fsync(parent, os.O_RDONLY | os.O_DIRECTORY)


def _files(folder: Path) -> set[tuple[str, int]]:
    """With their inodes: a file that was replaced counts as new."""
    files = set()
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118 - many of them, and only a name
            files.add((path, os.lstat(path).st_ino))
    return files


def _fsync(path: str, flags: int) -> None:
    fd = os.open(path, flags)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
