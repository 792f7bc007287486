"""START HERE: the application, put together.

    uvicorn ─▶ Observed ─▶ Gate ─▶ FastAPI ─┬─ routes_search, routes_write, routes_state
               log, count   who?            ├─ routes_mcp      the same over MCP
                                            ├─ routes_page     data of the page
                                            └─ routes_login     the page, and what opens it

A file of routes has one `APIRouter` and looks like this:

    router = APIRouter(prefix="/v1", route_class=Guarded)

    @router.post("/search", **needs("read"))                      # read, append, admin, nothing
    async def search(asked: SearchBody, caller: CallerOf) -> SearchAnswer:
        return await caller.run("search", lambda memory: …)       # quick, search, write, slow

`Caller` has `agent`, `agents`, `scopes`, `token`, `parts` and, in a thread, `memory`. What a route
raises leaves as problem+json: our own errors by `problems.problem_of`, or a `Problem`.
`agents.listen` hears what happens (`Recalled`, `Wrote`, what a watch tells), and what streams
without end stops when `parts.closing` is set.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from notewell import __version__
from notewell.http_service import (
    audit,
    idempotency,
    login_links,
    routes_login,
    routes_page,
    routes_search,
    routes_state,
    routes_write,
)
from notewell.http_service.auth import Gate, Names
from notewell.http_service.context import Parts
from notewell.http_service.limits import Limits, Pools, RateLimiter
from notewell.http_service.metrics import Metrics
from notewell.http_service.middleware import Observed
from notewell.http_service.openapi import described
from notewell.http_service.problems import add_handlers
from notewell.http_service.readiness import Readiness
from notewell.http_service.routes_mcp import Desks
from notewell.http_service.syncs import Syncs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fastapi.telemetry import TelemetryConfig
    from starlette.types import ASGIApp

    from notewell.http_service.agents import Agents
    from notewell.http_service.tokens import TokenBook

NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI's own would put addresses and the messages of errors into spans and logs, questions
among them, and send them off if the environment says so. Ours are in `traces`."""

ROUTERS = (
    routes_search.router,
    routes_write.router,
    routes_state.router,
    routes_page.router,
    routes_login.router,
)


def create_app(
    agents: Agents,
    book: TokenBook,
    *,
    names: Names,
    limits: Limits | None = None,
    monotonic_s: Callable[[], float] = time.monotonic,
    closing: anyio.Event | None = None,
) -> ASGIApp:
    """The whole application, guarded. It closes the agents when it is shut down; who sets
    `closing` a little before lets streams end by themselves."""
    limits = limits or Limits()
    parts = parts_of(agents, book, names, limits, monotonic_s, closing or anyio.Event())
    app = routed(parts)
    contexts = iter_route_contexts(app.routes)
    templates = {one.endpoint: one.path_format or "" for one in contexts}
    return Observed(Gate(app, parts), parts.metrics, templates)


def parts_of(
    agents: Agents,
    book: TokenBook,
    names: Names,
    limits: Limits,
    monotonic_s: Callable[[], float],
    closing: anyio.Event,
) -> Parts:
    state, pools = agents.state, Pools()
    return Parts(
        agents=agents,
        book=book,
        links=login_links.Links(state / login_links.NAME),
        names=names,
        limits=limits,
        rates=RateLimiter(limits, monotonic_s),
        pools=pools,
        metrics=Metrics(),
        audit=audit.Audit(state / audit.NAME),
        remembered=idempotency.Remembered(state / idempotency.NAME),
        readiness=Readiness(agents),
        syncs=Syncs(agents, pools),
        closing=closing,
    )


def routed(parts: Parts) -> FastAPI:
    """What can be asked, without the guards around it."""
    desks = Desks(parts)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        end = parts.agents.listen(parts.metrics.heard)
        async with anyio.create_task_group() as group:
            parts.syncs.begin(group)
            desks.begin(group)
            try:
                yield
            finally:
                parts.closing.set()
                with anyio.CancelScope(shield=True):
                    await desks.close()
                    # Syncs see that the agents are closing, and end between two batches.
                    await anyio.to_thread.run_sync(parts.agents.close)
                group.cancel_scope.cancel()
                end()

    app = FastAPI(
        title="Notewell",
        summary="The memory of AI agents: Markdown notes, searched by words and meaning.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        telemetry=NO_TELEMETRY,
    )
    add_handlers(app)
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes.append(desks.route())
    described(app)
    return app
