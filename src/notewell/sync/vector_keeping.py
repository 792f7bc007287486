"""Vectors of an index that is about to be rebuilt with another model: do they survive?

They cost time or money, so an embedder that only stands in for another one replaces them only if
the cache keeps them: then the first embedder finds them again when it is back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.types import counted

if TYPE_CHECKING:
    from notewell.index import IndexStore
    from notewell.ports import ModelFacts

NOTES_AT_ONCE = 200  # Of 1536 dimensions, a few megabytes.

SPARE_SHARE = 8
"""This part of the cache must stay free: a full cache evicts more than the one oldest vector."""


def why_not_kept(store: IndexStore) -> str | None:
    """Why the cache would lose the vectors of the published index; None: it keeps them."""
    limit = store.describe().cache_limit
    if limit == 0:
        return "no cache keeps them (cache.enabled, cache.maxEntries)"
    if limit is None:
        return None
    with store.view() as view:
        if view is None:
            return None
        counts = view.counts()
    # Those of the index, and one of the other model for each chunk.
    needed = counts.embedded + counts.chunks
    if needed <= limit - limit // SPARE_SHARE:
        return None
    return (
        f"the cache has no room for them and {counted(counts.chunks, 'vector')} of another model "
        f"(cache.maxEntries is {limit})"
    )


def keep_vectors(store: IndexStore, made: ModelFacts) -> None:
    """Write the vectors of the published index, which are of the model `made`, to the cache. Most
    are there already, but as its oldest entries, which are evicted first."""
    with store.view() as view:
        paths = [note.path for note in view.inventory().notes()] if view else []
    cache = store.vector_cache(made)
    try:
        for start in range(0, len(paths), NOTES_AT_ONCE):
            # A view for each group: searches of this process wait for an open one.
            with store.view() as view:
                vectors = view.vectors_of(paths[start : start + NOTES_AT_ONCE]) if view else {}
            if vectors:
                cache.put(
                    {digest: one.vector for digest, one in vectors.items()},
                    {digest: one.windows for digest, one in vectors.items() if one.windows},
                )
    # The cache holds a file open; on Windows that would block a repair.
    finally:
        cache.close()
