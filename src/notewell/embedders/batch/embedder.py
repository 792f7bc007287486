"""The embedder with batch jobs in front.

    texts ──plan──▶ [resumed job][new job][new job]…  ──two at a time──▶ vectors by digest
                                                       └── what is missing ──▶ plain requests

Queries, and texts too few for a job, use plain requests. So does everything once the circuit
breaker is open. Texts without a vector from a job, for whatever reason, are sent as plain
requests; only errors of those are raised.

The caller gets vectors as soon as their job has ended. A job is forgotten once its vectors are
stored: at once if the caller passes `keep`, otherwise when the next call comes.
"""

from __future__ import annotations

import hashlib
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from notewell.embedders.batch.runner import JobRunner, line_of
from notewell.embedders.batch.store import StoredJob, covered
from notewell.embedders.batch.workers import BatchBreaker, BatchState, JobQueue, JobWorkers
from notewell.embedders.remote import sendable
from notewell.embedders.usage import BatchFacts
from notewell.errors import EmbedderTrouble, VectorsPending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from notewell.embedders.batch.store import JobStore
    from notewell.embedders.providers.provider import BatchApi
    from notewell.embedders.remote import RemoteEmbedder
    from notewell.embedders.settings import BatchSettings
    from notewell.embedders.usage import Usage
    from notewell.ports import Keep, Kind, Lacking, ModelFacts, Vectors, Waiting

    Take = Callable[[Mapping[str, Vectors]], None]

MIN_TEXTS = 500
"""Fewer texts are some dozens of plain requests, done in seconds; a job takes minutes."""

JOB_TEXTS = 10_000
"""In one job, far below what providers accept: a failed job loses less, and the results (330 MB
of numbers as text, at 1536 dimensions) arrive within minutes."""

JOB_BYTES = 100_000_000
"""The input file of a job, which is in memory while it is uploaded."""

DIGEST_CHARS = 32
"""128 bits: no two texts share one, and every provider accepts a custom id of this length."""


# -- which texts go into which job: pure decisions -----------------------------------------------


class JobLimits(NamedTuple):
    min_texts: int
    """Fewer texts are not worth a job."""
    requests: int
    bytes: int


class JobPlan(NamedTuple):
    resume: tuple[StoredJob, ...]
    """Jobs of an earlier run that contain texts we need."""
    begin: tuple[tuple[str, ...], ...]
    """The digests of the texts of each new job."""


def plan_jobs(sizes: Mapping[str, int], stored: Iterable[StoredJob], limits: JobLimits) -> JobPlan:
    """`sizes` is the length in bytes of the input line of every needed text, by digest."""
    resume: list[StoredJob] = []
    for job in stored:
        # Only jobs that add something: their results are paid for already.
        if covered([job]) & sizes.keys() - covered(resume):
            resume.append(job)
    rest = {digest: size for digest, size in sizes.items() if digest not in covered(resume)}
    begin = split_into_jobs(rest, limits) if len(rest) >= limits.min_texts else []
    return JobPlan(tuple(resume), tuple(begin))


def split_into_jobs(sizes: Mapping[str, int], limits: JobLimits) -> Sequence[tuple[str, ...]]:
    """In order, each job within the limits; a line too large for every job is in none."""
    jobs: list[tuple[str, ...]] = []
    job: list[str] = []
    total = 0
    for digest, size in sizes.items():
        # It is sent as a plain request, which reports it if it is too large there, too.
        if size > limits.bytes:
            continue
        if job and (len(job) >= limits.requests or total + size > limits.bytes):
            jobs.append(tuple(job))
            job, total = [], 0
        job.append(digest)
        total += size
    return [*jobs, tuple(job)] if job else jobs


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARS]


# -- the embedder --------------------------------------------------------------------------------


class BatchEmbedder:
    """Has the interface of the embedder inside. Thread-safe."""

    def __init__(
        self,
        plain: RemoteEmbedder,
        api: BatchApi,
        store: JobStore,
        settings: BatchSettings,
        *,
        min_texts: int = MIN_TEXTS,
        job_texts: int = JOB_TEXTS,
    ) -> None:
        self._plain = plain
        self._api = api
        self._store = store
        self._settings = settings
        self._limits = JobLimits(
            min_texts, min(job_texts, api.max_requests), min(JOB_BYTES, api.max_bytes)
        )
        self._breaker = BatchBreaker()
        runner = JobRunner(plain, api, settings)
        self._workers = JobWorkers(
            runner, store, self._breaker, settings.concurrency, wait=settings.wait
        )
        self._fetched: list[StoredJob] = []

    # -- delegated to the embedder inside --------------------------------------------------------

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
        if self._breaker.is_open:
            return self._plain.texts_at_once
        return self._limits.requests * self._settings.concurrency

    def missing(self) -> Lacking | None:
        return self._plain.missing()

    def close(self) -> None:
        self._plain.close()

    # -- batch jobs in front ---------------------------------------------------------------------

    @property
    def batch(self) -> BatchState:
        return self._breaker.state

    def batch_facts(self) -> BatchFacts:
        state, settings = self._breaker.state, self._settings
        stored = self._store.jobs(self.endpoint_key, self.facts.dims)
        return BatchFacts(
            concurrency=settings.concurrency,
            poll_interval_s=settings.poll_interval_s,
            timeout_minutes=settings.timeout_minutes,
            failures=state.failures,
            failed_jobs=state.failed_jobs,
            off_because=state.off_because,
            last_failure=state.last_failure,
            jobs=tuple(job.job_id for job in stored),
        )

    def reporting(self, on_waiting: Callable[[Waiting], None]) -> AbstractContextManager[None]:
        return self._workers.reporting(on_waiting)

    def outgoing(self, texts: Sequence[str]) -> list[str]:
        return self._plain.outgoing(texts)

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        # A query has a person waiting; a job takes minutes.
        if kind == "query" or self._uses_plain_requests(texts):
            return self._plain.embed(texts, kind)
        return self._embed(texts, None)

    def embed_gradually(self, texts: Sequence[str], keep: Keep) -> Vectors:
        if self._uses_plain_requests(texts):
            return self._plain.embed_gradually(texts, keep)
        return self._embed(texts, keep)

    def _uses_plain_requests(self, texts: Sequence[str]) -> bool:
        return self._breaker.is_open or not texts or self._plain.missing() is not None

    def _embed(self, texts: Sequence[str], keep: Keep | None) -> Vectors:
        import numpy as np

        self._forget_fetched()
        sent = [sendable(text) for text in self._plain.outgoing(texts)]
        digests = [digest_of(text) for text in sent]
        # By digest: equal texts are embedded once.
        numbers = {digest: number for number, digest in enumerate(digests)}
        rows: dict[str, Vectors] = {}

        def take(fresh: Mapping[str, Vectors]) -> None:
            # A resumed job may contain texts of an earlier run that this call did not ask for.
            wanted = {digest: row for digest, row in fresh.items() if digest in numbers}
            rows.update(wanted)
            if keep is not None:
                keep({numbers[digest]: row for digest, row in wanted.items()})

        by_digest = dict(zip(digests, sent, strict=True))
        running = self._run_jobs(by_digest, take, kept=keep is not None)
        pending = covered(running) & by_digest.keys() - rows.keys()
        left = {d: text for d, text in by_digest.items() if d not in rows and d not in pending}
        try:
            self._send_plain(left, take)
            if pending:
                provider = self._plain.plan.provider.name
                raise VectorsPending(provider, len(pending), [job.job_id for job in running])
        except EmbedderTrouble as trouble:
            # Rows that the jobs delivered are paid for, so the error carries them to the caller.
            trouble.finished = {n: rows[d] for n, d in enumerate(digests) if d in rows}
            raise
        return np.stack([rows[digest] for digest in digests])

    def _send_plain(self, texts: Mapping[str, str], take: Take) -> None:
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

    def _run_jobs(
        self, texts: Mapping[str, str], take: Take, *, kept: bool
    ) -> Sequence[StoredJob]:
        """Take whatever vectors the jobs have for these texts: none, some or all. Returns the jobs
        that nobody waits for: their texts must not be paid for again."""
        facts = self.facts
        if facts.dims == 0:
            return ()  # No vector could be checked; the plain requests report what is wrong.
        lines = {d: line_of(self._api, self._plain, d, text) for d, text in texts.items()}
        plan = plan_jobs(
            {digest: len(line) + 1 for digest, line in lines.items()},  # 1: the line end
            self._store.jobs(self.endpoint_key, facts.dims),
            self._limits,
        )
        new = [StoredJob(self.endpoint_key, facts.dims, digests) for digests in plan.begin]
        jobs = JobQueue(texts, lines, deque([*plan.resume, *new]))
        for job, rows in self._workers.run(jobs):
            take(rows)
            if kept:
                self._store.remove(job)
            else:
                self._fetched.append(job)
        return jobs.running

    def _forget_fetched(self) -> None:
        # The caller has stored the vectors of its last call by now, or lost them itself.
        while self._fetched:
            self._store.remove(self._fetched.pop())
