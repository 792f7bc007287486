"""The memories that are served: opened on first use, kept open, and watched for changes.

    Agents ── id ──▶ Memory     one per configured agent, shared by all worker threads
              ├────▶ a thread   runs `watch_index`: syncs whenever notes change
              ├────▶ models     one of each for all agents
              ├────▶ notifier   one for all agents
              └────▶ workers    processes that search, if there are several

Listeners receive every event: what the watcher reports, answered searches, and writes.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from notewell.assembly import open_memory
from notewell.embedders import SharedModels
from notewell.errors import BadRequest, NotewellError
from notewell.records import dataclass, field
from notewell.sync import StopAskedFor, open_shared_notifier, watch_index

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from notewell.config import Settings
    from notewell.http_service.workers import SearchWorkers
    from notewell.memory import Memory
    from notewell.ports import Embedder
    from notewell.sync import (
        NotifierShare,
        Progress,
        SharedNotifier,
        SyncReport,
        WatchEvent,
    )
    from notewell.types import Mode

STOP_WAIT_S = 5.0
"""For all watches together. One batch of vectors takes less. A slower thread is abandoned; the
index survives that."""
TURN_POLL_S = 0.5
SYNCS_AT_ONCE = 2
"""Of the watches of all agents. At the start every agent has one to do: all of them at once would
take the CPU from requests. A search indexes what has just changed itself, so it does not wait."""

_log = logging.getLogger(__name__)


class ShuttingDown(NotewellError):
    """Aborts a sync between two batches. Finished batches are kept."""

    def __init__(self) -> None:
        super().__init__("the server is shutting down; finished work is kept")

    def public_text(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class SearchAnswered:
    """A search was answered. The query itself is only in the search log of the memory."""

    tool: str
    """The surface: `http`, `mcp`, `page`."""
    mode: Mode
    took_ms: float


@dataclass(frozen=True, slots=True)
class ContentWritten:
    """A request wrote to a note or transcript."""

    what: str
    path: str


@dataclass(frozen=True, slots=True)
class SyncStarted:
    """A requested sync has started; `SyncFinished` follows."""

    force: bool


@dataclass(frozen=True, slots=True)
class SyncFinished:
    report: SyncReport | None
    """None if the sync failed."""
    took_s: float


Event: TypeAlias = "WatchEvent | SearchAnswered | ContentWritten | SyncStarted | SyncFinished"
Listener: TypeAlias = "Callable[[str, Event], None]"
"""Called with the agent and the event, in any thread. It must return quickly."""


class ServedAgent(NamedTuple):
    """Where an agent's notes are, and its settings."""

    workspace: str
    settings: Settings | None = None
    """None: read them from the configuration files."""
    preloaded: Settings | None = None
    """What the files said at the start, in place of reading them again for each of many agents. If
    the memory cannot be opened, the next attempt reads the files: they may have been corrected."""


@dataclass(slots=True)
class _OpenMemory:
    memory: Memory
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    notifier: NotifierShare | None = None

    def ask_to_stop(self) -> None:
        self.stop.set()
        if self.notifier is not None:
            self.notifier.wake()


class Agents:
    """Thread-safe. With `watch=False` the index is updated only by searches: for tests and
    one-shot programs."""

    def __init__(
        self,
        served: Mapping[str, ServedAgent],
        state: Path,
        *,
        watch: bool = True,
        embedder: Embedder | None = None,
        route: Callable[[str], str | None] = lambda _: None,
        workers: SearchWorkers | None = None,
    ) -> None:
        if not served:
            raise BadRequest("there is no agent to serve")
        self._served = dict(served)
        self._state = state
        self._watch = watch
        self._embedder = embedder
        self.workers = workers
        """Processes that search; None: this process does."""
        self._models = SharedModels()
        self._notifier: SharedNotifier | None = None
        self._may_watch = threading.Event()
        self._may_watch.set()
        self._sync_turns = threading.BoundedSemaphore(SYNCS_AT_ONCE)
        self.route = route
        """The agent to which the bindings of the settings route a session key; None if they say
        nothing about it."""
        self._open: dict[str, _OpenMemory] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        # The log is just the first listener, so it sees events in the same order as the others.
        self._listeners: list[Listener] = [_log_event]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._served)

    @property
    def state(self) -> Path:
        return self._state

    def memory(self, agent: str) -> Memory:
        """Raises what `open_memory` raises. A failed open is tried again by the next call."""
        # One lock for all agents: two threads must never open the same memory twice.
        with self._lock:
            opened = self._open.get(agent)
            if opened is None:
                opened = self._open_memory(agent)
                self._open[agent] = opened
            return opened.memory

    def open_all(self) -> None:
        """Opens the memories of all agents; their watches begin after the last one. So they can be
        searched before the first syncs, one for each agent, use the CPU."""
        self._may_watch.clear()
        try:
            for agent in self.ids:
                # The error appears again in the first request for this agent.
                with suppress(NotewellError):
                    # The count opens the index, which takes longer than everything else here.
                    self.memory(agent).inspect.counts()
        finally:
            self._may_watch.set()

    def opened(self) -> dict[str, Memory]:
        """The memories that have been opened so far."""
        with self._lock:
            return {agent: opened.memory for agent, opened in self._open.items()}

    def _open_memory(self, agent: str) -> _OpenMemory:
        served = self._served.get(agent)
        if served is None:
            raise BadRequest("this server has no such agent")
        if self._closing.is_set():
            raise BadRequest("the server is shutting down")
        self._served[agent], preloaded = served._replace(preloaded=None), served.preloaded
        memory = open_memory(
            served.workspace,
            agent=agent,
            state_dir=self._state,
            settings=served.settings or preloaded,
            embedder=self._embedder,
            shared_models=self._models,
            searcher=self.workers,
            # A person or the system's service file starts this service, with its own environment.
            started_by_user=True,
        )
        opened = _OpenMemory(memory)
        if self._watch and memory.settings.sync.watch:
            opened.notifier = self._new_share()
            # A daemon, so that a stuck watcher cannot keep the process alive after the join below.
            opened.thread = threading.Thread(
                target=self._watch_notes,
                args=(agent, opened),
                name=f"notewell-{agent}",
                daemon=True,
            )
            opened.thread.start()
        return opened

    def _new_share(self) -> NotifierShare | None:
        """Called with the lock held. None: the watch opens a notifier of its own."""
        if self._notifier is None:
            self._notifier = open_shared_notifier()
        return self._notifier.share() if self._notifier else None

    def _watch_notes(self, agent: str, opened: _OpenMemory) -> None:
        self._may_watch.wait()
        try:
            watch_index(
                opened.memory.indexer,
                partial(self._sync_in_turn, opened),
                opened.stop,
                settings=opened.memory.settings.sync,
                on_event=lambda event: self.publish(agent, event),
                notifier=opened.notifier,
            )
        except Exception:  # noqa: BLE001
            # The root of a thread. Without the watcher, each search syncs changed notes itself.
            _log.exception("the notes are not watched any more")

    def _sync_in_turn(self, opened: _OpenMemory, **options: Any) -> SyncReport:
        # Not for ever: at shutdown, one that hangs must not hold up the others.
        while not self._sync_turns.acquire(timeout=TURN_POLL_S):
            if opened.stop.is_set():
                raise StopAskedFor
        try:
            if opened.stop.is_set():
                raise StopAskedFor
            return opened.memory.sync(**options)
        finally:
            self._sync_turns.release()

    def sync(self, agent: str, *, force: bool = False) -> SyncReport:
        """A sync on request. A shutdown ends it between two batches."""
        memory = self.memory(agent)
        self.publish(agent, SyncStarted(force))
        started = time.monotonic()
        # Stays None if the sync raises: the finally block must still report the end.
        report = None
        try:
            report = memory.sync(force=force, progress=self._stop_when_closing)
        finally:
            self.publish(agent, SyncFinished(report, time.monotonic() - started))
        return report

    def _stop_when_closing(self, _: Progress) -> None:
        if self._closing.is_set():
            raise ShuttingDown

    # -- events ----------------------------------------------------------------------------------

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Subscribes a listener; returns the function that unsubscribes it."""
        # A new list each time: `publish` iterates without the lock.
        with self._lock:
            self._listeners = [*self._listeners, listener]

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = [other for other in self._listeners if other is not listener]

        return unsubscribe

    def publish(self, agent: str, event: Event) -> None:
        for listener in self._listeners:
            listener(agent, event)

    # -- shutdown --------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the watchers between two batches, then closes the memories and their processes."""
        with self._lock:
            # Under the lock: after this, no other thread can open a memory that nobody would
            # close.
            self._closing.set()
            self._may_watch.set()
            closing, self._open = dict(self._open), {}
            notifier, self._notifier = self._notifier, None
        # All watchers are signalled before the first join, so that they stop in parallel.
        for opened in closing.values():
            opened.ask_to_stop()
        deadline_s = time.monotonic() + STOP_WAIT_S
        for agent, opened in closing.items():
            if opened.thread is not None:
                opened.thread.join(max(0.0, deadline_s - time.monotonic()))
            try:
                opened.memory.close()
            # One memory that fails to close must not keep the others open.
            except NotewellError as error:
                _log.warning("cannot close the memory of %s: %s", agent, error)
        if notifier is not None:
            notifier.close()
        self._models.close()
        if self.workers is not None:
            self.workers.close()


def _log_event(agent: str, event: Event) -> None:
    from notewell.sync import Failed, Scanning, Synced

    match event:
        case Failed():
            _log.warning("the index of %s is not up to date: %s", agent, event.error)
        case Scanning():
            _log.warning(
                "no change notifications for the notes of %s, scanning instead: %s",
                agent,
                event.why,
            )
        case Synced() if event.report.trouble is not None:
            _log.warning("some notes of %s are searched by words only", agent)
