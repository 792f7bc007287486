"""The MCP endpoint at /mcp: the server of `notewell mcp`, for the agent of the token.

Each token has its own MCP sessions. Another token cannot join them, and they end when the token is
revoked or expires. A token without the scope `append` does not see the tools that write, and its
calls of these tools are refused.

A service whose agents are in a database has no sessions at all (stateless): the requests of a
client may go to any of its replicas.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from starlette.datastructures import Headers
from starlette.routing import Route

from notewell.errors import MemoryOff, NotewellError
from notewell.http_service.agents import ContentWritten, SearchAnswered
from notewell.http_service.auth import authorize
from notewell.http_service.context import CALLER_KEY
from notewell.http_service.limits import TooBusy, mcp_cost
from notewell.http_service.problems import KIND_KEY, Problem, problem_of, too_busy
from notewell.records import dataclass
from notewell.tools import AppendOutput, CallContext, SearchOutput, failure_of

if TYPE_CHECKING:
    from anyio.abc import TaskGroup, TaskStatus
    from mcp.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from notewell.http_service.context import Caller, ServiceContext
    from notewell.memory import Memory
    from notewell.tools import Failure, Output

PATH = "/mcp"
TOKEN_CHECK_S = 2.0
"""How soon the sessions of a revoked token end."""
STATELESS_CHECK_S = 60.0
"""Without sessions every request is checked anyway; this drops what nobody can use any more."""
MAX_SESSIONS = 32
"""Per token: the clients of one person on one machine."""
CLOSE_WAIT_S = 5.0

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _TokenSessions:
    """The MCP sessions of one token with one agent."""

    caller: Caller
    """Of the first request."""
    memory: Memory | None
    """None if the memory of the agent is disabled."""
    manager: StreamableHTTPSessionManager
    ended: anyio.Event
    active_requests: int = 0


class McpSessions:
    """An ASGI application. `AuthMiddleware` is outside of it, so there is always a caller."""

    def __init__(self, context: ServiceContext) -> None:
        self._context = context
        self._sessions: dict[tuple[str, str], _TokenSessions] = {}
        # Two first requests of one token must not create two managers.
        self._opening = anyio.Lock()
        self._group: TaskGroup | None = None

    @property
    def _is_stateless(self) -> bool:
        return self._context.registry is not None

    def route(self) -> Route:
        return Route(PATH, self, include_in_schema=False)

    def start(self, group: TaskGroup) -> None:
        self._group = group
        group.start_soon(self._end_with_tokens)
        group.start_soon(self._end_with_server)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            receive = await authorize(scope, receive, "read")
            if self._is_stateless and scope["method"] != "POST":
                raise _no_stream()
            caller: Caller = scope[CALLER_KEY]
            # The questions are inside, and only the SDK reads them.
            length = Headers(scope=scope).get("content-length", "0")
            caller.charge(mcp_cost(int(length)))
            sessions = await self._sessions_of(caller)
            await _forward(sessions, scope, receive, send)
        except Problem as problem:
            # Raised before the response starts, also while the body arrives.
            scope[KIND_KEY] = problem.kind
            await problem.response(PATH)(scope, receive, send)

    async def _sessions_of(self, caller: Caller) -> _TokenSessions:
        key = (caller.token.id, caller.agent)
        async with self._opening:
            if key not in self._sessions:
                self._sessions[key] = await self._open(caller)
            return self._sessions[key]

    async def _open(self, caller: Caller) -> _TokenSessions:
        if self._group is None or self._context.closing.is_set():
            raise too_busy()
        try:
            # Opening may take long, so it happens in a thread and not in the event loop.
            # Not `caller.run`: the server checks the conversation itself, and tells the client.
            work = partial(_server, caller)
            server, memory = await self._context.pools.run("quick", caller.agent, work)
        except NotewellError as error:
            raise problem_of(error, admin=caller.is_admin) from error
        except TooBusy:
            raise too_busy() from None
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(
            server,
            # Any replica answers the next request of a client that another one has greeted.
            stateless=self._is_stateless,
            max_sessions=MAX_SESSIONS,
            max_request_body_size=self._context.limits.body_bytes,
        )
        sessions = _TokenSessions(caller, memory, manager, anyio.Event())
        # Returns when the manager is ready for requests.
        await self._group.start(_run_manager, sessions)
        return sessions

    async def _end_with_tokens(self) -> None:
        """An MCP stream has no further requests at which token and agent are checked: poll."""
        while not self._context.closing.is_set():
            await anyio.sleep(STATELESS_CHECK_S if self._is_stateless else TOKEN_CHECK_S)
            # A copy: the loop awaits, and requests may add sessions meanwhile.
            for key, sessions in list(self._sessions.items()):
                if not await anyio.to_thread.run_sync(_is_valid, sessions):
                    del self._sessions[key]
                    sessions.ended.set()

    async def _end_with_server(self) -> None:
        await self._context.closing.wait()
        await self.close()

    async def close(self) -> None:
        """Waits a limited time for active requests, then ends all sessions."""
        with anyio.move_on_after(CLOSE_WAIT_S):
            while any(sessions.active_requests for sessions in self._sessions.values()):
                await anyio.sleep(0.05)
        for sessions in self._sessions.values():
            sessions.ended.set()
        self._sessions.clear()


def _no_stream() -> Problem:
    """MCP allows it: a client then sends each request by itself."""
    return Problem(
        405,
        "wrong-method",
        "The method is not allowed",
        "this service has several replicas and keeps no MCP sessions",
        "send a POST",
        {"Allow": "POST"},
    )


def _is_valid(sessions: _TokenSessions) -> bool:
    caller = sessions.caller
    # Removed, or opened anew because its settings are others: then the client begins again.
    if sessions.memory is not None:
        is_open = caller.context.agents.opened().get(caller.agent) is sessions.memory
    else:
        is_open = caller.agent in caller.context.agents.ids
    return is_open and caller.has_valid_token()


async def _forward(sessions: _TokenSessions, scope: Scope, receive: Receive, send: Send) -> None:
    # GET opens an event stream that lasts until the server ends it: shutdown must not wait for it.
    counts = scope["method"] != "GET"
    sessions.active_requests += counts
    try:
        await sessions.manager.handle_request(scope, receive, send)
    finally:
        sessions.active_requests -= counts


async def _run_manager(
    sessions: _TokenSessions, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """A task of its own: anyio requires that the same task enters and leaves the manager."""
    async with sessions.manager.run():
        task_status.started()
        await sessions.ended.wait()


# -- the MCP server of a token -------------------------------------------------------------------


def _server(caller: Caller) -> tuple[Server[Any], Memory | None]:
    # The SDK is imported here, in a thread: it takes 25 MB and most of a second, and many services
    # are never asked over MCP.
    import mcp.server.streamable_http_manager  # noqa: F401

    from notewell.mcp_server import create_empty_server

    try:
        memory = caller.memory
    except MemoryOff as off:
        return create_empty_server(failure_of(off)), None
    return server_for(caller, memory), memory


def server_for(caller: Caller, memory: Memory) -> Server[Any]:
    """The server of `notewell mcp`, limited to the scopes of the token, with an audit log."""
    from notewell.mcp_server import create_server

    call_context = CallContext(
        session_key=caller.token.session_key, citations=memory.settings.citations, origin="mcp"
    )
    # The watcher of `Agents` keeps the index up to date, so no background sync is needed here.
    return create_server(
        memory,
        call_context,
        background_sync=False,
        read_only="append" not in caller.scopes,
        observer=partial(_record_call, caller),
    )


def _record_call(caller: Caller, output: Output | Failure, took_ms: float) -> None:
    """Failures are not recorded, nor is a duplicate entry, which was not written."""
    if isinstance(output, SearchOutput):
        caller.publish(SearchAnswered("mcp", output.mode, took_ms))
    elif isinstance(output, AppendOutput) and output.added:
        lines = {"startLine": output.start_line, "endLine": output.end_line}
        caller.context.audit.record(caller, "append", path=output.path, **lines, via="mcp")
        caller.publish(ContentWritten("append", output.path))
