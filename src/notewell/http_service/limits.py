"""Limits: body size, query length, rate limit per token, and thread pools.

The core is synchronous, so each call needs a thread. There are four kinds of work, each with its
own pool (bulkheads), so that slow work cannot block quick work:

    quick    reads words and files on this machine: milliseconds
    search   may call a remote embedder, which may be slow; one pool per agent
    write    appends: short, and never abandoned halfway
    slow     syncs, checks, health: seconds to hours
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

WorkKind: TypeAlias = Literal["quick", "search", "write", "slow"]

MAX_BODY_BYTES = 1024 * 1024
"""The longest entry has 64 KiB, and turns are sent in small numbers."""
MAX_HTTP_QUERY_CHARS = 4000
"""About a page of text. A longer query is pasted text, not a question."""
MAX_WAITING = 64
"""Requests that may wait for a thread of one pool. Later ones get 503 at once (load shedding)."""
MAX_CONNECTIONS = 256
"""Open at the same time, event streams included. One person's machine needs about a dozen."""
MAX_BUCKETS = 4096
"""Token buckets kept in memory; when there are too many, the fullest is dropped."""


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """The limits that `notewell serve` can set."""

    body_bytes: int = MAX_BODY_BYTES
    requests_a_minute: int = 120
    """Per token. A working agent sends a few requests a minute."""
    burst: int = 60
    """Size of the token bucket: the UI sends a dozen requests when it opens."""
    connections: int = MAX_CONNECTIONS


class TooBusy(Exception):
    """All threads of a pool are busy and its queue is full."""


@dataclass(slots=True)
class _Bucket:
    level: float
    updated_s: float


class RateLimiter:
    """One token bucket per API token. Not thread-safe: used in the event loop only."""

    def __init__(self, limits: ServiceLimits, monotonic_s: Callable[[], float]) -> None:
        # A bucket of size zero would refuse everything forever.
        self._burst = max(1, limits.burst)
        self._per_s = limits.requests_a_minute / 60
        self._monotonic_s = monotonic_s
        self._buckets: dict[str, _Bucket] = {}

    def take(self, token_id: str) -> float:
        """0 if the request is allowed, else the seconds until the next one is."""
        now = self._monotonic_s()
        bucket = self._buckets.get(token_id)
        if bucket is None:
            self._drop_fullest(now)
            # A new bucket is full: the first burst of a client is allowed.
            bucket = self._buckets[token_id] = _Bucket(self._burst, now)
        bucket.level = self._level(bucket, now)
        bucket.updated_s = now
        if bucket.level >= 1:
            bucket.level -= 1
            return 0.0
        # Without a refill rate no waiting time is right; a minute keeps clients from retrying at
        # once.
        return (1 - bucket.level) / self._per_s if self._per_s else 60.0

    def _level(self, bucket: _Bucket, now: float) -> float:
        return min(self._burst, bucket.level + (now - bucket.updated_s) * self._per_s)

    def _drop_fullest(self, now: float) -> None:
        if len(self._buckets) < MAX_BUCKETS:
            return
        # A full bucket and a missing bucket allow the same, so dropping the fullest loses least.
        fullest = max(
            self._buckets, key=lambda token_id: self._level(self._buckets[token_id], now)
        )
        del self._buckets[fullest]


class PoolSizes(NamedTuple):
    quick: int = 8
    search: int = 8
    """Per agent: the embedder of one agent may be slow while the others are not."""
    write: int = 4
    slow: int = 2


@dataclass(slots=True)
class WorkerPools:
    """Threads by kind of work. To be used in one event loop only."""

    sizes: PoolSizes = field(default_factory=PoolSizes)
    _limiters: dict[tuple[WorkKind, str], anyio.CapacityLimiter] = field(default_factory=dict)

    async def run(self, kind: WorkKind, agent: str, work: Callable[[], _T]) -> _T:
        """Runs `work` in a thread. If the client disconnects, the thread is abandoned, except for
        writes. Raises `TooBusy`."""
        # Only searches depend on the agent's embedder; other work shares one pool per kind.
        limiter = self._limiter(kind, agent if kind == "search" else "")
        # Checked before waiting: a request in a long queue would time out in the client anyway.
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise TooBusy
        return await anyio.to_thread.run_sync(
            work, abandon_on_cancel=kind != "write", limiter=limiter
        )

    def _limiter(self, kind: WorkKind, agent: str) -> anyio.CapacityLimiter:
        key = (kind, agent)
        # Created on first use, because a limiter belongs to the running event loop.
        if key not in self._limiters:
            self._limiters[key] = anyio.CapacityLimiter(getattr(self.sizes, kind))
        return self._limiters[key]

    def waiting(self) -> dict[str, int]:
        """The number of requests that wait for a thread, by kind."""
        counts: dict[str, int] = dict.fromkeys(PoolSizes._fields, 0)
        for (kind, _), limiter in self._limiters.items():
            counts[kind] += limiter.statistics().tasks_waiting
        return counts
