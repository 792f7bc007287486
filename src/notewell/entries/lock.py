"""One writer at a time: a lock file in the folder of the entries.

LanceDB lets two processes append at once, but whoever looks for a near duplicate first and stores
after it must be alone for both, and so must whoever throws old files away. The kernel frees the
lock when its holder dies. Readers do not ask for it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.entries.errors import EntriesBusy, EntriesUnreadable
from notewell.files import LockFailed, LockTimeout, describe_os_error, file_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "notewell.lock"
WAIT_S = 10.0
"""A store takes milliseconds, tidying up a few hundred: who holds it longer is stuck."""


@contextmanager
def alone(folder: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Nobody else of ours writes meanwhile; makes the folder where there is none."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EntriesUnreadable(str(folder), describe_os_error(error)) from error
    try:
        with file_lock(folder / NAME, wait_s=wait_s):
            yield
    except LockTimeout as busy:
        raise EntriesBusy(str(folder), busy.waited_s) from None
    except LockFailed as failed:
        raise EntriesUnreadable(str(folder), describe_os_error(failed.error)) from failed.error
