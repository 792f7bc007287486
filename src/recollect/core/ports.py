"""The seams: places where two real things stand behind one small shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from recollect.core.words import is_latin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """One row a text, L2-normalised, so that a dot product is the cosine."""

Kind: TypeAlias = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the rest of the house needs to know about a model without loading it."""

    provider: str
    model: str
    dims: int
    chunk_tokens: int
    """The longest chunk, in estimated tokens, that the model reads whole."""
    scripts: Literal["latin", "any"] = "any"
    """An English model must not vote on Chinese text."""
    vector_weight: float = 0.5
    """The share of the vector score in a hybrid score, found by measurement."""
    cosine_floor: float = 0.0
    """The cosine of unrelated texts under this model; a vector score of 0."""
    cosine_ceiling: float = 1.0
    """The cosine of a question and its answer at best; a vector score of 1."""

    def reads(self, text: str) -> bool:
        """Whether the model can make sense of a text in this script."""
        return self.scripts == "any" or is_latin(text)


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def facts(self) -> ModelFacts: ...

    def missing(self) -> str | None:
        """What it lacks to work, and the next step; told without loading or calling anything."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """One row a text, in order; raises `EmbedderTrouble`, never returns a bad vector."""
        ...


class VectorCache(Protocol):
    """Vectors already paid for, by the digest of the text."""

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]: ...

    def put(self, vectors: Mapping[str, Vectors]) -> None: ...
