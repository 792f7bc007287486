"""Runs and comparisons as lines to read and as JSON to build on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from notewell.evals.measures import SHARES, Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.evals.comparison import Comparison
    from notewell.evals.runner import Run

ALMOST_ONE = 0.9995
"""From here on three digits show a 1."""
_CELL = len(".914 [.896 .930]")


def table(runs: Sequence[Run], k: int, *, by_category: bool) -> Iterator[str]:
    """The runs over one set: a row a system, below it one for each category if asked for."""
    labels = [run.system for run in runs]
    if by_category:
        labels += [f"  {category}" for run in runs for category in run.categories()]
    width = max(map(len, labels), default=0)
    shares = "".join(f"  {f'{share}@{k}':<{_CELL}}" for share in SHARES)
    yield f"{'':{width}} {'n':>5}{shares}  {'chars':>6}  {'cpu ms':>6}"
    for run in runs:
        yield _row(run, None, k, width)
        if by_category:
            yield from (_row(run, category, k, width) for category in run.categories())


def _row(run: Run, category: str | None, k: int, width: int) -> str:
    label = run.system if category is None else f"  {category}"
    shares = "".join(f"  {_share(run.measured(one, k, category)):<{_CELL}}" for one in SHARES)
    chars, ms = run.mean_chars(k, category), run.median_ms(category)
    return f"{label:{width}} {len(run.of(category)):5}{shares}  {chars:6.0f}  {ms:6.1f}"


def _share(value: Interval) -> str:
    return f"{_short(value.mean)} [{_short(value.low)} {_short(value.high)}]"


def _short(number: float, sign: str = "") -> str:
    """Four characters and the sign, if one is wanted: `.914`, `1.00`, `+.012`."""
    shown = f"{round(number, 3) + 0.0:{sign}.3f}"  # + 0.0 turns -0.0 into 0.0.
    return shown.replace("0.", ".", 1) if abs(number) < ALMOST_ONE else shown[:-1]


def title(run: Run) -> str:
    left = run.unanswerable
    without = f", {left} more without evidence were not asked" if left else ""
    return f"{run.dataset}: {len(run.asked)} questions{without}"


def surprises(run: Run) -> Iterator[str]:
    """Answers in another mode than the one asked for, and why; answers without a hit."""
    odd = Counter((one.mode, one.notice) for one in run.asked if one.mode != run.mode)
    for (mode, notice), count in sorted(odd.items(), key=lambda item: -item[1]):
        how = "refused" if mode == "refused" else f"answered in mode {mode!r}, not {run.mode!r}"
        why = f": {notice}" if notice else ""
        yield f"{run.system}: {count} of {len(run.asked)} questions were {how}{why}"
    if run.without_hits:
        yield f"{run.system}: {run.without_hits} of {len(run.asked)} questions got no hit at all"


def compared(comparison: Comparison) -> Iterator[str]:
    gain = comparison.gain
    interval = f"[{_short(gain.low, '+')} {_short(gain.high, '+')}]"
    yield (
        f"{comparison.new} against {comparison.old}, {comparison.measure}@{comparison.k}: "
        f"{_short(gain.mean, '+')} {interval}; {len(comparison.won)} won, "
        f"{len(comparison.lost)} lost, {comparison.equal} equal"
        + (" (may be chance)" if comparison.may_be_chance else "")
    )
    if comparison.only_in_one:
        yield f"{comparison.only_in_one} questions are in one of the two only and left out"
    elif not comparison.same_questions:
        yield "the evidence of some questions is not the same in both"


def changes(comparison: Comparison) -> Iterator[str]:
    """The questions that went better and those that went worse, the largest change first."""
    for name, changed in (("won", comparison.won), ("lost", comparison.lost)):
        yield f"{name}: {len(changed)}"
        for question, gain in sorted(changed, key=lambda change: -abs(change[1])):
            yield f"  {_short(gain, '+')}  {question.id}  {question.text}"


# -- as JSON -------------------------------------------------------------------------------------


def run_json(run: Run, k: int, *, by_category: bool) -> dict[str, Any]:
    told = {
        "dataset": run.dataset,
        "digest": run.digest,
        "system": run.system,
        "k": k,
        "unanswerable": run.unanswerable,
        "modes": dict(run.modes()),
        "withoutHits": run.without_hits,
        **_measures_json(run, None, k),
    }
    if by_category:
        told["categories"] = {
            category: _measures_json(run, category, k) for category in run.categories()
        }
    return told


def _measures_json(run: Run, category: str | None, k: int) -> dict[str, Any]:
    return {
        "questions": len(run.of(category)),
        "measures": {share: run.measured(share, k, category)._asdict() for share in SHARES},
        "chars": run.mean_chars(k, category),
        "cpuMs": run.median_ms(category),
    }


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "dataset": comparison.dataset,
        "old": comparison.old,
        "new": comparison.new,
        "measure": comparison.measure,
        "k": comparison.k,
        "gain": comparison.gain._asdict(),
        "equal": comparison.equal,
        "onlyInOne": comparison.only_in_one,
        "sameQuestions": comparison.same_questions,
        **{
            name: [{"id": one.id, "text": one.text, "gain": gain} for one, gain in changed]
            for name, changed in (("won", comparison.won), ("lost", comparison.lost))
        },
    }
