"""A server whose memory could not be opened when it started.

It says why, and each call of a tool tries again. When the memory opens, the client is told that
the tools have changed, and the calls go to the server over that memory. An exit would be worse:
Codex does not start without a required server, and Claude Code remembers the failure for minutes.

Resources, prompts and instructions come with the next start: a client asks for them only once.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from notewell import __version__
from notewell.errors import NotewellError
from notewell.mcp_server.greeting import NAME, TITLE, tool_json, waiting_failure
from notewell.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions

    from notewell.mcp_server.greeting import Greeting, ToolList


OPENED = (
    "The memory is open now, and this server has more tools. If they are not offered to you, tell "
    "the user to start a new session."
)


class OpenedServer(NamedTuple):
    """The server over a memory that has opened."""

    greeting: Greeting
    server: Server[Any]


def create_recovering_server(
    greeting: Greeting, offered: ToolList, reopen: Callable[[], OpenedServer]
) -> Server[Any]:
    """`greeting` and `offered` are from `waiting_greeting`. `reopen` runs in a worker thread and
    raises our errors while the memory does not open."""
    recovery = _Recovery(offered, reopen)
    return _ChangingServer(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=greeting.instructions,
        lifespan=recovery.lifespan,
        get_tool_input_schema={spec.name: spec.input_schema for spec in TOOLS}.get,
        on_list_tools=recovery.list_tools,
        on_call_tool=recovery.call_tool,
        on_subscriptions_listen=ListenHandler(recovery.bus),
    )


class _ChangingServer(Server[Any]):
    """Declares to clients with a handshake that its tools may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, *args, **kwargs)


class _Recovery:
    def __init__(self, offered: ToolList, reopen: Callable[[], OpenedServer]) -> None:
        self._offered = offered
        self._reopen = reopen
        self._server: Server[Any] | None = None
        self._opening = anyio.Lock()
        self._opened = AsyncExitStack()
        self.bus = InMemorySubscriptionBus()

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[None]:
        async with self._opened:
            yield

    async def list_tools(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [types.Tool.model_validate(tool_json(spec)) for spec in self._offered.specs]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        server, is_new = self._server, False
        if server is None:
            try:
                server, is_new = await self._open()
            except NotewellError as error:
                return _failed(error)
        if is_new:
            # A client without a handshake gets it by its subscription instead.
            await ctx.session.send_tool_list_changed()
            await self.bus.publish(ToolsListChanged())
        entry = server.get_request_handler("tools/call")
        if entry is None:
            raise MCPError(types.METHOD_NOT_FOUND, "this server has no tools")
        result = cast("types.CallToolResult", await entry.handler(ctx, params))
        return _announced(result) if is_new else result

    async def _open(self) -> tuple[Server[Any], bool]:
        """The server over the memory, and whether it was opened by this call."""
        async with self._opening:
            if self._server is not None:
                return self._server, False
            greeting, server = await anyio.to_thread.run_sync(self._reopen)
            await self._opened.enter_async_context(server.lifespan(server))
            self._server, self._offered.specs = server, greeting.tools
            return server, True


def _failed(error: NotewellError) -> types.CallToolResult:
    text = waiting_failure(error).to_text()
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _announced(result: types.CallToolResult) -> types.CallToolResult:
    """In the text of the answer: not every host hands a second part to the model."""
    texts = [part.text for part in result.content if isinstance(part, types.TextContent)]
    content = types.TextContent(text="\n\n".join([OPENED, *texts]))
    return result.model_copy(update={"content": [content]})
