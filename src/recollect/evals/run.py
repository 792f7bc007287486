"""Ask every question of a set, through the front door, as any user would."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from recollect import Settings, open_memory
from recollect.evals.measures import MEASURES, Found, Interval, interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from recollect import Memory, Progress
    from recollect.evals.dataset import Dataset, Question

DEEP = 50
"""Hits to ask for where several of one note count once."""


class Asked(NamedTuple):
    """One question and what came back."""

    question: Question
    hits: tuple[Found, ...]
    mode: str
    ms: float

    def measured(self, measure: str, k: int) -> float:
        return MEASURES[measure](self.hits, self.question.evidence, k)


@dataclass(frozen=True, slots=True)
class Run:
    """A whole set, asked of one system."""

    dataset: str
    system: str
    asked: tuple[Asked, ...]
    unanswerable: int

    def measured(self, measure: str, k: int, category: str | None = None) -> Interval:
        return interval(
            [
                one.measured(measure, k)
                for one in self.asked
                if category is None or one.question.category == category
            ]
        )

    def categories(self) -> list[str]:
        return sorted({one.question.category for one in self.asked})


class System(Protocol):
    """Something that can be asked about one workspace."""

    def open(self, workspace: Path, progress: Callable[[Progress], None]) -> None: ...

    def ask(self, question: str, max_results: int) -> tuple[Sequence[Found], str]:
        """The hits and the mode they were found in."""
        ...

    def close(self) -> None: ...


class Recollect:
    """The product itself."""

    def __init__(
        self,
        state_dir: Path,
        mode: Literal["hybrid", "keyword"] = "hybrid",
        settings: Settings | None = None,
        **memory: Any,
    ) -> None:
        self._state_dir = state_dir
        self._mode: Literal["hybrid", "keyword"] = mode
        self._settings = settings
        self._options = memory
        self._memory: Memory | None = None

    def open(self, workspace: Path, progress: Callable[[Progress], None]) -> None:
        self._memory = open_memory(
            workspace, state_dir=self._state_dir, settings=self._settings, **self._options
        )
        report = self._memory.sync(vectors=self._mode == "hybrid", progress=progress)
        if report.trouble:
            raise report.trouble

    def ask(self, question: str, max_results: int) -> tuple[Sequence[Found], str]:
        if self._memory is None:
            raise RuntimeError("no workspace is open")
        answer = self._memory.search(question, max_results=max_results, mode=self._mode)
        hits = [
            Found(hit.path, hit.span.start_line, hit.span.end_line, hit.chars, hit.score)
            for hit in answer.hits
        ]
        return hits, answer.mode

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
        self._memory = None


def run(
    dataset: Dataset,
    name: str,
    system: System,
    k: int,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Run:
    asked: list[Asked] = []
    for workspace, questions in _by_workspace(dataset).items():
        system.open(dataset.workspaces[workspace], progress)
        try:
            asked += (_ask(system, question, dataset.by_note, k) for question in questions)
        finally:
            system.close()
    return Run(dataset.name, name, tuple(asked), dataset.unanswerable)


def _by_workspace(dataset: Dataset) -> Mapping[str, list[Question]]:
    grouped: dict[str, list[Question]] = {}
    for question in dataset.questions:
        grouped.setdefault(question.workspace, []).append(question)
    return grouped


def _ask(system: System, question: Question, by_note: bool, k: int) -> Asked:
    started = time.process_time()
    hits, mode = system.ask(question.text, max(DEEP, k) if by_note else k)
    ms = (time.process_time() - started) * 1000
    return Asked(question, tuple(_first_of_each(hits) if by_note else hits), mode, ms)


def _first_of_each(hits: Iterable[Found]) -> list[Found]:
    """The best hit of each note."""
    first: dict[str, Found] = {}
    for hit in hits:
        first.setdefault(hit.path, hit)
    return list(first.values())
