"""What every engine does. Tools, servers and the command line know nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from notewell.errors import BadRequest

if TYPE_CHECKING:
    from notewell.core import Fusion
    from notewell.engines.status import Status
    from notewell.sync import ProgressCallback, SyncReport
    from notewell.types import Answer


@dataclass(frozen=True, slots=True)
class Weighing:
    """How our own engine is to weigh what it finds, for one question; None is left to the
    settings. Whoever tries numbers out sees what they do before they stand in a file."""

    vector_weight: float | None = None
    fusion: Fusion | None = None
    half_life_days: float | None = None
    """0: age does nothing."""
    mmr_lambda: float | None = None
    """1: hits may be as alike as they are."""

    def __post_init__(self) -> None:
        for name, value in (("vector weight", self.vector_weight), ("lambda", self.mmr_lambda)):
            if value is not None and not 0 <= value <= 1:
                raise BadRequest(f"the {name} must be 0 to 1, not {value}")
        if self.half_life_days is not None and not 0 <= self.half_life_days < float("inf"):
            raise BadRequest(f"a half-life is a number of days, not {self.half_life_days}")


AS_SET = Weighing()
"""Everything as the settings say."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. What is None is left to the engine's settings."""

    text: str
    max_results: int | None = None
    min_score: float | None = None
    keyword_only: bool = False
    weighing: Weighing = AS_SET
    """Only our own engine can be told how to weigh."""


class Backend(Protocol):
    """Raises `BackendFailed` where it could not do its work. An empty answer says why it is empty,
    and is no failure; nor is a caller who gives up."""

    @property
    def name(self) -> str: ...

    def search(self, question: Question) -> Answer:
        """Hits, best first; each of their paths can be read by `get`."""
        ...

    def get(self, path: str) -> str:
        """The text of a note or of anything else that a hit named, as it is on disk now."""
        ...

    def sync(
        self, *, force: bool = False, vectors: bool = True, progress: ProgressCallback
    ) -> SyncReport:
        """Take in what changed; `force` begins anew."""
        ...

    def check(self) -> None:
        """Raises what a search would raise now."""
        ...

    def status(self) -> Status:
        """How it is; whether it would answer is for `check` to find out. Raises nothing for a bad
        index: it is what tells you that the index is bad."""
        ...

    def close(self) -> None: ...
