"""One appender at a time: a lock on the note itself.

No lock file, so nothing strange lies among the notes for sync tools to carry around, and agents
that keep their indexes in different places still meet at the same lock. The kernel frees it when
its holder dies. It is a lock among ourselves: an editor does not ask for it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

from notewell.errors import NoteBusy

if TYPE_CHECKING:
    from collections.abc import Iterator

POLL_S = 0.005
"""About as long as an append holds the lock."""

# On Windows a locked byte cannot be read by others, so the lock lies far behind every note.
_LOCK_OFFSET = 1 << 40


@contextlib.contextmanager
def locked(fd: int, path: str, *, wait_s: float) -> Iterator[None]:
    """Hold the lock of an open note, known to the user as `path`; closes it in the end."""
    try:
        _acquire(fd, path, wait_s)
        try:
            yield
        finally:
            _unlock(fd)
    finally:
        os.close(fd)


def _acquire(fd: int, path: str, wait_s: float) -> None:
    started = time.monotonic()
    while not _try_lock(fd):
        waited = time.monotonic() - started
        if waited >= wait_s:
            raise NoteBusy(path, waited)
        time.sleep(POLL_S)


if sys.platform == "win32":

    def _try_lock(fd: int) -> bool:
        import msvcrt

        os.lseek(fd, _LOCK_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        import msvcrt

        os.lseek(fd, _LOCK_OFFSET, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:

    def _try_lock(fd: int) -> bool:
        import fcntl

        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(fd: int) -> None:
        import fcntl

        # Closing alone would leave the lock to a child that was forked while we held it.
        fcntl.flock(fd, fcntl.LOCK_UN)
