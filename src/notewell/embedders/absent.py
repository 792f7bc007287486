"""Embedders that compute nothing, and say why: search then answers by keyword."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.registry import NONE
from notewell.errors import EmbedderMissing
from notewell.ports import Lacking, ModelFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.ports import Kind, Vectors


class NoEmbedder:
    """`provider: none`. Keyword search alone answers, and the status says so."""

    FACTS = ModelFacts(provider=NONE, model="words alone", dims=0, chunk_tokens=400)

    @property
    def facts(self) -> ModelFacts:
        return self.FACTS

    @property
    def texts_at_once(self) -> int:
        return 1

    def missing(self) -> None:
        return None

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        raise EmbedderMissing(NONE, "the setting is provider: none", "choose another provider")


class AbsentEmbedder:
    """Stands for the model of an index that this process cannot use: the index stays as it is, its
    words are kept up to date, and every answer says why there are no vectors."""

    texts_at_once = 1

    def __init__(self, facts: ModelFacts, action: str) -> None:
        self.facts = facts
        self._lacking = Lacking(f"the index holds vectors of {facts.model}", action)

    def missing(self) -> Lacking:
        return self._lacking

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        raise EmbedderMissing(self.facts.provider, *self._lacking)
