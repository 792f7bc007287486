"""The PostgreSQL implementation of `IndexStore`: the rows of one agent and workspace."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.errors import DatabaseTrouble, IndexBusy, IndexTooNew, IndexUnreadable
from notewell.index.postgres.failures import index_errors
from notewell.index.postgres.generations import LAYOUT, PARTS, GenerationRows, published
from notewell.index.postgres.memo import MemoShelf
from notewell.index.postgres.view import PostgresView
from notewell.index.records import StoreFacts
from notewell.postgres import AdvisoryLease, LeaseTimeout, hold_lease, lease_holder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from notewell.index.findings import (
        StepCallback,
        StoreAudit,
        StoreFinding,
        StorePart,
        StoreRepair,
    )
    from notewell.index.ports import IndexStore, IndexView
    from notewell.index.postgres.cache import PostgresVectorCache
    from notewell.index.postgres.generations import Generation
    from notewell.index.postgres.writer import PostgresWriter
    from notewell.ports import ModelFacts
    from notewell.postgres import Database, Scope, Transaction

DRIVER = "pgvector"
"""The name of the vector driver in the identity of an index."""

LEASES = ("writer", "embedder")
_memos = MemoShelf()


class PostgresStore:
    """See `IndexStore`. Nothing is read or written before the first question."""

    def __init__(
        self,
        database: Database,
        scope: Scope,
        workspace: str,
        cache_entries: int | None = None,
    ) -> None:
        """`workspace` tells the indexes of one agent apart."""
        self.database = database
        self.scope = scope
        self.workspace = workspace
        self._cache_entries = cache_entries

    # -- reading ---------------------------------------------------------------------------------

    @contextmanager
    def view(self) -> Iterator[PostgresView | None]:
        with index_errors(), self.database.reading(self.scope) as transaction:
            generation = published(transaction.rows, self.scope, self.workspace)
            yield None if generation is None else self._view(transaction, generation)

    def _view(self, transaction: Transaction, generation: Generation) -> PostgresView:
        if generation.layout > LAYOUT:
            raise IndexTooNew(generation.name, generation.layout, LAYOUT)
        rows = GenerationRows(transaction, self.scope, generation.number)
        state = (generation.number, generation.commits)
        memo = _memos.memo((self.database.address, self.scope, self.workspace), state)
        return PostgresView(rows, lambda: generation, lambda: memo)

    def describe(self) -> StoreFacts:
        facts = StoreFacts(str(self.database.address), cache_limit=self._cache_entries)
        with suppress(DatabaseTrouble):  # A view raises it; this only describes.
            return self._described()
        return facts

    def _described(self) -> StoreFacts:
        holders = self.lease_holders()
        with self.database.reading(self.scope) as transaction:
            generation = published(transaction.rows, self.scope, self.workspace)
            size = _size(transaction, self.scope, generation.number) if generation else 0
            built = None
            if holders["writer"]:
                built = self._notes_built(transaction)
        suspect = None
        if generation is not None and generation.is_suspect:
            suspect = IndexUnreadable(generation.name, "it was reported as damaged")
        return StoreFacts(
            place=str(self.database.address),
            generation=generation.name if generation else None,
            size_bytes=size,
            written_at_s=generation.written_at_s if generation else None,
            holder=next((holder for holder in holders.values() if holder), None),
            generation_bytes=size,
            notes_built=built,
            suspect=suspect,
            cache_limit=self._cache_entries,
        )

    def lease_holders(self) -> dict[str, str | None]:
        """Who writes and who embeds now."""
        return {name: lease_holder(self.database, self._lease(name)) for name in LEASES}

    def _notes_built(self, transaction: Transaction) -> int | None:
        """Of a generation that is not published yet."""
        rows = transaction.rows(
            "SELECT generation FROM notewell.generations WHERE tenant = %s AND agent = %s "
            "AND workspace = %s AND NOT published ORDER BY generation DESC LIMIT 1",
            (*self.scope, self.workspace),
        )
        if not rows:
            return None
        growing = GenerationRows(transaction, self.scope, rows[0][0])
        return int(growing.select("SELECT count(*) FROM notewell.files WHERE {own}")[0][0])

    def cache_entries(self) -> int:
        from notewell.index.postgres.cache import count_entries

        return count_entries(self.database, self.scope)

    def change_mark(self) -> tuple[int, ...]:
        with index_errors(), self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                "SELECT generation, commits FROM notewell.generations "
                "WHERE tenant = %s AND agent = %s AND workspace = %s AND published",
                (*self.scope, self.workspace),
            )
        return tuple(rows[0]) if rows else ()

    def local_paths(self) -> Sequence[Path]:
        return ()

    def local_files(self) -> Sequence[Path]:
        return ()

    def derived_file(self, generation: str) -> Path | None:
        return None

    # -- writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *, wait_s: float) -> Iterator[PostgresWriter]:
        from notewell.index.postgres.writer import PostgresWriter  # A search does not write.

        with self._held("writer", wait_s):
            yield PostgresWriter(self.database, self.scope, self.workspace)

    def embedding_lease(self) -> AbstractContextManager[None]:
        # Without a wait: whoever embeds now embeds the same chunks.
        return self._held("embedder", 0)

    def _lease(self, name: str) -> AdvisoryLease:
        return AdvisoryLease(self.scope, f"index {name}", self.workspace)

    @contextmanager
    def _held(self, name: str, wait_s: float) -> Iterator[None]:
        try:
            with index_errors(), hold_lease(self.database, self._lease(name), wait_s=wait_s):
                yield
        except LeaseTimeout as busy:
            place = str(self.database.address)
            raise IndexBusy(place, busy.holder, busy.waited_s) from busy

    def vector_cache(self, facts: ModelFacts) -> PostgresVectorCache:
        from notewell.index.postgres.cache import MAX_ENTRIES, PostgresVectorCache

        most = MAX_ENTRIES if self._cache_entries is None else self._cache_entries
        return PostgresVectorCache(self.database, self.scope, facts, most)

    def purge_cache(self) -> None:
        from notewell.index.postgres.cache import keep_used

        keep_used(self.database, self.scope)

    def mark_suspect(self) -> None:
        with index_errors(), self.database.writing(self.scope) as transaction:
            transaction.execute(
                "UPDATE notewell.generations SET is_suspect = true "
                "WHERE tenant = %s AND agent = %s AND workspace = %s AND published",
                (*self.scope, self.workspace),
            )

    # -- checking --------------------------------------------------------------------------------

    def check(self, part: StorePart, now: datetime) -> Iterator[StoreFinding]:
        from notewell.index.postgres import maintenance

        return maintenance.check(self, part)

    def repair(self, kind: StoreRepair, *, wait_s: float, now: datetime) -> str:
        from notewell.index.postgres import maintenance

        return maintenance.repair(self, kind, wait_s=wait_s)

    def verify(
        self, audit: StoreAudit, compare: Callable[[IndexView], None], step: StepCallback
    ) -> None:
        from notewell.index.postgres.audit import PostgresAudit

        with audit.part("index", str(self.database.address)):
            with self.view() as view:
                if view is None:
                    place = str(self.database.address)
                    audit.differs("index", place, "there is no index: run `notewell index`")
                    return
                PostgresAudit(view, audit, step).run(compare)
            audit.cached = self.cache_entries()

    def close(self) -> None:
        """The connections belong to all stores of the process."""


def other_workspaces(own: IndexStore) -> list[IndexStore]:
    """The stores of the agent's other workspaces."""
    if not isinstance(own, PostgresStore):
        return []
    with index_errors(), own.database.reading(own.scope) as transaction:
        rows = transaction.rows(
            "SELECT DISTINCT workspace FROM notewell.generations "
            "WHERE tenant = %s AND agent = %s AND workspace <> %s",
            (*own.scope, own.workspace),
        )
    return [PostgresStore(own.database, own.scope, name) for (name,) in sorted(rows)]


def _size(transaction: Transaction, scope: Scope, number: int) -> int:
    """The bytes of the rows of a generation, without the indexes of the server."""
    rows = GenerationRows(transaction, scope, number)
    return sum(
        int(
            rows.select(
                f"SELECT coalesce(sum(pg_column_size({table}.*)), 0) "  # noqa: S608
                f"FROM notewell.{table} WHERE {{own}}"
            )[0][0]
        )
        for table in PARTS
    )
