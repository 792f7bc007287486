"""Test doubles that we ship, for our users and for us. They keep the contract of the real thing.

HashEmbedder         vectors out of words alone: no model, no files, the same on every machine
WindowedHashEmbedder the same, with vectors for the windows of a text
BrokenEmbedder       raises the trouble you give it
InMemoryNotes        a `NoteStore` without a disk
InMemoryIndexStore   an `IndexStore` without a disk: exact, and lost when the process ends
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.testing.embedders import BrokenEmbedder, HashEmbedder, WindowedHashEmbedder
    from notewell.testing.index_store import InMemoryIndexStore
    from notewell.testing.notes import InMemoryNotes
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "embedders": "BrokenEmbedder HashEmbedder WindowedHashEmbedder",
            "index_store": "InMemoryIndexStore",
            "notes": "InMemoryNotes",
        },
    )
