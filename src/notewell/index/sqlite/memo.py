"""What a reader has read of the state of an index that it sees: valid until somebody commits.

A search asks for the same chunks several times, and the next search for many of them again. In a
memory of a hundred chunks, reading them is most of the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from notewell.index.sqlite.connect import select
from notewell.index.sqlite.postings import PostingReader

if TYPE_CHECKING:
    import apsw

    from notewell.index.records import StoredChunk

KEPT_CHUNKS = 8192
"""Some 10 MB, and 12 MB of windows, which all readers of a process share."""
LEAST_CHUNKS = 256
"""What a reader keeps however many there are."""
KEPT_NOTES = 64
KEPT_TERMS = 4096


class ReadMemo:
    """Of one connection that never writes."""

    def __init__(self) -> None:
        _memos.add(self)
        self._version: object = None
        self.having: dict[str, int] = {}
        """How many chunks have each term, 0 included."""
        self.chunks: dict[int, StoredChunk] = {}
        self.windows: dict[int, bytes] = {}
        """The packed windows of chunks; none for a chunk without."""
        self.starts: dict[str, list[tuple[int, int]] | None] = {}
        """By the path of a note: its chunks, with their first lines; None if it has many."""

        self.is_empty: bool | None = None
        self.schema: int | None = None
        self._postings: PostingReader | None = None

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
        most = max(LEAST_CHUNKS, KEPT_CHUNKS // len(_memos))
        if not is_same or len(self.chunks) > most:
            self.chunks.clear()
        if not is_same or len(self.windows) > most:
            self.windows.clear()
        if not is_same or len(self.starts) > KEPT_NOTES:
            self.starts.clear()
        if not is_same or len(self.having) > KEPT_TERMS:
            self.having.clear()
        if not is_same:
            self._postings = self.is_empty = self.schema = None


_memos: WeakSet[ReadMemo] = WeakSet()
"""Of all readers of the process."""
