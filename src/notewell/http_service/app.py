"""START HERE: assembles the application.

    uvicorn ─▶ ObservabilityMiddleware ─▶ AuthMiddleware ─▶ FastAPI: ETag, gzip, HEAD
               log line, metrics          who is calling?   ├─ routes_search, _write, _status
                                                            ├─ routes_mcp     MCP endpoint
                                                            ├─ ui             data of the web UI
                                                            └─ ui.static      its files, login

A module with routes has one `APIRouter` and looks like this:

    router = APIRouter(prefix="/v1", route_class=GuardedRoute)

    @router.post("/search", **needs("read"))                      # read, append, admin, nothing
    async def search(body: SearchBody, caller: CallerDep) -> SearchAnswer:
        return await caller.run("search", lambda memory: …)       # quick, search, write, slow

`Caller` has `agent`, `agents`, `scopes`, `token`, `context` and, in worker threads, `memory`.
Every exception that a route raises becomes problem+json: `problems.problem_of` maps our own
errors, and a `Problem` is sent as it is. `agents.listen` subscribes to events (`SearchAnswered`,
`ContentWritten`, what the watcher reports). Endless streams must stop when `context.closing` is
set.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts

from notewell import __version__
from notewell.http_service import (
    routes_agents,
    routes_search,
    routes_status,
    routes_write,
    ui,
)
from notewell.http_service.auth import SCOPE_KEY, AllowedHosts, AuthMiddleware
from notewell.http_service.compression import CompressionMiddleware
from notewell.http_service.context import ServiceContext
from notewell.http_service.limits import RateLimiter, ServiceLimits, WorkerPools
from notewell.http_service.metrics import Metrics
from notewell.http_service.middleware import HeadMiddleware, ObservabilityMiddleware
from notewell.http_service.note_listing import NoteListings
from notewell.http_service.observability import AUDIT_FILE, AuditLog
from notewell.http_service.ports import ServiceState
from notewell.http_service.problems import add_handlers
from notewell.http_service.routes_mcp import McpSessions
from notewell.http_service.routes_status import Readiness
from notewell.http_service.routes_write import SyncJobs
from notewell.http_service.schemas import ProblemModel
from notewell.http_service.state_files import local_state
from notewell.http_service.ui import static

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fastapi.telemetry import TelemetryConfig
    from starlette.types import ASGIApp

    from notewell.http_service.agents import Agents
    from notewell.http_service.ports import Tokens

NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI's telemetry puts URLs and error messages, which may contain queries, into spans and
logs, and exports them if the environment says so. Our own spans are in `observability`."""

ROUTERS = (
    routes_search.router,
    routes_write.router,
    routes_status.router,
    routes_agents.router,
    ui.router,
    static.router,
)


def create_app(
    agents: Agents,
    tokens: Tokens | ServiceState,
    *,
    allowed_hosts: AllowedHosts,
    limits: ServiceLimits | None = None,
    monotonic_s: Callable[[], float] = time.monotonic,
    closing: anyio.Event | None = None,
) -> ASGIApp:
    """The whole application with its middleware. It closes the agents at shutdown.

    With tokens alone, everything else that it keeps is in files beside them. A server that sets
    `closing` slightly before the shutdown lets streams end by themselves.
    """
    limits = limits or ServiceLimits()
    closing = closing or anyio.Event()
    kept = tokens if isinstance(tokens, ServiceState) else local_state(agents.state, tokens)
    context = build_context(agents, kept, allowed_hosts, limits, monotonic_s, closing)
    api = build_api(context)
    # The middleware logs a route by its template. FastAPI puts only the endpoint into the scope.
    templates = {
        route.endpoint: route.path_format or "" for route in iter_route_contexts(api.routes)
    }
    return ObservabilityMiddleware(AuthMiddleware(api, context), context.metrics, templates)


def build_context(
    agents: Agents,
    kept: ServiceState,
    allowed_hosts: AllowedHosts,
    limits: ServiceLimits,
    monotonic_s: Callable[[], float],
    closing: anyio.Event,
) -> ServiceContext:
    # One set of pools for routes and sync jobs: otherwise their limits would add up.
    state, pools = agents.state, WorkerPools(wait_s=limits.wait_s)
    return ServiceContext(
        agents=agents,
        tokens=kept.tokens,
        login_links=kept.login_links,
        allowed_hosts=allowed_hosts,
        limits=limits,
        rate_limiter=RateLimiter(limits.requests_a_minute, limits.burst, monotonic_s),
        stranger_limiter=RateLimiter(
            limits.stranger_cost_a_minute, limits.stranger_burst, monotonic_s
        ),
        pools=pools,
        metrics=Metrics(),
        audit=AuditLog(state / AUDIT_FILE),
        idempotency=kept.idempotency,
        note_listings=NoteListings(agents),
        registry=kept.registry,
        readiness=Readiness(agents, registry=kept.registry),
        sync_jobs=SyncJobs(agents, pools),
        closing=closing,
    )


def build_api(context: ServiceContext) -> FastAPI:
    """The FastAPI application without the middleware around it."""
    mcp_sessions = McpSessions(context)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        unsubscribe = context.agents.listen(context.metrics.on_event)
        # Sync jobs and MCP sessions outlive requests, so they run in a group of the application.
        async with anyio.create_task_group() as group:
            context.sync_jobs.start(group)
            mcp_sessions.start(group)
            try:
                yield
            finally:
                context.closing.set()
                # uvicorn cancels this task when the graceful period is over. Memories must be
                # closed even then, or child processes and locks would outlive the server.
                with anyio.CancelScope(shield=True):
                    await mcp_sessions.close()
                    # Running syncs see that the agents are closing and stop between two batches.
                    await anyio.to_thread.run_sync(context.agents.close)
                group.cancel_scope.cancel()
                unsubscribe()

    app = FastAPI(
        title="Notewell",
        summary="Memory for AI agents: Markdown notes, searched by words and meaning.",
        version=__version__,
        # Both pages load scripts from a CDN, which our Content-Security-Policy forbids.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        telemetry=NO_TELEMETRY,
    )
    add_handlers(app)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(CompressionMiddleware)
    for router in ROUTERS:
        app.include_router(router)
    # A plain ASGI route: the MCP SDK writes its responses itself.
    app.router.routes.append(mcp_sessions.route())
    _customize_openapi(app, context.allowed_hosts.cookie)
    return app


# -- /openapi.json (OpenAPI 3.1) -----------------------------------------------------------------

_TOKEN_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "Made by `notewell token create`.",
}
_PAGE_SCHEME = {
    "type": "apiKey",
    "in": "cookie",
    "description": "The web UI uses it. Requests that change data also need an Origin.",
}
_AGENT_PARAMETER = {
    "name": "Notewell-Agent",
    "in": "header",
    "required": False,
    "description": "One of the token's agents. The default is its first agent.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"},
}


def _customize_openapi(app: FastAPI, cookie: str) -> None:
    def document() -> dict[str, Any]:
        # Cached, because building the document takes longer than most requests.
        if app.openapi_schema is None:
            app.openapi_schema = _openapi_document(app, cookie)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _openapi_document(app: FastAPI, cookie: str) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    components = document.setdefault("components", {})
    components["securitySchemes"] = {
        "token": _TOKEN_SCHEME,
        "page": {**_PAGE_SCHEME, "name": cookie},
    }
    # FastAPI adds only models that a route declares; problems are declared by reference.
    components.setdefault("schemas", {})["Problem"] = ProblemModel.model_json_schema()
    for operations in document["paths"].values():
        for operation in operations.values():
            # `AuthMiddleware` reads this header itself, so FastAPI does not know about it.
            if operation.get(SCOPE_KEY) != "nothing":
                operation.setdefault("parameters", []).append(_AGENT_PARAMETER)
    return document
