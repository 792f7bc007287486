"""The memories that are served: opened when they are first asked for, then held and kept up.

    Agents ── id ──▶ Memory     one a configured agent, from as many threads as you like
              └────▶ a thread   `Memory.watch`: syncs whenever notes change

Whoever listens is told what happens: what the watch tells, what was asked and what was written.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from notewell.errors import BadRequest, NotewellError
from notewell.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from notewell.config import Settings
    from notewell.memory import Memory
    from notewell.ports import Embedder
    from notewell.sync import Progress, SyncReport, WatchEvent
    from notewell.types import Mode

STOP_WAIT_S = 5.0
"""A batch of vectors ends in less; who takes longer is left behind, and the index survives it."""

_log = logging.getLogger(__name__)


class ShuttingDown(NotewellError):
    """Unwinds a sync between two batches; what is done is kept."""

    def __init__(self) -> None:
        super().__init__("the server is shutting down; what was done is kept")


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question was answered. What it was, the log of `Memory.answered` knows."""

    tool: str
    """The way it came: `http`, `mcp`, `page`."""
    mode: Mode
    took_ms: float


@dataclass(frozen=True, slots=True)
class Wrote:
    """Something was written on request."""

    what: str
    path: str


@dataclass(frozen=True, slots=True)
class SyncBegan:
    """Somebody asked for a sync; `SyncEnded` follows."""

    force: bool


@dataclass(frozen=True, slots=True)
class SyncEnded:
    report: SyncReport | None
    """None where it failed."""
    took_s: float


Event: TypeAlias = "WatchEvent | Recalled | Wrote | SyncBegan | SyncEnded"
Listener: TypeAlias = "Callable[[str, Event], None]"
"""Is called with the agent and what happened, in any thread; it must not take long."""


class Place(NamedTuple):
    """Where an agent's notes are, and what its settings say."""

    workspace: str
    settings: Settings | None = None
    """None leaves them to the files."""


@dataclass(slots=True)
class _Open:
    memory: Memory
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class Agents:
    """`watch=False` leaves the keeping up to the searches, for tests and one-shot programs."""

    def __init__(
        self,
        places: Mapping[str, Place],
        state: Path,
        *,
        watch: bool = True,
        embedder: Embedder | None = None,
    ) -> None:
        if not places:
            raise BadRequest("there is no agent to serve")
        self._places = dict(places)
        self._state = state
        self._watch = watch
        self._embedder = embedder
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._listeners: list[Listener] = [_logged]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._places)

    @property
    def state(self) -> Path:
        return self._state

    def memory(self, agent: str) -> Memory:
        """Raises what `open_memory` raises; an agent that failed to open is tried again."""
        with self._lock:
            known = self._open.get(agent)
            if known is None:
                known = self._opened(agent)
                self._open[agent] = known
            return known.memory

    def opened(self) -> dict[str, Memory]:
        """Those that somebody has asked for."""
        with self._lock:
            return {agent: one.memory for agent, one in self._open.items()}

    def _opened(self, agent: str) -> _Open:
        place = self._places.get(agent)
        if place is None:
            raise BadRequest("there is no such agent here")
        if self._closing.is_set():
            raise BadRequest("the server is shutting down")
        memory = open_memory(
            place.workspace,
            agent=agent,
            state_dir=self._state,
            settings=place.settings,
            embedder=self._embedder,
        )
        one = _Open(memory)
        if self._watch:
            one.thread = threading.Thread(
                target=self._keep_up, args=(agent, one), name=f"notewell-{agent}", daemon=True
            )
            one.thread.start()
        return one

    def _keep_up(self, agent: str, one: _Open) -> None:
        try:
            one.memory.watch(one.stop, on_event=lambda event: self.tell(agent, event))
        except Exception:  # noqa: BLE001
            # The root of a thread: searches go on, and take in what is new themselves.
            _log.exception("the notes are not watched any more")

    def sync(self, agent: str, *, force: bool = False) -> SyncReport:
        """A sync on request. When the server shuts down it ends between two batches."""
        memory = self.memory(agent)
        self.tell(agent, SyncBegan(force))
        started = time.monotonic()
        report = None
        try:
            report = memory.sync(force=force, progress=self._go_on)
        finally:
            self.tell(agent, SyncEnded(report, time.monotonic() - started))
        return report

    def _go_on(self, _: Progress) -> None:
        if self._closing.is_set():
            raise ShuttingDown

    # -- who listens -----------------------------------------------------------------------------

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Returns what ends it."""
        with self._lock:
            self._listeners = [*self._listeners, listener]

        def end() -> None:
            with self._lock:
                self._listeners = [one for one in self._listeners if one is not listener]

        return end

    def tell(self, agent: str, event: Event) -> None:
        for listener in self._listeners:
            listener(agent, event)

    # -- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the watches between two batches, then closes the memories and their children."""
        with self._lock:
            self._closing.set()
            ending, self._open = dict(self._open), {}
        for one in ending.values():
            one.stop.set()
        for agent, one in ending.items():
            if one.thread is not None:
                one.thread.join(STOP_WAIT_S)
            try:
                one.memory.close()
            except NotewellError as error:
                _log.warning("the memory of %s did not close: %s", agent, error)


def _logged(agent: str, event: Event) -> None:
    from notewell.sync import Failed, Scanning, Synced

    match event:
        case Failed():
            _log.warning("the index of %s is not up to date: %s", agent, event.error)
        case Scanning():
            _log.warning("changes of %s's notes are not heard: %s", agent, event.why)
        case Synced() if event.report.trouble is not None:
            _log.warning("%s is searched by words alone for some notes", agent)
