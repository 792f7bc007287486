"""When QMD is to update its index and to compute vectors. Decided here, done elsewhere.

    update   at the start, then every interval; after a change as soon as the debounce allows
    embed    every embed interval, in the modes that ask by meaning
    failed   not again for 60 s, 120 s, … up to an hour, each counted for itself

No clock is read: the moments are arguments, in seconds that only go forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from notewell.qmd.failures import QmdFailed
    from notewell.qmd.settings import QmdSettings

Job: TypeAlias = Literal["update", "embed"]

FIRST_PAUSE_S, LONGEST_PAUSE_S = 60.0, 3600.0
BOOT_TRIES = 3
FIRST_BOOT_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class Runs:
    """What is known of one job."""

    last: float | None = None
    """When it last ended, well or not; None before the first time."""
    failures: int = 0
    """In a row, up to now."""

    def ended(self, now: float, *, well: bool) -> Runs:
        return Runs(now, 0 if well else self.failures + 1)


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of an index."""

    began: float
    update: Runs = Runs()
    embed: Runs = Runs()
    is_dirty: bool = False
    """Whether something has changed that the last update cannot have seen."""


class Next(NamedTuple):
    """What to do next, and at which moment; a moment that has passed means now."""

    job: Job
    at: float


def next_job(kept: Kept, settings: QmdSettings) -> Next | None:
    """The earliest of what is due; None where nothing ever is."""
    moments: dict[Job, float | None] = {
        "update": _update_at(kept, settings),
        "embed": _embed_at(kept, settings),
    }
    due = [Next(job, at) for job, at in moments.items() if at is not None]
    return min(due, key=lambda one: one.at, default=None)


def _update_at(kept: Kept, settings: QmdSettings) -> float | None:
    runs = kept.update
    if runs.failures and runs.last is not None:
        return runs.last + pause_after(runs.failures)
    if runs.last is None:
        if settings.update_on_boot:
            return kept.began
        wait_s = settings.debounce_s if kept.is_dirty else settings.interval_s
        return kept.began + wait_s if wait_s or kept.is_dirty else None
    if kept.is_dirty:
        return runs.last + settings.debounce_s
    # An interval of 0 switches the clock off; the debounce is the least time between two.
    return (
        runs.last + max(settings.interval_s, settings.debounce_s) if settings.interval_s else None
    )


def _embed_at(kept: Kept, settings: QmdSettings) -> float | None:
    """Never before the first update that went well: there would be nothing to read."""
    if settings.search_mode == "search" or not settings.embed_interval_s:
        return None
    if kept.update.last is None or kept.update.failures:
        return None
    runs = kept.embed
    if runs.last is None:
        return kept.update.last
    if runs.failures:
        return runs.last + pause_after(runs.failures)
    return runs.last + settings.embed_interval_s


def pause_after(failures: int) -> float:
    """How long to leave it alone after so many failures in a row."""
    if failures <= 0:
        return 0.0
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10))


def boot_pause(failure: QmdFailed, tries: int) -> float | None:
    """How long to wait before the update at the start is tried again; None to give up."""
    if tries >= BOOT_TRIES or failure.kind not in ("busy", "timeout"):
        return None
    return FIRST_BOOT_PAUSE_S * 2.0 ** (tries - 1)
