"""Who holds the right to write, and whether he lives.

The kernel frees a lease when its holder dies; what stays is a file with a name in it, which says
nothing about now. So the lock itself is asked, for an instant and shared.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from notewell.doctor.finding import Finding
from notewell.doctor.state_files import is_alive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES: tuple[Literal["writer", "embedder", "cache"], ...] = ("writer", "embedder", "cache")
LONG = {
    "writer": timedelta(minutes=10),
    "embedder": timedelta(days=2),
    "cache": timedelta(hours=1),
}
"""Writing takes seconds, many thousand notes minutes; a batch of vectors up to a day."""

HOLDER_BYTES = 512


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
            found.append(Lease(name, _is_held(descriptor), *_holder(descriptor)))
        finally:
            os.close(descriptor)
    return found


def is_held(folder: Path, name: str) -> bool:
    return any(lease.name == name and lease.is_held for lease in leases_in(folder))


def lease_findings(folder: Path, now: datetime) -> Iterator[Finding]:
    leases = leases_in(folder)
    for lease in leases:
        if lease.is_held:
            yield _held(lease, folder, now)
    free = [lease for lease in leases if lease.is_held is False]
    if free:
        last = max(free, key=lambda lease: lease.since.timestamp() if lease.since else 0)
        ended = last.pid is not None and is_alive(last.pid) is False
        told = f"free: {', '.join(lease.name for lease in free)}; last held by {last.holder}"
        if ended:
            told += ", which has ended: the file it left is harmless"
        yield Finding("lease", told)


def _held(lease: Lease, folder: Path, now: datetime) -> Finding:
    told = f"the {lease.name} lease is held by {lease.holder}"
    if lease.pid is not None and is_alive(lease.pid) is False:
        told += "; that process is not to be seen: a child of it, or one in a container, has it"
    is_long = lease.since is not None and now - lease.since > LONG[lease.name]
    if not is_long:
        return Finding("lease", told)
    who = f"`fuser {folder / f'{lease.name}.lock'}` tells who it is"
    return Finding("lease", told, f"if it is stuck, end it, and the lease is free; {who}")


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


def _holder(descriptor: int) -> tuple[int | None, datetime | None]:
    try:
        told = json.loads(os.read(descriptor, HOLDER_BYTES))
        return int(told["pid"]), datetime.strptime(told["since"], "%Y-%m-%d %H:%M:%S %z")
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None, None
