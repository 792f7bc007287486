"""The use case behind every question: CLI, MCP, HTTP and the framework adapters call `ask_memory`.

    search ──no hits, no index──▶ build the first index ──▶ search again ──▶ journal ──▶ AskResult

`Memory.search` picks up notes that were saved a moment ago, but it never builds an index: that can
take longer than a question should. Without an index, though, no question has an answer. So this
module indexes the words of the notes once, if there are not too many, and searches again. The
caller computes the vectors after it has answered: a server in the background, the command line
before it ends.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from notewell.errors import IndexBusy, IndexTrouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.engines import Status
    from notewell.memory import Memory
    from notewell.sync import Progress
    from notewell.types import Answer

FIRST_INDEX_NOTES = 2000
"""Reading their words takes some seconds; a user with more notes runs `notewell index` first."""
MISSING_NOTES = 32
"""How many notes an index may lack that another process created a moment ago."""
RECALLED_HITS = 3
"""Only the best hits of an answer count as recalled: the agent hardly used the others."""


class AskResult(NamedTuple):
    answer: Answer
    took_ms: float
    indexed_words: bool = False
    """Notes were indexed for this answer, by their words: their vectors should follow."""


def ask_memory(
    memory: Memory,
    question: str,
    *,
    max_results: int | None = None,
    min_score: float | None = None,
    mode: Literal["hybrid", "keyword"] = "hybrid",
    session_key: str | None = None,
    journal_as: str | None,
    progress: Callable[[Progress], None] | None = None,
) -> AskResult:
    """The answer to a question, from a first index if there is none yet.

    `journal_as` names the tool that an agent used; None is the owner at the command line, whose
    own questions are not recorded as recalls.
    """
    started = time.perf_counter()
    question = _valid(question)

    def search() -> Answer:
        return memory.search(
            question,
            max_results=max_results,
            min_score=min_score,
            mode=mode,
            session_key=session_key,
        )

    answer = search()
    # Only a search without hits pays for the status: with hits there is an index.
    indexed_words = not answer.hits and build_first_index(memory, progress)
    if indexed_words:
        answer = search()
    took_ms = (time.perf_counter() - started) * 1000
    if journal_as is not None:
        memory.journal.recalled([(hit.path, hit.span) for hit in answer.hits[:RECALLED_HITS]])
        memory.journal.answered(question, answer, tool=journal_as, took_ms=took_ms)
    return AskResult(answer, took_ms, indexed_words)


def build_first_index(memory: Memory, progress: Callable[[Progress], None] | None) -> bool:
    """Index the words of the notes if there is no index; whether another search is worthwhile."""
    status = memory.status()
    limit = FIRST_INDEX_NOTES if status.state == "missing" else MISSING_NOTES
    if status.state == "unreadable" or not 0 < status.dirty <= limit:
        return False
    try:
        # Words only: computing vectors takes minutes, and a question should not wait for them.
        memory.sync(vectors=False, progress=progress)
    except IndexTrouble:
        # Another process builds it, or nobody can: the first answer already says which.
        return False
    return True


class OutOfTime(Exception):
    """Raised by a progress callback: the caller cannot wait for the rest of a sync."""


def stop_after(within_s: float) -> Callable[[Progress], None]:
    """A progress callback that ends a sync with `OutOfTime`. An index keeps what is written by
    then; a first index that is not complete is not kept."""
    deadline = time.monotonic() + within_s

    def on_progress(_: Progress) -> None:
        if time.monotonic() >= deadline:
            raise OutOfTime

    return on_progress


def refresh_words(memory: Memory, *, within_s: float) -> str | None:
    """Index the words of the notes that changed, at the start of a session.

    Returns what is left for the user to do; None if nothing is. It never rebuilds an index: that
    takes longer, and it may be the settings of this process that are wrong.
    """
    settings = memory.settings
    # QMD has its own index and its own times for updating it.
    if not settings.sync.on_session_start or settings.qmd is not None:
        return None
    status = memory.status()
    if why := unsearchable(status):
        return why
    if not status.dirty or status.rebuild_needed:
        return None
    try:
        memory.sync(vectors=False, progress=stop_after(within_s))
    except OutOfTime:
        if status.state == "missing":
            return _not_indexed(status)
        return f"not all of {status.dirty} changed notes are indexed: run `notewell index`"
    except IndexBusy:
        return None  # Another process is indexing them.
    return None


def unsearchable(status: Status) -> str | None:
    """Why a search cannot find anything until the user acts; None if it can."""
    if status.state == "unreadable":
        return f"the index cannot be read: {status.problem}"
    if status.state == "missing" and status.dirty > FIRST_INDEX_NOTES:
        return _not_indexed(status)
    return None


def _not_indexed(status: Status) -> str:
    return f"{status.dirty} notes are not indexed yet: run `notewell index`"


def _valid(question: str) -> str:
    """JSON can spell half of a surrogate pair. No note contains one, so it is never meant."""
    return question.encode(errors="replace").decode()
