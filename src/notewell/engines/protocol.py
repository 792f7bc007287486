"""What every engine does. Tools, servers and the command line know nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from notewell.errors import BadRequest
from notewell.search import check_question

if TYPE_CHECKING:
    from notewell.core import Fusion
    from notewell.engines.status import Status
    from notewell.sync import ProgressCallback, SyncReport
    from notewell.types import Answer, Notice


@dataclass(frozen=True, slots=True)
class Weighing:
    """How the built-in engine ranks the answer to one question; None is left to the settings.

    A user can try numbers here before writing them into a settings file."""

    vector_weight: float | None = None
    fusion: Fusion | None = None
    half_life_days: float | None = None
    """0: age does not matter."""
    mmr_lambda: float | None = None
    """1: similar hits are not pushed down."""

    def __post_init__(self) -> None:
        for name, value in (("vector weight", self.vector_weight), ("lambda", self.mmr_lambda)):
            # Written as a negation so that NaN, which compares false with everything, is refused
            # too.
            if value is not None and not 0 <= value <= 1:
                raise BadRequest(f"the {name} must be 0 to 1, not {value}")
        if self.half_life_days is not None and not 0 <= self.half_life_days < float("inf"):
            raise BadRequest(f"a half-life is a number of days, not {self.half_life_days}")


AS_SET = Weighing()
"""Everything as the settings say."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to an engine; None is left to the engine's settings."""

    text: str
    max_results: int | None = None
    min_score: float | None = None
    keyword_only: bool = False
    # A frozen value, so that all questions can share the default.
    weighing: Weighing = AS_SET
    """Only the built-in engine obeys it."""

    @classmethod
    def of(
        cls,
        text: str,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
    ) -> Question:
        """From the arguments of a caller; raises `BadRequest`."""
        # Checked at run time: tool calls bring whatever a model wrote, and no type checker saw it.
        if not isinstance(text, str):
            raise BadRequest(f"the question must be a text, not {type(text).__name__}")
        check_question(text)
        return cls(text, max_results, min_score, keyword_only=mode == "keyword")


class Engine(Protocol):
    """Raises `BackendFailed` if it could not do its work. An empty answer is not a failure: it
    says why it is empty. An interrupt by the caller is not a failure either."""

    @property
    def name(self) -> str: ...

    def sync_before_search(self, question: Question) -> Notice | None:
        """Take in what changed a moment ago, if that is quick. Returns a notice for the user if
        the answer may miss something."""
        ...

    def search(self, question: Question) -> Answer:
        """Hits, best first; `get` can read each of their paths. Reads only: what changed since
        the last sync is not part of the answer."""
        ...

    def get(self, path: str) -> str:
        """The text of a note, or of another file that a hit names, as it is on disk now."""
        ...

    def sync(
        self, *, force: bool = False, vectors: bool = True, progress: ProgressCallback
    ) -> SyncReport:
        """Take in all changes; `force` builds a new index."""
        ...

    def check(self) -> None:
        """Raises what a search would raise now."""
        ...

    def status(self) -> Status:
        """The state of the engine; only `check` finds out whether it answers. Never raises for a
        damaged index: the status is what reports the damage."""
        ...

    def close(self) -> None: ...


def search_fresh(engine: Engine, question: Question) -> Answer:
    """Sync first, then search; the answer carries the notice of the sync."""
    # Two calls in the protocol: a fallback syncs one engine and may have to search the other.
    notice = engine.sync_before_search(question)
    answer = engine.search(question)
    return answer.with_notice(notice) if notice else answer
