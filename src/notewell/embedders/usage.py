"""Counts what was used of a provider: texts, tokens, requests and their price."""

from __future__ import annotations

import threading
from typing import Protocol, runtime_checkable

from notewell.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Usage:
    texts: int = 0
    """Texts that got a vector."""
    tokens: int = 0
    """As the provider counts them; estimated if it does not."""
    requests: int = 0
    """Sent, successful or not."""
    failed_requests: int = 0
    usd: float | None = None
    """By the list price; None if there is none, as for a server of your own."""


@runtime_checkable
class CountsUsage(Protocol):
    """An embedder that costs money by use."""

    @property
    def usage(self) -> Usage: ...


def usage_of(embedder: object) -> Usage | None:
    """None for an embedder that costs only time."""
    return embedder.usage if isinstance(embedder, CountsUsage) else None


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """What an embedder with batch jobs can tell about them."""

    concurrency: int
    poll_interval_s: float
    timeout_minutes: float
    failures: int
    """In a row, in this process."""
    failed_jobs: int
    """Altogether, in this process."""
    off_because: str | None
    """Set once this process has given up on batch jobs."""
    last_failure: str | None
    jobs: tuple[str, ...]
    """The ids of jobs that run at the provider, also those that another process began."""


@runtime_checkable
class RunsBatches(Protocol):
    """An embedder that sends large runs as batch jobs."""

    def batch_facts(self) -> BatchFacts: ...


def batch_facts_of(embedder: object) -> BatchFacts | None:
    """None for an embedder without batch jobs."""
    return embedder.batch_facts() if isinstance(embedder, RunsBatches) else None


class CacheTally:
    """Hits and misses of the vector cache. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def add(self, *, hits: int, misses: int) -> None:
        with self._lock:
            self.hits += hits
            self.misses += misses


class UsageCounter:
    """Thread-safe. `usage` is replaced as a whole, so that a reader needs no lock."""

    def __init__(self, usd_per_million: float | None) -> None:
        self._price = usd_per_million
        self._lock = threading.Lock()
        self._usage = Usage(usd=None if usd_per_million is None else 0.0)

    @property
    def usage(self) -> Usage:
        return self._usage

    def sent(self) -> None:
        with self._lock:
            self._usage = replace(self._usage, requests=self._usage.requests + 1)

    def failed(self) -> None:
        with self._lock:
            failed = self._usage.failed_requests + 1
            self._usage = replace(self._usage, failed_requests=failed)

    def served(self, texts: int, tokens: int, price_share: float = 1.0) -> None:
        """`price_share` is the price of a token as a share of the list price: batch jobs are
        cheaper."""
        with self._lock:
            # None stays None: without a list price a sum of 0.00 would be a wrong claim.
            cost = None
            if self._price is not None:
                cost = (self._usage.usd or 0.0) + tokens * price_share * self._price / 1e6
            self._usage = replace(
                self._usage,
                texts=self._usage.texts + texts,
                tokens=self._usage.tokens + tokens,
                usd=cost,
            )
