"""The watched process: `python -m tests.hardening.powerloss.act ROOT STORY [FAULT]`.

A fault is a mistake of ours that the images must show: `unsynced` is SQLite without a sync,
`folder` is a publish that leaves the sync of its folder out.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import apsw
from tests.hardening.powerloss.all_stories import STORIES

from notewell.index.sqlite import connect
from notewell.index.sqlite import folder as index_folder


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

        index_folder.sync_directory = not_at_all  # type: ignore[attr-defined]
    else:
        raise ValueError(fault)


def main(root: str, story: str, *faults: str) -> None:
    for fault in faults:
        make_mistake(fault)
    STORIES[story]().act(Path(root), told)


if __name__ == "__main__":
    main(*sys.argv[1:])
