"""Limits: body size, query length, rates, and thread pools.

A rate counts cost, not calls: a short question costs 1, and one of 500 words about 16, as much as
it takes. Each token has a bucket. Requests without a valid token share one for each address, so
that a flood of them does not slow down those that have a token.

The core is synchronous, so each call needs a thread. There are four kinds of work, each with its
own pool (bulkheads), so that slow work cannot block quick work:

    quick    reads words and files on this machine: milliseconds
    search   may call a remote embedder, which may be slow; one pool per agent
    write    appends: short, and never abandoned halfway
    slow     syncs, checks, health: seconds to hours

A pool has seats and a queue. The queue has a limit in length and in time:

    a free seat ──▶ runs at once
    none        ──▶ waits, at most MAX_WAITING requests and MAX_WAIT_S each ──▶ else 503
"""

from __future__ import annotations

import math
import time
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
MAX_WAIT_S = 2.0
"""How long a request waits for a thread before it gets 503. An agent that is refused can do
something else; one that waits in a long queue cannot, and its answer comes too late."""
MAX_CONNECTIONS = 256
"""Open at the same time, event streams included. One person's machine needs about a dozen."""
MAX_BUCKETS = 4096
"""Token buckets kept in memory; when there are too many, the fullest is dropped."""


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """The limits of one service."""

    body_bytes: int = MAX_BODY_BYTES
    requests_a_minute: int = 120
    """Per token, for short requests. A working agent sends a few requests a minute."""
    burst: int = 60
    """Size of the token bucket: the UI sends a dozen requests when it opens."""
    stranger_cost_a_minute: int = 600
    """Per address, for requests without a valid token: the files of the page, logins, mistakes."""
    stranger_burst: int = 300
    """The page loads about 30 files."""
    connections: int = MAX_CONNECTIONS
    wait_s: float = MAX_WAIT_S


class TooBusy(Exception):
    """All threads of a pool are busy, and its queue is full or too slow."""


@dataclass(slots=True)
class _Bucket:
    level: float
    updated_s: float


# -- what a request costs ------------------------------------------------------------------------

QUERY_BYTES_PER_COST = 200
"""Measured: a question of 20 characters takes 7 ms, and each 200 more take as long again: most of
it is the vector of the question."""
RESULTS_PER_COST = 25
"""Measured: 50 hits take twice as long as 6."""
LOGIN_COST = 10
"""A login link is looked up in a file, under a lock."""
REFUSAL_COST = 2
FREE_MCP_BYTES = 1000
"""A call of a tool with a short question has fewer."""
MAX_MCP_COST = 20
"""An entry may be long without costing as much as a long question."""


def search_cost(query: str, max_results: int | None = None) -> int:
    # Bytes: a Chinese character is about as many pieces for the model as three Latin letters.
    size = len(query.encode("utf-8", "surrogatepass"))
    return 1 + size // QUERY_BYTES_PER_COST + (max_results or 0) // RESULTS_PER_COST


def mcp_cost(body_bytes: int) -> int:
    extra = max(0, body_bytes - FREE_MCP_BYTES) // QUERY_BYTES_PER_COST
    return min(1 + extra, MAX_MCP_COST)


class RateLimiter:
    """One token bucket for each key: a token's id, or an address. Not thread-safe: used in the
    event loop only."""

    def __init__(
        self, a_minute: float, burst: int, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        # A bucket of size zero would refuse everything forever.
        self._burst = max(1, burst)
        self._per_s = a_minute / 60
        self._monotonic_s = monotonic_s
        self._buckets: dict[str, _Bucket] = {}

    def take(self, key: str, cost: float = 1, *, again: float = 0) -> float:
        """0 if the request is allowed, else the seconds until it is. `again` is what the request
        has paid already, and will have to pay again when it is repeated."""
        now = self._monotonic_s()
        bucket = self._buckets.get(key)
        if bucket is None:
            self._drop_fullest(now)
            # A new bucket is full: the first burst of a client is allowed.
            bucket = self._buckets[key] = _Bucket(self._burst, now)
        bucket.level = self._level(bucket, now)
        bucket.updated_s = now
        # A request that costs more than a full bucket is allowed when the bucket is full.
        cost = min(cost, self._burst - again)
        if bucket.level >= cost:
            bucket.level -= cost
            return 0.0
        # Without a refill rate no waiting time is right; a minute keeps clients from retrying at
        # once.
        return (cost + again - bucket.level) / self._per_s if self._per_s else 60.0

    def _level(self, bucket: _Bucket, now: float) -> float:
        return min(self._burst, bucket.level + (now - bucket.updated_s) * self._per_s)

    def _drop_fullest(self, now: float) -> None:
        if len(self._buckets) < MAX_BUCKETS:
            return
        # A full bucket and a missing bucket allow the same, so dropping the fullest loses least.
        fullest = max(self._buckets, key=lambda key: self._level(self._buckets[key], now))
        del self._buckets[fullest]


class PoolSizes(NamedTuple):
    quick: int = 8
    search: int = 8
    """Per agent: the embedder of one agent may be slow while the others are not."""
    write: int = 4
    slow: int = 2


class _Pool:
    """The seats of one pool and its queue. To be used in one event loop only."""

    def __init__(self, seats: int) -> None:
        self._seats = anyio.CapacityLimiter(seats)
        self.waiting = 0

    async def take(self, seat: object, wait_s: float) -> None:
        """Raises `TooBusy`. The caller must release the seat."""
        try:
            self._seats.acquire_on_behalf_of_nowait(seat)
        except anyio.WouldBlock:
            await self._wait_for(seat, wait_s)

    async def _wait_for(self, seat: object, wait_s: float) -> None:
        # Compared and counted without an `await` in between. Otherwise all requests that arrive in
        # one cycle of the event loop would find the queue empty.
        if self.waiting >= MAX_WAITING:
            raise TooBusy
        self.waiting += 1
        try:
            with anyio.move_on_after(wait_s) as deadline:
                await self._seats.acquire_on_behalf_of(seat)
        finally:
            self.waiting -= 1
        if deadline.cancelled_caught:
            raise TooBusy

    def release(self, seat: object) -> None:
        self._seats.release_on_behalf_of(seat)


@dataclass(slots=True)
class WorkerPools:
    """Threads by kind of work. To be used in one event loop only."""

    sizes: PoolSizes = field(default_factory=PoolSizes)
    wait_s: float = MAX_WAIT_S
    _pools: dict[tuple[WorkKind, str], _Pool] = field(default_factory=dict)

    async def run(
        self, kind: WorkKind, agent: str, work: Callable[[], _T], *, wait_s: float | None = None
    ) -> _T:
        """Runs `work` in a thread. If the client disconnects, the thread is abandoned, except for
        writes. Raises `TooBusy` if there is no free thread within `wait_s`."""
        # Only searches depend on the agent's embedder; other work shares one pool per kind.
        pool = self._pool(kind, agent if kind == "search" else "")
        seat = object()
        await pool.take(seat, self.wait_s if wait_s is None else wait_s)
        try:
            # The seat is the limit. Without a limiter, anyio would use its own of 40 threads.
            unlimited = anyio.CapacityLimiter(math.inf)
            return await anyio.to_thread.run_sync(
                work, abandon_on_cancel=kind != "write", limiter=unlimited
            )
        finally:
            pool.release(seat)

    def _pool(self, kind: WorkKind, agent: str) -> _Pool:
        key = (kind, agent)
        # Created on first use, because a limiter belongs to the running event loop.
        if key not in self._pools:
            self._pools[key] = _Pool(getattr(self.sizes, kind))
        return self._pools[key]

    def waiting(self) -> dict[str, int]:
        """The number of requests that wait for a thread, by kind."""
        counts: dict[str, int] = dict.fromkeys(PoolSizes._fields, 0)
        for (kind, _), pool in self._pools.items():
            counts[kind] += pool.waiting
        return counts
