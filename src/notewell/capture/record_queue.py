"""Writes records after the answer that they are about: one thread for all memories of a process.

    ask ──▶ answer            the caller goes on
      └──▶ RecordQueue ──▶ asked.jsonl, recalled.jsonl

A record is a by-product, so nobody is told that it was written. Whoever reads the files in the
same process calls `flush` first, and so does whoever closes a memory, and the end of the process.

A busy service asks a hundred questions a second. To write each record by itself would take a tenth
of the time of its searches, most of it for locks: so the records of a moment are written together.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from notewell.capture.logs import GatheredLines
from notewell.errors import NotewellError
from notewell.native_calls import native_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from notewell.capture.logs import LogWriter

    Record: TypeAlias = tuple[LogWriter, Callable[[LogWriter], None]]

MOST_WAITING = 256
"""A caller that would be the next one waits: records must not fill the memory on a slow disk."""
GATHER_S = 0.2
"""How long the first record waits for others. A process that is killed loses so much."""
IDLE_S = 10.0
"""The thread ends after so long without a record."""
FLUSH_S = 10.0
"""Nobody waits longer for a disk that does not answer."""


class RecordQueue:
    """Records are written in the order in which they came."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Record] = []
        self._added = self._done = 0
        self._is_running = False
        self._is_hurried = False
        """Somebody waits: no time for further records."""

    def add(self, logs: LogWriter, write: Callable[[LogWriter], None]) -> None:
        """`write` is called once, in another thread, with logs that gather what it appends."""
        with self._changed:
            if len(self._waiting) >= MOST_WAITING:
                self._hurry()
                self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING, FLUSH_S)
            self._waiting.append((logs, write))
            self._added += 1
            if len(self._waiting) == 1:  # To wake the thread for each one costs more than it.
                self._changed.notify_all()
            if not self._is_running:
                self._is_running = _starts(self._run)
            if self._is_running:
                return
        self._write_waiting()

    def flush(self) -> None:
        """Wait until everything that was added before is written."""
        with self._changed:
            added = self._added
            if self._done < added:
                self._hurry()
            self._changed.wait_for(lambda: self._done >= added, FLUSH_S)

    def _hurry(self) -> None:
        self._is_hurried = True
        self._changed.notify_all()

    def _run(self) -> None:
        while self._has_records():
            self._write_waiting()

    def _has_records(self) -> bool:
        with self._changed:
            if self._changed.wait_for(lambda: bool(self._waiting), IDLE_S):
                self._changed.wait_for(lambda: self._is_hurried, GATHER_S)
                return True
            # Under the lock: a record that comes now starts another thread.
            self._is_running = False
            return False

    def _write_waiting(self) -> None:
        with self._changed:
            records, self._is_hurried = self._waiting, False
            self._waiting = []
            self._changed.notify_all()  # There is room.
        try:
            _write(records)
        finally:
            with self._changed:
                self._done += len(records)
                self._changed.notify_all()


def _write(records: Sequence[Record]) -> None:
    gathered: dict[LogWriter, GatheredLines] = {}
    for logs, write in records:
        lines = gathered.setdefault(logs, GatheredLines(logs))
        try:
            with suppress(OSError, NotewellError):
                write(lines)
        except Exception:  # noqa: BLE001 - the root of a thread: the other records must go on
            report = (*sys.exc_info(), threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(report))
    for lines in gathered.values():
        with suppress(OSError, NotewellError):
            lines.write()


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
    native_calls()  # First: the thread that writes needs RE2 until `flush` returns.
    queue = RecordQueue()
    atexit.register(queue.flush)
    if hasattr(os, "register_at_fork"):
        # A forked process has neither the thread nor a right to what waits for it.
        os.register_at_fork(after_in_child=record_queue.cache_clear)
    return queue
