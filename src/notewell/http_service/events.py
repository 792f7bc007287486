"""What happens, told to every page that listens: one broadcaster for all agents of a server.

A listener has a short queue. News is only ever "look again", so whoever does not keep up loses
nothing by being dropped: his browser connects again and looks.

Other processes write to the same memory (an agent's own server, the command line) and do not tell
us. So each listener also looks, every few seconds, at when our files were last written.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TYPE_CHECKING

from notewell.capture import history, search_log
from notewell.http_service.agents import Recalled, SyncBegan, SyncEnded, Wrote
from notewell.sync import Failed, Heard, Synced

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell.http_service.agents import Agents, Event
    from notewell.memory import Memory

MAX_LISTENERS = 32
"""Of one agent: a person has a few tabs open. Each costs a connection."""
MAX_WAITING = 16
"""Pieces of news that wait for a listener."""


def news_of(event: Event) -> str | None:
    """What an event of the server is to a page; None where it changes nothing that is shown."""
    match event:
        case SyncBegan():
            return "sync began"
        case SyncEnded() | Synced():
            return "sync ended"
        case Failed():
            return "sync failed"
        case Heard() | Wrote():
            return "notes"
        case Recalled():
            return "recall"
    return None


class TooManyListeners(Exception):
    """Nobody is dropped for a new one: they may all be the same page that forgets to hang up."""


class Listener:
    """Belongs to one event loop; told things from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._news: deque[str] = deque()
        self.is_dropped = False

    def put(self, news: str) -> bool:
        """False when it is full or gone: then it is to be dropped."""
        self.is_dropped = self.is_dropped or len(self._news) >= MAX_WAITING
        if not self.is_dropped:
            self._news.append(news)
        try:
            self._loop.call_soon_threadsafe(self._woken.set)
        except RuntimeError:  # The loop has been closed.
            self.is_dropped = True
        return not self.is_dropped

    def drop(self) -> None:
        self.is_dropped = True
        self.put("")

    async def next(self, wait_s: float) -> tuple[str, ...]:
        """What came, each once; nothing after `wait_s` seconds."""
        try:
            async with asyncio.timeout(wait_s):
                await self._woken.wait()
        except TimeoutError:
            return ()
        self._woken.clear()
        came = []
        while self._news:
            came.append(self._news.popleft())
        return tuple(dict.fromkeys(came))


class Live:
    """Hears what the agents of a server do and tells those who listen to one of them."""

    def __init__(self, agents: Agents) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str, list[Listener]] = {}
        self._is_closed = False
        self._end: Callable[[], None] = agents.listen(self._heard)

    def join(self, agent: str) -> Listener:
        """Raises `TooManyListeners`."""
        listener = Listener()
        with self._lock:
            known = self._listeners.setdefault(agent, [])
            if self._is_closed or len(known) >= MAX_LISTENERS:
                raise TooManyListeners
            known.append(listener)
        return listener

    def leave(self, agent: str, listener: Listener) -> None:
        with self._lock:
            known = self._listeners.get(agent, [])
            self._listeners[agent] = [one for one in known if one is not listener]

    def tell(self, agent: str, news: str) -> None:
        with self._lock:
            known = self._listeners.get(agent, [])
            self._listeners[agent] = [one for one in known if one.put(news)]

    def count(self, agent: str) -> int:
        with self._lock:
            return len(self._listeners.get(agent, []))

    def close(self) -> None:
        """Everybody who listens is let go, so that a server can end."""
        self._end()
        with self._lock:
            self._is_closed = True
            gone = [one for known in self._listeners.values() for one in known]
            self._listeners.clear()
        for listener in gone:
            listener.drop()

    def _heard(self, agent: str, event: Event) -> None:
        news = news_of(event)
        if news:
            self.tell(agent, news)


def last_written(memory: Memory) -> dict[str, tuple[int, ...]]:
    """When what a page shows was last written, by the news that a change of it is."""
    return {
        "index": memory.looking().indexer.store.change_mark(),
        "recall": _times([memory.captures / search_log.NAME]),
        "history": _times([memory.captures / history.NAME]),
    }


def _times(files: list[Path]) -> tuple[int, ...]:
    return tuple(number for file in files for number in _time(file))


def _time(file: Path) -> tuple[int, int]:
    try:
        found = file.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
