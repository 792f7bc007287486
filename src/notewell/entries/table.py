"""The tables in LanceDB.

    <folder>/entries-<digest of the model>.lance    one table for each model
        id  owner  text  importance  category  created_at_ms  model  by_words  vector  + digests
    <folder>/entries-<digest of the model>.commits  which version counts; see `commits`

A table has vectors of one model, so vectors of two models are never compared.

Every `add` makes a fragment and a version, which are files that each reader has to open: beyond a
few dozen they are compacted. LanceDB's `delete` only marks a row, and the text stays in the file.
So a table is rewritten after a deletion, and forgotten text is gone from the disk.
"""

from __future__ import annotations

import hashlib
import shutil
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from notewell.entries.commits import Commits, tables_in
from notewell.entries.durability import synced, writer_lock
from notewell.entries.entry import EntriesTrouble, EntriesUnreadable
from notewell.entries.filters import is_in, lancedb_module
from notewell.entries.integrity import (
    ALL,
    COLUMNS,
    DIGESTS,
    as_table,
    audit_rows,
    free_name,
    has_digests,
    is_written,
    legible_rows,
    nearest_rows,
    row_digest,
    with_digests,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lancedb.db import DBConnection
    from lancedb.expr import Expr
    from lancedb.table import Table

    from notewell.entries.integrity import TableAudit
    from notewell.ports import Vectors

    Row = dict[str, Any]
    T = TypeVar("T")

PREFIX = "entries-"
MAX_FRAGMENTS = 32
"""Each is a file that every search opens. Compacting a hundred took 46 ms, as long as a store."""
READ_TRIES = 3
"""Another process may remove a version before we read it; then there is a newer one."""
_OLD = timedelta(milliseconds=1)  # LanceDB warns about 0; under the writer's lock both mean all.


def table_name(model: str) -> str:
    return PREFIX + hashlib.sha256(model.encode()).hexdigest()[:16]


class Tables:
    """The tables of a folder. A writer must hold `writer_lock`; readers need no lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._db: DBConnection | None = None
        self._open: dict[str, tuple[int, Table]] = {}
        self.damage: dict[str, int] = {}
        """Of each table that was read: how many entries are damaged, and were left out."""

    # -- reading ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Our tables, sorted. Read from the disk: LanceDB also lists a table whose creation was
        interrupted, which cannot be opened."""
        names = [name for name in tables_in(self._folder) if name.startswith(PREFIX)]
        return [name for name in names if self._commits(name).exists()]

    def rows(self, name: str, where: Expr, *, damaged_too: bool = False) -> list[Row]:
        """The entries that are as they were written."""

        def read(table: Table, where: Expr) -> list[Row]:
            query: Any = table.search().where(where).select(_columns(table)).limit(ALL)
            return list(query.to_arrow().to_pylist())

        rows = self._read(name, where, read)
        return [row for row in rows if self._is_sound(name, row) or damaged_too]

    def ids(self, name: str, where: Expr) -> set[str]:
        """Of damaged entries too, if their ids are legible."""

        def read(table: Table, where: Expr) -> set[str]:
            query: Any = table.search().where(where).select(["id"]).limit(ALL)
            return set(query.to_arrow()["id"].to_pylist())

        return self._read(name, where, read)

    def nearest(
        self, name: str, vector: Vectors, where: Expr, limit: int
    ) -> list[tuple[Row, float]]:
        """The nearest rows with their cosines, the nearest first."""

        def search(table: Table) -> list[tuple[Row, float]]:
            query: Any = table.search(vector, vector_column_name="vector")
            # prefilter: another owner's rows must not use up the limit.
            query = query.distance_type("cosine").where(where, prefilter=True).limit(limit)
            rows = query.select([*_columns(table), "_distance"]).to_arrow().to_pylist()
            return [(row, 1.0 - row.pop("_distance")) for row in rows]

        def compare(table: Table, where: Expr) -> list[tuple[Row, float]]:
            query: Any = table.search().where(where).select([*_columns(table), "vector"])
            return nearest_rows(query.limit(ALL).to_arrow().to_pylist(), vector)[:limit]

        try:
            self.damage[name] = 0
            near = self._reading(name, search)
        except EntriesUnreadable:
            # A vector search opens every file of the table, the damaged one too.
            near = self._read(name, where, compare)
        return [(row, cosine) for row, cosine in near if self._is_sound(name, row)]

    def fragments(self, name: str) -> int:
        stats: Any = self._reading(name, lambda table: table.stats())
        return int(stats["fragment_stats"]["num_fragments"])

    def audit(self, name: str) -> TableAudit:
        """Every entry of every owner, with its vector; changes nothing but a damaged manifest."""
        damage = self._commits(name).damage()
        return self._reading(name, lambda table: audit_rows(table, damage))

    # -- writing ---------------------------------------------------------------------------------

    def add(self, name: str, rows: Sequence[Row], vectors: Vectors) -> None:
        """One commit for all rows, which are on disk when this returns."""

        def write() -> None:
            data = as_table(rows, vectors)
            if not self._commits(name).exists():
                self._connected().create_table(name, data)
                return
            table = self._latest(name)
            if has_digests(table):
                table.add(data)
            else:
                self._overwrite(name, [with_digests(table.to_arrow()), data])

        self._writing(name, write, [row["id"] for row in rows])

    def delete(self, name: str, where: Expr) -> None:
        """Remove the rows, and their text from the files: the table is rewritten."""

        def write() -> None:
            table = self._latest(name)
            table.delete(where)
            # `delete` marked the rows; only a new copy of the others removes the text.
            kept = table.to_arrow()
            if kept.num_rows == 0:
                self._commits(name).drop()
            else:
                table.add(kept, mode="overwrite")

        self._writing(name, write)
        if self._commits(name).exists():
            self.drop_old_versions(name)

    def tidy(self, name: str) -> None:
        """Compact the fragments of many single stores, if there are many."""
        if self.fragments(name) > MAX_FRAGMENTS:
            self._writing(name, lambda: self._latest(name).optimize())
            self.drop_old_versions(name)

    def drop_old_versions(self, name: str) -> None:
        """The new files were synced before: a power cut must not find them empty and the old
        ones gone."""

        def drop() -> None:
            if not self._commits(name).exists():
                return
            table = self._latest(name)
            table.optimize(cleanup_older_than=_OLD, delete_unverified=True)
            # LanceDB does not say that it could not remove a file. Each fragment has one.
            stats: Any = table.stats()
            files = sorted((self._commits(name).table / "data").iterdir())
            if len(files) > stats["fragment_stats"]["num_fragments"]:
                raise OSError(
                    f"deleted text is still in {files[0].parent}, because a file could not be "
                    "removed; close what has it open, and delete the entry again"
                )

        self._writing(name, drop)

    def recover(self) -> None:
        """The first thing of a writer: remove what a killed one has begun."""
        for name in self.names():
            self._guarded(self._commits(name).begin)

    def sweep(self) -> None:
        """Remove what a killed process has left of tables that are gone, and of old versions."""
        for name in tables_in(self._folder):
            if name.startswith(PREFIX):
                self.drop_old_versions(name)

    def set_aside(self, name: str) -> Path | None:
        """Copy a damaged table, and go on with its sound rows. Returns where the copy is; None if
        the table is sound."""
        commits = self._commits(name)
        aside = free_name(commits.table.with_name(f"damaged-{name}"))
        try:
            audit = self.audit(name)
        except EntriesUnreadable:
            self._guarded(lambda: commits.move_to(aside))
            return aside
        if not audit.damaged:
            return None

        def write() -> None:
            shutil.copytree(commits.table, aside)
            if audit.sound is None:
                commits.drop()
            else:
                self._overwrite(name, [audit.sound])

        self._writing(name, write)
        if commits.exists():
            self.drop_old_versions(name)
        return aside

    def _overwrite(self, name: str, parts: Sequence[Any]) -> None:
        import pyarrow as pa  # type: ignore[import-untyped]

        self._connected().create_table(name, pa.concat_tables(parts), mode="overwrite")

    # -- LanceDB itself --------------------------------------------------------------------------

    def _commits(self, name: str) -> Commits:
        return Commits(self._folder, name)

    def _connected(self) -> DBConnection:
        if self._db is None:
            lancedb = lancedb_module()
            # 0 s: what another process stored a moment ago is seen by the next read.
            self._db = lancedb.connect(self._folder, read_consistency_interval=timedelta(0))
        assert self._db is not None  # noqa: S101 - set above
        return self._db

    def _opened(self, name: str) -> Table:
        """At the version that counts; LanceDB opens whatever a writer has begun."""
        version = self._commits(name).current()
        if self._open.get(name, (None,))[0] != version:
            table = self._connected().open_table(name, version=version)
            # A manifest without its first sector opens as version 0, which has no rows.
            if table.version != version:
                raise OSError(f"version {version} of the table {name} is damaged")
            self._open[name] = version, table
        return self._open[name][1]

    def _latest(self, name: str) -> Table:
        """For a writer, after `begin` has removed what no commit has finished."""
        return self._connected().open_table(name)

    def _reading(self, name: str, read: Callable[[Table], T]) -> T:
        # The handle may point to a version that another process has removed: open it again.
        for _ in range(READ_TRIES - 1):
            try:
                return read(self._opened(name))
            except (OSError, RuntimeError, ValueError):
                self._open.pop(name, None)
                self._remove_unfinished(name)
        return self._guarded(lambda: read(self._opened(name)))

    def _remove_unfinished(self, name: str) -> None:
        """LanceDB looks at the newest manifest first, and a power cut may have emptied one that
        nobody committed. If the lock is busy, a writer is at work and has removed it."""
        with suppress(EntriesTrouble, OSError), writer_lock(self._folder, wait_s=0):
            if self._commits(name).exists():
                self._commits(name).begin()

    def _read(self, name: str, where: Expr, read: Callable[[Table, Expr], T]) -> T:
        """What is legible: a file of the table may be damaged and the others whole."""
        self.damage[name] = 0
        try:
            return self._reading(name, lambda table: read(table, where))
        except EntriesUnreadable:
            legible, lost = self._reading(name, legible_rows)
            self.damage[name] = lost
            return self._reading(name, lambda table: read(table, where & is_in("_rowid", legible)))

    def _is_sound(self, name: str, row: Row) -> bool:
        digest = row.pop(DIGESTS[0], None)
        is_sound = digest is None or digest == row_digest(row)
        self.damage[name] += not is_sound
        return is_sound

    def _writing(
        self, name: str, write: Callable[[], object], added: Sequence[str] | None = None
    ) -> None:
        """`added` are the ids of new rows; without them every row may be new."""
        commits = self._commits(name)

        def write_synced() -> None:
            commits.begin()
            with synced(self._folder):
                write()
            if commits.manifests():
                # LanceDB reports success even if the disk was full for a part of its data.
                if not is_written(self._latest(name), added):
                    raise OSError("what was written cannot be read back; nothing was changed")
                # Only now: what the new version names is on disk.
                commits.commit()

        self._guarded(write_synced)

    def _guarded(self, work: Callable[[], T]) -> T:
        """LanceDB raises built-in exceptions only; they become `EntriesUnreadable` here."""
        try:
            return work()
        except (OSError, RuntimeError, ValueError) as error:
            self._open.clear()  # The next call opens the tables again.
            raise EntriesUnreadable(str(self._folder), _first_line(error)) from error


def _columns(table: Table) -> list[str]:
    return [*COLUMNS, *(DIGESTS[:1] if has_digests(table) else ())]


def _first_line(error: Exception) -> str:
    # LanceDB's messages can have many lines; the first one has the reason.
    return (str(error).strip().split("\n")[0] or type(error).__name__)[:300]
