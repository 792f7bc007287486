"""The embedder with batch jobs in front.

    texts ──plan──▶ [job taken up][new job][new job]…  ──two at a time──▶ vectors by digest
                                                       └── what is missing ──▶ plain calls

Questions, and texts too few for a job, go straight through. So does everything once batch jobs
are off. Whatever a job leaves out, for whatever reason, is asked for by plain calls; only what
those raise is trouble.

Vectors are handed on as soon as their job has ended. A job is forgotten once they are kept; where
the caller does not say so, when the next call comes.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from recollect.core.errors import EmbedderTrouble
from recollect.core.ports import Waiting
from recollect.embedders.batch.api import BatchFailed
from recollect.embedders.batch.plan import JobLimits, plan_jobs
from recollect.embedders.batch.runner import JobRunner, line_of, why_not_done
from recollect.embedders.batch.store import StoredJob
from recollect.embedders.batch.switch import BatchState, BatchSwitch
from recollect.embedders.batching import estimated_tokens
from recollect.embedders.remote import sendable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recollect.core.ports import Keep, Kind, ModelFacts, Vectors
    from recollect.embedders.batch.api import BatchApi
    from recollect.embedders.batch.store import JobStore
    from recollect.embedders.remote import RemoteEmbedder
    from recollect.embedders.settings import BatchSettings
    from recollect.embedders.usage import Usage

    Take = Callable[[Mapping[str, Vectors]], None]

LEAST_TEXTS = 500
"""Fewer are some dozen plain requests, done in seconds; a job seldom answers within a minute."""

JOB_TEXTS = 10_000
"""In one job, far below what providers take: less is lost with a job that fails, and its results
(330 MB of numbers written out, at 1536 dimensions) come in minutes."""

JOB_BYTES = 100_000_000
"""Of its file, which is in memory while it is sent."""

DIGEST_CHARS = 32
"""128 bits: two texts never share one, and every provider takes a custom id of this length."""


class BatchEmbedder:
    """Same shape as the embedder inside. From as many threads as you like."""

    def __init__(
        self,
        plain: RemoteEmbedder,
        api: BatchApi,
        store: JobStore,
        settings: BatchSettings,
        *,
        least_texts: int = LEAST_TEXTS,
        job_texts: int = JOB_TEXTS,
    ) -> None:
        self._plain = plain
        self._api = api
        self._store = store
        self._settings = settings
        self._limits = JobLimits(
            least_texts, min(job_texts, api.most_requests), min(JOB_BYTES, api.most_bytes)
        )
        self._runner = JobRunner(plain, api, settings)
        self._switch = BatchSwitch()
        self._under_way = threading.BoundedSemaphore(settings.concurrency)
        self._lock = threading.Lock()
        self._fetched: list[StoredJob] = []
        self._waiting: dict[str, Waiting] = {}
        self._told: Callable[[Waiting], None] | None = None

    # -- like the one inside ---------------------------------------------------------------------

    @property
    def facts(self) -> ModelFacts:
        return self._plain.facts

    @property
    def usage(self) -> Usage:
        return self._plain.usage

    @property
    def model(self) -> str:
        return self._plain.model

    @property
    def endpoint(self) -> str:
        return self._plain.endpoint

    @property
    def endpoint_key(self) -> str:
        return self._plain.endpoint_key

    @property
    def texts_at_once(self) -> int:
        if self._switch.is_off:
            return self._plain.texts_at_once
        return self._limits.requests * self._settings.concurrency

    def missing(self) -> str | None:
        return self._plain.missing()

    def close(self) -> None:
        self._plain.close()

    # -- what is its own -------------------------------------------------------------------------

    @property
    def batch(self) -> BatchState:
        return self._switch.state

    @contextmanager
    def telling(self, told: Callable[[Waiting], None]) -> Iterator[None]:
        self._told = told
        try:
            yield
        finally:
            self._told = None

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "query" or self._goes_straight_through(texts):
            return self._plain.embed(texts, kind)
        return self._embed(texts, None)

    def embed_gradually(self, texts: Sequence[str], keep: Keep) -> Vectors:
        if self._goes_straight_through(texts):
            return self._plain.embed_gradually(texts, keep)
        return self._embed(texts, keep)

    def _goes_straight_through(self, texts: Sequence[str]) -> bool:
        return self._switch.is_off or not texts or self._plain.missing() is not None

    def _embed(self, texts: Sequence[str], keep: Keep | None) -> Vectors:
        import numpy as np

        self._forget_fetched()
        sent = [sendable(text) for text in texts]
        digests = [digest_of(text) for text in sent]
        numbers = {digest: number for number, digest in enumerate(digests)}
        rows: dict[str, Vectors] = {}

        def take(fresh: Mapping[str, Vectors]) -> None:
            mine = {digest: row for digest, row in fresh.items() if digest in numbers}
            rows.update(mine)
            if keep is not None:
                keep({numbers[digest]: row for digest, row in mine.items()})

        by_digest = dict(zip(digests, sent, strict=True))
        self._by_jobs(by_digest, take, kept=keep is not None)
        rest = {digest: text for digest, text in by_digest.items() if digest not in rows}
        try:
            self._by_plain_calls(rest, take)
        except EmbedderTrouble as trouble:
            trouble.finished = {n: rows[d] for n, d in enumerate(digests) if d in rows}
            raise
        return np.stack([rows[digest] for digest in digests])

    def _by_plain_calls(self, texts: Mapping[str, str], take: Take) -> None:
        if not texts:
            return
        digests = list(texts)

        def keep(rows: Mapping[int, Vectors]) -> None:
            take({digests[number]: row for number, row in rows.items()})

        try:
            rows = self._plain.embed_gradually(list(texts.values()), keep)
        except EmbedderTrouble as trouble:
            keep(trouble.finished)
            raise
        keep(dict(enumerate(rows)))

    # -- jobs ------------------------------------------------------------------------------------

    def _by_jobs(self, texts: Mapping[str, str], take: Take, *, kept: bool) -> None:
        """Takes what jobs have for these texts: anything from nothing to all."""
        facts = self.facts
        if facts.dims == 0:
            return  # Nobody can say whether a vector is right; plain calls tell what is wrong.
        lines = {d: line_of(self._api, self._plain, d, text) for d, text in texts.items()}
        plan = plan_jobs(
            {digest: len(line) + 1 for digest, line in lines.items()},
            self._store.jobs(self.endpoint_key, facts.dims),
            self._limits,
        )
        new = [StoredJob(self.endpoint_key, facts.dims, digests) for digests in plan.begin]
        run = _Run(texts, lines, deque([*plan.resume, *new]))
        for job, rows in self._worked(run):
            take(rows)
            if kept:
                self._store.remove(job)
            else:
                self._fetched.append(job)

    def _worked(self, run: _Run) -> Iterator[tuple[StoredJob, dict[str, Vectors]]]:
        """Each job that gave vectors, as it ends; in the caller's thread."""
        # Daemons: Ctrl-C does not wait for a job, which goes on and is taken up by the next run.
        count = min(self._settings.concurrency, len(run.jobs))
        threads = [
            threading.Thread(
                target=self._work, args=(run,), name=f"recollect-batch-{n}", daemon=True
            )
            for n in range(count)
        ]
        for thread in threads:
            thread.start()
        try:
            while count:
                ready = run.ready.get()
                if ready is None:
                    count -= 1
                else:
                    yield ready
        finally:
            run.stop = True  # Also where the caller is interrupted: nobody waits any more.
        if run.error is not None:
            raise run.error

    def _work(self, run: _Run) -> None:
        try:
            while (job := run.take()) is not None and not self._switch.is_off:
                self._do(run, job)
        except BaseException as error:  # noqa: BLE001 - the root of a thread: raised by the caller
            run.error = error
        finally:
            run.ready.put(None)

    def _do(self, run: _Run, job: StoredJob) -> None:
        with self._under_way:
            try:
                rows = self._fetch(run, job)
            except BatchFailed as failure:
                self._store.remove(job)
                self._switch.failed(failure)
                return
            finally:
                self._say(job, None)
        run.ready.put((job, rows))

    def _fetch(self, run: _Run, job: StoredJob) -> dict[str, Vectors]:
        """The vectors of a job that ended; what speaks against it is counted, not raised."""
        if not job.job_id:
            job = self._begin(run, job)

        def told(done: int) -> None:
            if run.stop:
                raise _Stopped
            self._say(job, Waiting(f"batch job {job.job_id}", done, len(job.digests)))

        told(0)
        state = self._runner.wait(job, told)
        rows = self._runner.collect(job, state, run.tokens_of)
        problem = why_not_done(job, state, rows)
        if problem is None:
            self._switch.worked()
        elif not rows:
            raise BatchFailed(problem)
        else:
            self._switch.failed(BatchFailed(problem))
        return rows

    def _begin(self, run: _Run, job: StoredJob) -> StoredJob:
        try:
            self._store.put(job)
        except OSError as error:
            why = f"the id of a job cannot be kept ({error.strerror or error})"
            raise BatchFailed(why, lasting=True) from error
        made = self._runner.begin(job, (run.lines[digest] for digest in job.digests))
        with suppress(OSError):  # It could be written a moment ago; if not now, we still wait.
            self._store.put(made)
        return made

    def _forget_fetched(self) -> None:
        while self._fetched:
            self._store.remove(self._fetched.pop())

    def _say(self, job: StoredJob, waiting: Waiting | None) -> None:
        with self._lock:
            if waiting is None:
                self._waiting.pop(job.name, None)
            else:
                self._waiting[job.name] = waiting
            self._switch.now_waiting(tuple(self._waiting.values()))
            if waiting is not None and self._told is not None:
                self._told(waiting)


class _Stopped(Exception):
    """Nobody waits any more."""


class _Run:
    """The jobs of one call, taken one by one."""

    def __init__(
        self, texts: Mapping[str, str], lines: Mapping[str, bytes], jobs: deque[StoredJob]
    ) -> None:
        self.texts = texts
        self.lines = lines
        self.jobs = jobs
        self.ready: queue.SimpleQueue[tuple[StoredJob, dict[str, Vectors]] | None]
        self.ready = queue.SimpleQueue()
        """None when a worker has ended."""
        self.error: BaseException | None = None
        self.stop = False

    def take(self) -> StoredJob | None:
        try:
            return None if self.stop or self.error else self.jobs.popleft()
        except IndexError:
            return None

    def tokens_of(self, digest: str) -> int:
        return estimated_tokens(self.texts.get(digest, ""))


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARS]
