"""Whether batch jobs are worth trying. After two failures in a row they are off, and say why."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.embedders.batch.api import BatchFailed
    from notewell.ports import Waiting

FAILURES_BEFORE_OFF = 2
"""As in the original: one bad job may be chance, a third would only cost time."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """What `status` can show."""

    off_because: str | None = None
    """None while jobs are tried; they stay off until the process ends."""
    failures: int = 0
    """In a row."""
    last_failure: str | None = None
    waiting: tuple[Waiting, ...] = ()


class BatchSwitch:
    """Shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = BatchState()

    @property
    def state(self) -> BatchState:
        return self._state

    @property
    def is_off(self) -> bool:
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
            elif failures >= FAILURES_BEFORE_OFF:
                off = off or f"{failures} batch jobs failed, the last one: {failure.why}"
            self._state = replace(
                self._state, failures=failures, last_failure=failure.why, off_because=off
            )

    def now_waiting(self, waiting: tuple[Waiting, ...]) -> None:
        with self._lock:
            self._state = replace(self._state, waiting=waiting)
