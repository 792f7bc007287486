"""Vectors of the embedded model for very many texts, without running it for each of them.

A few hundred texts are embedded. The vector of any other text is the sum of two of those, chosen
by its hash: cosines are those of the model, and 30 000 chunks take seconds instead of half an
hour. An index that is built with it is the model's own to the service that opens it.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from bench.load import PoolEmbedder

from notewell.embedders import open_embedded
from notewell.testing.embedders import windowed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.ports import Embedder, SplitText, Vectors, WindowedVector

SAMPLES = 256


class MixedEmbedder(PoolEmbedder):
    """Has the facts of a model, and vectors like its own."""

    def __init__(self, model: Embedder, samples: Sequence[str]) -> None:
        super().__init__()
        self.facts = model.facts
        self._model = model
        self._samples = samples

    @cached_property
    def _pool(self) -> Vectors:
        return self._model.embed(self._samples, "document")

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        return windowed(self, texts)


def mixed(workspace: Path) -> MixedEmbedder:
    """With the embedded model, and sections of the notes of a workspace as the samples."""
    notes = sorted(workspace.glob("memory/*/*.md"))[:SAMPLES]
    sections = (one for note in notes for one in note.read_text(encoding="utf-8").split("## ")[1:])
    return MixedEmbedder(open_embedded(), list(islice(sections, SAMPLES)))
