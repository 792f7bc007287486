"""Writing to one generation; only the holder of the writer lease has a writer."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from notewell.core import index_words, unit_rows
from notewell.errors import IndexBusy, IndexTooNew, IndexUnreadable
from notewell.index.postgres.changes import IndexChanges
from notewell.index.postgres.failures import index_errors
from notewell.index.postgres.generations import (
    LAYOUT,
    PARTS,
    GenerationRows,
    numbered,
    published,
)
from notewell.index.postgres.memo import StateMemo
from notewell.index.postgres.view import PostgresView
from notewell.index.records import MustRebuild, UpToDate
from notewell.records import asdict
from notewell.types import NO_SESSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from notewell.index.postgres.generations import Generation
    from notewell.index.records import Identity, StoredChunk
    from notewell.ports import CosineScale, Vectors
    from notewell.postgres import Database, Scope, Transaction
    from notewell.types import Chunk, NoteStat, SessionFacts, Source

SUSPECTED = "a reader met damage in it"
LATEST_NS = (1 << 63) - 1  # 2262-04-11; the integers of the server end there.
_SPLITTING_S = 600.0
"""A note of 32 MiB takes minutes to be split and counted, and the server hears nothing meanwhile.
Nobody waits for these rows: the lease orders the writers."""


class PostgresWriter:
    """See `IndexWriter`."""

    def __init__(self, database: Database, scope: Scope, workspace: str) -> None:
        self._database = database
        self._scope = scope
        self._workspace = workspace
        self._number: int | None = None
        """Of the generation that is open."""
        self._commits = 0
        self._changes: IndexChanges | None = None
        """Of the transaction that is open."""

    # -- generations -----------------------------------------------------------------------------

    def open_current(self, *, force: bool = False) -> UpToDate | MustRebuild:
        with index_errors(), self._database.reading(self._scope) as transaction:
            found = published(transaction.rows, self._scope, self._workspace)
        if found is None:
            return MustRebuild("first")
        if found.layout > LAYOUT:
            if force:
                return MustRebuild("newer")
            raise IndexTooNew(found.name, found.layout, LAYOUT)
        if found.layout < LAYOUT:
            return MustRebuild("schema", f"its layout was {found.layout}, now {LAYOUT}")
        if found.is_suspect:
            return self.set_aside(IndexUnreadable(found.name, SUSPECTED))
        self._open(found)
        return UpToDate()

    def _open(self, generation: Generation) -> None:
        self._number, self._commits = generation.number, generation.commits

    def set_aside(self, damage: IndexUnreadable) -> MustRebuild:
        """The damaged rows stay until the next generation is published, for those who look."""
        self._number = None
        with index_errors(), self._database.writing(self._scope) as transaction:
            transaction.execute(
                "UPDATE notewell.generations SET published = false "
                "WHERE tenant = %s AND agent = %s AND workspace = %s AND published",
                (*self._scope, self._workspace),
            )
        return MustRebuild("damaged", f"the old index was damaged ({damage.why})")

    def start_generation(self, identity: Identity) -> None:
        with index_errors(), self._database.writing(self._scope) as transaction:
            self._sweep(transaction)
            ((number,),) = transaction.rows("SELECT nextval('notewell.generation_numbers')")
            transaction.execute(
                "INSERT INTO notewell.generations (tenant, agent, generation, workspace, "
                "published, layout, identity) VALUES (%s, %s, %s, %s, false, %s, %s)",
                (*self._scope, number, self._workspace, LAYOUT, json.dumps(asdict(identity))),
            )
        self._number, self._commits = int(number), 0

    def _sweep(self, transaction: Transaction) -> None:
        """Remove generations that no reader can see: a writer that was killed left them."""
        rows = transaction.rows(
            "SELECT generation FROM notewell.generations WHERE tenant = %s AND agent = %s "
            "AND workspace = %s AND NOT published AND generation IS DISTINCT FROM %s",
            (*self._scope, self._workspace, self._number),
        )
        remove_generations(transaction, self._scope, [number for (number,) in rows])

    def publish(self) -> None:
        with self._changing() as changes:
            self._publish(changes.transaction)

    def _publish(self, transaction: Transaction) -> None:
        """A view that is open keeps the rows that it sees; others see the new ones at once."""
        workspace = (*self._scope, self._workspace)
        transaction.execute(
            "UPDATE notewell.generations SET published = false WHERE tenant = %s AND agent = %s "
            "AND workspace = %s AND published",
            workspace,
        )
        transaction.execute(
            "UPDATE notewell.generations SET published = true WHERE tenant = %s AND agent = %s "
            "AND workspace = %s AND generation = %s",
            (*workspace, self._number),
        )
        self._sweep(transaction)

    def finish(self) -> None:
        """Join small blocks of words."""
        with self._changing() as changes:
            changes.text.join_blocks(changes.generation.chunks)

    def purge(self) -> None:
        """The rows get the number of a new generation, without the words of removed chunks. What
        is left in the pages of the server's files is removed by its vacuum."""
        with self._changing() as changes:
            transaction = changes.transaction
            changes.text.join_blocks(changes.generation.chunks, everything=True)
            ((number,),) = transaction.rows("SELECT nextval('notewell.generation_numbers')")
            for table in (*PARTS, "generations"):
                changes.rows.execute(
                    f"UPDATE notewell.{table} SET generation = %s WHERE {{own}}",  # noqa: S608
                    (number,),
                )
            self._number = changes.number = int(number)
            self._publish(transaction)

    def discard(self) -> None:
        self._number = None
        with index_errors(), self._database.writing(self._scope) as transaction:
            rows = transaction.rows(
                "SELECT generation FROM notewell.generations WHERE tenant = %s AND agent = %s "
                "AND workspace = %s",
                (*self._scope, self._workspace),
            )
            remove_generations(transaction, self._scope, [number for (number,) in rows])

    # -- reading back ----------------------------------------------------------------------------

    @property
    def view(self) -> PostgresView:
        number = self._opened_number
        if self._changes is not None:
            self._changes.write()
        rows = GenerationRows(self, self._scope, number)
        return PostgresView(rows, lambda: numbered(self.rows, self._scope, number), StateMemo)

    @property
    def _opened_number(self) -> int:
        if self._number is None:
            raise RuntimeError("no generation is open for writing")
        return self._number

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """For `view`: what is written so far."""
        if self._changes is not None:
            self._changes.write()
            return self._changes.transaction.rows(sql, values)
        with index_errors(), self._database.reading(self._scope) as transaction:
            return transaction.rows(sql, values)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        raise RuntimeError("a view only reads")

    # -- changes ---------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._changing():
            yield

    @contextmanager
    def _changing(self) -> Iterator[IndexChanges]:
        """One transaction. Raises `IndexBusy`, and changes nothing, if another process has written
        since: then the lease was lost, for example because the server was restarted."""
        number = self._opened_number
        try:
            with (
                index_errors(),
                self._database.writing(self._scope, idle_s=_SPLITTING_S) as transaction,
            ):
                generation = numbered(transaction.rows, self._scope, number)
                if generation.commits != self._commits:
                    raise IndexBusy(generation.name, "another process, which took the lease", 0)
                self._changes = IndexChanges(transaction, self._scope, generation)
                yield self._changes
                self._changes.end()
        finally:
            self._changes = None
        self._commits += 1

    @property
    def _in_transaction(self) -> IndexChanges:
        if self._changes is None:
            raise RuntimeError("a change needs a transaction")
        return self._changes

    def replace(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        chunks: Sequence[Chunk],
        session: SessionFacts = NO_SESSION,
    ) -> None:
        changes = self._in_transaction
        old = changes.chunks_of(path)
        name = index_words(path).split()  # Once for the note, not for each chunk.
        for chunk in chunks:
            same = old.get(chunk.digest)
            if same:
                changes.move(same.pop(), chunk)
            else:
                changes.insert(path, source, name, chunk)
        changes.remove([chunk_id for ids in old.values() for chunk_id in ids])
        self.note_seen(path, source, digest, stat, session)

    def note_seen(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        session: SessionFacts = NO_SESSION,
    ) -> None:
        # Clamped, not refused: a wrong clock must not keep a note from being indexed.
        mtime, ctime = min(stat.mtime_ns, LATEST_NS), min(stat.ctime_ns, LATEST_NS)
        self._in_transaction.files[path] = (
            path,
            source,
            digest,
            stat.size,
            mtime,
            ctime,
            str(stat.inode),  # Some file systems use all 64 bits, and these integers are signed.
            session.day.isoformat() if session.day else None,
            session.folder,
            session.host,
        )

    def mark_unread(self, path: str, digests: Sequence[str]) -> None:
        if digests:
            self._in_transaction.mark_unread(path, digests)

    def forget(self, paths: Iterable[str]) -> None:
        changes, wanted = self._in_transaction, list(paths)
        changes.write()
        rows = changes.rows.select(
            "SELECT id FROM notewell.chunks WHERE {own} AND path = ANY(%s)", (wanted,)
        )
        changes.remove([chunk_id for (chunk_id,) in rows])
        changes.rows.execute(
            "DELETE FROM notewell.files WHERE {own} AND path = ANY(%s)", (wanted,)
        )

    def add_vectors(
        self, chunks: Sequence[StoredChunk], vectors: Vectors, windows: Sequence[bytes] = ()
    ) -> int:
        changes = self._in_transaction
        unit = unit_rows(vectors, changes.generation.identity().dims)
        return changes.add_vectors(chunks, unit, windows or [b""] * len(chunks))

    def set_cosine_scale(self, scale: CosineScale) -> None:
        self._in_transaction.rows.execute(
            "UPDATE notewell.generations SET cosine_scale = %s WHERE {own}",
            (json.dumps(scale._asdict()),),
        )


def remove_generations(transaction: Transaction, scope: Scope, numbers: Sequence[int]) -> None:
    if not numbers:
        return
    for table in (*PARTS, "generations"):
        transaction.execute(
            f"DELETE FROM notewell.{table} WHERE tenant = %s AND agent = %s "  # noqa: S608
            "AND generation = ANY(%s)",
            (*scope, list(numbers)),
        )
