"""One writer at a time: a lock file in the folder of the entries.

LanceDB lets two processes append at once, but whoever looks for a near duplicate first and stores
after it must be alone for both, and so must whoever throws old files away. The kernel frees the
lock when its holder dies. Readers do not ask for it.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from notewell.entries.errors import EntriesBusy, EntriesUnreadable
from notewell.errors import NoteBusy
from notewell.notes import locked

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
        fd = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        why = (error.strerror or "unknown error").lower()
        raise EntriesUnreadable(str(folder), why) from error
    with ExitStack() as held:
        try:
            held.enter_context(locked(fd, str(folder), wait_s=wait_s))
        except NoteBusy as busy:
            raise EntriesBusy(str(folder), busy.waited_s) from None
        yield
