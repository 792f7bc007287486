"""One writer at a time: a lock that the kernel frees when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from notewell.errors import IndexBusy, StateNotWritable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL_S = 0.05
HOLDER_BYTES = 512
NAMES: tuple[Literal["writer", "embedder", "cache"], ...] = ("writer", "embedder", "cache")
# On Windows a locked byte cannot be read by others, so the lock lies far behind what is written.
_LOCK_OFFSET = 1 << 20


@contextlib.contextmanager
def writer_lease(lock: Path, *, wait_s: float) -> Iterator[None]:
    """Hold the right to write, or say who holds it after waiting `wait_s` seconds."""
    descriptor = _open(lock)
    try:
        _acquire(descriptor, lock, wait_s)
        _write_holder(descriptor)
        yield
    finally:
        _close(descriptor)


def _open(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise StateNotWritable(str(lock), error.strerror or str(error)) from error


def _acquire(descriptor: int, lock: Path, wait_s: float) -> None:
    started = time.monotonic()
    while not _try_lock(descriptor):
        waited = time.monotonic() - started
        if waited >= wait_s:
            raise IndexBusy(str(lock.parent), _holder(descriptor), waited)
        time.sleep(POLL_S)


if sys.platform == "win32":

    def _try_lock(descriptor: int) -> bool:
        import msvcrt

        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _close(descriptor: int) -> None:
        os.close(descriptor)  # Closing frees the lock.

else:

    def _try_lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _close(descriptor: int) -> None:
        import fcntl

        # Closing alone would leave the lock to a child that was forked while we held it.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _write_holder(descriptor: int) -> None:
    # Only a courtesy for whoever waits: a full disk must not stop a sync that may free room.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        since = time.strftime("%Y-%m-%d %H:%M:%S %z")
        os.write(descriptor, json.dumps({"pid": os.getpid(), "since": since}).encode())


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        told = json.loads(os.read(descriptor, HOLDER_BYTES))
        return f"process {int(told['pid'])}, since {told['since']}"
    except (ValueError, KeyError, TypeError, OverflowError):
        return "a process that did not leave its name"


# -- looking at leases without taking them --------------------------------------------------------


class Lease(NamedTuple):
    name: str
    is_held: bool | None
    """None where it cannot be told."""
    pid: int | None
    since: datetime | None
    """Whose name the file has, and since when; perhaps of long ago."""

    @property
    def holder(self) -> str:
        if self.pid is None:
            return "a process that did not leave its name"
        since = f", since {self.since:%Y-%m-%d %H:%M:%S}" if self.since else ""
        return f"process {self.pid}{since}"


def leases_in(folder: Path) -> list[Lease]:
    """Of the leases that were ever taken here."""
    found = []
    for name in NAMES:
        try:
            descriptor = os.open(folder / f"{name}.lock", os.O_RDONLY)
        except OSError:
            continue  # Never taken, or not for us to look into.
        try:
            found.append(Lease(name, _is_held(descriptor), *_named_holder(descriptor)))
        finally:
            os.close(descriptor)
    return found


if sys.platform == "win32":

    def _is_held(descriptor: int) -> bool | None:
        return None  # There is no way to ask without taking it from others for a moment.

else:

    def _is_held(descriptor: int) -> bool | None:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return None  # A file system without locks.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        return False


def _named_holder(descriptor: int) -> tuple[int | None, datetime | None]:
    try:
        record = json.loads(os.read(descriptor, HOLDER_BYTES))
        return int(record["pid"]), datetime.strptime(record["since"], "%Y-%m-%d %H:%M:%S %z")
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None, None
