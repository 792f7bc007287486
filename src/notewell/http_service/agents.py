"""The memories that are served: opened on first use, kept open, and watched for changes.

    Agents ── id ──▶ OpenedMemory   one per configured agent, shared by all worker threads
              ├────▶ models         one of each for all agents
              ├────▶ notifier       one for all agents
              └────▶ workers        processes that search, if there are several

    AgentDirectory ── Roster ──▶ Agents.update: agents come and go while the service runs

Listeners receive every event: what the watcher reports, answered searches, and writes.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from notewell.assembly import open_memory
from notewell.embedders import SharedModels
from notewell.errors import BadRequest, NotewellError
from notewell.http_service.opened_memory import OpenedMemory, SyncTurns
from notewell.notes import IN_DATABASE
from notewell.records import dataclass
from notewell.sync import open_shared_notifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from notewell.config import Settings
    from notewell.http_service.workers import SearchWorkers
    from notewell.memory import Memory
    from notewell.ports import Embedder
    from notewell.sync import NotifierShare, SharedNotifier, SyncReport, WatchEvent
    from notewell.types import Mode

STOP_WAIT_S = 5.0
"""For all watches together. One batch of vectors takes less. A slower thread is abandoned; the
index survives that."""
RETIRE_WAIT_S = 60.0
"""For the requests that run when their agent is removed. A search takes less."""

_log = logging.getLogger(__name__)


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


@dataclass(frozen=True, slots=True)
class ChangedElsewhere:
    """Another replica of this service has changed something."""

    topic: str
    """See `ui.events.topic_of`."""


Event: TypeAlias = (
    "WatchEvent | SearchAnswered | ContentWritten | SyncStarted | SyncFinished | ChangedElsewhere"
)
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


class Roster(NamedTuple):
    """The agents to serve; requests that name none get the first one that their token opens."""

    agents: Mapping[str, ServedAgent]
    route: Callable[[str], str | None] = lambda _: None
    """The agent to which bindings route a session key; None if they say nothing about it."""


class AgentDirectory(Protocol):
    """Where the agents of a service are configured. A `DirectoryFollower` asks it again and again,
    and hands what it says to `Agents.update`."""

    def mark(self) -> object:
        """A value that changes whenever `read` may return something else. It must be cheap."""

    def read(self) -> Roster:
        """Raises a `NotewellError` if nobody can say; then the agents stay as they are."""


class RosterChange(NamedTuple):
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Their folder or their settings are others; they are opened anew."""


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
        may_be_empty: bool = False,
    ) -> None:
        self._may_be_empty = may_be_empty
        self._require_agents(served)
        self._served = dict(served)
        self._preload_used: set[str] = set()
        self._state = state
        self._watch = watch
        self._embedder = embedder
        self.workers = workers
        """Processes that search; None: this process does."""
        self._models = SharedModels()
        self._notifier: SharedNotifier | None = None
        self._may_watch = threading.Event()
        self._may_watch.set()
        self._sync_turns = SyncTurns()
        self.route = route
        """See `Roster.route`."""
        self.look_again: Callable[[], object] = lambda: None
        """Ask the directory now: a request names an agent that is not known here yet."""
        self._open: dict[str, OpenedMemory] = {}
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

    # -- opening ---------------------------------------------------------------------------------

    def memory(self, agent: str) -> Memory:
        """Raises what `open_memory` raises. A failed open is tried again by the next call."""
        return self._opened(agent).memory

    @contextmanager
    def using(self, agent: str) -> Iterator[Memory]:
        """The memory, which stays open until the end of the block if its agent is removed."""
        with self._opened(agent).in_use() as memory:
            yield memory

    def _opened(self, agent: str) -> OpenedMemory:
        # One lock for all agents: two threads must never open the same memory twice.
        with self._lock:
            opened = self._open.get(agent)
            if opened is None:
                opened = self._open[agent] = self._open_memory(agent)
            return opened

    def open_all(self) -> None:
        """Opens the memories of all agents; their watches begin after the last one. So they can be
        searched before the first syncs, one for each agent, use the CPU."""
        self._may_watch.clear()
        try:
            for agent, served in list(self._served.items()):
                # A database has too many agents, and opens each of them quickly.
                if served.workspace == IN_DATABASE:
                    continue
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

    def _open_memory(self, agent: str) -> OpenedMemory:
        """Called with the lock held."""
        served = self._served.get(agent)
        if served is None:
            raise BadRequest("this server has no such agent")
        if self._closing.is_set():
            raise BadRequest("the server is shutting down")
        preloaded = None if agent in self._preload_used else served.preloaded
        self._preload_used.add(agent)
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
        opened = OpenedMemory(memory, self._sync_turns)
        # Notes in a database give no notice; a queue says which of them have changed.
        has_files = memory.notes.folder is not None
        if self._watch and has_files and memory.settings.sync.watch:
            opened.watch(
                self._new_share(), self._may_watch, lambda event: self.publish(agent, event)
            )
        return opened

    def _new_share(self) -> NotifierShare | None:
        """Called with the lock held. None: the watch opens a notifier of its own."""
        if self._notifier is None:
            self._notifier = open_shared_notifier()
        return self._notifier.share() if self._notifier else None

    def sync(self, agent: str, *, force: bool = False) -> SyncReport:
        """A sync on request. A shutdown, or the removal of the agent, ends it between batches."""
        opened = self._opened(agent)
        self.publish(agent, SyncStarted(force))
        started = time.monotonic()
        # Stays None if the sync raises: the finally block must still report the end.
        report = None
        try:
            report = opened.sync(force=force)
        finally:
            self.publish(agent, SyncFinished(report, time.monotonic() - started))
        return report

    # -- agents that come and go -----------------------------------------------------------------

    def update(self, roster: Roster) -> RosterChange:
        """Serves these agents from now on. Returns when the memories of the others are closed,
        which may take as long as their requests; new ones are opened by `open_all`."""
        self._require_agents(roster.agents)
        with self._lock:
            if self._closing.is_set():
                return RosterChange()
            change = _difference(self._served, roster.agents)
            self._served, self.route = dict(roster.agents), roster.route
            ended = (*change.removed, *change.changed)
            self._preload_used.difference_update(ended)
            retired = {agent: self._open.pop(agent) for agent in ended if agent in self._open}
        _close(retired, RETIRE_WAIT_S)
        return change

    def _require_agents(self, served: Mapping[str, ServedAgent]) -> None:
        if not served and not self._may_be_empty:
            raise BadRequest("there is no agent to serve")

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
        _close(closing, STOP_WAIT_S)
        if notifier is not None:
            notifier.close()
        self._models.close()
        if self.workers is not None:
            self.workers.close()


def _difference(
    before: Mapping[str, ServedAgent], after: Mapping[str, ServedAgent]
) -> RosterChange:
    return RosterChange(
        added=tuple(agent for agent in after if agent not in before),
        removed=tuple(agent for agent in before if agent not in after),
        changed=tuple(
            agent for agent in after if agent in before and before[agent] != after[agent]
        ),
    )


def _close(memories: Mapping[str, OpenedMemory], wait_s: float) -> None:
    # All watchers are signalled before the first join, so that they stop in parallel.
    for opened in memories.values():
        opened.ask_to_stop()
    deadline_s = time.monotonic() + wait_s
    for agent, opened in memories.items():
        try:
            opened.close(deadline_s - time.monotonic())
        # One memory that fails to close must not keep the others open.
        except NotewellError as error:
            _log.warning("cannot close the memory of %s: %s", agent, error)


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
