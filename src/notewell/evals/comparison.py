"""Two runs over the same questions, question by question.

A mean over a few hundred questions moves by chance; the same questions asked twice move together,
so the interval is drawn around the differences, not around the two means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.errors import BadRequest
from notewell.evals.measures import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.evals.dataset import Question
    from notewell.evals.runner import Run


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `new` wins and loses against `old`."""

    dataset: str
    old: str
    new: str
    measure: str
    k: int
    gain: Interval
    won: tuple[tuple[Question, float], ...]
    lost: tuple[tuple[Question, float], ...]
    equal: int
    only_in_one: int
    """Questions that only one of the two was asked."""
    same_questions: bool
    """Whether questions and evidence are the same in both."""

    @property
    def may_be_chance(self) -> bool:
        return bool(self.won or self.lost) and self.gain.low <= 0 <= self.gain.high


def compare(old: Run, new: Run, measure: str, k: int) -> Comparison:
    for one in (old, new):
        if k > one.k:
            raise BadRequest(
                f"{one.system} on {one.dataset} was run with --k {one.k}, so its hits beyond "
                f"that are not known: choose a smaller --k, or run it again"
            )
    before = {asked.question.id: asked for asked in old.asked}
    both = [asked for asked in new.asked if asked.question.id in before]
    changes = [
        (
            asked.question,
            asked.measured(measure, k) - before[asked.question.id].measured(measure, k),
        )
        for asked in both
    ]
    won = tuple(change for change in changes if change[1] > 0)
    lost = tuple(change for change in changes if change[1] < 0)
    return Comparison(
        dataset=new.dataset,
        old=old.system,
        new=new.system,
        measure=measure,
        k=k,
        gain=interval([gain for _, gain in changes]),
        won=won,
        lost=lost,
        equal=len(changes) - len(won) - len(lost),
        only_in_one=len(old.asked) + len(new.asked) - 2 * len(both),
        same_questions=old.digest == new.digest,
    )


def pairs(
    old: Sequence[Run], new: Sequence[Run], systems: Sequence[str] | None = None
) -> list[tuple[Run, Run]]:
    """Which runs of two files belong together: the same set, and the same system.

    `systems` picks others: one name for both files, or one for each. Where a set has no system in
    both files, the last of each are compared.
    """
    found: list[tuple[Run, Run]] = []
    for dataset in dict.fromkeys(run.dataset for run in new):
        before = {run.system: run for run in old if run.dataset == dataset}
        after = {run.system: run for run in new if run.dataset == dataset}
        if systems:
            wanted = [(systems[0], systems[-1])]
        else:
            wanted = [(name, name) for name in after if name in before]
            wanted = wanted or list(zip(list(before)[-1:], list(after)[-1:], strict=False))
        found += [(before[a], after[b]) for a, b in wanted if a in before and b in after]
    if not found:
        raise BadRequest(
            f"nothing to compare: one file has {_listed(old)}, the other {_listed(new)}"
        )
    return found


def _listed(runs: Sequence[Run]) -> str:
    return ", ".join(f"{run.dataset} ({run.system})" for run in runs) or "no runs"
