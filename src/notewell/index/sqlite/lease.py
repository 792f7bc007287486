"""Leases on an index folder: file locks that name their holder, with errors of the index.

The kernel frees a lease when its holder dies. The lock file stays, and the name in it says nothing
about now; so `leases_in` probes the lock itself.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from notewell.errors import IndexBusy, StateNotWritable
from notewell.files import LockFailed, LockTimeout, file_lock, inspect_lock
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell.files import Holder

NAMES: tuple[Literal["writer", "embedder", "cache"], ...] = ("writer", "embedder", "cache")
NO_NAME = "a process that did not leave its name"


@contextmanager
def writer_lease(lock: Path, *, wait_s: float) -> Iterator[None]:
    """Hold a lease; raises `IndexBusy`, which names the holder, after waiting `wait_s` seconds."""
    try:
        with file_lock(lock, wait_s=wait_s):
            yield
    except LockTimeout as busy:
        holder = str(busy.holder) if busy.holder else NO_NAME
        raise IndexBusy(str(lock.parent), holder, busy.waited_s) from busy
    except LockFailed as failed:
        why = failed.error.strerror or str(failed.error)
        raise StateNotWritable(str(lock), why) from failed


class Lease(NamedTuple):
    """The state of one lease."""

    name: str
    is_held: bool | None
    """None if the file system has no locks."""
    last: Holder | None
    """The process that took it last; perhaps long ago."""

    @property
    def holder(self) -> str:
        if self.last is None:
            return NO_NAME
        return f"process {self.last.pid}, since {self.last.since:%Y-%m-%d %H:%M:%S}"


def leases_in(folder: Path) -> list[Lease]:
    """The leases that were ever taken in a folder."""
    # Probed, not taken: a check must not delay a writer.
    states = ((name, inspect_lock(folder / f"{name}.lock")) for name in NAMES)
    return [Lease(name, state.is_held, state.holder) for name, state in states if state]


def is_held(folder: Path, name: str) -> bool:
    return any(lease.name == name and lease.is_held for lease in leases_in(folder))
