"""What was used of a provider, counted as it happens."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Usage:
    texts: int = 0
    """Texts that came back as vectors."""
    tokens: int = 0
    """As the provider counts them; estimated where it does not say."""
    requests: int = 0
    """Sent, whatever became of them."""
    failed_requests: int = 0
    usd: float | None = None
    """By the list price; None where there is none, as for a server of one's own."""


@runtime_checkable
class TellsUsage(Protocol):
    """An embedder that is paid by use."""

    @property
    def usage(self) -> Usage: ...


def usage_of(embedder: object) -> Usage | None:
    """None for one that costs nothing but time."""
    return embedder.usage if isinstance(embedder, TellsUsage) else None


class CacheTally:
    """How often a text had its vector already; adds up from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def add(self, *, hits: int, misses: int) -> None:
        with self._lock:
            self.hits += hits
            self.misses += misses


class UsageCounter:
    """Adds up from several threads."""

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
        """`price_share` is what a token costs of the list price: a batch job's cost less."""
        with self._lock:
            cost = None
            if self._price is not None:
                cost = (self._usage.usd or 0.0) + tokens * price_share * self._price / 1e6
            self._usage = replace(
                self._usage,
                texts=self._usage.texts + texts,
                tokens=self._usage.tokens + tokens,
                usd=cost,
            )
