"""One batch job from its upload to its last vector.

    begin    upload ▶ create
    wait     poll with growing pauses until it ends or the time is up; the time is granted twice
    collect  read the results line by line, check each, keep the usable ones

A request that failed temporarily is sent again, except a `create` that the server may have
executed: a second job would be paid for as well. A poll that fails is no reason to give up a job.
A broken result line costs that line only: its text is sent as a plain request.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.embedders.remote import BYTES_PER_NUMBER
from notewell.embedders.retrying import Deadline, is_retryable, pause_s
from notewell.embedders.vectors import NotRows, unit_vectors
from notewell.errors import EmbedderFailed, EmbedderRefused, EmbedderTrouble
from notewell.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from notewell.embedders.batch.store import StoredJob
    from notewell.embedders.providers.provider import BatchApi, HttpRequest, JobState, Json
    from notewell.embedders.remote import RemoteEmbedder
    from notewell.embedders.settings import BatchSettings
    from notewell.ports import Vectors

    T = TypeVar("T")

TRANSFER_S = 900.0
"""For a file, up or down, with all attempts; a gigabyte at 10 Mbit/s takes this long."""

REPLY_S = 30.0
"""For a reply about a job, which has a few hundred bytes."""

REPLY_BYTES = 1 << 20

WAITS = 2
"""How often the complete time limit is waited for one job: a timeout is granted once more."""

MAX_POLL_FACTOR = 15
"""The longest pause between two polls, as a multiple of the set interval: 30 s for 2 s."""

LINE_BYTES = 4096
"""For a result line without its numbers: a few hundred bytes, with space to spare."""

_NOT_EXECUTED = frozenset({408, 409, 425, 429, 503})
"""Statuses that say that the server made no job."""


class BatchFailed(Exception):
    """A job gave no vectors; its texts are sent as plain requests instead."""

    def __init__(self, why: str, *, lasting: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.lasting = lasting
        """The next job would fail the same way."""


class StillRunning(Exception):
    """A job has not ended, and nobody waits for it."""

    def __init__(self, job: StoredJob) -> None:
        super().__init__(job.job_id)
        self.job = job


class JobRunner:
    """Thread-safe."""

    def __init__(self, plain: RemoteEmbedder, api: BatchApi, settings: BatchSettings) -> None:
        self._plain = plain
        self._api = api
        self._settings = settings
        self._endpoint = plain.plan.endpoint
        # The same clock and randomness as for plain requests, so tests control both.
        self._runtime = plain.runtime

    # -- begin -----------------------------------------------------------------------------------

    def begin(self, job: StoredJob, lines: Iterable[bytes]) -> StoredJob:
        """The job with the id that the provider gave it."""
        file = b"\n".join([*lines, b""])
        reply = self._send(
            self._api.upload(self._endpoint, file), TRANSFER_S, "upload", is_retryable
        )
        file_id = self._api.file_id(reply)
        if file_id is None:
            raise BatchFailed("the reply to the upload has no file id")
        # A timeout here may mean that the job exists: it is not retried, see `_NOT_EXECUTED`.
        reply = self._send(
            self._api.create(self._endpoint, file_id), REPLY_S, "create", _was_not_executed
        )
        state = self._api.state(reply)
        if state is None:
            raise BatchFailed("the reply to the new job has no id")
        return replace(job, job_id=state.job_id)

    # -- wait ------------------------------------------------------------------------------------

    def wait(self, job: StoredJob, on_progress: Callable[[int], None]) -> JobState:
        """The final state; `on_progress` gets the number of finished texts after every poll."""
        limit_s = self._settings.timeout_minutes * 60
        for _ in range(WAITS):
            deadline = Deadline.after(limit_s, self._runtime.clock)
            polls = 0
            while deadline.left_s() > 0:
                state = self._poll(job)
                if state is not None and state.phase != "waiting":
                    return state
                if state is not None:
                    on_progress(min(state.done, len(job.digests)))
                pause = poll_pause_s(polls, self._settings.poll_interval_s)
                # Never 0: the loop would poll without a pause until the deadline.
                self._runtime.sleep(min(pause, max(deadline.left_s(), 0.001)))
                polls += 1
        self.cancel(job)
        raise BatchFailed(
            f"batch job {job.job_id} had not ended after {WAITS} times "
            f"{self._settings.timeout_minutes:g} minutes; it was cancelled"
        )

    def look(self, job: StoredJob) -> JobState:
        """The final state, without waiting for it; raises `StillRunning` before the end."""
        state = self._poll(job)
        if state is None or state.phase == "waiting":
            raise StillRunning(job)
        return state

    def _poll(self, job: StoredJob) -> JobState | None:
        """None if the state is unknown at the moment."""
        request = self._api.status(self._endpoint, job.job_id)
        try:
            return self._api.state(self._exchange(request, REPLY_S))
        except EmbedderRefused as error:
            raise BatchFailed(
                f"batch job {job.job_id} is unknown to the provider: {error}"
            ) from error
        except EmbedderFailed as error:
            # One lost poll says nothing about the job, which goes on at the provider.
            if is_retryable(error):
                return None
            raise BatchFailed(
                f"the state of batch job {job.job_id} cannot be read: {error}"
            ) from error

    def cancel(self, job: StoredJob) -> None:
        """So that nobody pays for a job that nobody waits for; a failure here is ignored."""
        with suppress(EmbedderTrouble):
            self._exchange(self._api.cancel(self._endpoint, job.job_id), REPLY_S)

    # -- collect ---------------------------------------------------------------------------------

    def collect(
        self, job: StoredJob, state: JobState, tokens_of: Callable[[str], int]
    ) -> dict[str, Vectors]:
        """The usable vectors by digest; empty if the job has no results. `tokens_of` estimates
        the tokens of a digest's text where the provider does not count them."""
        if state.output is None:
            return {}
        request = self._api.download(self._endpoint, state.output)
        # A bound on what is read from the network, from what the job can contain at most.
        max_bytes = (job.dims * BYTES_PER_NUMBER + LINE_BYTES) * len(job.digests)

        def read(deadline: Deadline) -> _Results:
            # A new object for each attempt: a download that broke off starts from the beginning.
            results = _Results(self._api, frozenset(job.digests), job.dims)
            self._plain.read_lines(request, deadline, max_bytes, results.take)
            return results

        results = self._retry(read, TRANSFER_S, "the results", is_retryable, lasting=False)
        tokens = [results.tokens.get(digest) or tokens_of(digest) for digest in results.rows]
        self._plain.count_served(len(tokens), sum(tokens), self._api.price_share)
        return results.rows

    # -- exchanges -------------------------------------------------------------------------------

    def _send(
        self,
        request: HttpRequest,
        seconds: float,
        what: str,
        may_retry: Callable[[EmbedderFailed], bool],
    ) -> Json:
        return self._retry(
            lambda deadline: self._plain.exchange(request, deadline, REPLY_BYTES).data,
            seconds,
            what,
            may_retry,
            lasting=True,
        )

    def _exchange(self, request: HttpRequest, seconds: float) -> Json:
        deadline = Deadline.after(seconds, self._runtime.clock)
        return self._plain.exchange(request, deadline, REPLY_BYTES).data

    def _retry(
        self,
        ask: Callable[[Deadline], T],
        seconds: float,
        what: str,
        may_retry: Callable[[EmbedderFailed], bool],
        *,
        lasting: bool,
    ) -> T:
        """`lasting`: a refusal of this request means that every further job would fail too."""
        deadline = Deadline.after(seconds, self._runtime.clock)
        tried = 1
        while True:
            try:
                return ask(deadline)
            except EmbedderRefused as error:
                raise BatchFailed(f"{what}: {error}", lasting=lasting) from error
            except EmbedderFailed as error:
                pause = pause_s(error, tried, self._runtime.retry, self._runtime.random())
                if pause is None or not may_retry(error) or pause >= deadline.left_s():
                    raise BatchFailed(f"{what}: {error}") from error
            self._runtime.sleep(pause)
            tried += 1


class _Results:
    """The usable lines of a result file."""

    def __init__(self, api: BatchApi, wanted: frozenset[str], dims: int) -> None:
        self._api = api
        self._wanted = wanted
        self._dims = dims
        self._seen: set[str] = set()
        self.rows: dict[str, Vectors] = {}
        self.tokens: dict[str, int | None] = {}

    def take(self, line: bytes) -> None:
        try:
            result = self._api.result(json.loads(line))
        except (ValueError, RecursionError):
            return  # Cut off, or not JSON: its text has no row and is sent as a plain request.
        if result is None or result.custom_id not in self._wanted:
            return
        if result.custom_id in self._seen:
            # Twice in the file: nothing says which of the two is right, so neither is used.
            self.rows.pop(result.custom_id, None)
            return
        self._seen.add(result.custom_id)
        with suppress(NotRows):
            self.rows[result.custom_id] = unit_vectors([result.row], 1, self._dims)[0]
            self.tokens[result.custom_id] = result.tokens


def poll_pause_s(polls: int, interval_s: float) -> float:
    """Each pause is 1.5 times the last one: short jobs are noticed soon, long ones are not polled
    thousands of times."""
    return interval_s * min(1.5 ** min(polls, 20), MAX_POLL_FACTOR)


def _was_not_executed(error: EmbedderFailed) -> bool:
    return error.http_status in _NOT_EXECUTED


def line_of(api: BatchApi, plain: RemoteEmbedder, digest: str, text: str) -> bytes:
    line = api.line(plain.plan.endpoint, digest, text)
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()


def why_unfinished(job: StoredJob, state: JobState, rows: Mapping[str, Vectors]) -> str | None:
    """Why an ended job did not do its work; None if it did."""
    if state.phase != "done":
        return f"batch job {job.job_id} {state.phase}" + (f": {state.why}" if state.why else "")
    if state.output is None:
        return f"batch job {job.job_id} ended without results"
    if not rows:
        return f"batch job {job.job_id} gave no usable vector"
    return None
