"""Many texts in few requests, limited by tokens and by items, several requests at once.

    texts ──plan──▶ [batch][batch][batch]…  ◀──take── worker ── ask ──▶ rows by text number
                       ▲                                  │
                       └──── put back, cut smaller ◀── too large

The size of a request is known from the provider's documentation, or it is learned: a batch that
is too large goes back into the queue and halves the limit. Sixteen good requests in a row double
it again, up to the first value, because some providers report other errors as "too large".
A single text that is too large is embedded in two halves, and its vector is their mean.

When a batch fails for good, no further batch is started; the error carries the finished rows.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import token_weight
from notewell.embedders.vectors import embed_in_halves
from notewell.errors import EmbedderTrouble, TextTooLarge
from notewell.limits import CHARS_PER_TOKEN
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.embedders.retrying import Ask, Deadline
    from notewell.ports import Keep, Kind, Vectors

GOOD_IN_A_ROW = 16
"""Successful requests before a larger one is tried: at most one request in seventeen fails."""


class RequestLimits(NamedTuple):
    """What one request may contain."""

    items: int
    tokens: int


def estimated_tokens(text: str) -> int:
    return -(-token_weight(text) // CHARS_PER_TOKEN)


def plan(
    numbers: Sequence[int], tokens: Sequence[int], limits: RequestLimits
) -> list[tuple[int, ...]]:
    """Consecutive texts in batches within the limits; a text that is too large goes alone."""
    batches: list[tuple[int, ...]] = []
    batch: list[int] = []
    total = 0
    for number in numbers:
        full = len(batch) >= limits.items or total + tokens[number] > limits.tokens
        if batch and full:
            batches.append(tuple(batch))
            batch, total = [], 0
        batch.append(number)
        total += tokens[number]
    return [*batches, tuple(batch)] if batch else batches


class LearnedLimits:
    """Limits that shrink after "too large" and grow after successes. Thread-safe."""

    def __init__(self, limits: RequestLimits) -> None:
        self._initial = limits
        self._lock = threading.Lock()
        self._good = 0
        self.now = limits

    def too_large(self, items: int, tokens: int) -> None:
        with self._lock:
            self._good = 0
            # Half of the batch that failed, not of the limit: several workers may report batches
            # of the same old size, and the limit must not be halved once for each of them.
            self.now = RequestLimits(
                min(self.now.items, max(1, items // 2)), min(self.now.tokens, max(1, tokens // 2))
            )

    def restore(self) -> None:
        """One text alone was refused: the size was never the problem, so unlearn it."""
        with self._lock:
            self.now = self._initial

    def went_through(self) -> None:
        with self._lock:
            self._good += 1
            if self._good >= GOOD_IN_A_ROW:
                self._good = 0
                self.now = RequestLimits(
                    min(self._initial.items, self.now.items * 2),
                    min(self._initial.tokens, self.now.tokens * 2),
                )


@dataclass(slots=True)
class _Run:
    """The batches of one call, shared by its workers."""

    texts: Sequence[str]
    kind: Kind
    tokens: list[int]
    waiting: deque[tuple[int, ...]]
    rows: dict[int, Vectors] = field(default_factory=dict)
    error: BaseException | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    ready: queue.SimpleQueue[dict[int, Vectors] | None] = field(default_factory=queue.SimpleQueue)
    """Finished rows for the caller's thread; None when a worker has ended."""

    def take(self, limits: RequestLimits) -> tuple[int, ...]:
        """The next batch, cut again if the limits have shrunk; empty if there is none."""
        with self.lock:
            if self.error or not self.waiting:
                return ()
            first, *rest = plan(self.waiting.popleft(), self.tokens, limits)
            self.waiting.extendleft(reversed(rest))
            return first

    def put_back(self, batch: tuple[int, ...]) -> None:
        with self.lock:
            self.waiting.appendleft(batch)

    def add(self, batch: tuple[int, ...], rows: Vectors) -> None:
        fresh = dict(zip(batch, rows, strict=True))
        with self.lock:
            self.rows |= fresh
        self.ready.put(fresh)

    def fail(self, error: BaseException) -> None:
        with self.lock:
            self.error = self.error or error


class Batching:
    def __init__(
        self,
        ask: Ask,
        limits: RequestLimits,
        concurrency: int,
        request_deadline: Callable[[], Deadline],
    ) -> None:
        """`request_deadline` makes the deadline of one request when it is sent. A call that
        passes its own deadline uses that one for all its requests."""
        self._ask = ask
        self._limits = LearnedLimits(limits)
        self._concurrency = concurrency
        # Shared by all calls: two syncs at once must not double the load on the provider.
        self._in_flight = threading.BoundedSemaphore(concurrency)
        self._request_deadline = request_deadline

    def embed(
        self,
        texts: Sequence[str],
        kind: Kind,
        deadline: Deadline | None,
        keep: Keep | None = None,
    ) -> Vectors:
        import numpy as np

        tokens = [estimated_tokens(text) for text in texts]
        batches = plan(range(len(texts)), tokens, self._limits.now)
        run = _Run(texts, kind, tokens, deque(batches))
        if deadline is not None or len(batches) == 1:
            self._work(run, deadline)
        else:
            self._work_in_threads(run, min(self._concurrency, len(batches)), keep)
        if run.error is not None:
            if isinstance(run.error, EmbedderTrouble):
                run.error.finished = run.rows
            raise run.error
        return np.stack([run.rows[number] for number in range(len(texts))])

    def _work_in_threads(self, run: _Run, workers: int, keep: Keep | None) -> None:
        # Daemon threads, so that Ctrl-C does not wait for replies that nobody will read.
        threads = [
            threading.Thread(
                target=self._work, args=(run, None), name=f"notewell-embed-{n}", daemon=True
            )
            for n in range(workers)
        ]
        for thread in threads:
            thread.start()
        try:
            while workers:
                # `keep` runs here and not in a worker: it writes to the cache, and a worker must
                # not wait for a disk before it sends the next request.
                rows = run.ready.get()
                if rows is None:
                    workers -= 1
                elif keep is not None:
                    keep(rows)
        except BaseException as error:
            run.fail(error)
            raise

    def _work(self, run: _Run, deadline: Deadline | None) -> None:
        try:
            while batch := run.take(self._limits.now):
                self._embed_batch(run, batch, deadline)
        except BaseException as error:  # noqa: BLE001 - the root of a thread: `embed` raises it
            run.fail(error)
        finally:
            run.ready.put(None)

    def _embed_batch(self, run: _Run, batch: tuple[int, ...], deadline: Deadline | None) -> None:
        texts = [run.texts[number] for number in batch]
        try:
            rows = self._send(texts, run.kind, deadline)
        except TextTooLarge as error:
            if len(batch) > 1:
                self._limits.too_large(len(batch), sum(run.tokens[number] for number in batch))
                run.put_back(batch)
                return
            rows = self._in_halves(texts[0], run.kind, deadline, error)
        else:
            self._limits.went_through()
        run.add(batch, rows)

    def _in_halves(
        self, text: str, kind: Kind, deadline: Deadline | None, refused: TextTooLarge
    ) -> Vectors:
        try:
            return embed_in_halves(text, refused, lambda parts: self._send(parts, kind, deadline))
        except TextTooLarge:
            self._limits.restore()
            raise

    def _send(self, texts: Sequence[str], kind: Kind, deadline: Deadline | None) -> Vectors:
        if deadline is not None:
            return self._ask(texts, kind, deadline)  # A query does not queue behind documents.
        with self._in_flight:
            # The deadline starts after the semaphore: waiting for other requests costs no time.
            return self._ask(texts, kind, self._request_deadline())
