"""Entries: single statements that an agent stores, recalls and forgets, in LanceDB.

entry.py         one statement: validation, settings, errors
table.py         tables in LanceDB: reading, writing, compaction
rows.py          an entry as a row
filters.py       conditions on rows
durability.py    the writer's lock, fsync
commits.py       which version of a table counts, and a second copy of its manifest
integrity.py     digests of entries, and what of a damaged table is legible
health.py        what `doctor` and `verify` ask
ranking.py       order of results, duplicates, which entry is clearly meant
store.py         START HERE: store, recall, forget, for one agent
auto_capture.py  which messages of a conversation become entries
markdown.py      export and import

Entries and notes are independent of each other. Importing this package is cheap: LanceDB is loaded
by the first call that needs it, and only if the extra `lancedb` is installed.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.entries.auto_capture import category_of, reads_like_orders, refusal
    from notewell.entries.entry import (
        CATEGORIES,
        IMPORTANCE,
        MAX_TEXT_CHARS,
        NAME,
        Category,
        EntriesBusy,
        EntriesSettings,
        EntriesTrouble,
        EntriesUnreadable,
        LanceMissing,
        MemoryEntry,
    )
    from notewell.entries.health import (
        EntriesAudit,
        audit_entries,
        has_entries,
        set_damaged_aside,
    )
    from notewell.entries.markdown import MAX_FILE_BYTES, from_markdown, to_markdown
    from notewell.entries.ranking import LIMIT, MAX_LIMIT, Forgotten, Recall, Recalled
    from notewell.entries.store import EntryStore, ImportCounts, Stored
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "auto_capture": "category_of reads_like_orders refusal",
            "entry": (
                "CATEGORIES Category EntriesBusy EntriesSettings EntriesTrouble EntriesUnreadable "
                "IMPORTANCE LanceMissing MAX_TEXT_CHARS MemoryEntry NAME"
            ),
            "health": "EntriesAudit audit_entries has_entries set_damaged_aside",
            "markdown": "MAX_FILE_BYTES from_markdown to_markdown",
            "ranking": "Forgotten LIMIT MAX_LIMIT Recall Recalled",
            "store": "EntryStore ImportCounts Stored",
        },
    )
