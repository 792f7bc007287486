"""What can be asked: Notewell in its modes, and the floor it has to beat.

hybrid    words and meaning, as `notewell search` does it
keyword   words alone
vector    as hybrid, but the order comes from the vectors alone
qmd       QMD in our place, as `memory.backend: qmd` does it
fts5      plain SQLite full-text search, nothing of ours (see `baseline`)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from notewell import ExtraPath, QmdSettings, Settings, load_settings, open_memory
from notewell.errors import BadRequest, NoteUnreadable
from notewell.evals.baseline import PlainFts5
from notewell.evals.measures import Found
from notewell.evals.runner import Reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell import Memory, Progress
    from notewell.evals.dataset import NotesFolder
    from notewell.evals.runner import System

SYSTEMS = ("hybrid", "keyword", "vector", "qmd", "fts5")
BACKENDS = {"builtin": "hybrid", "qmd": "qmd"}
"""Engines by their names in the settings."""


def open_system(name: str, state_dir: Path, **memory: Any) -> System:
    """The system of that name; `memory` are options of `open_memory`."""
    if name == "fts5":
        return PlainFts5()
    if name == "keyword":
        return Notewell(state_dir, "keyword", **memory)
    if name in ("hybrid", "vector"):
        weight = 1.0 if name == "vector" else None
        return Notewell(state_dir, "hybrid", vector_weight=weight, **memory)
    if name == "qmd":
        return Notewell(state_dir, "hybrid", qmd=True, **memory)
    raise BadRequest(f"no system is called {name!r}; known: {', '.join(SYSTEMS)}")


class Notewell:
    """The product itself, with the workspace's own settings unless others are given."""

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
        if folder.whole and not settings.notes.extra_paths:
            notes = replace(settings.notes, extra_paths=(ExtraPath("."),))
            settings = replace(settings, notes=notes)
        if self._vector_weight is not None:
            search = replace(settings.search, vector_weight=self._vector_weight)
            settings = replace(settings, search=search)
        if self._qmd:  # Alone: what a fallback answers would be counted as its own.
            qmd = settings.qmd or QmdSettings()
            settings = replace(settings, qmd=qmd, fallback_engine="none")
        else:
            settings = replace(settings, qmd=None)
        self._memory = open_memory(
            folder.path, state_dir=self._state_dir, settings=settings, **self._options
        )
        report = self._memory.sync(vectors=self.mode == "hybrid", progress=progress)
        # Without all notes and vectors we would measure something else than what was asked for.
        if report.trouble:
            raise report.trouble
        for note in report.unreadable:
            raise NoteUnreadable(note.path, note.why)

    def ask(self, question: str, max_results: int) -> Reply:
        if self._memory is None:
            raise RuntimeError("no workspace is open")
        try:
            answer = self._memory.search(question, max_results=max_results, mode=self.mode)
        except BadRequest as refusal:  # Public sets have empty questions: nothing was found.
            return Reply((), "refused", str(refusal))
        hits = [
            Found(hit.path, hit.span.start_line, hit.span.end_line, hit.chars, hit.score)
            for hit in answer.hits
        ]
        return Reply(hits, answer.mode, answer.notice, answer.degraded)

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
        self._memory = None
