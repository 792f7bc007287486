"""The index in SQLite: one folder of files per agent, see `folder`. START HERE: `store`.

    store      the `IndexStore`: hands out views, the writer, leases, the cache
    folder     which file answers, and how a new one takes its place
    reader     a connection that follows the published file; `view` asks the questions
    writer     changes, in transactions
    vectors    the vector drivers: `segments` (with `segment_reader`, `sign_codes`), `sqlite_vec`
    cache      computed vectors, by the digest of their text
    connect    opening files with page checksums, and turning SQLite's errors into ours
    integrity  is a file ours, complete, and undamaged

No other package knows that the index is kept in SQLite.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.index.sqlite.cache import count_entries
    from notewell.index.sqlite.connect import (
        OLDEST_SOUND_SQLITE,
        open_new,
        open_reader,
        open_writer,
        our_errors,
        reading,
        require_checksums,
        select,
    )
    from notewell.index.sqlite.folder import CURRENT, SUSPECT, IndexFolder
    from notewell.index.sqlite.integrity import Condition, bad_pages, condition, opened, pages_told
    from notewell.index.sqlite.lease import Lease, leases_in, writer_lease
    from notewell.index.sqlite.reader import SqliteReader
    from notewell.index.sqlite.rows import ChunkRow
    from notewell.index.sqlite.schema import SCHEMA, found_schema
    from notewell.index.sqlite.store import SqliteStore
    from notewell.index.sqlite.vectors import VectorDriver, vector_driver
    from notewell.index.sqlite.view import SqliteView
    from notewell.index.sqlite.writer import SqliteWriter
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
            "reader": "SqliteReader",
            "rows": "ChunkRow",
            "schema": "SCHEMA found_schema",
            "store": "SqliteStore",
            "vectors": "VectorDriver vector_driver",
            "view": "SqliteView",
            "writer": "SqliteWriter",
        },
    )
