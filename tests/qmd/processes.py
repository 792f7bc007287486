"""Which processes are there, and waiting until they are not."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterable
from contextlib import suppress


def group_of(leader: int) -> list[int]:
    """The processes of a group that are not yet dead."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, encoding="utf-8", check=True
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [int(pid) for pid, group, state in rows if int(group) == leader and state[0] != "Z"]


def await_end_of(pids: Iterable[int], *, within_s: float = 10.0) -> None:
    """Until the kernel says that each has ended, or the time is up."""
    for pid in pids:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            try:
                select.select([descriptor], [], [], within_s)
            finally:
                os.close(descriptor)
