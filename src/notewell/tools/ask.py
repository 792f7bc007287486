"""The use case behind every question: CLI, MCP, HTTP and the framework adapters call `ask_memory`.

    search ──▶ journal ──▶ AskResult

`Memory.search` builds a first index of words, if there is none. The caller computes the vectors
after it has answered: a server in the background, the command line before it ends.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from notewell.errors import IndexBusy
from notewell.records import NamedTuple
from notewell.sync import SyncInterrupted

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.core import Filters
    from notewell.memory import Memory
    from notewell.sync import Progress
    from notewell.types import Answer

RECALLED_HITS = 3
"""Only the best hits of an answer count as recalled: the agent hardly used the others."""


class AskResult(NamedTuple):
    answer: Answer
    took_ms: float


def ask_memory(
    memory: Memory,
    question: str,
    *,
    max_results: int | None = None,
    min_score: float | None = None,
    mode: Literal["hybrid", "keyword"] = "hybrid",
    folder: str | None = None,
    filters: Filters | None = None,
    plain: bool = False,
    session_key: str | None = None,
    running_session: str | None = None,
    journal_as: str | None,
    asked_by: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> AskResult:
    """The answer to a question, and how long it took.

    `journal_as` names the tool that an agent used; None is the owner at the command line, whose
    own questions are not recorded as recalls. `asked_by` is the id of the token of a service.
    The other arguments are those of `Memory.search`.
    """
    started = time.perf_counter()
    question = _valid(question)
    answer = memory.search(
        question,
        max_results=max_results,
        min_score=min_score,
        mode=mode,
        folder=folder,
        filters=filters,
        plain=plain,
        session_key=session_key,
        running_session=running_session,
        progress=progress,
    )
    took_ms = (time.perf_counter() - started) * 1000
    if journal_as is not None:
        memory.journal.recalled([(hit.path, hit.span) for hit in answer.hits[:RECALLED_HITS]])
        memory.journal.answered(
            f"{filters} {question}".strip() if filters else question,
            answer,
            tool=journal_as,
            took_ms=took_ms,
            asked_by=asked_by,
        )
    return AskResult(answer, took_ms)


class OutOfTime(SyncInterrupted):
    """The caller cannot wait for the rest of a sync."""


def stop_after(within_s: float) -> Callable[[Progress], None]:
    """A progress callback that ends a sync with `OutOfTime`."""
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
    from notewell.engines import not_indexed, unsearchable

    settings = memory.settings
    # QMD has its own index and its own times for updating it.
    if not settings.sync.on_session_start or settings.qmd is not None:
        return None
    status = memory.status()
    if status.state == "unreadable":
        return unsearchable(status)
    if not status.dirty or status.rebuild_needed:
        return None
    try:
        memory.sync(vectors=False, progress=stop_after(within_s))
    except OutOfTime:
        left = memory.status().dirty
        return not_indexed(left) if left else None
    except IndexBusy:
        return None  # Another process is indexing them.
    return None


def _valid(question: str) -> str:
    """JSON can spell half of a surrogate pair. No note contains one, so it is never meant."""
    return question.encode(errors="replace").decode()
