"""One update of an index at a time, over all processes.

Four updates of an empty index at once: three died of a broken constraint. The kernel frees the
lock when its holder dies. Searches do not ask for it.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from notewell.qmd.failures import QmdFailed, not_writable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL_S = 0.05


@contextlib.contextmanager
def updating(lock: Path, *, wait_s: float) -> Iterator[None]:
    """Hold the right to update; raises `busy` after `wait_s` seconds."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise not_writable(lock.parent, error) from error
    try:
        _acquire(descriptor, wait_s)
        yield
    finally:
        _free(descriptor)


def _acquire(descriptor: int, wait_s: float) -> None:
    import fcntl  # Not on Windows, where QMD is not started at all.

    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                why = f"another process updates this index; waited {wait_s:g} s"
                raise QmdFailed("busy", why) from None
            time.sleep(POLL_S)
        else:
            return


def _free(descriptor: int) -> None:
    import fcntl

    # Closing alone would leave the lock to a child that was forked while we held it.
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
