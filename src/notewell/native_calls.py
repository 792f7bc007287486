"""Calls of C++ code, and the end of the process.

At its end, Python ends every other thread that asks for its lock (before 3.14 by `pthread_exit`,
which unwinds the thread's stack). The bindings of onnxruntime and RE2 ask for the lock in a
destructor, and a destructor cannot be unwound: the process aborts with signal 6, "terminate called
without an active exception". Only daemon threads can be in such a call then: others are waited
for. So calls in progress are waited for, too, and a thread that begins one after that ends.

    thread    with native_calls(): …      counted while it lasts
    the end   no call begins any more ──▶ none is in progress ──▶ Python ends

What calls C alone (SQLite, zlib) or takes the lock outside of destructors needs none of this.
"""

from __future__ import annotations

import atexit
import os
import threading
from functools import cache

MAX_WAIT_S = 30.0
"""A call takes less than a second of one core, and the machine may be busy. A process that aborts
is better than one that never ends."""


class NativeCalls:
    """Thread-safe. A call may contain others."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._running: dict[int, int] = {}
        """How many calls each thread is in. Ctrl-C may leave one too many of the main thread."""
        self._ends_in: int | None = None
        """The thread that ends the process; it may still begin calls."""

    # Short texts are redacted by the thousand, so there is no lock. A thread writes `_running` and
    # then reads `_ends_in`; `end` writes and reads in the opposite order, so one sees the other.

    def __enter__(self) -> None:
        thread = threading.get_ident()
        self._running[thread] = self._running.get(thread, 0) + 1
        if self._ends_in is not None:
            try:
                self.check()
            except SystemExit:
                self.__exit__()
                raise

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        if self._running[thread] > 1:
            self._running[thread] -= 1
        else:
            del self._running[thread]
        if self._ends_in is not None:
            with self._changed:
                self._changed.notify_all()

    def check(self) -> None:
        """For a long call: ends this thread in order if the process ends."""
        if self._ends_in not in (None, threading.get_ident()):
            raise SystemExit

    def end(self) -> None:
        """Wait for the calls of other threads; none of them begins another one."""
        self._ends_in = threading.get_ident()
        with self._changed:
            self._changed.wait_for(self._is_alone, MAX_WAIT_S)

    def _is_alone(self) -> bool:
        return not self._running.keys() - {self._ends_in}


@cache
def native_calls() -> NativeCalls:
    """Those of this process. What is registered with `atexit` after the first call of this runs
    before the calls of other threads end."""
    calls = NativeCalls()
    atexit.register(calls.end)
    if hasattr(os, "register_at_fork"):
        # The threads of the parent, and so their calls, do not exist in a forked process.
        os.register_at_fork(after_in_child=calls._reset)  # noqa: SLF001 - of this module
    return calls
