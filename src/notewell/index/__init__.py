"""One rebuildable index per agent: text, words and vectors of its notes.

`ports` is the storage seam, `records` holds the values that cross it, and `sqlite` is the
implementation in use. Only the module that assembles a memory imports an implementation.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.index.findings import (
        Disagreement,
        StoreAudit,
        StoreFinding,
        StorePart,
        StoreRepair,
        size_text,
    )
    from notewell.index.ports import IndexInventory, IndexStore, IndexView, IndexWriter
    from notewell.index.records import (
        EMBEDDED,
        UNREAD,
        WAITING,
        ChunkFacts,
        ChunkRun,
        Counts,
        Identity,
        IndexedNote,
        IndexFacts,
        ListedNote,
        MustRebuild,
        OutlinedChunk,
        PlacedChunk,
        StoredChunk,
        StoreFacts,
        UpToDate,
    )
    from notewell.index.settings import StorePlace, StoreSettings
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "findings": ("Disagreement StoreAudit StoreFinding StorePart StoreRepair size_text"),
            "ports": "IndexInventory IndexStore IndexView IndexWriter",
            "records": (
                "ChunkFacts ChunkRun Counts EMBEDDED Identity IndexFacts IndexedNote ListedNote "
                "MustRebuild OutlinedChunk PlacedChunk StoreFacts StoredChunk UNREAD UpToDate "
                "WAITING"
            ),
            "settings": "StorePlace StoreSettings",
        },
    )
