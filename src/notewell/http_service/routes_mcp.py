"""The same memory over MCP, at /mcp: the server of `notewell mcp`, for the token's agent.

Each token has sessions of its own, which another token cannot join; they end with the token. A
token without the scope `append` is not offered what writes, and is refused if it asks for it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route

from notewell.errors import NotewellError
from notewell.http_service.agents import Recalled, Wrote
from notewell.http_service.auth import admitted
from notewell.http_service.context import CALLER_KEY
from notewell.http_service.limits import TooBusy
from notewell.http_service.problems import KIND_KEY, Problem, problem_of, too_busy
from notewell.mcp_server import create_server
from notewell.tools import TOOLS, CallContext, Failure, recall_section

if TYPE_CHECKING:
    from anyio.abc import TaskGroup, TaskStatus
    from mcp.server import Server
    from mcp.server.context import ServerRequestContext
    from starlette.types import Receive, Scope, Send

    from notewell.http_service.context import Caller, Parts
    from notewell.memory import Memory

PATH = "/mcp"
LOOK_AGAIN_S = 2.0
"""How soon the sessions of a revoked token end."""
MAX_SESSIONS = 32
"""Of one token: clients of one person on one machine."""
CLOSE_WAIT_S = 5.0

_READING = frozenset(spec.name for spec in TOOLS if spec.read_only)
_REFUSED = Failure(
    "this token may not write", "go on without, or ask the user for a token with the scope append"
)
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Desk:
    """The sessions of one token with one agent."""

    token_id: str
    manager: StreamableHTTPSessionManager
    over: anyio.Event
    under_way: int = 0


class Desks:
    """An ASGI application; inside the `Gate`, so there is a caller."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._desks: dict[tuple[str, str], _Desk] = {}
        self._opening = anyio.Lock()
        self._group: TaskGroup | None = None

    def route(self) -> Route:
        return Route(PATH, self, include_in_schema=False)

    def begin(self, group: TaskGroup) -> None:
        self._group = group
        group.start_soon(self._end_with_tokens)
        group.start_soon(self._end_with_server)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            receive = await admitted(scope, receive, "read")
            desk = await self._desk(scope[CALLER_KEY])
            await _handed_on(desk, scope, receive, send)
        except Problem as problem:  # Also while the body comes, before there is any answer.
            scope[KIND_KEY] = problem.kind
            await problem.response(PATH)(scope, receive, send)

    async def _desk(self, caller: Caller) -> _Desk:
        key = (caller.token.id, caller.agent)
        async with self._opening:
            if key not in self._desks:
                self._desks[key] = await self._opened(caller)
            return self._desks[key]

    async def _opened(self, caller: Caller) -> _Desk:
        if self._group is None or self._parts.closing.is_set():
            raise too_busy()
        try:
            memory = await caller.run("quick", lambda memory: memory)
        except NotewellError as error:
            raise problem_of(error, admin="admin" in caller.scopes) from error
        except TooBusy:
            raise too_busy() from None
        manager = StreamableHTTPSessionManager(
            server_for(caller, memory),
            max_sessions=MAX_SESSIONS,
            max_request_body_size=self._parts.limits.body_bytes,
        )
        desk = _Desk(caller.token.id, manager, anyio.Event())
        await self._group.start(_kept_open, desk)
        return desk

    async def _end_with_tokens(self) -> None:
        while not self._parts.closing.is_set():
            await anyio.sleep(LOOK_AGAIN_S)
            for key, desk in list(self._desks.items()):
                if not await anyio.to_thread.run_sync(self._holds, desk.token_id):
                    del self._desks[key]
                    desk.over.set()

    def _holds(self, token_id: str) -> bool:
        try:
            return self._parts.book.holds(token_id)
        except NotewellError:
            return False  # A book that cannot be believed lets nobody in, and nobody stay.

    async def _end_with_server(self) -> None:
        await self._parts.closing.wait()
        await self.close()

    async def close(self) -> None:
        """Answers that are under way end first, if that does not take too long."""
        with anyio.move_on_after(CLOSE_WAIT_S):
            while any(desk.under_way for desk in self._desks.values()):
                await anyio.sleep(0.05)
        for desk in self._desks.values():
            desk.over.set()
        self._desks.clear()


async def _handed_on(desk: _Desk, scope: Scope, receive: Receive, send: Send) -> None:
    """A stream of events ends with the server; everything else is waited for."""
    counts = scope["method"] != "GET"
    desk.under_way += counts
    try:
        await desk.manager.handle_request(scope, receive, send)
    finally:
        desk.under_way -= counts


async def _kept_open(
    desk: _Desk, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """A manager is entered and left by the same task."""
    async with desk.manager.run():
        task_status.started()
        await desk.over.wait()


# -- the server ----------------------------------------------------------------------------------


def server_for(caller: Caller, memory: Memory) -> Server[Any]:
    """The server of `notewell mcp`, which offers what the token may do and is audited."""
    talk = CallContext(
        session_key=caller.token.session_key, citations=memory.settings.citations, origin="mcp"
    )
    server = create_server(memory, talk, keep=False)
    may_write = "append" in caller.scopes
    if not may_write:
        server.instructions = recall_section(tuple(sorted(_READING)), talk) or None
        _offer_reading_only(server)
    _watch_calls(server, caller, may_write=may_write)
    return server


def _offer_reading_only(server: Server[Any]) -> None:
    entry = server.get_request_handler("tools/list")
    if entry is None:
        return
    inner = entry.handler

    async def list_tools(
        ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams
    ) -> types.ListToolsResult:
        listed: Any = await inner(ctx, params)
        return types.ListToolsResult(tools=[one for one in listed.tools if one.name in _READING])

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)


def _watch_calls(server: Server[Any], caller: Caller, *, may_write: bool) -> None:
    entry = server.get_request_handler("tools/call")
    if entry is None:
        return
    inner = entry.handler

    async def call_tool(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if not may_write and params.name not in _READING:
            return types.CallToolResult(
                content=[types.TextContent(text=_REFUSED.to_text())],
                structured_content=_REFUSED.to_json(),
                is_error=True,
            )
        started = anyio.current_time()
        result: Any = await inner(ctx, params)
        took_ms = (anyio.current_time() - started) * 1000
        await anyio.to_thread.run_sync(_noted, caller, params.name, result, took_ms)
        return result  # type: ignore[no-any-return]

    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)


def _noted(caller: Caller, tool: str, result: types.CallToolResult, took_ms: float) -> None:
    told = result.structured_content or {}
    if result.is_error:
        return
    if tool == "memory_search":
        caller.tell(Recalled("mcp", told["mode"], took_ms))
    elif tool == "memory_append" and told.get("added"):
        lines = {"startLine": told["startLine"], "endLine": told["endLine"]}
        caller.parts.audit.note(caller, "append", path=told["path"], **lines, via="mcp")
        caller.tell(Wrote("append", told["path"]))
