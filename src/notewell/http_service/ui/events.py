"""Broadcasts events to open pages: one broadcaster for all agents of a server.

A topic only says what kind of data has changed; the page then loads that data again. So a slow
subscriber loses nothing when it is dropped: the browser reconnects and loads everything.

Other processes (an MCP server over stdio, the command line) write to the same memory without
telling us. So each stream also polls the modification times of our files every few seconds.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TYPE_CHECKING

from notewell.capture import HISTORY, SEARCHES
from notewell.http_service.agents import (
    ChangedElsewhere,
    ContentWritten,
    SearchAnswered,
    SyncFinished,
    SyncStarted,
)
from notewell.sync import Failed, Heard, Synced

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.http_service.agents import Agents, Event
    from notewell.memory import Memory

MAX_SUBSCRIBERS = 32
"""Per agent: a person has a few tabs open. Each costs a connection."""
MAX_QUEUED = 16
"""Topics that wait for one subscriber."""


def topic_of(event: Event) -> str | None:
    """The topic of a server event; None if it changes nothing that a page shows."""
    match event:
        case SyncStarted():
            return "sync began"
        case SyncFinished() | Synced():
            return "sync ended"
        case Failed():
            return "sync failed"
        case Heard() | ContentWritten():
            return "notes"
        case SearchAnswered():
            return "recall"
        case ChangedElsewhere():
            return event.topic
    return None


class TooManySubscribers(Exception):
    """A new subscriber is refused and no old one is dropped: all of them may come from one page
    that does not close its connections."""


class Subscriber:
    """The queue of one open page. It belongs to one event loop; `put` works from any thread."""

    def __init__(self) -> None:
        # Remembered here, because `put` is called from threads that have no loop.
        self._loop = asyncio.get_running_loop()
        self._wakeup = asyncio.Event()
        # A deque is thread-safe for append and popleft, so no lock is needed.
        self._topics: deque[str] = deque()
        self.is_dropped = False

    def put(self, topic: str) -> bool:
        """False if the queue is full or the loop is closed; then it must be dropped."""
        self.is_dropped = self.is_dropped or len(self._topics) >= MAX_QUEUED
        if not self.is_dropped:
            self._topics.append(topic)
        try:
            # asyncio objects are not thread-safe: only this method may be called from outside.
            self._loop.call_soon_threadsafe(self._wakeup.set)
        except RuntimeError:  # The loop is closed.
            self.is_dropped = True
        return not self.is_dropped

    def drop(self) -> None:
        self.is_dropped = True
        self.put("")

    async def next(self, wait_s: float) -> tuple[str, ...]:
        """The queued topics without duplicates; empty after `wait_s` seconds."""
        try:
            async with asyncio.timeout(wait_s):
                await self._wakeup.wait()
        except TimeoutError:
            return ()
        # Cleared before the queue is read: a topic that arrives meanwhile sets it again.
        self._wakeup.clear()
        topics = []
        # `popleft` one by one: another thread may append at the same time.
        while self._topics:
            topics.append(self._topics.popleft())
        return tuple(dict.fromkeys(topics))


class EventBroadcaster:
    """Listens to the agents of a server and forwards topics to the subscribers of each agent."""

    def __init__(self, agents: Agents) -> None:
        self._lock = threading.Lock()
        self._subscribers: dict[str, list[Subscriber]] = {}
        self._is_closed = False
        self._unsubscribe: Callable[[], None] = agents.listen(self._on_event)

    def join(self, agent: str) -> Subscriber:
        """Raises `TooManySubscribers`."""
        subscriber = Subscriber()
        with self._lock:
            subscribers = self._subscribers.setdefault(agent, [])
            if self._is_closed or len(subscribers) >= MAX_SUBSCRIBERS:
                raise TooManySubscribers
            subscribers.append(subscriber)
        return subscriber

    def leave(self, agent: str, subscriber: Subscriber) -> None:
        with self._lock:
            subscribers = self._subscribers.get(agent, [])
            self._subscribers[agent] = [other for other in subscribers if other is not subscriber]

    def publish(self, agent: str, topic: str) -> None:
        with self._lock:
            subscribers = self._subscribers.get(agent, [])
            self._subscribers[agent] = [one for one in subscribers if one.put(topic)]

    def count(self, agent: str) -> int:
        with self._lock:
            return len(self._subscribers.get(agent, []))

    def close(self) -> None:
        """Drops all subscribers, so that the server can stop."""
        self._unsubscribe()
        with self._lock:
            self._is_closed = True
            dropped = [one for subscribers in self._subscribers.values() for one in subscribers]
            self._subscribers.clear()
        # Outside the lock: waking a loop may run code that wants the lock.
        for subscriber in dropped:
            subscriber.drop()

    def _on_event(self, agent: str, event: Event) -> None:
        topic = topic_of(event)
        if topic:
            self.publish(agent, topic)


def last_modified(memory: Memory) -> dict[str, tuple[int, ...]]:
    """For each topic, a value that changes whenever its data is written."""
    return {
        "index": memory.inspect.store.change_mark(),
        "recall": memory.journal.logs.change_mark(SEARCHES),
        "history": memory.journal.logs.change_mark(HISTORY),
    }
