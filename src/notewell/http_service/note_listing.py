"""The files of each memory, sorted by path.

A list is kept for a moment, so that a client that turns its pages does not scan the folder for
each of them. When this service hears of a change, it forgets the list at once.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import is_private_path
from notewell.http_service.agents import ContentWritten, SyncFinished
from notewell.sync import Heard, Synced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.http_service.agents import Agents, Event
    from notewell.index import ListedNote
    from notewell.memory import Memory
    from notewell.types import NoteStat

TTL_S = 2.0
"""How long a list may be older than a change that nobody has told us of."""


class NoteListing(NamedTuple):
    paths: list[str]
    """Sorted."""
    files: Mapping[str, tuple[str, NoteStat]]
    """The source and the stat of each."""
    indexed: Mapping[str, ListedNote]
    """A note that has just been written is not in it yet."""

    def after(self, cursor: str | None, limit: int, *, sees_private: bool) -> list[str]:
        """The next paths, and one more if there are more."""
        start = 0 if cursor is None else bisect_right(self.paths, cursor)
        found: list[str] = []
        for path in self.paths[start:]:
            if sees_private or not is_private_path(path):
                found.append(path)
            if len(found) > limit:
                break
        return found


class NoteListings:
    """Thread-safe."""

    def __init__(self, agents: Agents, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._listings: dict[str, tuple[Memory, float, NoteListing]] = {}
        self._changes = 0
        agents.listen(self._on_event)

    def listing(self, agent: str, memory: Memory) -> NoteListing:
        with self._lock:
            known, changes = self._listings.get(agent), self._changes
        # A reopened memory is another object.
        if known and known[0] is memory and self._monotonic_s() < known[1]:
            return known[2]
        listing = _read(memory)
        with self._lock:
            # What has changed since the scan began may be missing in it.
            if self._changes == changes:
                until_s = self._monotonic_s() + TTL_S
                self._listings[agent] = (memory, until_s, listing)
        return listing

    def _on_event(self, agent: str, event: Event) -> None:
        if isinstance(event, Heard | Synced | ContentWritten | SyncFinished):
            with self._lock:
                self._changes += 1
                self._listings.pop(agent, None)


def _read(memory: Memory) -> NoteListing:
    files = {
        path: (source, note.stat)
        for source, scan in memory.inspect.scans().items()
        for path, note in scan.notes.items()
    }
    indexed = {note.path: note for note in memory.inspect.notes()}
    return NoteListing(sorted(files), files, indexed)
