"""A run as a file: every question with its hits, so that any measure can be taken later."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from notewell import __version__
from notewell.errors import BadRequest, OutputFailed
from notewell.evals.dataset import Evidence, Place, Question
from notewell.evals.measures import Found
from notewell.evals.runner import Asked, Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RUN_VERSION = 1
"""Grows when an older Notewell could no longer read the file."""


def save_runs(path: Path, runs: Sequence[Run]) -> None:
    """Whole or not at all: a run that took an hour is not to be lost to a full disk."""
    beside = path.with_name(path.name + ".part")
    try:
        beside.write_text(as_json(runs), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise OutputFailed(f"{str(path)!r}: {error.strerror}") from error


def load_runs(path: Path) -> list[Run]:
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f"cannot read the run {str(path)!r}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest(
            f"{str(path)!r} holds no run that `notewell eval --out` wrote "
            f"({type(error).__name__}: {error})"
        ) from error


def as_json(runs: Sequence[Run]) -> str:
    told = {"version": RUN_VERSION, "notewell": __version__, "runs": [_run(run) for run in runs]}
    return json.dumps(told)


def from_json(text: str) -> list[Run]:
    told = json.loads(text)
    if told["version"] != RUN_VERSION:
        raise ValueError(f"version {told['version']!r}, this Notewell knows {RUN_VERSION}")
    return [_run_from(one) for one in told["runs"]]


def _run(run: Run) -> dict[str, Any]:
    return {
        "dataset": run.dataset,
        "digest": run.digest,
        "system": run.system,
        "mode": run.mode,
        "k": run.k,
        "unanswerable": run.unanswerable,
        "asked": [_asked(one) for one in run.asked],
    }


def _run_from(told: dict[str, Any]) -> Run:
    return Run(
        dataset=told["dataset"],
        digest=told["digest"],
        system=told["system"],
        mode=told["mode"],
        k=told["k"],
        asked=tuple(_asked_from(one) for one in told["asked"]),
        unanswerable=told["unanswerable"],
    )


def _asked(asked: Asked) -> dict[str, Any]:
    question = asked.question
    return {
        "id": question.id,
        "text": question.text,
        "category": question.category,
        "workspace": question.workspace,
        "evidence": [{"gain": one.gain, "places": one.places} for one in question.evidence],
        "mode": asked.mode,
        "notice": asked.notice,
        "degraded": asked.degraded,
        "ms": asked.ms,
        "hits": asked.hits,
    }


def _asked_from(told: dict[str, Any]) -> Asked:
    evidence = tuple(
        Evidence(tuple(Place(*place) for place in one["places"]), one["gain"])
        for one in told["evidence"]
    )
    return Asked(
        Question(told["id"], told["text"], told["category"], told["workspace"], evidence),
        tuple(Found(*hit) for hit in told["hits"]),
        told["mode"],
        told["notice"],
        told["degraded"],
        told["ms"],
    )
