"""One job from its first byte to its last vector.

    begin    upload ▶ create ▶ remember
    wait     ask how it is, ever less often, until it ends or the time is up, and once more
    collect  read the results line by line, check each, keep what is sound

A request that may pass is tried again, except `create` where nobody knows whether it was served:
a second job would be paid for as well. While waiting, an answer that does not come is no reason
to give up a job. What is wrong with a single line costs that line: it is asked for as usual.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from notewell.embedders.batch.api import BatchApi, BatchFailed, JobState
from notewell.embedders.deadline import Deadline
from notewell.embedders.provider import NotRows
from notewell.embedders.retrying import pause_s
from notewell.embedders.validate import unit_vectors
from notewell.errors import (
    EmbedderFailed,
    EmbedderRefused,
    EmbedderTrouble,
    EmbedderUnreachable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from notewell.embedders.batch.store import StoredJob
    from notewell.embedders.provider import Json, Request
    from notewell.embedders.remote import RemoteEmbedder
    from notewell.embedders.settings import BatchSettings
    from notewell.ports import Vectors

    T = TypeVar("T")

TRANSFER_S = 900.0
"""For a file up or down, with all its tries; a gigabyte at 10 Mbit/s takes as long."""

ANSWER_S = 30.0
"""For an answer about a job, which is a few hundred bytes."""

ANSWER_BYTES = 1 << 20

TRIES = 2
"""How often the whole time is waited for one job: a time-out is granted once more."""

SLOWEST = 15
"""Questions about a job come at most this many times the set interval apart: 30 s of 2 s."""

BYTES_A_NUMBER = 32
LINE_BYTES = 4096
"""A line of the results has some 22 bytes a number and a few hundred around them."""

_NOT_SERVED = frozenset({408, 409, 425, 429, 503})
"""Answers that say that no job was made."""


class JobRunner:
    """From as many threads as you like."""

    def __init__(self, plain: RemoteEmbedder, api: BatchApi, settings: BatchSettings) -> None:
        self._plain = plain
        self._api = api
        self._settings = settings
        self._target = plain.plan.target
        self._runtime = plain.runtime

    # -- begin -----------------------------------------------------------------------------------

    def begin(self, job: StoredJob, lines: Iterable[bytes]) -> StoredJob:
        """The job with the id it got."""
        file = b"\n".join([*lines, b""])
        answer = self._tried(self._api.upload(self._target, file), TRANSFER_S, "upload")
        file_id = self._api.file_id(answer)
        if file_id is None:
            raise BatchFailed("the upload was answered without the id of a file")
        answer = self._tried(self._api.create(self._target, file_id), ANSWER_S, "create")
        state = self._api.state(answer)
        if state is None:
            raise BatchFailed("the job was answered without an id")
        return replace(job, job_id=state.job_id)

    # -- wait ------------------------------------------------------------------------------------

    def wait(self, job: StoredJob, told: Callable[[int], None]) -> JobState:
        """How the job ended; `told` hears how many of its texts are done, after every look."""
        waited_s = self._settings.timeout_minutes * 60
        for _ in range(TRIES):
            deadline = Deadline.after(waited_s, self._runtime.clock)
            looks = 0
            while deadline.left_s() > 0:
                state = self._look(job)
                if state is not None and state.phase != "waiting":
                    return state
                if state is not None:
                    told(min(state.done, len(job.digests)))
                pause = poll_pause_s(looks, self._settings.poll_interval_s)
                self._runtime.sleep(min(pause, max(deadline.left_s(), 0.001)))
                looks += 1
        self.cancel(job)
        raise BatchFailed(
            f"batch job {job.job_id} had not ended after {TRIES} times "
            f"{self._settings.timeout_minutes:g} minutes; it was cancelled"
        )

    def _look(self, job: StoredJob) -> JobState | None:
        """None where nobody could say."""
        request = self._api.status(self._target, job.job_id)
        try:
            return self._api.state(self._asked(request, ANSWER_S))
        except EmbedderRefused as error:
            raise BatchFailed(f"batch job {job.job_id} is not known there: {error}") from error
        except EmbedderFailed as error:
            if _passes(error):
                return None
            raise BatchFailed(f"batch job {job.job_id} cannot be asked about: {error}") from error

    def cancel(self, job: StoredJob) -> None:
        """So that what nobody waits for is not paid for; where that fails, it is."""
        with suppress(EmbedderTrouble):
            self._asked(self._api.cancel(self._target, job.job_id), ANSWER_S)

    # -- collect ---------------------------------------------------------------------------------

    def collect(
        self, job: StoredJob, state: JobState, tokens_of: Callable[[str], int]
    ) -> dict[str, Vectors]:
        """The sound vectors by digest; empty where the job left no results. `tokens_of` a digest
        is asked where the provider does not say."""
        if state.output is None:
            return {}
        request = self._api.download(self._target, state.output)
        cap = (job.dims * BYTES_A_NUMBER + LINE_BYTES) * len(job.digests)

        def read(deadline: Deadline) -> _Results:
            results = _Results(self._api, frozenset(job.digests), job.dims)
            self._plain.read_lines(request, deadline, cap, results.take)
            return results

        results = self._again(read, TRANSFER_S, "the results", _passes)
        tokens = [results.tokens.get(one) or tokens_of(one) for one in results.rows]
        self._plain.count_served(len(tokens), sum(tokens), self._api.price_share)
        return results.rows

    # -- exchanges -------------------------------------------------------------------------------

    def _tried(self, request: Request, seconds: float, what: str) -> Json:
        passes = _served_not if what == "create" else _passes
        return self._again(
            lambda deadline: self._plain.exchange(request, deadline, ANSWER_BYTES).data,
            seconds,
            what,
            passes,
        )

    def _asked(self, request: Request, seconds: float) -> Json:
        deadline = Deadline.after(seconds, self._runtime.clock)
        return self._plain.exchange(request, deadline, ANSWER_BYTES).data

    def _again(
        self,
        ask: Callable[[Deadline], T],
        seconds: float,
        what: str,
        passes: Callable[[EmbedderFailed], bool],
    ) -> T:
        deadline = Deadline.after(seconds, self._runtime.clock)
        tried = 1
        while True:
            try:
                return ask(deadline)
            except EmbedderRefused as error:
                raise BatchFailed(f"{what}: {error}", lasting=what != "the results") from error
            except EmbedderFailed as error:
                pause = pause_s(error, tried, self._runtime.retry, self._runtime.random())
                if pause is None or not passes(error) or pause >= deadline.left_s():
                    raise BatchFailed(f"{what}: {error}") from error
            self._runtime.sleep(pause)
            tried += 1


class _Results:
    """What the lines of a result file said, as far as it can be used."""

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
            return  # Cut off, or no JSON: whose it was shows by what is missing.
        if result is None or result.custom_id not in self._wanted:
            return
        if result.custom_id in self._seen:
            self.rows.pop(result.custom_id, None)  # Twice: nobody knows which of them is right.
            return
        self._seen.add(result.custom_id)
        with suppress(NotRows):
            self.rows[result.custom_id] = unit_vectors([result.row], 1, self._dims)[0]
            self.tokens[result.custom_id] = result.tokens


def poll_pause_s(looks: int, interval_s: float) -> float:
    """Half as long again each time, so that a job of a minute and one of a day are both met."""
    return interval_s * min(1.5 ** min(looks, 20), SLOWEST)


def _passes(error: EmbedderFailed) -> bool:
    from notewell.embedders.error_mapping import MAY_PASS

    return isinstance(error, EmbedderUnreachable) or error.http_status in MAY_PASS


def _served_not(error: EmbedderFailed) -> bool:
    return error.http_status in _NOT_SERVED


def line_of(api: BatchApi, plain: RemoteEmbedder, digest: str, text: str) -> bytes:
    line = api.line(plain.plan.target, digest, text)
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()


def why_not_done(job: StoredJob, state: JobState, rows: Mapping[str, Vectors]) -> str | None:
    """What to hold against a job that has ended; None if it did what it was for."""
    if state.phase != "done":
        return f"batch job {job.job_id} {state.phase}" + (f": {state.why}" if state.why else "")
    if state.output is None:
        return f"batch job {job.job_id} ended without results"
    if not rows:
        return f"batch job {job.job_id} gave not one usable vector"
    return None
