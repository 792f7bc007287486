"""What every route shares, and the caller it is handed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends
from starlette.requests import Request  # noqa: TC002 - FastAPI looks at it

from notewell.tools import CallContext

if TYPE_CHECKING:
    from collections.abc import Callable

    import anyio

    from notewell.http_service.agents import Agents, Event
    from notewell.http_service.audit import Audit
    from notewell.http_service.auth import Names
    from notewell.http_service.idempotency import Remembered
    from notewell.http_service.limits import Limits, Pools, RateLimiter, Work
    from notewell.http_service.login_links import Links
    from notewell.http_service.metrics import Metrics
    from notewell.http_service.readiness import Readiness
    from notewell.http_service.syncs import Syncs
    from notewell.http_service.tokens import Scope, Token, TokenBook
    from notewell.memory import Memory

_T = TypeVar("_T")

PARTS_KEY = "notewell.parts"
CALLER_KEY = "notewell.caller"
"""What a request carries with it, by name."""


@dataclass(frozen=True, slots=True)
class Parts:
    """One of each, for the life of the application."""

    agents: Agents
    book: TokenBook
    links: Links
    names: Names
    limits: Limits
    rates: RateLimiter
    pools: Pools
    metrics: Metrics
    audit: Audit
    remembered: Remembered
    readiness: Readiness
    syncs: Syncs
    closing: anyio.Event
    """Set when the server begins to shut down: what streams without end has to end."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a token that was let in, and which of its agents it speaks for."""

    parts: Parts
    token: Token
    agent: str

    @property
    def agents(self) -> tuple[str, ...]:
        """Those of the token that are served here."""
        return tuple(one for one in self.token.agents if one in self.parts.agents.ids)

    @property
    def scopes(self) -> frozenset[Scope]:
        return self.token.allowed

    @property
    def memory(self) -> Memory:
        """Opens it if nobody has: for worker threads, not for the event loop."""
        return self.parts.agents.memory(self.agent)

    def talk(self, origin: str) -> CallContext:
        """The conversation, as the token's configuration has it."""
        return CallContext(session_key=self.token.session_key, citations="on", origin=origin)

    def tell(self, event: Event) -> None:
        self.parts.agents.tell(self.agent, event)

    async def run(self, kind: Work, work: Callable[[Memory], _T]) -> _T:
        """`work` with the caller's memory, in a thread of that kind; see `limits`."""
        return await self.parts.pools.run(kind, self.agent, partial(_with_memory, self, work))


def _with_memory(caller: Caller, work: Callable[[Memory], _T]) -> _T:
    return work(caller.memory)


def _caller(request: Request) -> Caller:
    caller: Caller = request.scope[CALLER_KEY]
    return caller


def _parts(request: Request) -> Parts:
    parts: Parts = request.scope[PARTS_KEY]
    return parts


CallerOf = Annotated[Caller, Depends(_caller)]
"""For a route that `needs` a scope: `async def search(asked: SearchBody, caller: CallerOf)`."""
PartsOf = Annotated[Parts, Depends(_parts)]
"""For a route without credentials."""
