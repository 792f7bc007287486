"""Several jobs at once: workers take them one by one and hand on what each of them gave.

    jobs ──take──▶ worker: begin, wait, collect ──▶ ready ──▶ the caller's own thread

A job that fails is counted by the switch and forgotten; once the switch is off no further job is
begun. Workers are daemons: Ctrl-C does not wait for a job, which goes on at the provider and is
taken up by the next run.
"""

from __future__ import annotations

import queue
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.embedders.batch.api import BatchFailed
from notewell.embedders.batch.runner import why_not_done
from notewell.embedders.batching import estimated_tokens
from notewell.ports import Waiting

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterator, Mapping

    from notewell.embedders.batch.breaker import BatchSwitch
    from notewell.embedders.batch.runner import JobRunner
    from notewell.embedders.batch.store import JobStore, StoredJob
    from notewell.ports import Vectors

    Ended = tuple[StoredJob, dict[str, Vectors]]


class Work:
    """The jobs of one call."""

    def __init__(
        self, texts: Mapping[str, str], lines: Mapping[str, bytes], jobs: deque[StoredJob]
    ) -> None:
        self.texts = texts
        self.lines = lines
        self.jobs = jobs
        self.ready: queue.SimpleQueue[Ended | None] = queue.SimpleQueue()
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


class JobCrew:
    """From as many threads as you like; all calls together have `size` jobs under way."""

    def __init__(self, runner: JobRunner, store: JobStore, switch: BatchSwitch, size: int) -> None:
        self._runner = runner
        self._store = store
        self._switch = switch
        self._size = size
        self._under_way = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._waiting: dict[str, Waiting] = {}
        self._told: Callable[[Waiting], None] | None = None

    @contextmanager
    def telling(self, told: Callable[[Waiting], None]) -> Iterator[None]:
        self._told = told
        try:
            yield
        finally:
            self._told = None

    def done(self, work: Work) -> Iterator[Ended]:
        """Each job that gave vectors, as it ends, in the caller's thread."""
        count = min(self._size, len(work.jobs))
        for number in range(count):
            threading.Thread(
                target=self._work, args=(work,), name=f"notewell-batch-{number}", daemon=True
            ).start()
        try:
            while count:
                ended = work.ready.get()
                if ended is None:
                    count -= 1
                else:
                    yield ended
        finally:
            work.stop = True  # Also where the caller is interrupted: nobody waits any more.
        if work.error is not None:
            raise work.error

    def _work(self, work: Work) -> None:
        try:
            while (job := work.take()) is not None and not self._switch.is_off:
                self._do(work, job)
        except BaseException as error:  # noqa: BLE001 - the root of a thread: raised by the caller
            work.error = error
        finally:
            work.ready.put(None)

    def _do(self, work: Work, job: StoredJob) -> None:
        with self._under_way:
            try:
                rows = self._fetch(work, job)
            except BatchFailed as failure:
                self._store.remove(job)
                self._switch.failed(failure)
                return
            finally:
                self._say(job, None)
        work.ready.put((job, rows))

    def _fetch(self, work: Work, job: StoredJob) -> dict[str, Vectors]:
        """The vectors of a job that ended; raises where there are none."""
        if not job.job_id:
            job = self._begin(work, job)

        def told(done: int) -> None:
            if work.stop:
                raise _Stopped
            self._say(job, Waiting(f"batch job {job.job_id}", done, len(job.digests)))

        told(0)
        state = self._runner.wait(job, told)
        rows = self._runner.collect(job, state, work.tokens_of)
        problem = why_not_done(job, state, rows)
        if problem is None:
            self._switch.worked()
        elif not rows:
            raise BatchFailed(problem)
        else:
            self._switch.failed(BatchFailed(problem))
        return rows

    def _begin(self, work: Work, job: StoredJob) -> StoredJob:
        try:
            self._store.put(job)
        except OSError as error:
            why = f"the id of a job cannot be kept ({error.strerror or error})"
            raise BatchFailed(why, lasting=True) from error
        made = self._runner.begin(job, (work.lines[digest] for digest in job.digests))
        with suppress(OSError):  # It could be written a moment ago; if not now, we still wait.
            self._store.put(made)
        return made

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
