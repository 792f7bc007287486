"""What Prometheus asks for. Labels are words of ours: routes, modes, kinds of errors, agents.

What is counted here belongs to the server; what is said of a memory (notes, chunks, the age of its
index) is looked up when somebody asks, and only for agents that this somebody may see.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from notewell.errors import NotewellError
from notewell.http_service.agents import Recalled, SyncEnded, Wrote
from notewell.sync import Failed, Synced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from notewell.http_service.agents import Event
    from notewell.memory import Memory
    from notewell.sync import SyncReport

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
KEPT_S = 10.0
"""A memory is looked at this often at most: counting its notes is a walk through its folder."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class _Figures(NamedTuple):
    """What one look at a memory found."""

    ready: bool
    notes: int
    behind: int
    chunks: int
    waiting: int
    index_bytes: int
    age_s: float | None
    embed_calls: int
    embed_failures: int
    embed_tokens: int
    cache_hits: int
    cache_misses: int


class Metrics:
    """One for each application; nothing of it is global."""

    def __init__(
        self,
        monotonic_s: Callable[[], float] = time.monotonic,
        time_s: Callable[[], float] = time.time,
    ) -> None:
        self._monotonic_s = monotonic_s
        self._time_s = time_s
        self._lock = threading.Lock()
        self._looked: dict[str, tuple[float, _Figures]] = {}
        self._synced_at: dict[str, float] = {}
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "notewell_requests", "Requests.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "notewell_request_seconds",
            "Time to answer.",
            ["method", "route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._searches = Counter("notewell_searches", "Searches.", ["mode"], registry=registry)
        self._search_seconds = Histogram(
            "notewell_search_seconds",
            "Time to search.",
            ["mode"],
            buckets=SECONDS,
            registry=registry,
        )
        self._writes = Counter("notewell_writes", "Writes.", ["what"], registry=registry)
        self._sync_seconds = Histogram(
            "notewell_sync_seconds",
            "Time to sync.",
            ["outcome"],
            buckets=(*SECONDS, 300, 3600),
            registry=registry,
        )
        self._errors = Counter("notewell_errors", "What went wrong.", ["kind"], registry=registry)

    # -- counting --------------------------------------------------------------------------------

    def answered(self, method: str, route: str, status: int, took_s: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(took_s)

    def failed(self, kind: str) -> None:
        self._errors.labels(kind).inc()

    def heard(self, agent: str, event: Event) -> None:
        """A listener of `Agents`."""
        match event:
            case Recalled():
                self._searches.labels(event.mode).inc()
                self._search_seconds.labels(event.mode).observe(event.took_ms / 1000)
            case Wrote():
                self._writes.labels(event.what).inc()
            case Synced() | SyncEnded():
                self._note_sync(agent, event.report, event.took_s)
            case Failed():
                self._sync_seconds.labels("failed").observe(0)

    def _note_sync(self, agent: str, report: SyncReport | None, took_s: float) -> None:
        if report is None:
            outcome = "failed"
        else:
            outcome = "partial" if report.trouble else "done"
            self._synced_at[agent] = self._time_s()
        self._sync_seconds.labels(outcome).observe(took_s)

    # -- telling ---------------------------------------------------------------------------------

    def page(self, memories: Iterable[tuple[str, Memory]], waiting: dict[str, int]) -> bytes:
        """All of the server's figures, and those of these memories."""
        registry = CollectorRegistry()
        self._tell_memories(registry, list(memories))
        seats = Gauge(
            "notewell_threads_waited_for", "Waiting for a thread.", ["kind"], registry=registry
        )
        for kind, count in waiting.items():
            seats.labels(kind).set(count)
        return generate_latest(self._registry) + generate_latest(registry)

    def _tell_memories(
        self, registry: CollectorRegistry, memories: list[tuple[str, Memory]]
    ) -> None:
        gauges = {
            field: Gauge(f"notewell_{name}", text, ["agent"], registry=registry)
            for field, (name, text) in _GAUGES.items()
        }
        for agent, memory in memories:
            try:
                figures = self._figures(agent, memory)
            except NotewellError:
                gauges["ready"].labels(agent).set(0)
                continue
            for name, gauge in gauges.items():
                value = getattr(figures, name)
                if value is not None:
                    gauge.labels(agent).set(value)

    def _figures(self, agent: str, memory: Memory) -> _Figures:
        with self._lock:
            at, figures = self._looked.get(agent, (0.0, None))
            if figures is None or self._monotonic_s() - at >= KEPT_S:
                figures = self._look(agent, memory)
                self._looked[agent] = (self._monotonic_s(), figures)
            return figures

    def _look(self, agent: str, memory: Memory) -> _Figures:
        status, looking = memory.status(), memory.looking()
        usage, tally = looking.usage(), looking.tally()
        counts, synced_at = status.counts, self._synced_at.get(agent)
        return _Figures(
            ready=status.state == "ready",
            notes=status.eligible,
            behind=status.dirty,
            chunks=counts.chunks if counts else 0,
            waiting=counts.waiting if counts else 0,
            index_bytes=status.index_bytes,
            age_s=None if synced_at is None else self._time_s() - synced_at,
            embed_calls=usage.requests if usage else 0,
            embed_failures=usage.failed_requests if usage else 0,
            embed_tokens=usage.tokens if usage else 0,
            cache_hits=tally.hits,
            cache_misses=tally.misses,
        )


_GAUGES = {
    "ready": ("index_ready", "Whether the index can be asked."),
    "notes": ("notes", "Notes on disk."),
    "behind": ("notes_behind", "Notes the index has not caught up with."),
    "chunks": ("chunks", "Chunks in the index."),
    "waiting": ("chunks_waiting", "Chunks that have no vector yet."),
    "index_bytes": ("index_bytes", "Size of the index."),
    "age_s": ("index_age_seconds", "Since the last sync that this server saw."),
    "embed_calls": ("embed_calls", "Requests to the provider since the start."),
    "embed_failures": ("embed_failures", "Of these, failed."),
    "embed_tokens": ("embed_tokens", "Tokens the provider counted since the start."),
    "cache_hits": ("embed_cache_hits", "Texts whose vector was known, since the start."),
    "cache_misses": ("embed_cache_misses", "Texts whose vector was not."),
}
