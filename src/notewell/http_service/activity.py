"""What the service does for a memory now, and what can be found meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.doctor import SYNC, Finding
from notewell.sync import CATCH_UP_NOTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.memory import Memory

VECTORS = "vectors"
"""The label of the last part of a sync. The words are indexed by then."""
SAME_CAUSE = frozenset({"index", "lease", "orphans"})
"""What the doctor finds about an index that is being written: it is not there, or behind; this
process holds the lease; and files lie beside it."""


class Activity(NamedTuple):
    """A sync that runs in this process."""

    what: str
    """What is counted: `notes`, `sessions`, `vectors`, or a part of a model."""
    done: int
    total: int
    """0 until the notes are listed."""

    @property
    def text(self) -> str:
        what = "the notes are listed" if not self.total else f"{self.what} are indexed"
        if self.what == VECTORS:
            what = "vectors are computed"
        return f"{what}: {self.done} of {self.total} so far" if self.total else what


def activity_of(memory: Memory) -> Activity | None:
    progress = memory.indexer.progress
    if progress is None:
        return None
    return Activity(progress.label, progress.completed, progress.total)


def misses_notes(memory: Memory) -> bool:
    """Whether words of notes are being indexed that no search finds yet. A few that have just
    changed do not count: a search indexes them itself."""
    activity = activity_of(memory)
    if activity is None or activity.what == VECTORS:
        return False
    return activity.total > CATCH_UP_NOTES or memory.inspect.counts() is None


def one_truth(findings: Iterable[Finding], activity: Activity | None) -> list[Finding]:
    """While an index is written, one finding says so, in place of three that seem to disagree."""
    if activity is None:
        return list(findings)
    # What a sync does not repair stays.
    others = [
        finding
        for finding in findings
        if finding.what not in SAME_CAUSE or finding.todo not in (None, SYNC)
    ]
    return [*others, Finding.public("index", activity.text)]
