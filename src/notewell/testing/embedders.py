"""Embedders for tests: no model, no network, the same vectors on every machine."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from notewell.core import pack_windows
from notewell.ports import Lacking, ModelFacts, WindowedVector
from notewell.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.errors import EmbedderTrouble
    from notewell.ports import Embedder, Kind, SplitText, Vectors

TEXTS_AT_ONCE = 8
_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Each word adds or takes one in a bucket that its hash chooses: shared words, near vectors.

    `embedded_texts` counts the texts it was given, so a test can see what was not embedded again.
    """

    def __init__(self, dims: int = 64, *, model: str = "hash-64") -> None:
        self.facts = ModelFacts(provider="hash", model=model, dims=dims, chunk_tokens=400)
        self.embedded_texts = 0

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    def missing(self) -> None:
        return None

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        import numpy as np

        self.embedded_texts += len(texts)
        vectors = np.zeros((len(texts), self.facts.dims), dtype=np.float32)
        for text, row in zip(texts, vectors, strict=True):
            for word in _WORD.findall(text.lower()):
                bucket, sign = _place(word, self.facts.dims)
                row[bucket] += sign
            if not row.any():
                row[0] = 1.0  # no words, or words that cancel out: still a vector of length 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


class WindowedHashEmbedder(HashEmbedder):
    """The same, and a vector for each window of a text."""

    def __init__(self, *, share: float = 0.5, model: str = "windowed-64") -> None:
        super().__init__(model=model)
        self.facts = replace(self.facts, window_share=share)

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        return windowed(self, texts)


def windowed(embedder: Embedder, texts: Sequence[SplitText]) -> list[WindowedVector]:
    """Each window as an embedder embeds a text."""
    whole = embedder.embed([text.text for text in texts], "document")
    windows = [embedder.embed(text.window_texts(), "document") for text in texts]
    return [
        WindowedVector(vector, pack_windows(list(rows)))
        for vector, rows in zip(whole, windows, strict=True)
    ]


class BrokenEmbedder:
    """Says that it is there and fails when it is asked."""

    def __init__(self, error: EmbedderTrouble) -> None:
        self.facts = ModelFacts(provider="broken", model="broken", dims=64, chunk_tokens=400)
        self.error = error

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    def missing(self) -> Lacking:
        return Lacking(str(self.error), "use another embedder")

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        raise self.error


def _place(word: str, dims: int) -> tuple[int, float]:
    number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return (number >> 1) % dims, 1.0 if number & 1 else -1.0
