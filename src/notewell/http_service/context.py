"""The objects that all routes share, and the caller of one request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends
from starlette.requests import Request  # noqa: TC002 - FastAPI evaluates the annotation

from notewell.errors import NotewellError
from notewell.http_service.problems import rate_limited
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    import anyio

    from notewell.http_service.agents import Agents, Event
    from notewell.http_service.auth import AllowedHosts
    from notewell.http_service.limits import RateLimiter, ServiceLimits, WorkerPools, WorkKind
    from notewell.http_service.metrics import Metrics
    from notewell.http_service.note_listing import NoteListings
    from notewell.http_service.observability import AuditLog
    from notewell.http_service.ports import AgentRegistry, IdempotencyKeys, Links, Tokens
    from notewell.http_service.routes_status import Readiness
    from notewell.http_service.routes_write import SyncJobs
    from notewell.http_service.token_file import Scope, Token
    from notewell.memory import Memory

_T = TypeVar("_T")

CONTEXT_KEY = "notewell.context"
CALLER_KEY = "notewell.caller"
"""Keys of the ASGI scope under which `AuthMiddleware` stores the two objects below."""
DELAYED_KEY = "notewell.delayed"
"""In the scope of a request whose refusal waits: nothing is lost if it gets no answer."""


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """One instance of each, for the lifetime of the application."""

    agents: Agents
    tokens: Tokens
    login_links: Links
    allowed_hosts: AllowedHosts
    limits: ServiceLimits
    rate_limiter: RateLimiter
    """Of tokens."""
    stranger_limiter: RateLimiter
    """Of addresses, for requests without a valid token."""
    pools: WorkerPools
    metrics: Metrics
    audit: AuditLog
    idempotency: IdempotencyKeys
    note_listings: NoteListings
    registry: AgentRegistry | None
    readiness: Readiness
    sync_jobs: SyncJobs
    closing: anyio.Event
    """Set when shutdown begins. Endless streams must end then, or uvicorn waits for them."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated token, and the agent that this request is for."""

    context: ServiceContext
    token: Token
    agent: str

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of the token that this server serves."""
        return self.token.opens(self.context.agents.ids)

    @property
    def scopes(self) -> frozenset[Scope]:
        return self.token.allowed

    @property
    def is_admin(self) -> bool:
        return "admin" in self.scopes

    @property
    def memory(self) -> Memory:
        """Opens the memory if needed. It blocks: use it in worker threads only."""
        return self.context.agents.memory(self.agent)

    def charge(self, cost: float) -> None:
        """For a request that turns out to cost more than 1, which `authorize` has charged. Raises
        a `Problem`."""
        limiter = self.context.rate_limiter
        wait_s = limiter.take(self.token.id, cost - 1, again=1) if cost > 1 else 0
        if wait_s:
            raise rate_limited(wait_s, f"the request costs as much as {cost:g} short ones")

    def has_valid_token(self) -> bool:
        """For what outlives the request: the token may be revoked, and the agent removed."""
        try:
            is_valid = self.context.tokens.is_valid(self.token.id)
        except NotewellError:
            return False  # The token file cannot be trusted: fail closed.
        return is_valid and self.agent in self.context.agents.ids

    def publish(self, event: Event) -> None:
        self.context.agents.publish(self.agent, event)

    async def run(self, kind: WorkKind, work: Callable[[Memory], _T]) -> _T:
        """Runs `work` with the caller's memory in a thread of the given kind; see `limits`.

        Raises `ConversationDenied` if the token's conversation may not see the memory: a route
        that gets its memory here cannot forget the check.
        """
        # The memory is opened inside the thread, because that may read files and start processes.
        return await self.context.pools.run(kind, self.agent, partial(_with_memory, self, work))

    async def require_scope(self) -> None:
        """For a route that needs no memory: raises as `run` does."""
        if self.token.session_key is not None:
            await self.run("quick", lambda _: None)


def _with_memory(caller: Caller, work: Callable[[Memory], _T]) -> _T:
    with caller.context.agents.using(caller.agent) as memory:
        memory.require_scope(caller.token.session_key)
        return work(memory)


# Both are `async`: FastAPI calls other functions in a thread, which costs more than they do.


async def _caller(request: Request) -> Caller:
    # A KeyError here means that a public route asks for a caller: a programming error.
    caller: Caller = request.scope[CALLER_KEY]
    return caller


async def _context(request: Request) -> ServiceContext:
    context: ServiceContext = request.scope[CONTEXT_KEY]
    return context


CallerDep = Annotated[Caller, Depends(_caller)]
"""For routes that need a scope: `async def search(body: SearchBody, caller: CallerDep)`."""
ContextDep = Annotated[ServiceContext, Depends(_context)]
"""For public routes, which have no caller."""
