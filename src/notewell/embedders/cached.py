"""An embedder that never pays twice for the same text.

    texts ──▶ digests ──▶ vectors in the cache ──▶ embed the rest ──▶ into the cache ──▶ vectors

Only documents are cached: the same chunk returns with every rebuild, the same query seldom.
"""

from __future__ import annotations

import hashlib
from collections import deque
from typing import TYPE_CHECKING

from notewell.core import has_windows
from notewell.embedders.vectors import is_sound
from notewell.errors import EmbedderTrouble
from notewell.ports import EmbedsWindows, Gradual, MasksSecrets, WindowedVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.embedders.usage import CacheTally
    from notewell.ports import (
        Embedder,
        Keep,
        Kind,
        Lacking,
        ModelFacts,
        SplitText,
        VectorCache,
        Vectors,
    )


class Cached:
    """Has the interface of the embedder inside; `cache` belongs to that model alone."""

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

    def missing(self) -> Lacking | None:
        return self._embedder.missing()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "query" or not texts:
            return self._embedder.embed(texts, kind)
        import numpy as np

        # A vector belongs to the text that was sent, not to the one with its secrets.
        if isinstance(self._embedder, MasksSecrets):
            texts = self._embedder.outgoing(texts)
        digests = [_digest(text) for text in texts]
        by_digest = dict(zip(digests, texts, strict=True))
        vectors = self._cached(list(by_digest))
        if self._tally:
            self._tally.add(hits=len(vectors), misses=len(by_digest) - len(vectors))
        vectors |= self._new({d: text for d, text in by_digest.items() if d not in vectors})
        return np.stack([vectors[digest] for digest in digests])

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        """Without windows, if the embedder inside gives none."""
        inner = self._embedder
        if not (isinstance(inner, EmbedsWindows) and inner.facts.window_share):
            rows = self.embed([text.text for text in texts], "document")
            return [WindowedVector(row) for row in rows]
        digests = [_digest(text.text) for text in texts]
        by_digest = dict(zip(digests, texts, strict=True))
        vectors = self._cached_windowed(by_digest)
        if self._tally:
            self._tally.add(hits=len(vectors), misses=len(by_digest) - len(vectors))
        missing = [digest for digest in by_digest if digest not in vectors]
        for start in range(0, len(missing), self.texts_at_once):
            some = missing[start : start + self.texts_at_once]
            fresh = inner.embed_windows([by_digest[digest] for digest in some])
            new = dict(zip(some, fresh, strict=True))
            self._cache.put(
                {digest: one.vector for digest, one in new.items()},
                {digest: one.windows for digest, one in new.items() if one.windows},
            )
            vectors |= new
        return [vectors[digest] for digest in digests]

    def _cached_windowed(self, texts: Mapping[str, SplitText]) -> dict[str, WindowedVector]:
        """An entry without the windows of its text counts as a miss: it is of an older version."""
        windows = self._cache.windows(list(texts))
        return {
            digest: WindowedVector(vector, windows.get(digest, b""))
            for digest, vector in self._cached(list(texts)).items()
            if has_windows(windows.get(digest, b""), len(texts[digest].windows), self.facts.dims)
        }

    def _cached(self, digests: list[str]) -> dict[str, Vectors]:
        # A damaged row counts as a miss: it is embedded again and replaced.
        dims = self.facts.dims
        rows = self._cache.get(digests)
        return {digest: vector for digest, vector in rows.items() if is_sound(vector, dims)}

    def _new(self, texts: dict[str, str]) -> dict[str, Vectors]:
        vectors: dict[str, Vectors] = {}
        digests = deque(texts)
        while digests:
            # Read each time: it becomes smaller when batch jobs are switched off on the way.
            count = min(self.texts_at_once, len(digests))
            some = [digests.popleft() for _ in range(count)]
            vectors |= self._embed_and_store(some, [texts[digest] for digest in some])
        return vectors

    def _embed_and_store(self, digests: list[str], texts: list[str]) -> dict[str, Vectors]:
        fresh: dict[str, Vectors] = {}

        def keep(rows: Mapping[int, Vectors]) -> None:
            new = {digests[n]: row for n, row in rows.items() if digests[n] not in fresh}
            if new:
                self._cache.put(new)
                fresh.update(new)

        try:
            keep(dict(enumerate(self._rows(texts, keep))))
        except EmbedderTrouble as trouble:
            keep(trouble.finished)  # They are paid for: the next attempt starts after them.
            raise
        return fresh

    def _rows(self, texts: list[str], keep: Keep) -> Vectors:
        if isinstance(self._embedder, Gradual):
            return self._embedder.embed_gradually(texts, keep)
        return self._embedder.embed(texts, "document")


def _digest(text: str) -> str:
    # A lone surrogate is not valid text, but a digest must not fail because of it.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
