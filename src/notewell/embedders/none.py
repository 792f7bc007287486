"""No embedder: `provider: none`. Words alone answer, and everything says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import EmbedderMissing
from notewell.ports import ModelFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.ports import Kind, Vectors

FACTS = ModelFacts(provider="none", model="words alone", dims=0, chunk_tokens=400)


class NoEmbedder:
    @property
    def facts(self) -> ModelFacts:
        return FACTS

    @property
    def texts_at_once(self) -> int:
        return 1

    def missing(self) -> None:
        return None

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        raise EmbedderMissing("none", "the settings say provider: none", "choose another")
