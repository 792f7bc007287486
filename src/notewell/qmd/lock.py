"""One update of an index at a time, over all processes.

Four updates of an empty index at once: three died of a broken constraint. The kernel frees the
lock when its holder dies. Searches do not ask for it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from notewell.files import LockFailed, LockTimeout, file_lock
from notewell.qmd.failures import QmdFailed, not_writable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def updating(lock: Path, *, wait_s: float) -> Iterator[None]:
    """Hold the right to update; raises `busy` after `wait_s` seconds."""
    try:
        with file_lock(lock, wait_s=wait_s):
            yield
    except LockTimeout:
        why = f"another process updates this index; waited {wait_s:g} s"
        raise QmdFailed("busy", why) from None
    except LockFailed as failed:
        raise not_writable(lock.parent, failed.error) from failed.error
