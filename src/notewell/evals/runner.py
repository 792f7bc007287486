"""Asks every question of a dataset through the public API, and saves and loads such runs.

A saved run has every question with its hits, so that any measure can be computed later.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from notewell import Progress, __version__
from notewell.errors import BadRequest, OutputFailed
from notewell.evals.dataset import EvalQuestion, Evidence, EvidenceLines
from notewell.evals.measures import MEASURES, SEEN, EvalHit, Interval, interval
from notewell.evals.seen import BUDGETS, EvidenceReader, pieces_seen
from notewell.files import replace_file
from notewell.limits import MAX_RESULTS
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from notewell.evals.dataset import Dataset, NotesFolder

Saved = TypeVar("Saved")

NOT_SEEN: Mapping[int, tuple[bool, ...]] = MappingProxyType({})
DEEP = 50
"""How many hits to request where several hits of one note count once."""
RUN_VERSION = 1
"""Incremented when an older Notewell can no longer read the file."""


class SystemAnswer(NamedTuple):
    """The hits and the mode they were found in."""

    hits: Sequence[EvalHit]
    mode: str
    notice: str | None = None
    """Why the mode is not the requested one."""
    degraded: bool = False
    nearness: float | None = None
    """Of the nearest chunk; None if the system does not say it."""


class System(Protocol):
    """A search system; it has one workspace open at a time."""

    @property
    def mode(self) -> str:
        """The requested mode."""
        ...

    def open(self, folder: NotesFolder, progress: Callable[[Progress], None]) -> None: ...

    def ask(self, question: str, max_results: int) -> SystemAnswer: ...

    def read(self, question: str, budgets: Sequence[int]) -> Sequence[str]:
        """For each budget in characters, what a model that asks gets to read."""
        ...

    def close(self) -> None: ...


class QuestionResult(NamedTuple):
    """One question and its answer."""

    question: EvalQuestion
    hits: tuple[EvalHit, ...]
    mode: str
    notice: str | None
    degraded: bool
    ms: float
    seen: Mapping[int, tuple[bool, ...]] = NOT_SEEN
    """For each budget, whether a model reads each piece of evidence; empty if not measured."""

    def measured(self, measure: str, k: int) -> float:
        if measure in SEEN:
            # A question that is not measured is equal in both runs of a comparison.
            return SEEN[measure](self.seen[k]) if self.seen else 0.0
        return MEASURES[measure](self.hits, self.question.evidence, k)


@dataclass(frozen=True, slots=True)
class EvalRun:
    """All questions of a dataset, asked of one system."""

    dataset: str
    digest: str
    """Of the questions and their evidence."""
    system: str
    mode: str
    """The requested mode."""
    k: int
    """How many hits of each question are saved."""
    results: tuple[QuestionResult, ...]
    unanswerable: int

    def of(self, category: str | None) -> tuple[QuestionResult, ...]:
        """The results of one category; None means all."""
        return tuple(
            result for result in self.results if category in (None, result.question.category)
        )

    def measured(self, measure: str, k: int, category: str | None = None) -> Interval:
        return interval([result.measured(measure, k) for result in self.of(category)])

    def seen(self, measure: str, budget: int, category: str | None = None) -> Interval:
        return interval([one.measured(measure, budget) for one in self.readable(category)])

    def readable(self, category: str | None = None) -> tuple[QuestionResult, ...]:
        """The results whose evidence has a text that was looked for."""
        return tuple(result for result in self.of(category) if result.seen)

    def mean_chars(self, k: int, category: str | None = None) -> float:
        return statistics.fmean(result.measured("chars", k) for result in self.of(category))

    def median_ms(self, category: str | None = None) -> float:
        return statistics.median(result.ms for result in self.of(category))

    def categories(self) -> list[str]:
        return sorted({result.question.category for result in self.results} - {""})

    @property
    def without_hits(self) -> int:
        return sum(not result.hits for result in self.results)

    def modes(self) -> Counter[str]:
        return Counter(result.mode for result in self.results)


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
) -> EvalRun:
    # Before the first index is built, which takes minutes.
    check_k(k)
    results: list[QuestionResult] = []
    for workspace, questions in _by_workspace(dataset).items():
        folder = dataset.workspaces[workspace]
        system.open(folder, progress)
        reader = EvidenceReader(folder.path)
        # One workspace after the other: a thousand open indexes would exhaust descriptors.
        try:
            for question in questions:
                result = _ask(system, question, k, by_note=dataset.by_note)
                results.append(result._replace(seen=_seen(system, question, reader)))
                label = f"questions of {dataset.name}, {name}"
                progress(Progress(len(results), len(dataset.questions), label))
        finally:
            system.close()
    return EvalRun(
        dataset=dataset.name,
        digest=dataset.digest,
        system=name,
        mode=system.mode,
        k=k,
        results=tuple(results),
        unanswerable=dataset.unanswerable,
    )


def _by_workspace(dataset: Dataset) -> Mapping[str, list[EvalQuestion]]:
    grouped: dict[str, list[EvalQuestion]] = {}
    for question in dataset.questions:
        grouped.setdefault(question.workspace, []).append(question)
    return grouped


def _ask(system: System, question: EvalQuestion, k: int, *, by_note: bool) -> QuestionResult:
    # CPU time: other processes of a shared machine do not count.
    started = time.process_time()
    # Several hits of one note count once, so more are requested than are kept.
    answer = system.ask(question.text, max(DEEP, k) if by_note else k)
    ms = (time.process_time() - started) * 1000
    hits = best_of_each_note(answer.hits) if by_note else answer.hits
    return QuestionResult(
        question, tuple(hits[:k]), answer.mode, answer.notice, answer.degraded, ms
    )


def _seen(
    system: System, question: EvalQuestion, reader: EvidenceReader
) -> Mapping[int, tuple[bool, ...]]:
    pieces = reader.texts(question)
    if not pieces:
        return NOT_SEEN
    texts = system.read(question.text, BUDGETS)
    return {budget: pieces_seen(text, pieces) for budget, text in zip(BUDGETS, texts, strict=True)}


def best_of_each_note(hits: Iterable[EvalHit]) -> list[EvalHit]:
    first: dict[str, EvalHit] = {}
    for hit in hits:
        # Hits are sorted, so the first of a note is its best.
        first.setdefault(hit.path, hit)
    return list(first.values())


# -- saved runs ----------------------------------------------------------------------------------


def save_runs(path: Path, runs: Sequence[EvalRun]) -> None:
    save_file(path, as_json(runs))


def save_file(path: Path, text: str) -> None:
    # The CLI saves after each dataset. A replaced file keeps the previous results if the disk is
    # full. Readable for others, as every file that a user asks for.
    try:
        replace_file(path, text.encode(), durable=True, mode=0o644)
    except OSError as error:
        raise OutputFailed(f"{str(path)!r}: {error.strerror}") from error


def load_runs(path: Path) -> list[EvalRun]:
    return load_file(path, from_json)


def load_file(path: Path, read: Callable[[str], list[Saved]]) -> list[Saved]:
    try:
        return read(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f"cannot read the run {str(path)!r}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:  # Any JSON may be in the file.
        raise BadRequest(
            f"{str(path)!r} is not a run that `notewell eval --out` wrote "
            f"({type(error).__name__}: {error})"
        ) from error


def as_json(runs: Sequence[EvalRun]) -> str:
    return file_text({"runs": [_run_json(run) for run in runs]})


def file_text(content: dict[str, Any]) -> str:
    return json.dumps({"version": RUN_VERSION, "notewell": __version__, **content})


def from_json(text: str) -> list[EvalRun]:
    return [_run_from(run) for run in file_content(text)["runs"]]


def file_content(text: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(text)
    version = payload["version"]
    # Refused, not guessed: a wrong reading would give wrong figures without an error.
    if version != RUN_VERSION:
        raise ValueError(f"version {version!r}, this Notewell knows {RUN_VERSION}")
    return payload


def _run_json(run: EvalRun) -> dict[str, Any]:
    return {
        "dataset": run.dataset,
        "digest": run.digest,
        "system": run.system,
        "mode": run.mode,
        "k": run.k,
        "unanswerable": run.unanswerable,
        # The keys keep their first spelling, so that older files stay readable.
        "asked": [_result_json(result) for result in run.results],
    }


def _run_from(payload: dict[str, Any]) -> EvalRun:
    return EvalRun(
        dataset=payload["dataset"],
        digest=payload["digest"],
        system=payload["system"],
        mode=payload["mode"],
        k=payload["k"],
        results=tuple(_result_from(result) for result in payload["asked"]),
        unanswerable=payload["unanswerable"],
    )


def _result_json(result: QuestionResult) -> dict[str, Any]:
    question = result.question
    return {
        "id": question.id,
        "text": question.text,
        "category": question.category,
        "workspace": question.workspace,
        "evidence": [{"gain": piece.gain, "places": piece.places} for piece in question.evidence],
        "mode": result.mode,
        "notice": result.notice,
        "degraded": result.degraded,
        "ms": result.ms,
        "hits": result.hits,
        "seen": dict(result.seen),
    }


def _result_from(payload: dict[str, Any]) -> QuestionResult:
    evidence = tuple(
        Evidence(tuple(EvidenceLines(*lines) for lines in piece["places"]), piece["gain"])
        for piece in payload["evidence"]
    )
    return QuestionResult(
        EvalQuestion(
            payload["id"], payload["text"], payload["category"], payload["workspace"], evidence
        ),
        tuple(EvalHit(*hit) for hit in payload["hits"]),
        payload["mode"],
        payload["notice"],
        payload["degraded"],
        payload["ms"],
        # Runs of earlier versions do not have it. The keys of a JSON object are texts.
        {int(budget): tuple(seen) for budget, seen in payload.get("seen", {}).items()},
    )
