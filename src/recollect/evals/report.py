"""Runs as tables and JSON, and two of them side by side."""

from __future__ import annotations

import json
import random
import statistics
from typing import TYPE_CHECKING, Any

from recollect.evals.dataset import Evidence, Question
from recollect.evals.measures import BOOTSTRAPS, SEED, Found, Interval
from recollect.evals.run import Asked, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RUN_VERSION = 1
SHARES = ("any", "all", "ndcg", "mrr")


def table(runs: Sequence[Run], k: int, *, by_category: bool) -> Iterator[str]:
    header = f"{'set':20} {'system':22} {'n':>5}"
    yield (
        header + "".join(f"  {f'{name}@{k}':>19}" for name in SHARES) + f"  {'chars':>6} {'ms':>6}"
    )
    for run in runs:
        yield _row(run, None, k)
        if by_category:
            yield from (_row(run, category, k) for category in run.categories() if category)


def _row(run: Run, category: str | None, k: int) -> str:
    asked = [one for one in run.asked if category in (None, one.question.category)]
    name = f"  {category}" if category else run.dataset
    shares = "".join(f"  {_shown(run.measured(share, k, category)):>19}" for share in SHARES)
    chars = run.measured("chars", k, category).mean
    ms = statistics.median(one.ms for one in asked) if asked else 0.0
    return f"{name:20} {run.system:22} {len(asked):5}{shares}  {chars:6.0f} {ms:6.1f}"


def _shown(value: Interval) -> str:
    return f"{value.mean:.3f} [{value.low:.3f} {value.high:.3f}]"


def compare(one: Run, other: Run, measure: str, k: int) -> Iterator[str]:
    """Which questions `other` wins and loses against `one`, and if that is more than chance."""
    before = {asked.question.id: asked for asked in one.asked}
    both = (asked for asked in other.asked if asked.question.id in before)
    pairs = [(before[asked.question.id], asked) for asked in both]
    gains = [new.measured(measure, k) - old.measured(measure, k) for old, new in pairs]
    shown = paired_interval(gains)
    yield f"{one.dataset}: {other.system} against {one.system}, {measure}@{k}: {_signed(shown)}"
    for title, sign in (("won", 1), ("lost", -1)):
        changed = [
            (new.question, gain)
            for (_, new), gain in zip(pairs, gains, strict=True)
            if gain * sign > 0
        ]
        yield f"{title}: {len(changed)}"
        yield from (f"  {gain:+.2f}  {question.id}  {question.text}" for question, gain in changed)


def paired_interval(gains: Sequence[float]) -> Interval:
    choice = random.Random(SEED)  # noqa: S311 - repeatable on purpose
    if not gains:
        return Interval(0.0, 0.0, 0.0)
    means = sorted(
        sum(choice.choices(gains, k=len(gains))) / len(gains) for _ in range(BOOTSTRAPS)
    )
    return Interval(
        sum(gains) / len(gains), means[int(BOOTSTRAPS * 0.025)], means[int(BOOTSTRAPS * 0.975)]
    )


def _signed(value: Interval) -> str:
    return f"{value.mean:+.3f} [{value.low:+.3f} {value.high:+.3f}]"


def as_json(runs: Sequence[Run], k: int) -> str:
    return json.dumps(
        {"version": RUN_VERSION, "k": k, "runs": [_run_json(run, k) for run in runs]}
    )


def _run_json(run: Run, k: int) -> dict[str, Any]:
    return {
        "dataset": run.dataset,
        "system": run.system,
        "unanswerable": run.unanswerable,
        "measures": {share: run.measured(share, k)._asdict() for share in (*SHARES, "chars")},
        "asked": [
            {
                "id": one.question.id,
                "text": one.question.text,
                "category": one.question.category,
                "workspace": one.question.workspace,
                "evidence": [list(piece) for piece in one.question.evidence],
                "mode": one.mode,
                "ms": round(one.ms, 3),
                "hits": [list(hit) for hit in one.hits],
            }
            for one in run.asked
        ],
    }


def from_json(text: str) -> list[Run]:
    return [
        Run(
            told["dataset"],
            told["system"],
            tuple(
                Asked(
                    Question(
                        one["id"],
                        one["text"],
                        one["category"],
                        one["workspace"],
                        tuple(Evidence(*piece) for piece in one["evidence"]),
                    ),
                    tuple(Found(*hit) for hit in one["hits"]),
                    one["mode"],
                    one["ms"],
                )
                for one in told["asked"]
            ),
            told["unanswerable"],
        )
        for told in json.loads(text)["runs"]
    ]
