"""The seams: places where two real things stand behind one small shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

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
    vector_weight_sure: float = 0.5
    """The same where the nearest chunk is near."""
    cosine_floor: float = 0.0
    """The cosine of unrelated texts under this model; a vector score of 0."""
    cosine_ceiling: float = 1.0
    """The cosine of a question and its answer at best; a vector score of 1."""
    endpoint_key: str = ""
    """Tells the same model at different addresses apart; empty for one on this machine."""

    def reads(self, text: str) -> bool:
        """Whether the model can make sense of a text in this script."""
        return self.scripts == "any" or is_latin(text)


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def facts(self) -> ModelFacts:
        """`dims` is 0 while nobody knows how long the vectors are."""
        ...

    @property
    def texts_at_once(self) -> int:
        """How many texts a call should have: fewer waste time, more are lost by a kill."""
        ...

    def missing(self) -> str | None:
        """What it lacks to work, and the next step; told without loading or calling anything."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """One row a text, in order; raises `EmbedderTrouble`, never returns a bad vector."""
        ...


class Reranker(Protocol):
    """Reads a question and texts together: an optional second stage."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers, 0 to 1, in order."""
        ...


Keep: TypeAlias = "Callable[[Mapping[int, Vectors]], None]"
"""Is handed rows by the number of their text; what it has taken is not asked for again."""


@runtime_checkable
class Gradual(Protocol):
    """An embedder that has rows one after another, each of them paid for: a kill in the middle of
    a long call must not cost those that were there."""

    def embed_gradually(self, texts: Sequence[str], keep: Keep) -> Vectors:
        """`embed` of documents; `keep` gets rows as they come, in the caller's own thread."""
        ...


class Waiting(NamedTuple):
    """Work that somebody else is doing for us: a batch job, and how far it has come."""

    what: str
    done: int
    total: int

    def __str__(self) -> str:
        return f"{self.what}: {self.done} of {self.total} done"


@runtime_checkable
class TellsWaiting(Protocol):
    """An embedder whose vectors may take hours, and which says so meanwhile."""

    def telling(self, told: Callable[[Waiting], None]) -> AbstractContextManager[None]:
        """For as long as it is entered, `told` hears of it; from any thread, one at a time."""
        ...


@runtime_checkable
class Closes(Protocol):
    """An embedder that holds connections or a process until it is closed."""

    def close(self) -> None: ...


class VectorCache(Protocol):
    """Vectors already paid for, by the digest of the text."""

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]: ...

    def put(self, vectors: Mapping[str, Vectors]) -> None: ...


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin: what an English model can read."""
    letters = [character for character in text if character.isalpha()]
    latin = sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters)
    return latin * 2 >= len(letters)
