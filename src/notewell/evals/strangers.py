"""Asks a memory what it cannot know: how many such questions get hits, and what refusing costs.

    own         the questions of a workspace
    strangers   questions of the other workspaces of all sets of the run
    words       words of these questions, mixed
    letters     random letters, as from a cat on the keyboard

Each question is asked twice: with the defaults, which tells whether it is answered; and for the
nearest chunks whatever their score, which tells how near they are and whether they have the
evidence. So one run gives the loss and the gain of every limit, not only of the current one.
A stranger's question can be near by chance: two conversations may be about pottery.
"""

from __future__ import annotations

import hashlib
import random
import string
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from notewell import Progress
from notewell.core import split_words
from notewell.evals.measures import any_at
from notewell.evals.runner import DEEP, best_of_each_note, check_k
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from notewell.evals.dataset import Dataset, EvalQuestion, NotesFolder
    from notewell.evals.runner import SystemAnswer

QuestionKind: TypeAlias = Literal["own", "strangers", "words", "letters"]
UNKNOWABLE: tuple[QuestionKind, ...] = ("strangers", "words", "letters")
"""The kinds that should get no hit."""
STRANGERS_PER_SET = 40
"""Of each set, for each workspace."""
NONSENSE = 20
"""Of each kind of nonsense, for each workspace."""
LOSSES = (0.0, 0.005, 0.01, 0.02, 0.05)
"""Shares of the questions with evidence that a limit may refuse."""


class NearestSystem(Protocol):
    """A search system that can return the nearest chunks, whatever their score."""

    @property
    def mode(self) -> str: ...

    def open(self, folder: NotesFolder, progress: Callable[[Progress], None]) -> None: ...

    def ask(
        self, question: str, max_results: int, min_score: float | None = None
    ) -> SystemAnswer: ...

    def close(self) -> None: ...


class NearnessResult(NamedTuple):
    """One question, and what the memory did with it."""

    kind: QuestionKind
    dataset: str
    """Where the question comes from; empty for nonsense."""
    text: str
    is_found: bool
    """Evidence is among the first k hits, if the nearest are shown whatever their score."""
    is_answered: bool
    """With the defaults there is a hit."""
    nearness: float
    mode: str
    degraded: bool


class CurvePoint(NamedTuple):
    """What one limit of the nearness would do."""

    loss: float
    """The share of questions with evidence found that it may refuse."""
    limit: float
    refused: dict[QuestionKind, float]


@dataclass(frozen=True, slots=True)
class StrangersRun:
    """The workspaces of one dataset, asked what they know and what they cannot know."""

    dataset: str
    system: str
    k: int
    results: tuple[NearnessResult, ...]

    def of(self, kind: QuestionKind, dataset: str | None = None) -> tuple[NearnessResult, ...]:
        return tuple(
            result
            for result in self.results
            if result.kind == kind and dataset in (None, result.dataset)
        )

    @property
    def found(self) -> tuple[NearnessResult, ...]:
        """The questions with evidence among the nearest: refusing one of them is a loss."""
        return tuple(result for result in self.of("own") if result.is_found)

    def sources(self) -> list[str]:
        """The sets that strangers' questions come from."""
        return sorted({result.dataset for result in self.of("strangers")})

    def curve(self) -> list[CurvePoint]:
        """Empty if no question has its evidence among the hits."""
        own = sorted(result.nearness for result in self.found)
        if not own:
            return []
        return [self._point(loss, own[int(loss * len(own))]) for loss in LOSSES]

    def _point(self, loss: float, limit: float) -> CurvePoint:
        refused = {
            kind: share_of(result.nearness < limit for result in self.of(kind))
            for kind in UNKNOWABLE
            if self.of(kind)
        }
        return CurvePoint(loss, limit, refused)


def refused_share(results: Iterable[NearnessResult]) -> float:
    """The share that got no hit with the defaults."""
    return share_of(not result.is_answered for result in results)


def share_of(values: Iterable[bool]) -> float:
    counted = list(values)
    return sum(counted) / len(counted) if counted else 0.0


def run_strangers(
    dataset: Dataset,
    others: Sequence[Dataset],
    name: str,
    system: NearestSystem,
    k: int,
    progress: Callable[[Progress], None] = lambda _: None,
) -> StrangersRun:
    """`others` are the sets that strangers' questions come from; it may contain `dataset`."""
    check_k(k)
    results: list[NearnessResult] = []
    workspaces = sorted({question.workspace for question in dataset.questions})
    for number, workspace in enumerate(workspaces, start=1):
        system.open(dataset.workspaces[workspace], progress)
        try:
            results += [
                _asked(system, question, k, by_note=dataset.by_note)
                for question in _questions(dataset, workspace, others)
            ]
        finally:
            system.close()
        label = f"workspaces of {dataset.name}, {name}"
        progress(Progress(number, len(workspaces), label))
    return StrangersRun(dataset.name, name, k, tuple(results))


# -- which questions a workspace is asked --------------------------------------------------------


class _Asked(NamedTuple):
    kind: QuestionKind
    dataset: str
    text: str
    question: EvalQuestion | None = None
    """With its evidence, for one of the workspace's own."""


def _questions(dataset: Dataset, workspace: str, others: Sequence[Dataset]) -> list[_Asked]:
    own = [question for question in dataset.questions if question.workspace == workspace]
    known = {question.text for question in own}
    strangers = [
        _Asked("strangers", other.name, question.text)
        for other in others
        for question in _strangers(dataset, workspace, other, known)
    ]
    return [
        *(_Asked("own", dataset.name, question.text, question) for question in own),
        *strangers,
        *_nonsense(f"{dataset.name}/{workspace}", [one.text for one in strangers]),
    ]


def _strangers(
    dataset: Dataset, workspace: str, other: Dataset, known: set[str]
) -> list[EvalQuestion]:
    """A sample of its questions, another one for each workspace and the same in every run."""

    def place(question: EvalQuestion) -> bytes:
        key = f"{dataset.name}/{workspace}/{question.id}"
        return hashlib.sha256(key.encode(errors="surrogatepass")).digest()

    is_same = other is dataset
    # Some sets ask the same question in several workspaces.
    foreign = [
        question
        for question in other.questions
        if not (is_same and question.workspace == workspace) and question.text not in known
    ]
    return sorted(foreign, key=place)[:STRANGERS_PER_SET]


def _nonsense(seed: str, strangers: Sequence[str]) -> list[_Asked]:
    # Seeded by name: the same in every run.
    rng = random.Random(seed)  # noqa: S311 - no secret depends on it
    words = [
        text[word.start : word.end]
        for text in strangers
        for word in split_words(text)
        if not word.single
    ]
    mixed = [" ".join(rng.choices(words, k=rng.randint(3, 8))) for _ in range(NONSENSE) if words]
    letters = [" ".join(_letters(rng) for _ in range(rng.randint(1, 5))) for _ in range(NONSENSE)]
    return [
        *(_Asked("words", "", text) for text in mixed),
        *(_Asked("letters", "", text) for text in letters),
    ]


def _letters(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 9)))


# -- asking --------------------------------------------------------------------------------------


def _asked(system: NearestSystem, asked: _Asked, k: int, *, by_note: bool) -> NearnessResult:
    answer = system.ask(asked.text, k)
    nearest = system.ask(asked.text, max(DEEP, k) if by_note else k, 0.0)
    hits = best_of_each_note(nearest.hits) if by_note else nearest.hits
    evidence = asked.question.evidence if asked.question else ()
    return NearnessResult(
        asked.kind,
        asked.dataset,
        asked.text,
        bool(any_at(hits, evidence, k)),
        bool(answer.hits),
        # No chunk was compared: nothing is farther.
        nearest.nearness or 0.0,
        answer.mode,
        answer.degraded,
    )
