"""What can be set for searches, and what one search is asked with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from notewell.core import FUSIONS, Fusion
from notewell.errors import BadRequest
from notewell.limits import CANDIDATES, MAX_QUERY_CHARS, MAX_RESULTS, SNIPPET_CHARS
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from notewell.core import Filters

LEAST_CANDIDATES = 96
"""At least this many chunks a leg are looked at: a hit is made of several, and FTS5's own order is
only nearly ours."""

RERANK_BUDGET_S = 0.5

FILTER_NAMES = ("tag:", "path:", "after:", "before:")
"""A text with none of these has no filters: `core.filters` is not loaded for it."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How searches are ranked and how much they return, unless a question says otherwise."""

    max_results: int = 6
    min_score: float | None = None
    """None leaves it to `ranking.default_threshold`; a number is obeyed."""
    hybrid: bool = True
    """False: vectors alone find and rank, and the threshold holds for every hit."""
    fusion: Fusion = "weighted"
    vector_weight: float | None = None
    """The vector leg's share; None takes what was measured for the model."""
    candidate_multiplier: int = 4
    mmr_lambda: float | None = None
    """How much relevance counts against similarity to other hits; None leaves the order alone."""
    half_life_days: float | None = 30.0
    """The age at which a dated note has lost half of what age can take; None ignores age."""
    cached_questions: int = 256
    """The vectors of so many questions are kept in memory; 0 keeps none."""
    keyword_only: bool = False
    """Search words alone; no vectors are computed, neither for notes nor for questions."""

    # Checked in the value itself, because settings files, tools and Python callers all make one.
    # The negated comparisons refuse NaN too.
    def __post_init__(self) -> None:
        if not 1 <= self.max_results <= MAX_RESULTS:
            raise BadRequest(f"max results must be 1 to {MAX_RESULTS}, not {self.max_results}")
        if self.min_score is not None and not 0 <= self.min_score <= 1:
            raise BadRequest(f"the minimum score must be 0 to 1, not {self.min_score}")
        if self.fusion not in FUSIONS:
            known = ", ".join(FUSIONS)
            raise BadRequest(f"no fusion is called {self.fusion!r}; known: {known}")


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
    hides_private: bool = False
    """The answer must not quote what is for private conversations (`core.is_private_path`)."""
    folder: str | None = None
    """Conversations in this folder alone; see `narrowing`."""
    running_session: str | None = None
    """The conversation that asks, by the name of its transcript (`sessions.session_stem`): it is
    left out, since its host has it already."""
    filters: Filters | None = None
    """What narrows the search; None: nothing. With filters, the text may be empty."""

    @classmethod
    def of(
        cls,
        text: str,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Literal["hybrid", "keyword"] = "hybrid",
        folder: str | None = None,
        *,
        filters: Filters | None = None,
        plain: bool = False,
    ) -> Question:
        """From the arguments of a caller; raises `BadRequest`. `filters` are added to those that
        are typed in the text; in a `plain` text there are none."""
        # Checked at run time: tool calls bring whatever a model wrote, and no type checker saw it.
        if not isinstance(text, str):
            raise BadRequest(f"the question must be a text, not {type(text).__name__}")
        if not plain and ":" in text and any(name in text for name in FILTER_NAMES):
            from notewell.core import both, split_question  # Few questions have filters.

            text, typed = split_question(text)
            filters = both(typed, filters) if filters else typed
        if not filters:
            check_question(text)
        else:
            check_length(text)
            text = text if text.strip() else ""
        if folder is not None:
            from notewell.search.narrowing import folder_named  # Few questions name a folder.

            folder = folder_named(folder)
        return cls(
            text,
            max_results,
            min_score,
            keyword_only=mode == "keyword",
            folder=folder,
            filters=filters or None,
        )


def check_question(question: str) -> None:
    if not question.strip():
        raise BadRequest("the question is empty: say what to look for")
    check_length(question)


def check_length(question: str) -> None:
    if len(question) > MAX_QUERY_CHARS:
        raise BadRequest(
            f"a question has at most {MAX_QUERY_CHARS} characters, not {len(question)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions(SearchSettings):
    """What one search uses: the settings, changed by the question, and the day."""

    today: date
    """The day on which the question is asked."""
    rerank_budget_s: float = RERANK_BUDGET_S
    """A reranker that takes longer is ignored: the first order stands."""
    snippet_chars: int = SNIPPET_CHARS
    sources: tuple[str, ...] = ("memory",)
    hides_private: bool = False
    """MEMORY.md is left out; the engine has left transcripts out of the `sources`."""
    folder: str | None = None
    """Conversations in this folder alone."""
    running_session: str | None = None
    """A conversation that is left out."""
    filters: Filters | None = None
    """Tags, paths and days; None: everything is searched."""
    quotas: Mapping[str, int] | None = None
    """At most so many hits of a source while others have some; None: half for sessions."""

    @property
    def is_narrowed(self) -> bool:
        """Whether some chunks must not be found; see `narrowing`."""
        return (
            self.hides_private
            or self.running_session is not None
            or self.folder is not None
            or self.filters is not None
        )

    @property
    def chunks_shown(self) -> int:
        return self.max_results * self.candidate_multiplier

    @property
    def candidates(self) -> int:
        return min(CANDIDATES, max(LEAST_CANDIDATES, self.chunks_shown))

    def quota(self, source: str) -> int:
        if self.quotas is not None:
            return self.quotas.get(source, self.max_results)
        # Without a quota, long transcripts would crowd the notes out of the answer.
        return (self.max_results + 1) // 2 if source == "sessions" else self.max_results
