"""What the routes of the UI share: per agent a map and cached findings, and the broadcaster.

It is created by the first request of the UI: a server without UI users needs none of it.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends
from starlette.requests import Request  # noqa: TC002 - FastAPI evaluates the annotation

from notewell.doctor import Subject, examine
from notewell.errors import ConversationDenied
from notewell.http_service.context import CONTEXT_KEY
from notewell.http_service.ui.events import EventBroadcaster
from notewell.http_service.ui.note_card import NoteCards
from notewell.http_service.ui.vector_map import VectorMapCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.doctor import Finding
    from notewell.http_service.agents import Agents
    from notewell.http_service.context import Caller, ServiceContext
    from notewell.http_service.limits import WorkKind
    from notewell.http_service.ui.vector_map import VectorMap
    from notewell.memory import Memory

_T = TypeVar("_T")

FINDINGS_TTL_S = 60.0
"""How long findings are cached. The doctor reads the whole index and requests one real vector,
which may cost money: a page that is open all day must not do that every few seconds."""


class FindingsCache:
    """The doctor's findings for one memory, computed at most once a minute, and when a sync has
    begun or ended: until then another thing was true."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._findings: list[Finding] = []
        self._valid_until = float("-inf")
        self._valid_for: tuple[Memory, bool] | None = None

    def findings(self, memory: Memory) -> list[Finding]:
        # Concurrent requests wait for the lock and then share one result.
        with self._lock:
            state = (memory, memory.indexer.progress is not None)
            if self._monotonic_s() >= self._valid_until or state != self._valid_for:
                self._findings = examine(Subject.of(memory))
                self._valid_for = state
                self._valid_until = self._monotonic_s() + FINDINGS_TTL_S
            return self._findings


class UiState:
    def __init__(self, agents: Agents) -> None:
        self.broadcaster = EventBroadcaster(agents)
        self._lock = threading.Lock()
        self._maps: dict[str, tuple[Memory, VectorMapCache]] = {}
        self._findings: dict[str, FindingsCache] = {}
        self._bodies: dict[str, tuple[VectorMap, bytes]] = {}
        self._cards: dict[str, NoteCards] = {}

    def map_cache(self, agent: str, memory: Memory) -> VectorMapCache:
        with self._lock:
            entry = self._maps.get(agent)
            # A reopened memory is another object; the map of the closed one cannot be used.
            if entry is None or entry[0] is not memory:
                entry = self._maps[agent] = (memory, VectorMapCache(memory.inspect))
            return entry[1]

    def map_body(
        self, agent: str, vector_map: VectorMap, encode: Callable[[VectorMap], bytes]
    ) -> bytes:
        """The JSON of a map, encoded once: it is large and rarely changes."""
        entry = self._bodies.get(agent)
        if entry is None or entry[0] is not vector_map:
            entry = self._bodies[agent] = (vector_map, encode(vector_map))
        return entry[1]

    def findings_cache(self, agent: str) -> FindingsCache:
        with self._lock:
            return self._findings.setdefault(agent, FindingsCache(time.monotonic))

    def note_cards(self, agent: str) -> NoteCards:
        with self._lock:
            return self._cards.setdefault(agent, NoteCards())


async def _ui_state(request: Request) -> UiState:
    """`async`, so that it runs in the event loop: two requests cannot create two states."""
    state = request.app.state
    # `app.state` and not the context: only the UI needs it.
    if not hasattr(state, "ui"):
        context: ServiceContext = request.scope[CONTEXT_KEY]
        state.ui = UiState(context.agents)
    ui_state: UiState = state.ui
    return ui_state


UiStateDep = Annotated[UiState, Depends(_ui_state)]


async def run_visible(caller: Caller, kind: WorkKind, read: Callable[[Memory], _T]) -> _T:
    """Runs `read` in a thread, if the token's conversation may see every note."""

    def work(memory: Memory) -> _T:
        # The UI shows lists, maps and logs, in which single notes cannot be hidden.
        if not memory.sees_private(caller.token.session_key):
            raise ConversationDenied("the page is for private conversations: it shows all notes")
        return read(memory)

    return await caller.run(kind, work)
