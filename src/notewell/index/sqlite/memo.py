"""What a reader has read of the state of an index that it sees: valid until somebody commits.

A search asks for the same chunks several times, and the next search for many of them again. In a
memory of a hundred chunks, reading them is most of the work.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakSet

from notewell.core import WindowTable
from notewell.index.sqlite.connect import select
from notewell.index.sqlite.postings import PostingReader
from notewell.last_values import LastValues

if TYPE_CHECKING:
    import apsw

    from notewell.index.records import ChunkFacts, ChunkRun, StoredChunk

KEPT_CHUNKS = 16_384
"""With their texts, for hits: some 32 MB, which all readers of a process share."""
KEPT_FACTS = 32_768
"""Of chunks, for ranking: some 16 MB."""
KEPT_WINDOWED = 32_768
"""Chunks with windows: some 48 MB."""
LEAST_CHUNKS = 256
"""What a reader keeps however many there are."""
TABLE_BYTES = 4_000_000
"""The largest table of windows that is kept. A byte of a window becomes a float of eight."""
KEPT_TABLE_BYTES = 8_000_000
"""Of all readers of a process."""
FLOAT_BYTES = 8
KEPT_NOTES = 4096
"""Where the chunks of a note begin: some 5 MB."""
KEPT_TERMS = 4096


class ReadMemo:
    """Of one connection that never writes."""

    _states = count()
    _tables: ClassVar[LastValues[WindowTable]] = LastValues(KEPT_TABLE_BYTES)

    def __init__(self) -> None:
        _memos.add(self)
        self._version: object = None
        self.having: dict[str, int] = {}
        """How many chunks have each term, 0 included."""
        self.chunks: dict[int, StoredChunk] = {}
        self.facts: dict[int, ChunkFacts] = {}
        self.windows: dict[int, bytes] = {}
        """The packed windows of chunks; none for a chunk without."""
        self.starts: dict[str, list[tuple[int, int]] | None] = {}
        """By the path of a note: its chunks, with their first lines; None if it has many."""
        self.notes: dict[str, ChunkRun] = {}
        """By the path: all chunks of a note."""
        self.is_empty: bool | None = None
        self.schema: int | None = None
        self._postings: PostingReader | None = None
        self._table_bytes: int | None = None
        self._state = next(self._states)

    def window_table(self, db: apsw.Connection, dims: int) -> WindowTable | None:
        """All windows of a small index, unpacked; None for another one."""
        if self._table_bytes is None:
            first = "SELECT codes FROM chunk_windows LIMIT ?"
            sql = f"SELECT count(*), sum(length(codes)) FROM ({first})"  # noqa: S608
            ((chunks, size),) = select(db, sql, (LEAST_CHUNKS + 1,))
            is_small = 0 < chunks <= LEAST_CHUNKS and size * FLOAT_BYTES <= TABLE_BYTES
            self._table_bytes = size * FLOAT_BYTES if is_small else 0
        if not self._table_bytes:
            return None
        key = (self._state, dims)
        return self._tables.get(key, self._table_bytes, lambda: _read_table(db, dims))

    def postings(self, db: apsw.Connection) -> PostingReader:
        if self._postings is None:
            self._postings = PostingReader(db)
        return self._postings

    def begin(self, db: apsw.Connection) -> None:
        """Drop what is no longer valid, or too much. Called inside a transaction."""
        # Changes with each commit of another connection.
        ((version,),) = select(db, "PRAGMA data_version")
        is_same = version == self._version
        self._version = version
        readers = len(_memos)
        if not is_same or len(self.chunks) > max(LEAST_CHUNKS, KEPT_CHUNKS // readers):
            self.chunks.clear()
            self.notes.clear()
        if not is_same or len(self.windows) > max(LEAST_CHUNKS, KEPT_WINDOWED // readers):
            self.windows.clear()
        if not is_same or len(self.facts) > max(LEAST_CHUNKS, KEPT_FACTS // readers):
            self.facts.clear()
        if not is_same or len(self.starts) > max(LEAST_CHUNKS, KEPT_NOTES // readers):
            self.starts.clear()
        if not is_same or len(self.having) > KEPT_TERMS:
            self.having.clear()
        if not is_same:
            self._postings = self.is_empty = self.schema = self._table_bytes = None
            self._state = next(self._states)


def _read_table(db: apsw.Connection, dims: int) -> WindowTable:
    return WindowTable(dict(select(db, "SELECT id, codes FROM chunk_windows")), dims)


_memos: WeakSet[ReadMemo] = WeakSet()
"""Of all readers of the process."""
