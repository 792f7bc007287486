"""The SQLite store behind a memory, for tests that look into its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.index.sqlite import SqliteStore

if TYPE_CHECKING:
    from notewell.memory import Memory


def sqlite_store(memory: Memory) -> SqliteStore:
    store = memory.indexer.store
    assert isinstance(store, SqliteStore)
    return store
