"""A server whose memory could not be opened when it started.

It says why, and each call tries again. When the memory opens, the client is told that the lists
have changed, and its requests go to the server over that memory. An exit would be worse: Codex
does not start without a required server, and Claude Code remembers the failure for minutes.

    before   the tool memory_status; no prompts and no resources, but both are announced
    after    all that the server over the memory has; its instructions are in the first answer,
             because a client reads those of a server only once
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from notewell import __version__
from notewell.errors import NotewellError
from notewell.mcp_server.greeting import NAME, TITLE, waiting_failure
from notewell.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions

    from notewell.mcp_server.greeting import Greeting


OPENED = (
    "The memory is open now, and this server has more tools. If they are not offered to you, tell "
    "the user to start a new session."
)
_CHANGES = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)


class OpenedServer(NamedTuple):
    """The server over a memory that has opened."""

    greeting: Greeting
    server: Server[Any]


def create_recovering_server(
    greeting: Greeting, reopen: Callable[[], OpenedServer]
) -> Server[Any]:
    """`greeting` is from `waiting_greeting`. `reopen` runs in a worker thread and raises our
    errors while the memory does not open."""
    recovery = _Recovery(greeting, reopen)
    return _ChangingServer(
        NAME,
        version=__version__,
        title=TITLE,
        description=greeting.description,
        instructions=greeting.instructions,
        lifespan=recovery.lifespan,
        get_tool_input_schema={spec.name: spec.input_schema for spec in TOOLS}.get,
        on_list_tools=recovery.list_tools,
        on_call_tool=recovery.call_tool,
        on_list_resources=recovery.list_resources,
        on_list_resource_templates=recovery.list_resource_templates,
        on_read_resource=recovery.read_resource,
        on_list_prompts=recovery.list_prompts,
        on_get_prompt=recovery.get_prompt,
        on_subscriptions_listen=ListenHandler(recovery.bus),
    )


class _ChangingServer(Server[Any]):
    """Declares to clients with a handshake that its lists may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> InitializationOptions:
        options = notification_options or _CHANGES
        return super().create_initialization_options(options, *args, **kwargs)

    def get_capabilities(self, *args: Any, **kwargs: Any) -> types.ServerCapabilities:
        capabilities = super().get_capabilities(*args, **kwargs)
        if capabilities.resources:
            # The SDK takes the subscription to lists for one to the notes as well.
            capabilities.resources.subscribe = False
        return capabilities


class _Recovery:
    def __init__(self, greeting: Greeting, reopen: Callable[[], OpenedServer]) -> None:
        self._greeting = greeting
        self._reopen = reopen
        self._server: Server[Any] | None = None
        self._opening = anyio.Lock()
        self._opened = AsyncExitStack()
        self.bus = InMemorySubscriptionBus()

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[None]:
        async with self._opened:
            yield

    # -- lists: they do not open the memory ------------------------------------------------------

    async def list_tools(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(self._greeting.listed("tools/list"))

    async def list_prompts(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate(self._greeting.listed("prompts/list"))

    async def list_resource_templates(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = self._greeting.listed("resources/templates/list")
        return types.ListResourceTemplatesResult.model_validate(listed)

    async def list_resources(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        if self._server is None:
            return types.ListResourcesResult(resources=[])
        result = await _handled(self._server, "resources/list", ctx, params)
        return cast("types.ListResourcesResult", result)

    # -- calls -----------------------------------------------------------------------------------

    async def call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            server, is_new = await self._open(ctx)
        except NotewellError as error:
            text = waiting_failure(error).to_text()
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
        result = cast("types.CallToolResult", await _handled(server, "tools/call", ctx, params))
        return self._announced(result) if is_new else result

    async def read_resource(
        self, ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        result = await self._forwarded("resources/read", ctx, params)
        return cast("types.ReadResourceResult", result)

    async def get_prompt(
        self, ctx: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        return cast("types.GetPromptResult", await self._forwarded("prompts/get", ctx, params))

    async def _forwarded(self, method: str, ctx: ServerRequestContext[Any], params: Any) -> Any:
        """For resources and prompts, which have no result for failures."""
        try:
            server, _ = await self._open(ctx)
        except NotewellError as error:
            raise MCPError(types.INVALID_PARAMS, waiting_failure(error).to_text()) from None
        return await _handled(server, method, ctx, params)

    async def _open(self, ctx: ServerRequestContext[Any]) -> tuple[Server[Any], bool]:
        """The server over the memory, and whether it was opened by this call."""
        async with self._opening:
            if self._server is not None:
                return self._server, False
            greeting, server = await anyio.to_thread.run_sync(self._reopen)
            await self._opened.enter_async_context(server.lifespan(server))
            self._server = server
            if self._greeting.opening:
                self._greeting.opening.greeting = greeting
        await self._tell_changes(ctx)
        return server, True

    async def _tell_changes(self, ctx: ServerRequestContext[Any]) -> None:
        await ctx.session.send_tool_list_changed()
        await ctx.session.send_prompt_list_changed()
        await ctx.session.send_resource_list_changed()
        # A client without a handshake gets them by its subscription instead.
        for change in (ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()):
            await self.bus.publish(change)

    def _announced(self, result: types.CallToolResult) -> types.CallToolResult:
        """In the text of the answer: not every host hands a second part to the model."""
        texts = [part.text for part in result.content if isinstance(part, types.TextContent)]
        lines = filter(None, [OPENED, self._greeting.current.instructions, *texts])
        content = types.TextContent(text="\n\n".join(lines))
        return result.model_copy(update={"content": [content]})


async def _handled(
    server: Server[Any], method: str, ctx: ServerRequestContext[Any], params: Any
) -> Any:
    """What the server over the memory answers."""
    entry = server.get_request_handler(method)
    if entry is None:
        raise MCPError(types.METHOD_NOT_FOUND, f"this server does not know {method}")
    return await entry.handler(ctx, params)
