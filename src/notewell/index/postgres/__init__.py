"""The index in PostgreSQL: the rows of one agent and workspace. START HERE: `store`.

    store        the `IndexStore`: hands out views, the writer, leases, the cache
    generations  the row that says what an index is and which one answers
    view         the queries of a search, in one read transaction; `inventory`: those that read
                 all notes; `memo`: what was read of the state that is seen
    postings     the layout of the keyword index: many words in a row
    text_reader  counts and ranks the words of a query; `text_writer` writes them
    vectors      vectors and windows: their form, and the nearest ones
    writer       generations and transactions; `changes`: what one transaction changes
    cache        computed vectors, by the digest of their text
    maintenance  checks and repairs for `notewell doctor`; audit: `notewell verify`

The tables are in `notewell.postgres.migrations`. No other package knows that the index is kept in
PostgreSQL.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.index.postgres.store import DRIVER, PostgresStore, other_workspaces
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__, {"store": "DRIVER PostgresStore other_workspaces"}
    )
