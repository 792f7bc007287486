"""How much of everything: bodies, questions, requests a minute, and threads.

The core is synchronous, so each call takes a thread. There are four kinds of work, each with seats
of its own, so that nobody waits behind a slower kind:

    quick    words and files on this machine: milliseconds
    search   may ask an embedder far away, which may be slow today; seats by agent
    write    appends: short, and carried out to the end
    slow     syncs, proofs, health: seconds to hours
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

Work: TypeAlias = Literal["quick", "search", "write", "slow"]

BODY_BYTES = 1024 * 1024
"""The longest entry is 64 KiB and turns come by the dozen; the rest is somebody else's dump."""
QUERY_CHARS = 4000
"""A page of text. A program that asks with more has pasted something in; that is refused."""
WAITING = 64
"""Requests that wait for a seat of one kind. Whoever comes later is better told at once."""
CONNECTIONS = 256
"""Open at once, listeners of events included; a machine of one person has a dozen."""
BUCKETS = 4096
"""Tokens whose use is remembered; a bucket that is full again is forgotten first."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the one who starts the server may choose."""

    body_bytes: int = BODY_BYTES
    requests_a_minute: int = 120
    """Of one token. An agent at work asks a few times a minute."""
    burst: int = 60
    """So many at once, before the minute counts: a page that opens asks for a dozen things."""
    connections: int = CONNECTIONS


class TooBusy(Exception):
    """All seats are taken and enough are waiting."""


@dataclass(slots=True)
class _Bucket:
    full: float
    at_s: float


class RateLimiter:
    """A bucket a token: a request takes one out, time puts them back. Of the event loop only."""

    def __init__(self, limits: Limits, monotonic_s: Callable[[], float]) -> None:
        self._burst = max(1, limits.burst)
        self._per_s = limits.requests_a_minute / 60
        self._monotonic_s = monotonic_s
        self._buckets: dict[str, _Bucket] = {}

    def take(self, token_id: str) -> float:
        """0 if the request may go on, else after how many seconds one may."""
        now = self._monotonic_s()
        bucket = self._buckets.get(token_id)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[token_id] = _Bucket(self._burst, now)
        bucket.full = self._filled(bucket, now)
        bucket.at_s = now
        if bucket.full >= 1:
            bucket.full -= 1
            return 0.0
        return (1 - bucket.full) / self._per_s if self._per_s else 60.0

    def _filled(self, bucket: _Bucket, now: float) -> float:
        return min(self._burst, bucket.full + (now - bucket.at_s) * self._per_s)

    def _make_room(self, now: float) -> None:
        if len(self._buckets) < BUCKETS:
            return
        # A full bucket says nothing that a missing one would not.
        fullest = max(self._buckets, key=lambda name: self._filled(self._buckets[name], now))
        del self._buckets[fullest]


class Seats(NamedTuple):
    quick: int = 8
    search: int = 8
    """Of each agent: another's embedder may be the slow one."""
    write: int = 4
    slow: int = 2


@dataclass(slots=True)
class Pools:
    """Threads, by kind of work. Made inside the event loop that uses them."""

    seats: Seats = field(default_factory=Seats)
    _limiters: dict[tuple[Work, str], anyio.CapacityLimiter] = field(default_factory=dict)

    async def run(self, kind: Work, agent: str, work: Callable[[], _T]) -> _T:
        """A caller who gives up is not waited for, except by what writes."""
        limiter = self._limiter(kind, agent if kind == "search" else "")
        if limiter.statistics().tasks_waiting >= WAITING:
            raise TooBusy
        return await anyio.to_thread.run_sync(
            work, abandon_on_cancel=kind != "write", limiter=limiter
        )

    def _limiter(self, kind: Work, agent: str) -> anyio.CapacityLimiter:
        key = (kind, agent)
        if key not in self._limiters:
            self._limiters[key] = anyio.CapacityLimiter(getattr(self.seats, kind))
        return self._limiters[key]

    def waiting(self) -> dict[str, int]:
        """How many wait for a seat, by kind."""
        told: dict[str, int] = dict.fromkeys(Seats._fields, 0)
        for (kind, _), limiter in self._limiters.items():
            told[kind] += limiter.statistics().tasks_waiting
        return told
