"""When the next sync is due. Decides only: it does not wait and reads no clock.

a change     debounce: after writing has stopped, or has gone on for too long
a failure    exponential backoff
no change    at the interval the user set; otherwise seldom, in case a notice was lost;
             often if there are no notices at all
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from notewell.records import dataclass

Why: TypeAlias = Literal["start", "change", "retry", "interval", "safety", "scan"]

SCAN_SHARE = 10
"""Without notices, at most a tenth of the time is spent on scanning."""
SAFETY_SHARE = 100
"""With notices, a hundredth: scanning 100 000 notes on a network drive is slow."""
MAX_SAFETY_S = 600.0
NAMED = 8
"""So many paths of a burst are kept, for one line of output."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations of a watch."""

    debounce_s: float = 1.5
    """Pause after the last change, so that no file is read while it is written."""
    session_debounce_s: float = 5.0
    """The same if only transcripts changed: a conversation is written line by line."""
    longest_s: float = 10.0
    """A file that is written all the time is indexed this often nevertheless."""
    interval_s: float | None = None
    """Sync this often without a notice; None: see the two below."""
    safety_s: float = 60.0
    """Network drives and containers may change files without a notice."""
    scan_s: float = 5.0
    """Between scans, if there are no notices."""
    retry_s: float = 5.0
    longest_retry_s: float = 60.0


class Burst(NamedTuple):
    """The notices since the last sync."""

    first_s: float
    last_s: float
    paths: tuple[str, ...]
    """The first few, in the order of their notices; empty if a notice named none."""
    only_sessions: bool = False


@dataclass(frozen=True, slots=True)
class Past:
    """The last sync, as far as the next one depends on it."""

    ended_s: float
    look_s: float = 0.0
    """How long a sync takes that finds nothing to do."""
    failures: int = 0
    """In a row; a sync that left chunks without vectors counts, too."""


class Due(NamedTuple):
    at_s: float
    why: Why


def heard(
    burst: Burst | None, paths: tuple[str, ...], now_s: float, *, sessions: bool = False
) -> Burst:
    if burst is None:
        return Burst(now_s, now_s, paths[:NAMED], sessions)
    named = dict.fromkeys((*burst.paths, *paths))
    return Burst(burst.first_s, now_s, tuple(named)[:NAMED], sessions and burst.only_sessions)


def next_sync(timing: Timing, past: Past, burst: Burst | None, *, listening: bool) -> Due:
    due = [_without_notice(timing, past, listening=listening)]
    if burst is not None:
        due.append(Due(_settled_at(timing, burst), "change"))
    if timing.interval_s is not None:
        due.append(Due(past.ended_s + timing.interval_s, "interval"))
    return min(due)


def _settled_at(timing: Timing, burst: Burst) -> float:
    debounce_s = timing.debounce_s
    if burst.only_sessions:
        debounce_s = max(debounce_s, timing.session_debounce_s)
    # A user may set a debounce above `longest_s`; the larger of the two is the limit.
    longest_s = max(timing.longest_s, debounce_s)
    return min(burst.last_s + debounce_s, burst.first_s + longest_s)


def _without_notice(timing: Timing, past: Past, *, listening: bool) -> Due:
    if past.failures:
        # The exponent is capped: 2.0 ** 1024 would raise OverflowError after a long outage.
        doubled = timing.retry_s * 2.0 ** min(past.failures - 1, 30)
        return Due(past.ended_s + min(doubled, timing.longest_retry_s), "retry")
    if not listening:
        return Due(past.ended_s + max(timing.scan_s, SCAN_SHARE * past.look_s), "scan")
    slow_s = min(SAFETY_SHARE * past.look_s, MAX_SAFETY_S)
    return Due(past.ended_s + max(timing.safety_s, slow_s), "safety")
