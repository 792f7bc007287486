"""The thread that keeps QMD's index up, as `cadence` says when.

It is started by who expects to be asked for long. A failure is kept for `status` and tried again
later; searches go on meanwhile.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from notewell.errors import NotewellError
from notewell.qmd.failures import QmdFailed
from notewell.qmd.schedule import Kept, boot_pause, next_job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.qmd.schedule import Job
    from notewell.qmd.settings import QmdSettings

JOIN_S = 5.0
"""Its command has been killed when it is waited for, so this is long."""


class Keeper:
    """`jobs` do the work; they raise our errors."""

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
        self._kept = Kept(monotonic_s())
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        self._troubles: dict[Job, NotewellError] = {}

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def trouble(self, job: Job) -> NotewellError | None:
        """Why the job last failed; None if it went well, or was never done."""
        return self._troubles.get(job)

    def start(self) -> None:
        """Begin to keep up; a second call does nothing."""
        with self._changed:
            if self._thread is None and not self._is_stopping:
                self._kept = replace(self._kept, began=self._monotonic_s())
                self._thread = threading.Thread(
                    target=self._run, name="notewell-qmd-keeper", daemon=True
                )
                self._thread.start()

    def mark_dirty(self) -> None:
        """Something changed that the last update has not seen."""
        with self._changed:
            self._kept = replace(self._kept, is_dirty=True)
            self._changed.notify()

    def note(self, job: Job, trouble: NotewellError | None) -> None:
        """Somebody has done the job, here or elsewhere."""
        with self._changed:
            if trouble is None:
                self._troubles.pop(job, None)
            else:
                self._troubles[job] = trouble
            ended = getattr(self._kept, job).ended(self._monotonic_s(), well=trouble is None)
            self._kept = replace(self._kept, **{job: ended})
            self._changed.notify()

    def close(self, end_commands: Callable[[], None]) -> None:
        """Stop; `end_commands` ends what is under way."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        end_commands()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(JOIN_S)

    def _run(self) -> None:
        while (job := self._next()) is not None:
            if job == "update":
                with self._changed:  # What changes from here on is for the next one.
                    self._kept = replace(self._kept, is_dirty=False)
            trouble = self._done(job)
            if not self._is_stopping:
                self.note(job, trouble)

    def _next(self) -> Job | None:
        """Wait until something is due; None when it is time to stop."""
        with self._changed:
            while not self._is_stopping:
                due = next_job(self._kept, self._settings)
                left = None if due is None else due.at - self._monotonic_s()
                if due is not None and left is not None and left <= 0:
                    return due.job
                self._changed.wait(left)
        return None

    def _done(self, job: Job) -> NotewellError | None:
        """The first update is tried again at once where another process may have been at it."""
        is_first = job == "update" and self._kept.update.last is None
        tries = 1
        while True:
            try:
                self._jobs[job]()
            except QmdFailed as failure:
                pause = boot_pause(failure, tries) if is_first else None
                if pause is None or not self._rested(pause):
                    return failure
                tries += 1
            except NotewellError as trouble:
                return trouble
            else:
                return None

    def _rested(self, pause_s: float) -> bool:
        """Whether nobody wanted to stop meanwhile."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._is_stopping, pause_s)
