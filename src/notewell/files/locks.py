"""One exclusive file lock for all packages: `flock`, and its counterpart on Windows.

    file_lock(path)     a lock file of its own; names its holder for those who wait
    locked_fd(fd)       a lock on a file that is open already: a note needs no lock file beside it

The kernel frees the lock when its holder dies, however it dies, so no lock is ever stale. It is
advisory: it excludes other processes and threads that take it, and nobody else.

Callers turn `LockTimeout` and `LockFailed` into an error of their own package (`IndexBusy`,
`NoteBusy`, …); both are raised only while the lock is taken, never by the body of the `with`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

from notewell.files.private import PRIVATE_FILE, give_to_owner
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST_PAUSE_S = 0.005
"""About as long as an append or a small state file holds its lock."""

LONGEST_PAUSE_S = 0.05
"""A sync holds its lock for seconds: polling faster would only burn the processor."""

HOLDER_BYTES = 512
_SINCE = "%Y-%m-%d %H:%M:%S %z"

NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})
"""A file system without locks refuses them with one of these."""

# On Windows others cannot read a locked byte, so the locked byte lies far behind the content.
_LOCK_OFFSET = 1 << 40


class Holder(NamedTuple):
    """The process that took a lock last. A process that has ended may still be named here."""

    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"process {self.pid}, since {self.since.strftime(_SINCE)}"


class LockState(NamedTuple):
    """What can be learned about a lock without taking it."""

    is_held: bool | None
    """None where the system or the file system cannot say."""

    holder: Holder | None


class LockTimeout(Exception):
    """Another process held the lock for the whole wait."""

    def __init__(self, waited_s: float, holder: Holder | None) -> None:
        super().__init__(f"another process holds the lock; waited {waited_s:.0f} s")
        self.waited_s = waited_s
        self.holder = holder


class LockFailed(Exception):
    """The lock file cannot be opened, or its file system has no locks."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"cannot lock {str(path)!r}: {error.strerror}")
        self.path = path
        self.error = error


@contextlib.contextmanager
def file_lock(path: Path, *, wait_s: float, names_holder: bool = True) -> Iterator[None]:
    """Hold the lock file `path`, which is made if it is missing and is never removed.

    Removing it would let two processes hold two files of the same name. Without `names_holder` it
    stays empty: to write the name takes longer than to add a line to a log.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        fd = os.open(path, flags, PRIVATE_FILE)
    except OSError as error:
        raise LockFailed(path, error) from error
    try:
        give_to_owner(fd, path.parent.stat())
        try:
            _acquire(fd, wait_s, names_holder=names_holder)
        except OSError as error:
            raise LockFailed(path, error) from error
        try:
            if names_holder:
                _write_holder(fd)
            yield
        finally:
            _unlock(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def locked_fd(fd: int, *, wait_s: float) -> Iterator[None]:
    """Hold the lock of an open file; closes the descriptor in the end, locked or not."""
    try:
        _acquire(fd, wait_s, names_holder=False)
        try:
            yield
        finally:
            _unlock(fd)
    finally:
        os.close(fd)


def inspect_lock(path: Path) -> LockState | None:
    """Whether a lock file is held and by whom; None if it is missing or unreadable."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        return LockState(_is_held(fd), _read_holder(fd))
    finally:
        os.close(fd)


def is_alive(pid: int) -> bool | None:
    """Whether a process of this id runs; None where it cannot be told."""
    if os.name == "nt" or not 0 < pid < 2**31:
        return None  # On Windows `os.kill` would end the process.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def has_locks(folder: Path) -> bool:
    """Whether files in a folder can have the locks that SQLite takes, which are no `flock`. True
    where no file can be made to try it."""
    if sys.platform == "win32":
        return True
    import fcntl
    from tempfile import TemporaryFile

    try:
        # A file of its own: to close a file frees all such locks that this process has on it.
        with TemporaryFile(dir=folder) as probe:
            fcntl.lockf(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in NO_LOCKS
    return True


def _acquire(fd: int, wait_s: float, *, names_holder: bool) -> None:
    started = time.monotonic()
    pause_s = FIRST_PAUSE_S
    while not _try_lock(fd):
        waited_s = time.monotonic() - started
        if waited_s >= wait_s:
            raise LockTimeout(waited_s, _read_holder(fd) if names_holder else None)
        time.sleep(min(pause_s, max(0.0, wait_s - waited_s)))
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def _write_holder(fd: int) -> None:
    # Only a courtesy for those who wait: a full disk must not stop a sync that may free room.
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        holder = {"pid": os.getpid(), "since": time.strftime(_SINCE)}
        os.write(fd, json.dumps(holder).encode())


def _read_holder(fd: int) -> Holder | None:
    """None for a holder that wrote no name, or whose name was torn."""
    try:
        os.lseek(fd, 0, os.SEEK_SET)
        holder = json.loads(os.read(fd, HOLDER_BYTES))
        since = datetime.strptime(holder["since"], _SINCE)  # noqa: DTZ007 - it has %z
        return Holder(int(holder["pid"]), since)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


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

    def _is_held(fd: int) -> bool | None:
        return None  # Windows has no shared probe; taking the lock would disturb others.

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

    def _is_held(fd: int) -> bool | None:
        import fcntl

        try:
            # Shared, and for an instant: two probes do not take each other for a holder.
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return None  # A file system without locks.
        fcntl.flock(fd, fcntl.LOCK_UN)
        return False
