"""One rebuildable SQLite index per agent: text, words and vectors of its notes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.index.cache import count_entries
    from notewell.index.connect import (
        OLDEST_SOUND_SQLITE,
        open_new,
        open_reader,
        open_writer,
        our_errors,
        reading,
        require_checksums,
        select,
    )
    from notewell.index.folder import CURRENT, SUSPECT, SUSPECTED, IndexFolder
    from notewell.index.integrity import Condition, bad_pages, condition, opened, pages_told
    from notewell.index.inventory import ListedNote, OutlinedChunk, PlacedChunk
    from notewell.index.lease import writer_lease
    from notewell.index.reader import IndexReader
    from notewell.index.rows import ChunkRow
    from notewell.index.schema import EMBEDDED, SCHEMA, UNREAD, WAITING, Identity, found_schema
    from notewell.index.snapshot import Counts, IndexedNote, Snapshot, StoredChunk
    from notewell.index.store import Index
    from notewell.index.vectors import VectorDriver, vector_driver
    from notewell.index.writer import FIRST, IndexWriter
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "cache": "count_entries",
            "connect": (
                "OLDEST_SOUND_SQLITE open_new open_reader open_writer our_errors "
                "reading require_checksums select"
            ),
            "folder": "CURRENT IndexFolder SUSPECT SUSPECTED",
            "integrity": "Condition bad_pages condition opened pages_told",
            "inventory": "ListedNote OutlinedChunk PlacedChunk",
            "lease": "writer_lease",
            "reader": "IndexReader",
            "rows": "ChunkRow",
            "schema": "EMBEDDED Identity SCHEMA UNREAD WAITING found_schema",
            "snapshot": "Counts IndexedNote Snapshot StoredChunk",
            "store": "Index",
            "vectors": "VectorDriver vector_driver",
            "writer": "FIRST IndexWriter",
        },
    )
