"""The index in SQLite: one folder of files per agent, see `folder`. START HERE: `store`.

    store        the `IndexStore`: hands out views, the writer, leases, the cache
    folder       which file answers, and how a new one takes its place
    view         the queries of a search, in one read transaction; `full_text`: those to FTS5,
                 `inventory`: those that read all notes
    writer       changes, in transactions
    schema       the tables of one generation
    vectors      the protocol of a vector driver: `segments` (with `segment_reader`
                 and `quantization`), `sqlite_vec`
    cache        computed vectors, by the digest of their text
    connect      opening files with page checksums, and turning SQLite's errors into ours
    integrity    is a file ours, complete, and undamaged
    maintenance  checks and repairs for `notewell doctor`; audit: `notewell verify`

No other package knows that the index is kept in SQLite.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.index.sqlite.cache import count_entries
    from notewell.index.sqlite.connect import (
        open_new,
        open_reader,
        open_writer,
        select,
    )
    from notewell.index.sqlite.folder import IndexFolder
    from notewell.index.sqlite.lease import Lease, leases_in, writer_lease
    from notewell.index.sqlite.schema import SCHEMA
    from notewell.index.sqlite.store import (
        DriverChoice,
        SqliteReader,
        SqliteStore,
        usable_driver,
        vector_driver,
    )
    from notewell.index.sqlite.view import SqliteView
    from notewell.index.sqlite.writer import SqliteWriter
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "cache": "count_entries",
            "connect": ("open_new open_reader open_writer select"),
            "folder": "IndexFolder",
            "lease": "Lease leases_in writer_lease",
            "schema": "SCHEMA",
            "store": "DriverChoice SqliteReader SqliteStore usable_driver vector_driver",
            "view": "SqliteView",
            "writer": "SqliteWriter",
        },
    )
