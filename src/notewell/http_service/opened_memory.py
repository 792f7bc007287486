"""One open memory of the service: the thread that watches its notes, and who uses it now.

watch ──▶ a thread   runs `watch_index`: syncs whenever notes change
in_use ─▶ a count    a memory whose agent is removed is closed after the last request
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from notewell.errors import NotewellError
from notewell.sync import StopAskedFor, watch_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from notewell.memory import Memory
    from notewell.sync import NotifierShare, Progress, SyncReport, WatchEvent

TURN_POLL_S = 0.5
SYNCS_AT_ONCE = 2
"""Of the watches of all agents. At the start every agent has one to do: all of them at once would
take the CPU from requests. A search indexes what has just changed itself, so it does not wait."""

_log = logging.getLogger(__name__)


class SyncStopped(NotewellError):
    """Aborts a sync between two batches. Finished batches are kept."""

    def __init__(self) -> None:
        super().__init__(
            "the server is shutting down, or the agent was removed; finished work is kept"
        )

    def public_text(self) -> str:
        return str(self)


class SyncTurns:
    """Lets only a few watches sync at the same time."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(SYNCS_AT_ONCE)

    @contextmanager
    def turn(self, stop: threading.Event) -> Iterator[None]:
        """Raises `StopAskedFor`."""
        # Not for ever: at shutdown, one that hangs must not hold up the others.
        while not self._free.acquire(timeout=TURN_POLL_S):
            if stop.is_set():
                raise StopAskedFor
        try:
            if stop.is_set():
                raise StopAskedFor
            yield
        finally:
            self._free.release()


class OpenedMemory:
    """Thread-safe."""

    def __init__(self, memory: Memory, turns: SyncTurns) -> None:
        self.memory = memory
        self._turns = turns
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._notifier: NotifierShare | None = None
        self._uses = 0
        self._unused = threading.Condition()

    # -- use -------------------------------------------------------------------------------------

    @contextmanager
    def in_use(self) -> Iterator[Memory]:
        with self._unused:
            self._uses += 1
        try:
            yield self.memory
        finally:
            with self._unused:
                self._uses -= 1
                self._unused.notify_all()

    def sync(self, *, force: bool) -> SyncReport:
        """Raises `SyncStopped` if it is asked to stop."""
        with self.in_use() as memory:
            return memory.sync(force=force, progress=self._raise_if_stopped)

    def _raise_if_stopped(self, _: Progress) -> None:
        if self._stop.is_set():
            raise SyncStopped

    # -- the watch -------------------------------------------------------------------------------

    def watch(
        self,
        notifier: NotifierShare | None,
        may_begin: threading.Event,
        on_event: Callable[[WatchEvent], None],
    ) -> None:
        self._notifier = notifier
        # A daemon, so that a stuck watcher cannot keep the process alive after the join below.
        self._thread = threading.Thread(
            target=self._watch_notes,
            args=(may_begin, on_event),
            name=f"notewell-{self.memory.agent}",
            daemon=True,
        )
        self._thread.start()

    def _watch_notes(
        self, may_begin: threading.Event, on_event: Callable[[WatchEvent], None]
    ) -> None:
        may_begin.wait()
        try:
            watch_index(
                self.memory.indexer,
                self._sync_in_turn,
                self._stop,
                settings=self.memory.settings.sync,
                on_event=on_event,
                notifier=self._notifier,
            )
        except Exception:  # noqa: BLE001
            # The root of a thread. Without the watcher, each search syncs changed notes itself.
            _log.exception("the notes are not watched any more")

    def _sync_in_turn(self, **options: Any) -> SyncReport:
        with self._turns.turn(self._stop):
            return self.memory.sync(**options)

    # -- the end ---------------------------------------------------------------------------------

    def ask_to_stop(self) -> None:
        self._stop.set()
        if self._notifier is not None:
            self._notifier.wake()

    def close(self, wait_s: float) -> None:
        """Waits that long for the watch and the requests, then closes the memory."""
        deadline_s = time.monotonic() + wait_s
        if self._thread is not None:
            self._thread.join(max(0.0, wait_s))
        with self._unused:
            self._unused.wait_for(lambda: not self._uses, max(0.0, deadline_s - time.monotonic()))
        self.memory.close()
