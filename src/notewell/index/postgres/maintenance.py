"""Checks and repairs of an index in PostgreSQL, for `notewell doctor`.

Checks only read. A repair takes the lease of the writers first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.index.findings import StoreFinding, size_text
from notewell.index.postgres.failures import index_errors
from notewell.index.postgres.generations import LAYOUT
from notewell.index.postgres.writer import remove_generations
from notewell.postgres import inspect_server
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.index.findings import StorePart, StoreRepair
    from notewell.index.postgres.store import PostgresStore


def check(store: PostgresStore, part: StorePart) -> Iterator[StoreFinding]:
    if part == "engine":
        with index_errors():
            found = inspect_server(store.database)
        yield from (StoreFinding(one.message, one.action) for one in found)
    elif part == "lease":
        with index_errors():
            holders = store.lease_holders()
        held = [f"{name}: held by {holder}" for name, holder in holders.items() if holder]
        yield StoreFinding("; ".join(held) or f"free: {', '.join(holders)}")
    elif part == "leftovers":
        yield from _leftovers(store)
    elif part == "index":
        yield from _index(store)
    else:
        yield StoreFinding(f"{counted(store.cache_entries(), 'vector')} in the cache")


def _leftovers(store: PostgresStore) -> Iterator[StoreFinding]:
    unpublished = _unpublished(store)
    # A generation that grows now is none.
    if unpublished and store.describe().holder is None:
        number = counted(len(unpublished), "generation")
        yield StoreFinding(f"{number} that nothing uses", repair="sweep")


def _unpublished(store: PostgresStore) -> list[int]:
    with index_errors(), store.database.reading(store.scope) as transaction:
        rows = transaction.rows(
            "SELECT generation FROM notewell.generations WHERE tenant = %s AND agent = %s "
            "AND workspace = %s AND NOT published",
            (*store.scope, store.workspace),
        )
    return [number for (number,) in rows]


def _index(store: PostgresStore) -> Iterator[StoreFinding]:
    facts = store.describe()
    if facts.suspect is not None:
        yield StoreFinding(f"{facts.generation} was reported as damaged", repair="set-aside")
        return
    with store.view() as view:
        if view is None:
            yield StoreFinding("there is none yet", repair="sync")
            return
        if outdated := view.outdated():
            yield StoreFinding(outdated, repair="sync")
            return
        chunks = counted(view.counts().chunks, "chunk")
    yield StoreFinding(
        f"{facts.generation}, layout {LAYOUT}, {chunks}, {size_text(facts.generation_bytes)}"
    )


def repair(store: PostgresStore, kind: StoreRepair, *, wait_s: float) -> str:
    if kind == "sweep":
        with store.writing(wait_s=wait_s):
            numbers = _unpublished(store)
            with index_errors(), store.database.writing(store.scope) as transaction:
                remove_generations(transaction, store.scope, numbers)
        return f"removed {counted(len(numbers), 'generation')}" if numbers else ""
    if kind == "set-aside":
        suspect = store.describe().suspect
        if suspect is None:
            return ""
        with store.writing(wait_s=wait_s) as writer:
            return str(writer.set_aside(suspect))
    if kind == "reset-cache":
        with index_errors(), store.database.writing(store.scope) as transaction:
            removed = transaction.execute(
                "DELETE FROM notewell.vector_cache WHERE tenant = %s AND agent = %s", store.scope
            )
        return f"removed {counted(removed, 'vector')} from the cache" if removed else ""
    return ""
