"""Brings the index up to date in the background: at the start, and whenever somebody wrote.

The words of a note are taken in by the tools themselves, before they answer. What takes longer,
the vectors, is done here. The notes stay the truth: when this fails, search goes on by words.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from notewell.errors import NotewellError

if TYPE_CHECKING:
    from notewell.memory import Memory
    from notewell.sync import Progress

STOP_WAIT_S = 5.0
"""A batch of vectors ends in less; who waits longer is left behind, and the index survives it."""

_log = logging.getLogger(__name__)


class _StopAskedFor(Exception):
    """Unwinds a sync between two batches; what is done is kept."""


class Keeper:
    """One thread, asleep until it is woken."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._idle = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notewell-keeper", daemon=True)

    def start(self) -> None:
        self.wake()
        self._thread.start()

    def wake(self) -> None:
        self._idle.clear()
        self._wanted.set()

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Whether everything asked for so far is done."""
        return self._idle.wait(timeout_s)

    def stop(self) -> None:
        self._stopping.set()
        self._wanted.set()
        self._thread.join(STOP_WAIT_S)

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._stopping.is_set():
                return
            self._sync()
            if not self._wanted.is_set():
                self._idle.set()

    def _sync(self) -> None:
        try:
            report = self._memory.sync(progress=self._go_on)
        except _StopAskedFor:
            return
        except NotewellError as error:
            _log.warning("the index is not up to date: %s", error)
            return
        except Exception:  # noqa: BLE001
            # The root of a thread: whatever it is, the server must go on answering.
            _log.exception("the index could not be brought up to date")
            return
        if report.trouble is not None:
            _log.warning("search goes by words alone for some notes: %s", report.trouble)

    def _go_on(self, _: Progress) -> None:
        if self._stopping.is_set():
            raise _StopAskedFor
