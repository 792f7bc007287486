"""Vectors that were paid for once, for an index that is built anew.

    the index that answers    has them all, unless it was made with another model; found by note
    the cache                 has the latest, of every model and of notes that moved; by digest

The cache alone is not enough: it keeps 50 000, so that a rebuild of a million chunks would embed,
or pay for, nineteen of twenty once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import IndexTrouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.embedders import CacheTally
    from notewell.index import Identity, IndexStore, StoredChunk
    from notewell.ports import VectorCache, Vectors


class KnownVectors:
    """What is known of chunks by the digest of their text."""

    def __init__(
        self, answering: IndexStore, cache: VectorCache, wanted: Identity, tally: CacheTally
    ) -> None:
        self._answering: IndexStore | None = answering
        self._cache = cache
        self._wanted = wanted
        self._tally = tally

    def vectors(self, chunks: Sequence[StoredChunk]) -> dict[str, Vectors]:
        known = self._from_index(chunks)
        rest = [one.digest for one in chunks if one.digest not in known]
        found = known | dict(self._cache.get(rest))
        self._tally.add(hits=len(found), misses=0)  # What is missed here is embedded later.
        return found

    def _from_index(self, chunks: Sequence[StoredChunk]) -> dict[str, Vectors]:
        """Looked at anew for every group: searches of this process wait while we read."""
        if self._answering is None:
            return {}
        try:
            with self._answering.view() as view:
                if view is not None and _same_vectors(view.identity(), self._wanted):
                    return view.vectors_of({one.path for one in chunks})
        except IndexTrouble:
            pass  # It is on its way out, perhaps because it is damaged: the cache will do.
        self._answering = None
        return {}


_OF_VECTORS = ("provider", "model", "dims", "vector_driver", "endpoint_key")


def _same_vectors(one: Identity, other: Identity) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _OF_VECTORS)
