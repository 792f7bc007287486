"""An embedder that never pays twice for the same text.

    texts -> digests -> what the cache knows -> embed the rest -> into the cache -> vectors

Only documents are kept: the same chunk comes back with every rebuild, the same question seldom.
"""

from __future__ import annotations

import hashlib
from collections import deque
from typing import TYPE_CHECKING

from notewell.errors import EmbedderTrouble
from notewell.ports import Gradual

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.embedders.usage import CacheTally
    from notewell.ports import Embedder, Keep, Kind, ModelFacts, VectorCache, Vectors

LENGTH_TOLERANCE = 1e-2
"""How far from 1 a kept vector may be: rounding stays far below, damage seldom does."""


class Cached:
    """Same shape as the embedder inside; `cache` belongs to that model alone."""

    def __init__(
        self, embedder: Embedder, cache: VectorCache, tally: CacheTally | None = None
    ) -> None:
        self._embedder = embedder
        self._cache = cache
        self._tally = tally

    @property
    def facts(self) -> ModelFacts:
        return self._embedder.facts

    @property
    def texts_at_once(self) -> int:
        return self._embedder.texts_at_once

    def missing(self) -> str | None:
        return self._embedder.missing()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "query" or not texts:
            return self._embedder.embed(texts, kind)
        import numpy as np

        digests = [_digest(text) for text in texts]
        by_digest = dict(zip(digests, texts, strict=True))
        vectors = self._known(list(by_digest))
        if self._tally:
            self._tally.add(hits=len(vectors), misses=len(by_digest) - len(vectors))
        vectors |= self._new({d: text for d, text in by_digest.items() if d not in vectors})
        return np.stack([vectors[digest] for digest in digests])

    def _known(self, digests: list[str]) -> dict[str, Vectors]:
        dims = self.facts.dims
        found = self._cache.get(digests)
        return {digest: vector for digest, vector in found.items() if is_sound(vector, dims)}

    def _new(self, texts: dict[str, str]) -> dict[str, Vectors]:
        vectors: dict[str, Vectors] = {}
        digests = deque(texts)
        while digests:
            # Asked for anew each time: it may change while it goes on.
            count = min(self.texts_at_once, len(digests))
            some = [digests.popleft() for _ in range(count)]
            vectors |= self._kept(some, [texts[digest] for digest in some])
        return vectors

    def _kept(self, digests: list[str], texts: list[str]) -> dict[str, Vectors]:
        fresh: dict[str, Vectors] = {}

        def keep(rows: Mapping[int, Vectors]) -> None:
            new = {digests[n]: row for n, row in rows.items() if digests[n] not in fresh}
            if new:
                self._cache.put(new)
                fresh.update(new)

        try:
            keep(dict(enumerate(self._rows(texts, keep))))
        except EmbedderTrouble as trouble:
            keep(trouble.finished)  # Paid for all the same: the next try begins after them.
            raise
        return fresh

    def _rows(self, texts: list[str], keep: Keep) -> Vectors:
        if isinstance(self._embedder, Gradual):
            return self._embedder.embed_gradually(texts, keep)
        return self._embedder.embed(texts, "document")


def _digest(text: str) -> str:
    # A lone surrogate is no valid text, but no reason to fall over here either.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_sound(vector: Vectors, dims: int) -> bool:
    """Whether a vector that was kept can be used; a cache may have been damaged, or edited.

    `dims` 0 is not known: the cache was told what to look for by somebody who knows.
    """
    import numpy as np

    if vector.ndim != 1 or (dims and vector.size != dims) or not np.isfinite(vector).all():
        return False
    # In float64, because the squares of a damaged vector may be too large for float32.
    return abs(float(np.linalg.norm(vector.astype(np.float64))) - 1.0) <= LENGTH_TOLERANCE
