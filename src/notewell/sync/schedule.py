"""When the next sync is due. It decides; it waits for nothing and looks at no clock.

a change     once the writing has stopped, or has gone on for too long to wait any further
a failure    a little later, and later still if it fails again
no change    at the interval the user set; else seldom, in case a change went unheard;
             often where nothing can be heard at all
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Why: TypeAlias = Literal["start", "change", "retry", "interval", "safety", "scan"]

SCAN_SHARE = 10
"""Where only looking helps, at most a tenth of the time is spent on it."""
SAFETY_SHARE = 100
"""Where changes are heard, a hundredth: a network drive with 100 000 notes is slow to look at."""
MAX_SAFETY_S = 600.0
NAMED = 8
"""So many paths of a burst are kept by name: nobody reads more of them in a line."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long to wait for what."""

    debounce_s: float = 1.5
    """Quiet after the last change, so that a file is not read while it is written."""
    longest_s: float = 10.0
    """A file that is written without end is taken in this often all the same."""
    interval_s: float | None = None
    """A sync unasked; None leaves it to the two below."""
    safety_s: float = 60.0
    """Network drives and containers may change files without a sound."""
    scan_s: float = 5.0
    """In place of listening, where that is not possible."""
    retry_s: float = 5.0
    longest_retry_s: float = 60.0


class Burst(NamedTuple):
    """Changes heard since the last sync."""

    first_s: float
    last_s: float
    paths: tuple[str, ...]
    """The first few, in the order they were heard; empty where only a noise was."""


@dataclass(frozen=True, slots=True)
class Past:
    """The last sync, as far as the next one depends on it."""

    ended_s: float
    look_s: float = 0.0
    """How long a sync takes that finds nothing new."""
    failures: int = 0
    """In a row; a sync whose vectors are still waiting counts too."""


class Due(NamedTuple):
    at_s: float
    why: Why


def heard(burst: Burst | None, paths: tuple[str, ...], now_s: float) -> Burst:
    if burst is None:
        return Burst(now_s, now_s, paths[:NAMED])
    known = dict.fromkeys((*burst.paths, *paths))
    return Burst(burst.first_s, now_s, tuple(known)[:NAMED])


def next_sync(timing: Timing, past: Past, burst: Burst | None, *, listening: bool) -> Due:
    due = [_unheard(timing, past, listening=listening)]
    if burst is not None:
        due.append(Due(_settled_at(timing, burst), "change"))
    if timing.interval_s is not None:
        due.append(Due(past.ended_s + timing.interval_s, "interval"))
    return min(due)


def _settled_at(timing: Timing, burst: Burst) -> float:
    longest_s = max(timing.longest_s, timing.debounce_s)
    return min(burst.last_s + timing.debounce_s, burst.first_s + longest_s)


def _unheard(timing: Timing, past: Past, *, listening: bool) -> Due:
    if past.failures:
        doubled = timing.retry_s * 2.0 ** min(past.failures - 1, 30)
        return Due(past.ended_s + min(doubled, timing.longest_retry_s), "retry")
    if not listening:
        return Due(past.ended_s + max(timing.scan_s, SCAN_SHARE * past.look_s), "scan")
    slow_s = min(SAFETY_SHARE * past.look_s, MAX_SAFETY_S)
    return Due(past.ended_s + max(timing.safety_s, slow_s), "safety")
