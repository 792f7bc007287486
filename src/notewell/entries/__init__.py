"""Entries: single statements that an agent stores, recalls and forgets, in LanceDB.

entry.py     one statement, and what may stand in it
settings.py  `plugins.entries.memory-lancedb`
errors.py    what can go wrong
table.py     the edge to LanceDB: tables, filters, fragments
durable.py   new files forced to the disk
lock.py      one writer at a time
alike.py     when two texts say the same
ranking.py   in which order entries are recalled, and which one is clearly meant
store.py     START HERE: store, recall, forget, for one agent
worth.py     what of a conversation is worth an entry
markdown.py  entries as a file for people, and back

The notes know nothing of these, and these know nothing of the notes. Importing this room is cheap;
LanceDB itself is loaded by the first call that needs it, and only with the extra `lancedb`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.entries.auto_capture import category_of, reads_like_orders, refusal
    from notewell.entries.entry import (
        CATEGORIES,
        IMPORTANCE,
        MAX_TEXT_CHARS,
        Category,
        MemoryEntry,
    )
    from notewell.entries.errors import (
        EntriesBusy,
        EntriesTrouble,
        EntriesUnreadable,
        LanceMissing,
    )
    from notewell.entries.markdown import MAX_FILE_BYTES, from_markdown, to_markdown
    from notewell.entries.ranking import LIMIT, MAX_LIMIT, Forgotten, Recall, Recalled
    from notewell.entries.settings import NAME, LanceSettings
    from notewell.entries.store import EntryStore, Imported, Stored
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "auto_capture": "category_of reads_like_orders refusal",
            "entry": "CATEGORIES Category IMPORTANCE MAX_TEXT_CHARS MemoryEntry",
            "errors": "EntriesBusy EntriesTrouble EntriesUnreadable LanceMissing",
            "markdown": "MAX_FILE_BYTES from_markdown to_markdown",
            "ranking": "Forgotten LIMIT MAX_LIMIT Recall Recalled",
            "settings": "LanceSettings NAME",
            "store": "EntryStore Imported Stored",
        },
    )
