"""The watched process: `python -m tests.hardening.powerloss.act ROOT STORY [FAULT]`.

A fault is a mistake of ours that the images must show: `unsynced` is SQLite without a sync,
`folder` is a publish that leaves the sync of its folder out. `names in X` leaves out every fsync
of the directory `X`, so the names of the notes and folders created in it may be lost.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import apsw
from tests.hardening.powerloss.all_stories import STORIES

from notewell.files import DirHandle, atomic
from notewell.index.sqlite import connect


def told(what: str) -> None:
    ctypes.CDLL(None).disk_log_mark(what.encode())


def make_mistake(fault: str) -> None:
    if fault == "unsynced":
        prepare = connect._prepare_writer

        def hurried(db: apsw.Connection) -> None:
            prepare(db)
            db.pragma("synchronous", "off")

        connect._prepare_writer = hurried
    elif fault == "folder":

        def not_at_all(path: Path) -> None:
            pass

        atomic.sync_directory = not_at_all  # type: ignore[attr-defined]
    elif fault.startswith("names in "):
        leave_out_sync_of(fault.removeprefix("names in "))
    else:
        raise ValueError(fault)


def leave_out_sync_of(name: str) -> None:
    sync = DirHandle.sync

    def sync_others(folder: DirHandle) -> None:
        # The handle does not know its name; the kernel does, and the harness needs Linux anyway.
        if Path(f"/proc/self/fd/{folder._fd}").readlink().name != name:
            sync(folder)

    DirHandle.sync = sync_others  # type: ignore[assignment,method-assign]


def main(root: str, story: str, *faults: str) -> None:
    for fault in faults:
        make_mistake(fault)
    STORIES[story]().act(Path(root), told)


if __name__ == "__main__":
    main(*sys.argv[1:])
