"""Keeps QMD's index up to date: `next_job` decides when, `BackgroundUpdater` does it.

    update   at the start, then every interval; after a change as soon as the debounce allows
    embed    every embed interval, in the modes that use vectors
    failed   again after a backoff of 60 s, 120 s, … up to an hour, separately for each job

The decision reads no clock: times are arguments, in seconds of a monotonic clock.

Only a long-lived process starts the thread. A failure is kept for `status` and the job is tried
again later; searches continue meanwhile.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from notewell.errors import NotewellError
from notewell.qmd.failures import QmdFailed, backoff_s
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.qmd.settings import QmdSettings

Job: TypeAlias = Literal["update", "embed"]

BOOT_TRIES = 3
FIRST_BOOT_PAUSE_S = 0.5
JOIN_S = 5.0
"""Ample: `close` kills the command before it waits for the thread."""


# -- when ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JobRuns:
    """The past runs of one job."""

    last: float | None = None
    """When the last run ended, successful or not; None before the first."""
    failures: int = 0
    """In a row, up to now."""

    def ended(self, now: float, *, well: bool) -> JobRuns:
        return JobRuns(now, 0 if well else self.failures + 1)


@dataclass(frozen=True, slots=True)
class JobHistory:
    """What the decision depends on."""

    began: float
    update: JobRuns = JobRuns()
    embed: JobRuns = JobRuns()
    is_dirty: bool = False
    """Whether something changed after the last update started."""


class NextJob(NamedTuple):
    """A job and the time it is due; a time in the past means now."""

    job: Job
    at: float


def next_job(history: JobHistory, settings: QmdSettings) -> NextJob | None:
    """The job that is due first; None if no job will ever be due."""
    times: dict[Job, float | None] = {
        "update": _update_at(history, settings),
        "embed": _embed_at(history, settings),
    }
    due = [NextJob(job, at) for job, at in times.items() if at is not None]
    return min(due, key=lambda job: job.at, default=None)


def _update_at(history: JobHistory, settings: QmdSettings) -> float | None:
    runs = history.update
    if runs.failures and runs.last is not None:
        return runs.last + backoff_s(runs.failures)
    if runs.last is None:
        if settings.update_on_boot:
            return history.began
        wait_s = settings.debounce_s if history.is_dirty else settings.interval_s
        return history.began + wait_s if wait_s or history.is_dirty else None
    if history.is_dirty:
        return runs.last + settings.debounce_s
    if not settings.interval_s:  # 0 switches periodic updates off.
        return None
    # The debounce is the minimum between two updates, also where the interval is shorter.
    return runs.last + max(settings.interval_s, settings.debounce_s)


def _embed_at(history: JobHistory, settings: QmdSettings) -> float | None:
    if settings.search_mode == "search" or not settings.embed_interval_s:
        return None
    # Before the first good update QMD has no text to embed.
    if history.update.last is None or history.update.failures:
        return None
    runs = history.embed
    if runs.last is None:
        return history.update.last
    if runs.failures:
        return runs.last + backoff_s(runs.failures)
    return runs.last + settings.embed_interval_s


def boot_pause(failure: QmdFailed, tries: int) -> float | None:
    """The pause before the first update is tried again; None to give up."""
    # Both kinds come from another process that is using the index, which ends soon.
    if tries >= BOOT_TRIES or failure.kind not in ("busy", "timeout"):
        return None
    return FIRST_BOOT_PAUSE_S * 2.0 ** (tries - 1)


# -- the thread ----------------------------------------------------------------------------------


class BackgroundUpdater:
    """Runs `jobs` when they are due. A job raises a `NotewellError` if it fails."""

    def __init__(
        self,
        settings: QmdSettings,
        jobs: Mapping[Job, Callable[[], object]],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._jobs = jobs
        self._monotonic_s = monotonic_s
        self._changed = threading.Condition()
        self._history = JobHistory(monotonic_s())
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        self._failures: dict[Job, NotewellError] = {}

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def failure(self, job: Job) -> NotewellError | None:
        """Why the last run of the job failed; None if it succeeded or never ran."""
        return self._failures.get(job)

    def start(self) -> None:
        """Start the thread; a second call does nothing."""
        with self._changed:
            if self._thread is None and not self._is_stopping:
                self._history = replace(self._history, began=self._monotonic_s())
                self._thread = threading.Thread(
                    target=self._run, name="notewell-qmd-updater", daemon=True
                )
                self._thread.start()

    def mark_dirty(self) -> None:
        """Something changed that the last update has not seen."""
        with self._changed:
            self._history = replace(self._history, is_dirty=True)
            self._changed.notify()

    def record(self, job: Job, failure: NotewellError | None) -> None:
        """The job was run, by this thread or by another caller."""
        with self._changed:
            if failure is None:
                self._failures.pop(job, None)
            else:
                self._failures[job] = failure
            ended = getattr(self._history, job).ended(self._monotonic_s(), well=failure is None)
            self._history = replace(self._history, **{job: ended})
            self._changed.notify()

    def close(self, end_commands: Callable[[], None]) -> None:
        """Stop the thread; `end_commands` kills the command it may be waiting for."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        end_commands()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(JOIN_S)

    def _run(self) -> None:
        while (job := self._wait_for_job()) is not None:
            if job == "update":
                # Cleared before the update starts: a change during it belongs to the next one.
                with self._changed:
                    self._history = replace(self._history, is_dirty=False)
            failure = self._run_job(job)
            if not self._is_stopping:  # A job that `close` killed has not failed.
                self.record(job, failure)

    def _wait_for_job(self) -> Job | None:
        """The next job, when it is due; None when the thread must stop."""
        with self._changed:
            while not self._is_stopping:
                due = next_job(self._history, self._settings)
                left_s = None if due is None else due.at - self._monotonic_s()
                if due is not None and left_s is not None and left_s <= 0:
                    return due.job
                self._changed.wait(left_s)
        return None

    def _run_job(self, job: Job) -> NotewellError | None:
        """The first update is retried at once, because another process may be updating too."""
        is_first = job == "update" and self._history.update.last is None
        tries = 1
        while True:
            try:
                self._jobs[job]()
            except QmdFailed as failure:
                pause_s = boot_pause(failure, tries) if is_first else None
                if pause_s is None or not self._pause(pause_s):
                    return failure
                tries += 1
            except NotewellError as failure:
                return failure
            else:
                return None

    def _pause(self, pause_s: float) -> bool:
        """False if the thread must stop."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._is_stopping, pause_s)
