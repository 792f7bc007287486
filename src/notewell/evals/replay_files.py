"""Replays that are saved, loaded and compared question by question.

A saved replay has, for each part of every answer, whether it was on disk, found and seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.errors import BadRequest
from notewell.evals.conversations import ReplayQuestion
from notewell.evals.replay import STAGES, ReplayResult, ReplayRun
from notewell.evals.report import ComparedMeasure, MeasuredSide, compare_sides
from notewell.evals.runner import file_content, file_text, load_file, save_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.evals.report import Comparison

COMPARED = tuple(stage for stage in STAGES if stage != "disk")
"""What was kept does not depend on the search."""
REPLAY_MEASURES = ("any", "all")


def save_replays(path: Path, runs: Sequence[ReplayRun]) -> None:
    save_file(path, file_text({"replays": [_run_json(run) for run in runs]}))


def load_replays(path: Path) -> list[ReplayRun]:
    """Empty if the file has runs without a replay."""
    return load_file(path, _replays_from)


def _replays_from(text: str) -> list[ReplayRun]:
    return [_run_from(run) for run in file_content(text).get("replays", ())]


def _run_json(run: ReplayRun) -> dict[str, Any]:
    return {
        "dataset": run.dataset,
        "digest": run.digest,
        "form": run.form,
        "k": run.k,
        "sessions": run.sessions,
        "messages": run.messages,
        "unanswerable": run.unanswerable,
        "asked": [_result_json(result) for result in run.results],
    }


def _run_from(payload: dict[str, Any]) -> ReplayRun:
    facts = {name: value for name, value in payload.items() if name != "asked"}
    return ReplayRun(**facts, results=tuple(_result_from(one) for one in payload["asked"]))


def _result_json(result: ReplayResult) -> dict[str, Any]:
    question = result.question
    return {
        "id": question.id,
        "text": question.text,
        "category": question.category,
        "conversation": result.conversation,
        **{stage: getattr(result, stage) for stage in STAGES},
        "chars": result.chars,
        "ms": result.ms,
        "degraded": result.is_degraded,
    }


def _result_from(payload: dict[str, Any]) -> ReplayResult:
    # A comparison needs what became of the messages, not their texts.
    question = ReplayQuestion(payload["id"], payload["text"], payload["category"], pieces=())
    return ReplayResult(
        question=question,
        conversation=payload["conversation"],
        chars=payload["chars"],
        ms=payload["ms"],
        is_degraded=payload["degraded"],
        **{stage: tuple(payload[stage]) for stage in STAGES},
    )


# -- comparing -----------------------------------------------------------------------------------


def compare_replays(
    old: Sequence[ReplayRun], new: Sequence[ReplayRun], measures: Sequence[str]
) -> list[Comparison]:
    """One comparison for each set, form, stage and measure that both files have."""
    before = {(run.dataset, run.form): run for run in old}
    both = [(before[key], run) for run in new if (key := (run.dataset, run.form)) in before]
    if not both:
        raise BadRequest(
            f"nothing to compare: one file has {_names(old)}, the other {_names(new)}"
        )
    return [
        _compare(first, second, stage, measure)
        for first, second in both
        for stage in COMPARED
        for measure in measures
    ]


def _names(runs: Sequence[ReplayRun]) -> str:
    return ", ".join(f"{run.dataset} ({run.form})" for run in runs) or "no replays"


def _compare(old: ReplayRun, new: ReplayRun, stage: str, measure: str) -> Comparison:
    if old.k != new.k:
        raise BadRequest(
            f"{new.dataset} was replayed with --k {old.k} and with --k {new.k}: "
            f"replay one of them again with the other --k"
        )
    before, after = (
        MeasuredSide(
            run.form,
            run.digest,
            [(result.question, result.has(stage, measure)) for result in run.results],
        )
        for run in (old, new)
    )
    return compare_sides(before, after, ComparedMeasure(new.dataset, measure, new.k, stage))
