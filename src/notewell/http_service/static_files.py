"""What the routes of the page share: a map and a checkup an agent, and who listens.

Made by the first request for the page: a server that only serves agents has none of it.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends
from starlette.requests import Request  # noqa: TC002 - FastAPI reads it

from notewell.http_service.context import PARTS_KEY
from notewell.http_service.events import Live
from notewell.http_service.health import Checkups
from notewell.http_service.vector_map import Atlas

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.http_service.agents import Agents
    from notewell.http_service.context import Caller, Parts
    from notewell.http_service.limits import Work
    from notewell.http_service.vector_map import Sheet
    from notewell.memory import Memory

_T = TypeVar("_T")


class Page:
    def __init__(self, agents: Agents) -> None:
        self.live = Live(agents)
        self._lock = threading.Lock()
        self._atlases: dict[str, tuple[Memory, Atlas]] = {}
        self._checkups: dict[str, Checkups] = {}
        self._bodies: dict[str, tuple[Sheet, bytes]] = {}

    def atlas(self, agent: str, memory: Memory) -> Atlas:
        with self._lock:
            known = self._atlases.get(agent)
            if known is None or known[0] is not memory:
                known = self._atlases[agent] = (memory, Atlas(memory.looking()))
            return known[1]

    def body(self, agent: str, sheet: Sheet, write: Callable[[Sheet], bytes]) -> bytes:
        """A map as it is sent; written once, because it is large and seldom changes."""
        known = self._bodies.get(agent)
        if known is None or known[0] is not sheet:
            known = self._bodies[agent] = (sheet, write(sheet))
        return known[1]

    def checkups(self, agent: str) -> Checkups:
        with self._lock:
            return self._checkups.setdefault(agent, Checkups(time.monotonic))


async def _page(request: Request) -> Page:
    """Of the event loop only, so that there is one."""
    state = request.app.state
    if not hasattr(state, "page"):
        parts: Parts = request.scope[PARTS_KEY]
        state.page = Page(parts.agents)
    page: Page = state.page
    return page


PageOf = Annotated[Page, Depends(_page)]


async def shown_to(caller: Caller, kind: Work, look: Callable[[Memory], _T]) -> _T:
    """`look` in a thread, where the token's conversation may see the memory at all."""

    def work(memory: Memory) -> _T:
        memory.require_scope(caller.token.session_key)
        return look(memory)

    return await caller.run(kind, work)
