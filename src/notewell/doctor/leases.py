"""Who holds the right to write, and whether he lives.

The kernel frees a lease when its holder dies; what stays is a file with a name in it, which says
nothing about now. So the lock itself is asked, for an instant and shared.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from notewell.doctor.finding import Finding
from notewell.doctor.state_files import is_alive
from notewell.index.sqlite import Lease, leases_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

LONG = {
    "writer": timedelta(minutes=10),
    "embedder": timedelta(days=2),
    "cache": timedelta(hours=1),
}
"""Writing takes seconds, many thousand notes minutes; a batch of vectors up to a day."""


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
