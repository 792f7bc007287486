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
from collections import deque
from typing import TYPE_CHECKING

from notewell.embedders.batch.breaker import BatchState, BatchSwitch
from notewell.embedders.batch.plan import JobLimits, plan_jobs
from notewell.embedders.batch.runner import JobRunner, line_of
from notewell.embedders.batch.store import StoredJob
from notewell.embedders.batch.workers import JobCrew, Work
from notewell.embedders.remote import sendable
from notewell.errors import EmbedderTrouble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from notewell.embedders.batch.api import BatchApi
    from notewell.embedders.batch.store import JobStore
    from notewell.embedders.remote import RemoteEmbedder
    from notewell.embedders.settings import BatchSettings
    from notewell.embedders.usage import Usage
    from notewell.ports import Keep, Kind, ModelFacts, Vectors, Waiting

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
        self._switch = BatchSwitch()
        runner = JobRunner(plain, api, settings)
        self._crew = JobCrew(runner, store, self._switch, settings.concurrency)
        self._fetched: list[StoredJob] = []

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

    def telling(self, told: Callable[[Waiting], None]) -> AbstractContextManager[None]:
        return self._crew.telling(told)

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
        work = Work(texts, lines, deque([*plan.resume, *new]))
        for job, rows in self._crew.done(work):
            take(rows)
            if kept:
                self._store.remove(job)
            else:
                self._fetched.append(job)

    def _forget_fetched(self) -> None:
        while self._fetched:
            self._store.remove(self._fetched.pop())


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARS]
