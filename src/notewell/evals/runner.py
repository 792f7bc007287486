"""Ask every question of a set, through the front door, as any user would."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from notewell import Progress
from notewell.errors import BadRequest
from notewell.evals.measures import MEASURES, Found, Interval, interval
from notewell.limits import MAX_RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from notewell.evals.dataset import Dataset, NotesFolder, Question

DEEP = 50
"""Hits to ask for where several of one note count once."""


class Reply(NamedTuple):
    """The hits and how they were found."""

    hits: Sequence[Found]
    mode: str
    notice: str | None = None
    """Why the mode is not the one asked for."""
    degraded: bool = False


class System(Protocol):
    """Something that can be asked about one workspace."""

    @property
    def mode(self) -> str:
        """The mode it is to answer in."""
        ...

    def open(self, folder: NotesFolder, progress: Callable[[Progress], None]) -> None: ...

    def ask(self, question: str, max_results: int) -> Reply: ...

    def close(self) -> None: ...


class Asked(NamedTuple):
    """One question and what came back."""

    question: Question
    hits: tuple[Found, ...]
    mode: str
    notice: str | None
    degraded: bool
    ms: float

    def measured(self, measure: str, k: int) -> float:
        return MEASURES[measure](self.hits, self.question.evidence, k)


@dataclass(frozen=True, slots=True)
class Run:
    """A whole set, asked of one system."""

    dataset: str
    digest: str
    """That of the questions and their evidence."""
    system: str
    mode: str
    """The mode the system was to answer in."""
    k: int
    """How many hits of each question are kept."""
    asked: tuple[Asked, ...]
    unanswerable: int

    def of(self, category: str | None) -> tuple[Asked, ...]:
        """The questions of one category, or with None all of them."""
        return tuple(one for one in self.asked if category in (None, one.question.category))

    def measured(self, measure: str, k: int, category: str | None = None) -> Interval:
        return interval([one.measured(measure, k) for one in self.of(category)])

    def mean_chars(self, k: int, category: str | None = None) -> float:
        return statistics.fmean(one.measured("chars", k) for one in self.of(category))

    def median_ms(self, category: str | None = None) -> float:
        return statistics.median(one.ms for one in self.of(category))

    def categories(self) -> list[str]:
        return sorted({one.question.category for one in self.asked} - {""})

    @property
    def without_hits(self) -> int:
        return sum(not one.hits for one in self.asked)

    def modes(self) -> Counter[str]:
        return Counter(one.mode for one in self.asked)


def check_k(k: int) -> int:
    if not 1 <= k <= MAX_RESULTS:
        raise BadRequest(f"k must be 1 to {MAX_RESULTS}, not {k}")
    return k


def run(
    dataset: Dataset,
    name: str,
    system: System,
    k: int,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Run:
    check_k(k)
    asked: list[Asked] = []
    for workspace, questions in _by_workspace(dataset).items():
        system.open(dataset.workspaces[workspace], progress)
        try:
            for question in questions:
                asked.append(_ask(system, question, k, by_note=dataset.by_note))
                label = f"questions of {dataset.name}, {name}"
                progress(Progress(len(asked), len(dataset.questions), label))
        finally:
            system.close()
    return Run(
        dataset=dataset.name,
        digest=dataset.digest,
        system=name,
        mode=system.mode,
        k=k,
        asked=tuple(asked),
        unanswerable=dataset.unanswerable,
    )


def _by_workspace(dataset: Dataset) -> Mapping[str, list[Question]]:
    grouped: dict[str, list[Question]] = {}
    for question in dataset.questions:
        grouped.setdefault(question.workspace, []).append(question)
    return grouped


def _ask(system: System, question: Question, k: int, *, by_note: bool) -> Asked:
    started = time.process_time()
    reply = system.ask(question.text, max(DEEP, k) if by_note else k)
    ms = (time.process_time() - started) * 1000
    hits = _first_of_each(reply.hits) if by_note else reply.hits
    return Asked(question, tuple(hits[:k]), reply.mode, reply.notice, reply.degraded, ms)


def _first_of_each(hits: Iterable[Found]) -> list[Found]:
    """The best hit of each note."""
    first: dict[str, Found] = {}
    for hit in hits:
        first.setdefault(hit.path, hit)
    return list(first.values())
