"""Status, health checks and metrics."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from notewell.errors import ConversationDenied, NotewellError
from notewell.http_service.activity import activity_of, misses_notes
from notewell.http_service.agents import Agents
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import Caller, CallerDep, ContextDep
from notewell.http_service.metrics import CONTENT_TYPE
from notewell.http_service.ports import AgentRegistry
from notewell.http_service.schemas import Alive, Ready
from notewell.http_service.schemas_status import StatusAnswer, status_answer
from notewell.memory import Memory

READINESS_TTL_S = 5.0
"""`/readyz` is public: without a cache, anybody could make the server open every index."""
OPENING_S = 0.25
"""How long one request opens memories: those who ask for the state of a service do not wait long.
A few dozen are opened in this time."""
OPENING_RETRY_S = 1

router = APIRouter(tags=["state"], route_class=GuardedRoute)


@router.get("/v1/status", response_model=StatusAnswer, **needs("read"))
async def status(caller: CallerDep) -> StatusAnswer:
    """The same as `notewell status --json`, and what the service does now. Only an admin sees
    paths of this machine."""

    def work(memory: Memory) -> StatusAnswer:
        sees_private = memory.sees_private(caller.token.session_key)
        return status_answer(
            memory.status(),
            admin=caller.is_admin,
            sees_private=sees_private,
            activity=activity_of(memory),
        )

    return await caller.run("quick", work)


@router.get("/healthz", **needs("nothing"))
async def healthz() -> Alive:
    """The server is running."""
    return Alive()


@router.get("/readyz", response_model=Ready, **needs("nothing", {503: Ready}))
async def readyz(context: ContextDep) -> JSONResponse:
    """Whether the memory of every agent is open and can be searched: how many are, but not which.
    Right after the start, `opening` counts those of which nothing is known yet, and `indexing`
    those whose notes are not all found yet. 503 until all are open, so that a load balancer keeps
    the old service for so long."""
    # Not "slow": two long syncs would make the service look as if it could not be searched.
    counted = context.readiness.recent()
    if counted is None:
        counted = await context.pools.run("quick", "", context.readiness.count)
    answer = Ready(
        status=counted.state,
        agents=len(context.agents.ids),
        ready=counted.ready,
        opening=counted.opening,
        indexing=counted.indexing,
        failed=counted.failed,
    )
    # What is being indexed is answered by words as soon as there are some.
    can_answer = counted.state in ("ready", "indexing")
    headers = {"Retry-After": str(OPENING_RETRY_S)} if counted.state == "opening" else {}
    return JSONResponse(answer.model_dump(by_alias=True), 200 if can_answer else 503, headers)


@router.get("/metrics", response_class=Response, **needs("read"))
async def metrics(caller: CallerDep) -> Response:
    """For Prometheus: metrics of the server and of the memories that this token may see."""
    page = await caller.context.pools.run("slow", "", lambda: _metrics_page(caller))
    return Response(page, media_type=CONTENT_TYPE)


def _metrics_page(caller: Caller) -> bytes:
    key = caller.token.session_key
    if key is not None:
        # The metrics count notes, searches and writes of all conversations.
        caller.memory.require_private(key, "metrics are")
    # Only open memories: a scrape must not open an index that nobody uses.
    opened = caller.context.agents.opened()
    visible = [
        (agent, opened[agent])
        for agent in caller.agents
        if agent in opened and _allows(opened[agent], key)
    ]
    workers = caller.context.agents.workers
    facts = workers.facts() if workers else None
    return caller.context.metrics.page(visible, caller.context.pools.waiting(), facts)


def _allows(memory: Memory, session_key: str | None) -> bool:
    try:
        memory.require_private(session_key, "metrics are")
    except ConversationDenied:
        return False
    return True


MemoryState = Literal["ready", "opening", "indexing", "failed"]


class ReadyCount(NamedTuple):
    ready: int
    """Open, and the index and the folder of notes can be read; nothing is missing."""
    opening: int
    """Not open yet, so nothing is known about them."""
    failed: int = 0
    """Cannot be opened or read."""
    indexing: int = 0
    """Can be read, and not all notes are found yet."""

    @property
    def state(self) -> Literal["ready", "opening", "indexing", "not ready"]:
        # What has failed comes first: it does not go away by waiting.
        if self.failed:
            return "not ready"
        if self.opening:
            return "opening"
        return "indexing" if self.indexing else "ready"


class Readiness:
    """Counts the memories that can be searched; caches the result for a few seconds."""

    def __init__(
        self,
        agents: Agents,
        monotonic_s: Callable[[], float] = time.monotonic,
        registry: AgentRegistry | None = None,
    ) -> None:
        self._agents = agents
        self._registry = registry
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._checked_at: float | None = None
        self._count = ReadyCount(0, 0)

    def recent(self) -> ReadyCount | None:
        """What was counted a moment ago; needs no thread."""
        checked_at = self._checked_at
        if checked_at is None or self._monotonic_s() - checked_at >= READINESS_TTL_S:
            return None
        return self._count

    def count(self) -> ReadyCount:
        """Opens memories that are not open yet, for a short time."""
        with self._lock:
            now = self._monotonic_s()
            if self._checked_at is None or now - self._checked_at >= READINESS_TTL_S:
                self._count = self._counted(until_s=now + OPENING_S)
                # What is not open yet will be soon: the next request counts again.
                self._checked_at = None if self._count.opening else self._monotonic_s()
            return self._count

    def _counted(self, until_s: float) -> ReadyCount:
        if self._registry is not None:
            return self._counted_in_database(self._registry)
        opened = self._agents.opened()
        states: Counter[MemoryState] = Counter()
        for agent in self._agents.ids:
            is_late = agent not in opened and self._monotonic_s() > until_s
            states["opening" if is_late else self._state(agent)] += 1
        return ReadyCount(
            ready=states["ready"],
            opening=states["opening"],
            failed=states["failed"],
            indexing=states["indexing"],
        )

    def _counted_in_database(self, registry: AgentRegistry) -> ReadyCount:
        """A server that answers for one agent answers for all."""
        count = len(self._agents.ids)
        try:
            registry.mark()
        except NotewellError:
            return ReadyCount(0, 0, failed=max(1, count))
        return ReadyCount(count, 0)

    def _state(self, agent: str) -> MemoryState:
        """A missing index is fine if nobody builds it, because the first search does. A broken one
        is not."""
        try:
            memory = self._agents.memory(agent)
            memory.inspect.counts()
            folder = memory.notes.folder
            if folder is not None and not folder.is_dir():
                return "failed"
            return "indexing" if misses_notes(memory) else "ready"
        except NotewellError:
            return "failed"
