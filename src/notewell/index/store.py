"""One rebuildable SQLite index per agent: text, words and vectors of its notes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.index.folder import IndexFolder
from notewell.index.lease import writer_lease
from notewell.index.reader import IndexReader
from notewell.index.vectors import vector_driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from notewell.index.cache import SqliteVectorCache
    from notewell.index.writer import IndexWriter
    from notewell.ports import ModelFacts


class Index:
    """The index of one agent: who may read it, who may write it, where it lies."""

    def __init__(self, path: Path, driver: str, cache_entries: int | None = None) -> None:
        self.folder = IndexFolder(path)
        self.driver = vector_driver(driver)
        self._cache_entries = cache_entries

    def reader(self) -> IndexReader:
        return IndexReader(self.folder, self.driver)

    @contextmanager
    def writing(self, *, wait_s: float) -> Iterator[IndexWriter]:
        """Be the one writer, waiting at most `wait_s` for another to finish."""
        from notewell.index.writer import IndexWriter  # A search does not write.

        self.folder.create()
        with writer_lease(self.folder.writer_lock, wait_s=wait_s):
            writer = IndexWriter(self.folder, self.driver)
            try:
                yield writer
            finally:
                writer.close()

    def embedding(self) -> AbstractContextManager[None]:
        """Be the one that fills in vectors, so that nothing is embedded, or paid for, twice."""
        return writer_lease(self.folder.embedder_lock, wait_s=0)

    def cache(self, facts: ModelFacts) -> SqliteVectorCache:
        from notewell.index.cache import MAX_ENTRIES, SqliteVectorCache

        self.folder.create()
        most = MAX_ENTRIES if self._cache_entries is None else self._cache_entries
        return SqliteVectorCache(self.folder.cache, facts, most)

    def cache_entries(self) -> int:
        from notewell.index.cache import count_entries

        return count_entries(self.folder.cache)
