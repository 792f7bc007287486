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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notewell.lance.entry import CATEGORIES, Category, MemoryEntry
    from notewell.lance.errors import EntriesBusy, EntriesTrouble, EntriesUnreadable, LanceMissing
    from notewell.lance.ranking import Forgotten, Recall, Recalled
    from notewell.lance.settings import LanceSettings
    from notewell.lance.store import EntryStore, Imported, Stored

_HOMES = {
    "CATEGORIES": "entry",
    "Category": "entry",
    "EntriesBusy": "errors",
    "EntriesTrouble": "errors",
    "EntriesUnreadable": "errors",
    "EntryStore": "store",
    "Forgotten": "ranking",
    "Imported": "store",
    "LanceMissing": "errors",
    "LanceSettings": "settings",
    "MemoryEntry": "entry",
    "Recall": "ranking",
    "Recalled": "ranking",
    "Stored": "store",
}

__all__ = [
    "CATEGORIES",
    "Category",
    "EntriesBusy",
    "EntriesTrouble",
    "EntriesUnreadable",
    "EntryStore",
    "Forgotten",
    "Imported",
    "LanceMissing",
    "LanceSettings",
    "MemoryEntry",
    "Recall",
    "Recalled",
    "Stored",
]


def __getattr__(name: str) -> Any:
    """Each is imported when it is asked for: settings are read by every command."""
    if name not in _HOMES:
        raise AttributeError(f"module 'notewell.lance' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"notewell.lance.{_HOMES[name]}"), name)
