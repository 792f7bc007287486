"""An embedder that never pays twice for the same text.

    texts -> digests -> what the cache knows -> embed the rest -> into the cache -> vectors

Only documents are kept: the same chunk comes back with every rebuild, the same question seldom.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.ports import Embedder, Kind, ModelFacts, VectorCache, Vectors

KEEP_EVERY = 32
"""Texts embedded before they are kept: a few seconds of work is all that a crash may cost."""

LENGTH_TOLERANCE = 1e-2
"""How far from 1 a kept vector may be: rounding stays far below, damage seldom does."""


class Cached:
    """Same shape as the embedder inside; `cache` belongs to that model alone."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def facts(self) -> ModelFacts:
        return self._embedder.facts

    def missing(self) -> str | None:
        return self._embedder.missing()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "query" or not texts:
            return self._embedder.embed(texts, kind)
        import numpy as np

        digests = [_digest(text) for text in texts]
        by_digest = dict(zip(digests, texts, strict=True))
        vectors = self._known(list(by_digest))
        vectors |= self._new({d: text for d, text in by_digest.items() if d not in vectors})
        return np.stack([vectors[digest] for digest in digests])

    def _known(self, digests: list[str]) -> dict[str, Vectors]:
        dims = self.facts.dims
        found = self._cache.get(digests)
        return {digest: vector for digest, vector in found.items() if _is_sound(vector, dims)}

    def _new(self, texts: dict[str, str]) -> dict[str, Vectors]:
        vectors: dict[str, Vectors] = {}
        digests = list(texts)
        for start in range(0, len(digests), KEEP_EVERY):
            some = digests[start : start + KEEP_EVERY]
            rows = self._embedder.embed([texts[digest] for digest in some], "document")
            fresh = dict(zip(some, rows, strict=True))
            self._cache.put(fresh)
            vectors |= fresh
        return vectors


def _digest(text: str) -> str:
    # A lone surrogate is no valid text, but no reason to fall over here either.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_sound(vector: Vectors, dims: int) -> bool:
    import numpy as np

    if vector.shape != (dims,) or not np.isfinite(vector).all():
        return False
    # In float64, because the squares of a damaged vector may be too large for float32.
    return abs(float(np.linalg.norm(vector.astype(np.float64))) - 1.0) <= LENGTH_TOLERANCE
