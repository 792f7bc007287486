"""Replays as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.evals.replay import STAGES
from notewell.evals.report import SHARE_CHARS, share_text, short_number
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.evals.replay import ReplayResult, ReplayRun

MEASURES = ("any", "all")
_SHOWN = ("found", "seen")
"""The stages with an interval."""


def replay_title(run: ReplayRun) -> str:
    count = run.unanswerable
    without = f", {count} more without evidence were not asked" if count else ""
    messages = counted(run.messages, "message")
    return f"{run.dataset}: {len(run.results)} questions about {messages}{without}"


def replay_table(runs: Sequence[ReplayRun], *, by_category: bool) -> Iterator[str]:
    """A row for each form, and below it one for each category."""
    labels = [run.form for run in runs]
    if by_category:
        labels += [f"  {category}" for run in runs for category in run.categories()]
    width = max(map(len, labels), default=0)
    k = runs[0].k
    names = (f"any@{k}", f"all@{k}", "any seen", "all seen")
    cells = "".join(f"  {name:<{SHARE_CHARS}}" for name in names)
    yield f"{'':{width}} {'n':>5}  {'on disk':<9}{cells}  {'chars':>6}  {'cpu ms':>6}"
    for run in runs:
        yield _row(run, None, width)
        if by_category:
            yield from (_row(run, category, width) for category in run.categories())


def _row(run: ReplayRun, category: str | None, width: int) -> str:
    label = run.form if category is None else f"  {category}"
    kept = " ".join(
        short_number(run.measured("disk", measure, category).mean) for measure in MEASURES
    )
    cells = "".join(
        f"  {share_text(run.measured(stage, measure, category)):<{SHARE_CHARS}}"
        for stage in _SHOWN
        for measure in MEASURES
    )
    chars, ms = run.mean_chars(category), run.median_ms(category)
    return f"{label:{width}} {len(run.of(category)):5}  {kept}{cells}  {chars:6.0f}  {ms:6.1f}"


def replay_json(run: ReplayRun, *, by_category: bool) -> dict[str, Any]:
    payload = {
        "dataset": run.dataset,
        "digest": run.digest,
        "form": run.form,
        "k": run.k,
        "sessions": run.sessions,
        "messages": run.messages,
        "unanswerable": run.unanswerable,
        "degraded": run.is_degraded,
        **_measures_json(run, None),
        # With every question, so that two runs can be compared pair by pair.
        "asked": [_result_json(result) for result in run.results],
    }
    if by_category:
        payload["categories"] = {
            category: _measures_json(run, category) for category in run.categories()
        }
    return payload


def _measures_json(run: ReplayRun, category: str | None) -> dict[str, Any]:
    return {
        "questions": len(run.of(category)),
        "measures": {
            stage: {
                measure: run.measured(stage, measure, category)._asdict() for measure in MEASURES
            }
            for stage in STAGES
        },
        "chars": run.mean_chars(category),
        "cpuMs": run.median_ms(category),
    }


def _result_json(result: ReplayResult) -> dict[str, Any]:
    return {
        "id": result.question.id,
        "conversation": result.conversation,
        "text": result.question.text,
        "category": result.question.category,
        **{stage: getattr(result, stage) for stage in STAGES},
        "chars": result.chars,
    }
