"""Several batch jobs at once, and the circuit breaker that stops them.

    jobs ──take──▶ worker: begin, wait, collect ──▶ ready ──▶ the caller's thread

A failed job is counted by the breaker and forgotten; while the breaker is open, no further job is
started. Workers are daemon threads: Ctrl-C does not wait for a job, which goes on at the provider
and is resumed by the next run.
"""

from __future__ import annotations

import queue
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.embedders.batch.runner import BatchFailed, StillRunning, why_unfinished
from notewell.embedders.batching import estimated_tokens
from notewell.ports import Waiting
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterator, Mapping

    from notewell.embedders.batch.runner import JobRunner
    from notewell.embedders.batch.store import JobStore, StoredJob
    from notewell.ports import Vectors

    EndedJob = tuple[StoredJob, dict[str, Vectors]]

FAILURES_BEFORE_OPEN = 2
"""As in OpenClaw: one failed job may be chance, a third one would only cost time."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """What `status` can show."""

    off_because: str | None = None
    """None while jobs are tried. Once set, batch jobs stay off until the process ends."""
    failures: int = 0
    """In a row."""
    failed_jobs: int = 0
    """Altogether, in this process."""
    last_failure: str | None = None
    waiting: tuple[Waiting, ...] = ()


class BatchBreaker:
    """A circuit breaker for batch jobs that never closes again. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = BatchState()

    @property
    def state(self) -> BatchState:
        return self._state

    @property
    def is_open(self) -> bool:
        """Open: no further job is started, texts are sent as plain requests."""
        return self._state.off_because is not None

    def worked(self) -> None:
        with self._lock:
            self._state = replace(self._state, failures=0)

    def failed(self, failure: BatchFailed) -> None:
        with self._lock:
            failures = self._state.failures + 1
            off = self._state.off_because
            if failure.lasting:
                off = off or f"batch jobs cannot be used: {failure.why}"
            elif failures >= FAILURES_BEFORE_OPEN:
                off = off or f"{failures} batch jobs failed, the last one: {failure.why}"
            self._state = replace(
                self._state,
                failures=failures,
                failed_jobs=self._state.failed_jobs + 1,
                last_failure=failure.why,
                off_because=off,
            )

    def now_waiting(self, waiting: tuple[Waiting, ...]) -> None:
        with self._lock:
            self._state = replace(self._state, waiting=waiting)


class JobQueue:
    """The jobs of one call."""

    def __init__(
        self, texts: Mapping[str, str], lines: Mapping[str, bytes], jobs: deque[StoredJob]
    ) -> None:
        self.texts = texts
        self.lines = lines
        self.jobs = jobs
        self.ready: queue.SimpleQueue[EndedJob | None] = queue.SimpleQueue()
        """None when a worker has ended."""
        self.running: list[StoredJob] = []
        """Jobs that go on at the provider and that nobody waits for."""
        self.error: BaseException | None = None
        self.stop = False

    def take(self) -> StoredJob | None:
        try:
            return None if self.stop or self.error else self.jobs.popleft()
        except IndexError:
            return None

    def tokens_of(self, digest: str) -> int:
        return estimated_tokens(self.texts.get(digest, ""))


class JobWorkers:
    """Runs the jobs of all calls, at most `size` at once. Thread-safe."""

    def __init__(
        self,
        runner: JobRunner,
        store: JobStore,
        breaker: BatchBreaker,
        size: int,
        *,
        wait: bool = True,
    ) -> None:
        """`wait` False: a job that has not ended is left to a later run."""
        self._wait = wait
        self._runner = runner
        self._store = store
        self._breaker = breaker
        self._size = size
        self._in_flight = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._waiting: dict[str, Waiting] = {}
        self._on_waiting: Callable[[Waiting], None] | None = None

    @contextmanager
    def reporting(self, on_waiting: Callable[[Waiting], None]) -> Iterator[None]:
        self._on_waiting = on_waiting
        try:
            yield
        finally:
            self._on_waiting = None

    def run(self, jobs: JobQueue) -> Iterator[EndedJob]:
        """Each job that gave vectors, when it ends, in the caller's thread."""
        count = min(self._size, len(jobs.jobs))
        for number in range(count):
            threading.Thread(
                target=self._work, args=(jobs,), name=f"notewell-batch-{number}", daemon=True
            ).start()
        try:
            while count:
                ended = jobs.ready.get()
                if ended is None:
                    count -= 1
                else:
                    yield ended
        finally:
            jobs.stop = True  # Also if the caller is interrupted: nobody reads `ready` any more.
        if jobs.error is not None:
            raise jobs.error

    def _work(self, jobs: JobQueue) -> None:
        try:
            while (job := jobs.take()) is not None and not self._breaker.is_open:
                self._run_job(jobs, job)
        except BaseException as error:  # noqa: BLE001 - the root of a thread: raised by the caller
            jobs.error = error
        finally:
            jobs.ready.put(None)

    def _run_job(self, jobs: JobQueue, job: StoredJob) -> None:
        with self._in_flight:
            try:
                rows = self._fetch(jobs, job)
            except BatchFailed as failure:
                # A job that failed has nothing to resume.
                self._store.remove(job)
                self._breaker.failed(failure)
                return
            except StillRunning as running:
                jobs.running.append(running.job)
                return
            finally:
                # Also after a failure: the status must not show the job as waiting for ever.
                self._report(job, None)
        jobs.ready.put((job, rows))

    def _fetch(self, jobs: JobQueue, job: StoredJob) -> dict[str, Vectors]:
        """The vectors of a job that ended; raises `BatchFailed` if it has none, and `StillRunning`
        if nobody waits for its end."""
        if not job.job_id:
            job = self._begin(jobs, job)

        def on_progress(done: int) -> None:
            # The only place where a worker that waits for hours notices that nobody needs it.
            if jobs.stop:
                raise _Stopped
            self._report(job, Waiting(f"batch job {job.job_id}", done, len(job.digests)))

        on_progress(0)
        state = self._runner.wait(job, on_progress) if self._wait else self._runner.look(job)
        rows = self._runner.collect(job, state, jobs.tokens_of)
        problem = why_unfinished(job, state, rows)
        if problem is None:
            self._breaker.worked()
        elif not rows:
            raise BatchFailed(problem)
        else:
            # Its vectors are good and paid for, but the failure counts all the same.
            self._breaker.failed(BatchFailed(problem))
        return rows

    def _begin(self, jobs: JobQueue, job: StoredJob) -> StoredJob:
        # Written before the job exists: without a place to store its id, a restart would pay for
        # the same job again.
        try:
            self._store.put(job)
        except OSError as error:
            why = f"the id of a job cannot be stored ({error.strerror or error})"
            raise BatchFailed(why, lasting=True) from error
        begun = self._runner.begin(job, (jobs.lines[digest] for digest in job.digests))
        with suppress(OSError):  # It was writable a moment ago; if not now, we still wait for it.
            self._store.put(begun)
        return begun

    def _report(self, job: StoredJob, waiting: Waiting | None) -> None:
        with self._lock:
            if waiting is None:
                self._waiting.pop(job.name, None)
            else:
                self._waiting[job.name] = waiting
            self._breaker.now_waiting(tuple(self._waiting.values()))
            if waiting is not None and self._on_waiting is not None:
                self._on_waiting(waiting)


class _Stopped(Exception):
    """The caller is gone: end this worker."""
