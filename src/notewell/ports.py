"""Protocols that have several implementations: embedders, rerankers and the vector cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from notewell.records import NamedTuple, dataclass
from notewell.scripts import script_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from notewell.scripts import Script

    Vectors: TypeAlias = NDArray[np.float32]
    """One row for each text, L2-normalised, so that a dot product is the cosine."""

Kind: TypeAlias = Literal["query", "document"]
PROBE_TEXT = "Is anybody there?"
"""Embedded to learn whether an embedder answers, and how long its vectors are."""


class CosineScale(NamedTuple):
    """What the cosines of a model mean: the values of unrelated texts, and of a question and its
    answer at best."""

    floor: float
    ceiling: float


class VectorWeights(NamedTuple):
    """The share of the vector score in a hybrid score, the rest is that of the words. Measured
    for each model; `core.ranking` chooses among them."""

    least: float = 0.5
    """For a query whose nearest chunk is not very near."""
    sure: float | None = None
    """For a query whose nearest chunk is very similar; None: as `least`."""
    same_script: float | None = None
    """If query and chunk are in the same script, and that is not Latin. None, here and below:
    that makes no difference."""
    same_script_long: float | None = None
    """The same if many chunks that were found are long enough for windows: they have more words to
    go by."""
    across_scripts: float | None = None
    """If query and chunk are in different scripts: they have no words in common."""
    code: float | None = None
    """If most chunks that were found are code: it repeats few words of a query."""

    @property
    def is_one_for_all(self) -> bool:
        """Whether all chunks of a search have the same weight, whatever they are."""
        return self.same_script is None and self.across_scripts is None and self.code is None


ALL_SCRIPTS: frozenset[Script] = frozenset({"latin", "han", "other"})
SCRIPT_NAMES: dict[Script, str] = {"latin": "Latin", "han": "Chinese"}


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What other packages need to know about a model without loading it."""

    provider: str
    model: str
    dims: int
    chunk_tokens: int
    """The longest chunk, in estimated tokens, that the model reads completely."""
    scripts: frozenset[Script] = ALL_SCRIPTS
    """The vectors of a model are meaningless for text that it cannot read, and must not count."""
    weights: VectorWeights = VectorWeights()
    cosine_floor: float = 0.0
    """The cosine of unrelated texts under this model; a vector score of 0."""
    cosine_ceiling: float = 1.0
    """The cosine of a query and its answer at best; a vector score of 1."""
    endpoint_key: str = ""
    """Distinguishes the same model at different addresses; empty for one on this machine."""
    window_share: float = 0.0
    """The share of its best window in the cosine of a chunk, against that of the whole chunk;
    0: windows get no vectors."""

    masking: str = ""
    """The version of the rules that mask secrets in what is sent to this model; empty: no text
    leaves this machine, or the user wants it as it is."""
    measures_scale: bool = False
    """Floor and ceiling of this model are not known: they are measured from each index."""

    @property
    def has_scale(self) -> bool:
        """Whether floor and ceiling are known."""
        return self.cosine_ceiling < 1.0

    def reads(self, text: str) -> bool:
        """Whether the model supports the script of this text."""
        return self.scripts == ALL_SCRIPTS or script_of(text) in self.scripts

    def scripts_read(self) -> str:
        """For people; for a model that does not read every script."""
        names = [name for script, name in SCRIPT_NAMES.items() if script in self.scripts]
        return f"{' and '.join(names)} scripts only"


class Lacking(NamedTuple):
    """Why an embedder cannot work, and what the user can do about it."""

    problem: str
    """May name a file of this machine."""
    action: str
    """In our own words: names no file."""

    def __str__(self) -> str:
        return f"{self.problem}; {self.action}"

    def public_text(self) -> str:
        """For remote readers."""
        return f"the embedder is not available; {self.action}"


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def facts(self) -> ModelFacts:
        """`dims` is 0 while the length of the vectors is unknown."""
        ...

    @property
    def texts_at_once(self) -> int:
        """How many texts a call should have: fewer waste time, and a kill loses at most these."""
        ...

    def missing(self) -> Lacking | None:
        """What it lacks to work; loads nothing and sends no request."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """One row for each text, in order; never a bad vector. Raises `EmbedderTrouble`."""
        ...


class Window(NamedTuple):
    """A part of a text: characters `start` up to, not including, `end`."""

    start: int
    end: int


class SplitText(NamedTuple):
    """The text of a chunk for an embedder, with its windows; `core.split_text` makes it."""

    text: str
    """As `core.embedding_text` gives it."""
    above: str
    """The headings at its beginning, which the text of a window begins with, too."""
    windows: tuple[Window, ...]
    """Parts of `text`, in order, behind the headings; none if one would be all of it."""

    def window_texts(self) -> list[str]:
        """Each window as a text of its own."""
        parts = (self.text[start:end] for start, end in self.windows)
        return [f"{self.above}\n\n{part}" if self.above else part for part in parts]


class WindowedVector(NamedTuple):
    """The vector of a chunk, and those of its windows."""

    vector: Vectors
    windows: bytes = b""
    """As `core.pack_windows` gives them; empty for a chunk without windows."""


@runtime_checkable
class MasksSecrets(Protocol):
    """An embedder that sends texts to another machine, without their secrets."""

    def outgoing(self, texts: Sequence[str]) -> list[str]:
        """The texts as they are sent."""
        ...


@runtime_checkable
class EmbedsWindows(Protocol):
    """An embedder that gives windows vectors of their own. Its `facts.window_share` is above 0.

    How it computes them is its own affair: each window as a text of its own, or all of them from
    the token states of one pass over the text, if its model was trained for that. Providers that
    are paid by the token, or slow, have no windows: they would get every text twice.
    """

    def embed_windows(self, texts: Sequence[SplitText]) -> list[WindowedVector]:
        """Like `embed` for documents, with as many windows as each text has."""
        ...


class Reranker(Protocol):
    """Scores a query and texts together: an optional second stage of a search."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, 0 to 1, in order."""
        ...


Keep: TypeAlias = "Callable[[Mapping[int, Vectors]], None]"
"""Receives rows by the number of their text; rows that it has stored are not paid for again."""


@runtime_checkable
class Gradual(Protocol):
    """An embedder that returns rows before a call ends. Each row is paid for, so a kill in the
    middle of a long call must not lose the finished ones."""

    def embed_gradually(self, texts: Sequence[str], keep: Keep) -> Vectors:
        """Like `embed` for documents; `keep` gets rows as they arrive, in the caller's thread."""
        ...


class Waiting(NamedTuple):
    """The progress of work at a provider: a batch job."""

    what: str
    done: int
    total: int

    def __str__(self) -> str:
        return f"{self.what}: {self.done} of {self.total} done"


@runtime_checkable
class ReportsWaiting(Protocol):
    """An embedder whose vectors may take hours, and which reports its progress."""

    def reporting(self, on_waiting: Callable[[Waiting], None]) -> AbstractContextManager[None]:
        """Inside the context, call `on_waiting` from any thread, one call at a time."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """An embedder that downloads its model before its first use. Its facts are complete only when
    the model is there, so an index run prepares it before it builds an index for it."""

    def prepare(self, progress: Callable[[int, int], None]) -> str | None:
        """Does nothing if the model is there. Raises `EmbedderTrouble`. `progress` gets the bytes
        that are there and their sum."""
        ...


@runtime_checkable
class Closes(Protocol):
    """An embedder that keeps connections or a process until it is closed."""

    def close(self) -> None: ...


class VectorCache(Protocol):
    """Vectors that are already paid for, by the digest of their text."""

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]: ...

    def windows(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        """What was put together with the vectors of these texts; texts without are left out."""
        ...

    def put(
        self, vectors: Mapping[str, Vectors], windows: Mapping[str, bytes] | None = None
    ) -> None:
        """`windows` are those of the same texts, as `WindowedVector` has them."""
        ...
