"""The systems that can be evaluated: Notewell in its modes, and the baseline it has to beat.

hybrid    keyword and vector search, as `notewell search` does it
keyword   keyword search only
vector    as hybrid, but ranked by the vectors only
qmd       QMD as the engine, as with `memory.backend: qmd`
fts5      plain SQLite full-text search (see `baseline`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from notewell import ExtraPath, QmdSettings, Settings, load_settings, open_memory
from notewell.errors import BadRequest, NoteUnreadable
from notewell.evals.baseline import PlainFts5
from notewell.evals.measures import EvalHit
from notewell.evals.runner import SystemAnswer
from notewell.records import replace
from notewell.tools import CallContext, SearchOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from notewell import Memory, Progress
    from notewell.evals.dataset import NotesFolder
    from notewell.evals.runner import System

SYSTEMS = ("hybrid", "keyword", "vector", "qmd", "fts5")
BACKENDS = {"builtin": "hybrid", "qmd": "qmd"}
"""Systems by the names of their engines in the settings."""


def open_system(name: str, state_dir: Path, **memory: Any) -> System:
    """The system of that name; `memory` are options of `open_memory`."""
    if name == "fts5":
        return PlainFts5()
    if name == "keyword":
        return NotewellSystem(state_dir, "keyword", **memory)
    if name in ("hybrid", "vector"):
        weight = 1.0 if name == "vector" else None
        return NotewellSystem(state_dir, "hybrid", vector_weight=weight, **memory)
    if name == "qmd":
        return NotewellSystem(state_dir, "hybrid", qmd=True, **memory)
    raise BadRequest(f"no system is called {name!r}; known: {', '.join(SYSTEMS)}")


class NotewellSystem:
    """Notewell, with the settings of the workspace unless others are given."""

    def __init__(
        self,
        state_dir: Path,
        mode: Literal["hybrid", "keyword"] = "hybrid",
        settings: Settings | None = None,
        vector_weight: float | None = None,
        qmd: bool = False,
        **memory: Any,
    ) -> None:
        self.mode: Literal["hybrid", "keyword"] = mode
        self._state_dir = state_dir
        self._settings = settings
        self._vector_weight = vector_weight
        self._qmd = qmd
        self._options = memory
        self._memory: Memory | None = None

    def open(self, folder: NotesFolder, progress: Callable[[Progress], None]) -> None:
        settings = self._settings or load_settings(folder.path)
        # The dataset has evidence outside memory/, and its own settings do not include it.
        if folder.whole and not settings.notes.extra_paths:
            notes = replace(settings.notes, extra_paths=(ExtraPath("."),))
            settings = replace(settings, notes=notes)
        if self._vector_weight is not None:
            search = replace(settings.search, vector_weight=self._vector_weight)
            settings = replace(settings, search=search)
        if self._qmd:
            # Without a fallback: its answers would be counted as QMD's.
            qmd = settings.qmd or QmdSettings()
            settings = replace(settings, qmd=qmd, fallback_engine="none")
        else:
            # The workspace may use QMD; the other systems measure the builtin engine.
            settings = replace(settings, qmd=None)
        self._memory = open_memory(
            folder.path, state_dir=self._state_dir, settings=settings, **self._options
        )
        # A keyword run needs no vectors, which take most of the time.
        report = self._memory.sync(vectors=self.mode == "hybrid", progress=progress)
        # With missing notes or vectors the measures would describe another system.
        if report.trouble:
            raise report.trouble
        for note in report.unreadable:
            raise NoteUnreadable(note.path, note.why)

    def ask(self, question: str, max_results: int, min_score: float | None = None) -> SystemAnswer:
        if self._memory is None:
            raise RuntimeError("no workspace is open")
        try:
            answer = self._memory.search(
                question, max_results=max_results, min_score=min_score, mode=self.mode, plain=True
            )
        except BadRequest as refusal:
            # Public datasets have empty questions, which we refuse: they count as no hits.
            return SystemAnswer((), "refused", str(refusal))
        near = answer.nearness
        hits = [
            EvalHit(hit.path, hit.span.start_line, hit.span.end_line, hit.chars, hit.score)
            for hit in answer.hits
        ]
        return SystemAnswer(
            hits,
            answer.mode,
            answer.notice,
            answer.degraded,
            nearness=near.value if near else None,
        )

    def read(self, question: str, budgets: Sequence[int]) -> list[str]:
        """As the tool `memory_search` returns it."""
        if self._memory is None:
            raise RuntimeError("no workspace is open")
        try:
            answer = self._memory.search(question, mode=self.mode, plain=True)
        except BadRequest:
            return ["" for _ in budgets]
        contexts = (CallContext(inject_chars=budget) for budget in budgets)
        return [SearchOutput.of(answer, context, None).to_text() for context in contexts]

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
        self._memory = None
