"""The lock for the writer of a folder of tables, and fsync, which LanceDB never calls."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.entries.entry import EntriesBusy, EntriesUnreadable
from notewell.files import LockFailed, LockTimeout, describe_os_error, file_lock, sync_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK_FILE = "notewell.lock"
WAIT_S = 10.0
"""A store takes milliseconds and compaction a few hundred: a longer holder is stuck."""


@contextmanager
def writer_lock(folder: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """One writer at a time, across processes; makes the folder if it is missing.

    LanceDB allows two processes to append at once. But a search for a duplicate and the store
    after it must be one step, and so must a rewrite of the table. Readers do not need the lock.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EntriesUnreadable(str(folder), describe_os_error(error)) from error
    try:
        with file_lock(folder / LOCK_FILE, wait_s=wait_s):
            yield
    except LockTimeout as busy:
        raise EntriesBusy(str(folder), busy.waited_s) from None
    except LockFailed as failed:
        raise EntriesUnreadable(str(folder), describe_os_error(failed.error)) from failed.error


@contextmanager
def synced(folder: Path) -> Iterator[None]:
    """Files that appear in the folder during the block are on disk afterwards; raises `OSError`.

    LanceDB never calls fsync. It commits by adding files and writes nothing in place, so it is
    enough to sync the new files.
    """
    before = _files(folder)
    yield
    new = {path for path, inode in _files(folder) - before}
    for path in new:
        _fsync(path, os.O_RDONLY)
    if sys.platform != "win32" and new:  # Other systems cannot open a folder.
        for parent in {str(folder), *map(os.path.dirname, new)}:
            _fsync(parent, os.O_RDONLY | os.O_DIRECTORY)


def _files(folder: Path) -> set[tuple[str, int]]:
    """With their inodes: a file that was replaced counts as new."""
    files = set()
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118 - many of them, and only a name
            files.add((path, os.lstat(path).st_ino))
    return files


def _fsync(path: str, flags: int) -> None:
    fd = os.open(path, flags)
    try:
        sync_file(fd)
    finally:
        os.close(fd)
