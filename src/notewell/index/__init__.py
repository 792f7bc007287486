"""One rebuildable index per agent: text, words and vectors of its notes. `ports` is the seam."""

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
    from notewell.index.folder import CURRENT, SUSPECT, IndexFolder
    from notewell.index.integrity import Condition, bad_pages, condition, opened, pages_told
    from notewell.index.lease import Lease, leases_in, writer_lease
    from notewell.index.ports import IndexInventory, IndexStore, IndexView, IndexWriter
    from notewell.index.reader import SqliteReader
    from notewell.index.records import (
        EMBEDDED,
        UNREAD,
        WAITING,
        Counts,
        Identity,
        IndexedNote,
        ListedNote,
        MustRebuild,
        OutlinedChunk,
        PlacedChunk,
        StoredChunk,
        StoreFacts,
        UpToDate,
    )
    from notewell.index.rows import ChunkRow
    from notewell.index.schema import SCHEMA, found_schema
    from notewell.index.settings import StoreSettings
    from notewell.index.store import SqliteStore
    from notewell.index.vectors import VectorDriver, vector_driver
    from notewell.index.view import SqliteView
    from notewell.index.writer import SqliteWriter
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
            "folder": "CURRENT IndexFolder SUSPECT",
            "integrity": "Condition bad_pages condition opened pages_told",
            "lease": "Lease leases_in writer_lease",
            "ports": "IndexInventory IndexStore IndexView IndexWriter",
            "records": (
                "Counts EMBEDDED Identity IndexedNote ListedNote MustRebuild OutlinedChunk "
                "PlacedChunk StoreFacts StoredChunk UNREAD UpToDate WAITING"
            ),
            "reader": "SqliteReader",
            "rows": "ChunkRow",
            "schema": "SCHEMA found_schema",
            "settings": "StoreSettings",
            "store": "SqliteStore",
            "vectors": "VectorDriver vector_driver",
            "view": "SqliteView",
            "writer": "SqliteWriter",
        },
    )
