"""Compares two runs question by question, and shows runs and comparisons as text and as JSON.

A mean over a few hundred questions varies by chance. Two runs over the same questions vary
together, so the confidence interval is computed for the differences, not for the two means.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from notewell.errors import BadRequest
from notewell.evals.measures import SEEN, SHARES, Interval, interval
from notewell.evals.seen import BUDGETS
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.evals.runner import EvalRun, QuestionResult

ALMOST_ONE = 0.9995
"""From here on a share is shown as 1 with three digits."""
SHARE_CHARS = len(".914 [.896 .930]")


class ComparedQuestion(Protocol):
    """What a comparison shows of a question."""

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...


class MeasuredSide(NamedTuple):
    """What one of two runs measured, question by question."""

    name: str
    """Of the system, or the form of a replay."""
    digest: str
    values: Sequence[tuple[ComparedQuestion, float]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `new` wins and loses against `old`, question by question."""

    dataset: str
    old: str
    new: str
    measure: str
    k: int
    gain: Interval
    won: tuple[tuple[ComparedQuestion, float], ...]
    lost: tuple[tuple[ComparedQuestion, float], ...]
    equal: int
    only_in_one: int
    """Questions that are in one of the two runs only."""
    same_questions: bool
    """Whether questions and evidence are the same in both."""
    stage: str = ""
    """What a replay measured: `found` or `seen`."""

    @property
    def column(self) -> str:
        """As the table names it: only hits are counted up to a k."""
        found = self.stage in ("", "found")
        return f"{self.measure}@{self.k}" if found else f"{self.measure} {self.stage}"

    @property
    def may_be_chance(self) -> bool:
        return bool(self.won or self.lost) and self.gain.low <= 0 <= self.gain.high


def compare(old: EvalRun, new: EvalRun, measure: str, k: int) -> Comparison:
    """`k` is the number of hits; what is seen is compared within the larger budget."""
    if measure in SEEN:
        k = BUDGETS[0]
    for run in (old, new):
        _check_known(run, measure, k)
    before, after = (
        MeasuredSide(
            run.system,
            run.digest,
            [
                (result.question, result.measured(measure, k))
                for result in _measurable(run, measure)
            ],
        )
        for run in (old, new)
    )
    return compare_sides(before, after, ComparedMeasure(new.dataset, measure, k))


class ComparedMeasure(NamedTuple):
    """By what two runs are compared."""

    dataset: str
    measure: str
    k: int
    stage: str = ""


def compare_sides(old: MeasuredSide, new: MeasuredSide, measure: ComparedMeasure) -> Comparison:
    # Paired by question: the difference of two means would hide what was won and lost.
    before = {question.id: value for question, value in old.values}
    changes = [
        (question, value - before[question.id])
        for question, value in new.values
        if question.id in before
    ]
    won = tuple(change for change in changes if change[1] > 0)
    lost = tuple(change for change in changes if change[1] < 0)
    return Comparison(
        **measure._asdict(),
        old=old.name,
        new=new.name,
        gain=interval([gain for _, gain in changes]),
        won=won,
        lost=lost,
        equal=len(changes) - len(won) - len(lost),
        only_in_one=len(old.values) + len(new.values) - 2 * len(changes),
        same_questions=old.digest == new.digest,
    )


def _check_known(run: EvalRun, measure: str, k: int) -> None:
    if measure in SEEN:
        if not run.readable():
            raise BadRequest(
                f"{run.system} on {run.dataset} does not have what a model reads: run it again"
            )
    elif k > run.k:
        raise BadRequest(
            f"{run.system} on {run.dataset} was run with --k {run.k}, so more hits are "
            f"not known: choose a smaller --k, or run it again"
        )


def _measurable(run: EvalRun, measure: str) -> tuple[QuestionResult, ...]:
    return run.readable() if measure in SEEN else run.results


def pairs(
    old: Sequence[EvalRun], new: Sequence[EvalRun], systems: Sequence[str] | None = None
) -> list[tuple[EvalRun, EvalRun]]:
    """The runs of two files that can be compared: the same dataset and the same system.

    `systems` selects others: one name for both files, or one for each. If a dataset has no system
    in both files, the last ones of each file are compared.
    """
    matched: list[tuple[EvalRun, EvalRun]] = []
    # A dict keeps the order of the file, which a set would not.
    for dataset in dict.fromkeys(run.dataset for run in new):
        before = {run.system: run for run in old if run.dataset == dataset}
        after = {run.system: run for run in new if run.dataset == dataset}
        if systems:
            wanted = [(systems[0], systems[-1])]
        else:
            wanted = [(name, name) for name in after if name in before]
            # `zip` of two slices: empty if one of the files lacks the dataset.
            wanted = wanted or list(zip(list(before)[-1:], list(after)[-1:], strict=False))
        matched += [(before[a], after[b]) for a, b in wanted if a in before and b in after]
    if not matched:
        raise BadRequest(
            f"nothing to compare: one file has {_names(old)}, the other {_names(new)}"
        )
    return matched


def _names(runs: Sequence[EvalRun]) -> str:
    return ", ".join(f"{run.dataset} ({run.system})" for run in runs) or "no runs"


# -- as text -------------------------------------------------------------------------------------


def run_table(runs: Sequence[EvalRun], k: int, *, by_category: bool) -> Iterator[str]:
    """The runs of one dataset: a row for each system, and below it one for each category."""
    width = _label_chars(runs, by_category=by_category)
    shares = "".join(f"  {f'{share}@{k}':<{SHARE_CHARS}}" for share in SHARES)
    yield f"{'':{width}} {'n':>5}{shares}  {'chars':>6}  {'cpu ms':>6}"
    for run in runs:
        yield _row(run, None, k, width)
        if by_category:
            yield from (_row(run, category, k, width) for category in run.categories())


def seen_table(runs: Sequence[EvalRun], *, by_category: bool) -> Iterator[str]:
    """The share of questions whose evidence a model reads; nothing if it has no text."""
    runs = [run for run in runs if run.readable()]
    if not runs:
        return
    width = _label_chars(runs, by_category=by_category)
    names = [f"{measure}@{budget}" for budget in BUDGETS for measure in SEEN]
    yield f"{'':{width}} {'n':>5}" + "".join(f"  {name:<{SHARE_CHARS}}" for name in names)
    for run in runs:
        yield _seen_row(run, None, width)
        if by_category:
            yield from (_seen_row(run, category, width) for category in run.categories())


def _seen_row(run: EvalRun, category: str | None, width: int) -> str:
    label = run.system if category is None else f"  {category}"
    shares = "".join(
        f"  {share_text(run.seen(measure, budget, category)):<{SHARE_CHARS}}"
        for budget in BUDGETS
        for measure in SEEN
    )
    return f"{label:{width}} {len(run.readable(category)):5}{shares}".rstrip()


def _label_chars(runs: Sequence[EvalRun], *, by_category: bool) -> int:
    labels = [run.system for run in runs]
    if by_category:
        labels += [f"  {category}" for run in runs for category in run.categories()]
    return max(map(len, labels), default=0)


def _row(run: EvalRun, category: str | None, k: int, width: int) -> str:
    label = run.system if category is None else f"  {category}"
    shares = "".join(
        f"  {share_text(run.measured(share, k, category)):<{SHARE_CHARS}}" for share in SHARES
    )
    chars, ms = run.mean_chars(k, category), run.median_ms(category)
    return f"{label:{width}} {len(run.of(category)):5}{shares}  {chars:6.0f}  {ms:6.1f}"


def share_text(value: Interval) -> str:
    return f"{short_number(value.mean)} [{short_number(value.low)} {short_number(value.high)}]"


def short_number(number: float, sign: str = "") -> str:
    """Four characters and an optional sign: `.914`, `1.00`, `+.012`."""
    shown = f"{round(number, 3) + 0.0:{sign}.3f}"  # + 0.0 turns -0.0 into 0.0.
    return shown.replace("0.", ".", 1) if abs(number) < ALMOST_ONE else shown[:-1]


def run_title(run: EvalRun) -> str:
    count = run.unanswerable
    without = f", {count} more without evidence were not asked" if count else ""
    return f"{run.dataset}: {len(run.results)} questions{without}"


def run_warnings(run: EvalRun) -> Iterator[str]:
    """Answers in another mode than requested, with the reason; answers without a hit."""
    other = Counter(
        (result.mode, result.notice) for result in run.results if result.mode != run.mode
    )
    for (mode, notice), count in sorted(other.items(), key=lambda item: -item[1]):
        how = "refused" if mode == "refused" else f"answered in mode {mode!r}, not {run.mode!r}"
        why = f": {notice}" if notice else ""
        yield f"{run.system}: {count} of {len(run.results)} questions were {how}{why}"
    if run.without_hits:
        yield f"{run.system}: {run.without_hits} of {len(run.results)} questions got no hit at all"


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    gain = comparison.gain
    bounds = f"[{short_number(gain.low, '+')} {short_number(gain.high, '+')}]"
    yield (
        f"{comparison.new} against {comparison.old}, {comparison.column}: "
        f"{short_number(gain.mean, '+')} {bounds}; {len(comparison.won)} won, "
        f"{len(comparison.lost)} lost, {comparison.equal} equal"
        + (" (may be chance)" if comparison.may_be_chance else "")
    )
    # Different sets of questions imply different digests, so only one of the two is reported.
    if comparison.only_in_one:
        yield f"{comparison.only_in_one} questions are in one of the two runs only and are ignored"
    elif not comparison.same_questions:
        yield "the evidence of some questions is different in the two runs"


def change_lines(comparison: Comparison) -> Iterator[str]:
    """The questions that improved and those that got worse, the largest change first."""
    for name, changed in (("won", comparison.won), ("lost", comparison.lost)):
        yield f"{name}: {len(changed)}"
        for question, gain in sorted(changed, key=lambda change: -abs(change[1])):
            yield f"  {short_number(gain, '+')}  {question.id}  {question.text}"


# -- as JSON -------------------------------------------------------------------------------------


def run_json(run: EvalRun, k: int, *, by_category: bool) -> dict[str, Any]:
    payload = {
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
        payload["categories"] = {
            category: _measures_json(run, category, k) for category in run.categories()
        }
    return payload


def _measures_json(run: EvalRun, category: str | None, k: int) -> dict[str, Any]:
    return {
        "questions": len(run.of(category)),
        "measures": {share: run.measured(share, k, category)._asdict() for share in SHARES},
        "seen": _seen_json(run, category),
        "chars": run.mean_chars(k, category),
        "cpuMs": run.median_ms(category),
    }


def _seen_json(run: EvalRun, category: str | None) -> dict[str, Any] | None:
    """None if no evidence has a text that was looked for."""
    readable = run.readable(category)
    if not readable:
        return None
    return {
        "questions": len(readable),
        **{
            f"{measure}@{budget}": run.seen(measure, budget, category)._asdict()
            for budget in BUDGETS
            for measure in SEEN
        },
    }


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "dataset": comparison.dataset,
        "old": comparison.old,
        "new": comparison.new,
        "measure": comparison.measure,
        "k": comparison.k,
        **({"stage": comparison.stage} if comparison.stage else {}),
        "gain": comparison.gain._asdict(),
        "equal": comparison.equal,
        "onlyInOne": comparison.only_in_one,
        "sameQuestions": comparison.same_questions,
        **{
            name: [
                {"id": question.id, "text": question.text, "gain": gain}
                for question, gain in changed
            ]
            for name, changed in (("won", comparison.won), ("lost", comparison.lost))
        },
    }
