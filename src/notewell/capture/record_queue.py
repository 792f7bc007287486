"""Writes records after the answer that they are about: one thread for all memories of a process.

    ask ──▶ answer            the caller goes on
      └──▶ RecordQueue ──▶ asked.jsonl, recalled.jsonl

A record is a by-product, so nobody is told that it was written. Whoever reads the files in the
same process calls `flush` first, and so does whoever closes a memory, and the end of the process.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import deque
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_WAITING = 256
"""A caller that would be the next one waits: records must not fill the memory on a slow disk."""
IDLE_S = 10.0
"""The thread ends after so long without a record."""
FLUSH_S = 10.0
"""Nobody waits longer for a disk that does not answer."""


class RecordQueue:
    """Records are written one at a time, in the order in which they came."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Callable[[], None]] = deque()
        self._added = self._done = 0
        self._is_running = False

    def add(self, write: Callable[[], None]) -> None:
        """`write` is called once, in another thread."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING, FLUSH_S)
            self._waiting.append(write)
            self._added += 1
            self._changed.notify_all()
            if not self._is_running:
                self._is_running = _starts(self._run)
            if self._is_running:
                return
        self._write_next()

    def flush(self) -> None:
        """Wait until everything that was added before is written."""
        with self._changed:
            added = self._added
            self._changed.wait_for(lambda: self._done >= added, FLUSH_S)

    def _run(self) -> None:
        while self._has_next():
            try:
                self._write_next()
            except Exception:  # noqa: BLE001 - the root of a thread: the other records must go on
                report = (*sys.exc_info(), threading.current_thread())
                threading.excepthook(threading.ExceptHookArgs(report))

    def _has_next(self) -> bool:
        with self._changed:
            if self._changed.wait_for(lambda: bool(self._waiting), IDLE_S):
                return True
            # Under the lock: a record that comes now starts another thread.
            self._is_running = False
            return False

    def _write_next(self) -> None:
        write = self._waiting[0]
        try:
            write()
        finally:
            with self._changed:
                self._waiting.popleft()
                self._done += 1
                self._changed.notify_all()


def _starts(run: Callable[[], None]) -> bool:
    """Whether a thread was started: none is, at the end of the process."""
    try:
        # A daemon: the end of the process waits for `flush`, and not for IDLE_S.
        threading.Thread(target=run, name="notewell-journal", daemon=True).start()
    except RuntimeError:
        return False
    return True


@cache
def record_queue() -> RecordQueue:
    """The one of this process."""
    queue = RecordQueue()
    atexit.register(queue.flush)
    if hasattr(os, "register_at_fork"):
        # A forked process has neither the thread nor a right to what waits for it.
        os.register_at_fork(after_in_child=record_queue.cache_clear)
    return queue
