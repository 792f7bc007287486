"""Brings the index up to date in the background: at the start, when notes change, after writes.

The tools index the words of a few changed notes themselves, before they answer. Many changed notes
and vectors take longer; they are indexed here. If this fails, search continues with what it has.

    watch thread   `Memory.watch`: syncs whenever notes change; none if `sync.watch` is false
    sync thread    syncs when `wake` is called: at the start, after a write, after a search that
                   lacked vectors, and without a watch after every search
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from notewell.errors import NotewellError

if TYPE_CHECKING:
    from notewell.memory import Memory
    from notewell.sync import Progress, WatchEvent

STOP_WAIT_S = 5.0
"""One batch of vectors takes less. A slower thread is abandoned; the index survives that."""

_log = logging.getLogger(__name__)


class _StopRequested(Exception):
    """Aborts a sync between two batches. Finished batches are kept."""


class BackgroundSync:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.watches = memory.settings.sync.watch
        """Without a watch, only searches can notice that many notes have changed."""
        self._wakeup = threading.Event()
        self._stopping = threading.Event()
        self._idle = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notewell-sync", daemon=True)
        self._watch_thread = threading.Thread(
            target=self._watch, name="notewell-watch", daemon=True
        )

    def start(self) -> None:
        self.wake()
        self._thread.start()
        if self.watches:
            self._watch_thread.start()

    def wake(self) -> None:
        # In this order: `_run` sets `_idle` only if it sees no further wake-up.
        self._idle.clear()
        self._wakeup.set()

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Whether all requested syncs are done."""
        return self._idle.wait(timeout_s)

    def stop(self) -> None:
        self._stopping.set()
        self._wakeup.set()
        for thread in (self._thread, self._watch_thread):
            if thread.is_alive():
                thread.join(STOP_WAIT_S)

    def _watch(self) -> None:
        try:
            self._memory.watch(self._stopping, on_event=_log_event)
        except Exception:  # noqa: BLE001
            # The root of a thread. Searches still index a few changed notes themselves.
            _log.exception("the notes are not watched any more")

    def _run(self) -> None:
        while True:
            self._wakeup.wait()
            # Cleared before the sync: a write during the sync must cause another one.
            self._wakeup.clear()
            if self._stopping.is_set():
                return
            self._sync()
            if not self._wakeup.is_set():
                self._idle.set()

    def _sync(self) -> None:
        try:
            report = self._memory.sync(everything=False, progress=self._stop_when_requested)
        except _StopRequested:
            return
        except NotewellError as error:
            _log.warning("the index is not up to date: %s", error)
            return
        except Exception:  # noqa: BLE001
            # The root of a thread: the server must continue to answer.
            _log.exception("the index could not be brought up to date")
            return
        if report.trouble is not None:
            _log.warning("some notes are searched by words only: %s", report.trouble)

    def _stop_when_requested(self, _: Progress) -> None:
        if self._stopping.is_set():
            raise _StopRequested


def _log_event(event: WatchEvent) -> None:
    from notewell.sync import Failed, Scanning

    match event:
        case Failed():
            _log.warning("the index is not up to date: %s", event.error)
        case Scanning():
            _log.warning("no change notifications, scanning the notes instead: %s", event.why)
