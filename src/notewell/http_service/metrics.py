"""Metrics for Prometheus. Label values are our own words (routes, modes, error kinds, agents) and
never text from a client, so the number of time series stays bounded.

Counters belong to the server. Gauges of a memory (notes, chunks, the age of its index) are read at
scrape time, and only for agents that the caller may see.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from notewell.errors import NotewellError
from notewell.http_service.agents import ContentWritten, SearchAnswered, SyncFinished
from notewell.sync import Failed, Synced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from notewell.http_service.agents import Event
    from notewell.http_service.workers import WorkerFacts
    from notewell.memory import Memory
    from notewell.sync import SyncReport

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FIGURES_TTL_S = 10.0
"""How long the gauges of a memory are cached: counting its notes scans its folder."""
LATENCY_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class _Figures(NamedTuple):
    """The gauges of one memory."""

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
    """One instance per application. Nothing is global, so tests can run several servers."""

    def __init__(
        self,
        monotonic_s: Callable[[], float] = time.monotonic,
        time_s: Callable[[], float] = time.time,
    ) -> None:
        self._monotonic_s = monotonic_s
        self._time_s = time_s
        self._lock = threading.Lock()
        self._cached: dict[str, tuple[float, _Figures]] = {}
        self._synced_at: dict[str, float] = {}
        # Our own registry: the global default one also exports data about the Python process.
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "notewell_requests", "Requests.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "notewell_request_seconds",
            "Time until the response.",
            ["method", "route"],
            buckets=LATENCY_BUCKETS_S,
            registry=registry,
        )
        self._searches = Counter("notewell_searches", "Searches.", ["mode"], registry=registry)
        self._search_seconds = Histogram(
            "notewell_search_seconds",
            "Time to search.",
            ["mode"],
            buckets=LATENCY_BUCKETS_S,
            registry=registry,
        )
        self._writes = Counter("notewell_writes", "Writes.", ["what"], registry=registry)
        self._sync_seconds = Histogram(
            "notewell_sync_seconds",
            "Time to sync.",
            ["outcome"],
            buckets=(*LATENCY_BUCKETS_S, 300, 3600),
            registry=registry,
        )
        self._errors = Counter("notewell_errors", "Errors.", ["kind"], registry=registry)

    # -- counting --------------------------------------------------------------------------------

    def answered(self, method: str, route: str, status: int, took_s: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(took_s)

    def failed(self, kind: str) -> None:
        self._errors.labels(kind).inc()

    def on_event(self, agent: str, event: Event) -> None:
        """A listener of `Agents`; called in any thread."""
        match event:
            case SearchAnswered():
                self._searches.labels(event.mode).inc()
                self._search_seconds.labels(event.mode).observe(event.took_ms / 1000)
            case ContentWritten():
                self._writes.labels(event.what).inc()
            case Synced() | SyncFinished():
                self._record_sync(agent, event.report, event.took_s)
            case Failed():
                # The watcher does not report how long a failed sync took. It must still count.
                self._sync_seconds.labels("failed").observe(0)

    def _record_sync(self, agent: str, report: SyncReport | None, took_s: float) -> None:
        if report is None:
            outcome = "failed"
        else:
            # Partial: the words are indexed, but some vectors are missing.
            outcome = "partial" if report.trouble else "done"
            # Only successful syncs count for the age of the index.
            self._synced_at[agent] = self._time_s()
        self._sync_seconds.labels(outcome).observe(took_s)

    # -- exposition ------------------------------------------------------------------------------

    def page(
        self,
        memories: Iterable[tuple[str, Memory]],
        waiting: dict[str, int],
        workers: WorkerFacts | None = None,
    ) -> bytes:
        """The metrics of the server and of these memories, in the text format."""
        # A registry per scrape: two callers may see different agents.
        registry = CollectorRegistry()
        self._set_gauges(registry, list(memories))
        queue = Gauge(
            "notewell_threads_waited_for", "Waiting for a thread.", ["kind"], registry=registry
        )
        for kind, count in waiting.items():
            queue.labels(kind).set(count)
        if workers is not None:
            _set_workers(registry, workers)
        return generate_latest(self._registry) + generate_latest(registry)

    def _set_gauges(self, registry: CollectorRegistry, memories: list[tuple[str, Memory]]) -> None:
        gauges = {
            field: Gauge(f"notewell_{name}", text, ["agent"], registry=registry)
            for field, (name, text) in _GAUGES.items()
        }
        for agent, memory in memories:
            try:
                figures = self._figures(agent, memory)
            except NotewellError:
                # One broken memory must not hide the metrics of the others.
                gauges["ready"].labels(agent).set(0)
                continue
            for name, gauge in gauges.items():
                value = getattr(figures, name)
                # A gauge without a value is left out; zero would look like a measurement.
                if value is not None:
                    gauge.labels(agent).set(value)

    def _figures(self, agent: str, memory: Memory) -> _Figures:
        # Two scrapers at the same time share one reading.
        with self._lock:
            read_at, figures = self._cached.get(agent, (0.0, None))
            if figures is None or self._monotonic_s() - read_at >= FIGURES_TTL_S:
                figures = self._read_figures(agent, memory)
                self._cached[agent] = (self._monotonic_s(), figures)
            return figures

    def _read_figures(self, agent: str, memory: Memory) -> _Figures:
        status, inspector = memory.status(), memory.inspect
        usage, tally = inspector.usage(), inspector.tally()
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


def _set_workers(registry: CollectorRegistry, workers: WorkerFacts) -> None:
    running = Gauge("notewell_workers_running", "Search processes.", registry=registry)
    running.set(workers.running)
    busy = Gauge("notewell_workers_busy", "Those that search now.", registry=registry)
    busy.set(workers.busy)
    ended = Gauge("notewell_workers_ended", "How often one has ended.", registry=registry)
    ended.set(workers.ended)
    searches = Gauge(
        "notewell_worker_searches", "What each has answered.", ["worker"], registry=registry
    )
    for number, count in enumerate(workers.searches):
        searches.labels(str(number)).set(count)


_GAUGES = {
    "ready": ("index_ready", "Whether the index can be searched."),
    "notes": ("notes", "Notes on disk."),
    "behind": ("notes_behind", "Changed notes that are not indexed yet."),
    "chunks": ("chunks", "Chunks in the index."),
    "waiting": ("chunks_waiting", "Chunks without a vector."),
    "index_bytes": ("index_bytes", "Size of the index."),
    "age_s": ("index_age_seconds", "Time since the last sync that this server saw."),
    "embed_calls": ("embed_calls", "Requests to the embedding provider since the start."),
    "embed_failures": ("embed_failures", "Failed requests to the embedding provider."),
    "embed_tokens": ("embed_tokens", "Tokens that the provider counted since the start."),
    "cache_hits": ("embed_cache_hits", "Texts whose vector was in the cache, since the start."),
    "cache_misses": ("embed_cache_misses", "Texts whose vector was not in the cache."),
}
