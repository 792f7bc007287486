"""An MCP server over one memory: four tools, the notes as resources, three prompts.

With entries (see `notewell.entries`) there are three more tools.

The program that starts the server chooses the agent and its workspace; a client cannot change
them. A host with many conversations names the one that calls in `_meta` (`key_per_call`), where a
model cannot write.

The core is synchronous, so each call runs in a worker thread. When a client cancels a read, its
thread is abandoned at once; a write always runs to its end.

We use the low-level server of the SDK because our schemas and checks are our own (see
`tools.specs`, `tools.inputs`). It supports protocol versions with and without a handshake.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from notewell import __version__
from notewell.core import BadSessionKey, parse_session_key
from notewell.errors import ConversationDenied, NotewellError
from notewell.mcp_server import catalogue, prompts, resources
from notewell.mcp_server.background_sync import BackgroundSync
from notewell.mcp_server.greeting import NAME, TITLE, empty_greeting, greeting_of, tool_json
from notewell.records import replace
from notewell.tools import (
    ENTRY_TOOLS,
    TOOLS,
    UNEXPECTED,
    AppendOutput,
    Failure,
    SearchOutput,
    call,
    failure_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from notewell.entries import EntryStore
    from notewell.mcp_server.greeting import Greeting
    from notewell.memory import Memory
    from notewell.sync import Progress
    from notewell.tools import CallContext, Output, ToolSpec

SESSION_KEY_META = "notewell/sessionKey"
NO_KEY = ""
"""The key of a call that names no conversation: no valid key, so the call is not private."""
CALLS_AT_ONCE = 4
"""More would only wait for each other: there is one index reader and there are few processors."""

_WRITE_REFUSED = Failure(
    "this token does not allow writes",
    "continue without writing, or ask the user for a token with the scope append",
)
_log = logging.getLogger(__name__)
_T = TypeVar("_T")

CallObserver: TypeAlias = "Callable[[Output | Failure, float], None]"
"""Gets the output of each tool call and the milliseconds it took, in a worker thread."""


def create_server(
    memory: Memory,
    context: CallContext,
    *,
    background_sync: bool = True,
    entries: EntryStore | None = None,
    read_only: bool = False,
    key_per_call: bool = False,
    observer: CallObserver | None = None,
) -> Server[Any]:
    """The server, for any transport. `background_sync` keeps the index up to date meanwhile;
    `read_only` hides and refuses what writes; `key_per_call`: requests name their conversation."""
    sync = BackgroundSync(memory) if background_sync else None
    greeting = greeting_of(
        memory,
        context,
        has_entries=entries is not None,
        read_only=read_only,
        key_per_call=key_per_call,
    )
    handlers = _Handlers(
        memory,
        context,
        sync,
        entries,
        greeting,
        read_only=read_only,
        key_per_call=key_per_call,
        observer=observer,
    )
    return Server(
        NAME,
        version=__version__,
        title=TITLE,
        description=greeting.description,
        instructions=greeting.instructions,
        lifespan=handlers.lifespan,
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


def create_empty_server(failure: Failure) -> Server[Any]:
    """A server for an agent that has no memory: its instructions say why, and so does every call.

    A program that exits instead is an error that some clients hide, and that others end with."""
    greeting = empty_greeting(failure)

    async def list_tools(
        ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(spec) for spec in greeting.tools])

    async def call_tool(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return _result(failure)

    return Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=greeting.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class _Handlers:
    """Runs each request in a worker thread and converts the result to MCP types."""

    def __init__(
        self,
        memory: Memory,
        context: CallContext,
        sync: BackgroundSync | None,
        entries: EntryStore | None,
        greeting: Greeting,
        *,
        read_only: bool,
        key_per_call: bool,
        observer: CallObserver | None,
    ) -> None:
        self._memory = memory
        self._context = context
        self._sync = sync
        self._entries = entries
        self._refusal = greeting.refusal
        self._read_only = read_only
        self._key_per_call = key_per_call
        self._observer = observer
        specs = TOOLS if entries is None else (*TOOLS, *ENTRY_TOOLS)
        self._specs = {spec.name: spec for spec in specs}
        self._offered = greeting.tools
        self._limiter = anyio.CapacityLimiter(CALLS_AT_ONCE)

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[None]:
        if self._sync is None or self._refusal:
            yield
            return
        self._sync.start()
        try:
            yield
        finally:
            # Shielded: the client has usually gone by now, and this task is being cancelled.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._sync.stop)

    # -- tools -----------------------------------------------------------------------------------

    def input_schema(self, name: str) -> dict[str, Any] | None:
        return self._specs[name].input_schema if name in self._specs else None

    async def list_tools(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(spec) for spec in self._offered])

    async def call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        spec = self._specs.get(params.name)
        if spec is None:
            # Truncated: the name comes from the client and goes into its error message.
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:40]!r}")
        # Hiding a tool is not enough: a client may call it by its name.
        if self._read_only and not spec.read_only:
            return _result(self._refusal or _WRITE_REFUSED)
        try:
            context = self._context_of(params)
        except ConversationDenied as error:
            return _result(failure_of(error))
        work = partial(
            call,
            self._memory,
            spec.name,
            params.arguments or {},
            context,
            entries=self._entries,
            progress=partial(_report, ctx),
        )
        started = anyio.current_time()
        output = await self._in_thread(
            partial(_call_safely, work), abandon_on_cancel=spec.read_only
        )
        if self._observer:
            took_ms = (anyio.current_time() - started) * 1000
            await anyio.to_thread.run_sync(self._observer, output, took_ms)
        # After the answer is known, so that the client never waits for vectors.
        self._wake_for(output)
        return _result(output)

    def _wake_for(self, output: Output | Failure) -> None:
        """Requests vectors for a new entry, and for notes that were searched by words only."""
        if self._sync is None:
            return
        is_written = isinstance(output, AppendOutput) and output.added
        is_searched = isinstance(output, SearchOutput)
        is_partial = isinstance(output, SearchOutput) and output.mode == "partial"
        if is_written or is_partial or (is_searched and not self._sync.watches):
            self._sync.wake()

    # -- resources -------------------------------------------------------------------------------

    async def list_resources(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        if self._refusal:
            return types.ListResourcesResult(resources=[])
        cursor = params.cursor if params else None
        listed = await self._run(
            lambda: catalogue.resources_for(self._memory, cursor, self._context_of(params))
        )
        return types.ListResourcesResult.model_validate(listed)

    async def list_resource_templates(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [catalogue.NOTE_TEMPLATE]
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": templates})

    async def read_resource(
        self, ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await self._run(
            lambda: resources.read_resource(self._memory, uri, self._context_of(params))
        )
        content = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[content])

    # -- prompts ---------------------------------------------------------------------------------

    async def list_prompts(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        if self._refusal:
            return types.ListPromptsResult(prompts=[])
        offered = catalogue.prompts_for(self._context, read_only=self._read_only)
        return types.ListPromptsResult.model_validate({"prompts": offered})

    async def get_prompt(
        self, ctx: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        # A flush is handed out once: who cannot write must not use it up.
        if self._read_only and params.name == catalogue.FLUSH["name"]:
            raise MCPError(types.INVALID_PARAMS, _WRITE_REFUSED.to_text())
        return await self._run(
            lambda: prompts.get_prompt(
                self._memory, params.name, params.arguments or {}, self._context_of(params)
            )
        )

    # -- conversations ---------------------------------------------------------------------------

    def _context_of(self, params: types.RequestParams | None) -> CallContext:
        """The conversation of a request. Raises `ConversationDenied`."""
        if not self._key_per_call:
            return self._context
        meta: Mapping[str, Any] = (params.meta if params else None) or {}
        named = meta.get(SESSION_KEY_META)
        key = named if isinstance(named, str) else NO_KEY
        parsed = parse_session_key(key)
        # A host that mixes up its agents must not mix up their memories.
        if not isinstance(parsed, BadSessionKey) and parsed.agent != self._memory.agent:
            raise ConversationDenied(f"it belongs to the agent {parsed.agent!r}")
        self._memory.require_scope(key)
        return replace(self._context, session_key=key)

    # -- threads ---------------------------------------------------------------------------------

    async def _run(self, work: Callable[[], _T]) -> _T:
        """For resources and prompts, which unlike tools have no result for failures: our errors
        become protocol errors."""
        if self._refusal:
            raise MCPError(types.INVALID_PARAMS, self._refusal.to_text())
        try:
            return await self._in_thread(work, abandon_on_cancel=True)
        except NotewellError as error:
            raise MCPError(types.INVALID_PARAMS, failure_of(error).to_text()) from None
        except Exception:  # noqa: BLE001 - the outermost layer of a request
            _log.exception("a request failed with an unexpected error")
            raise MCPError(types.INTERNAL_ERROR, UNEXPECTED.to_text()) from None

    async def _in_thread(self, work: Callable[[], _T], *, abandon_on_cancel: bool) -> _T:
        return await anyio.to_thread.run_sync(
            work, abandon_on_cancel=abandon_on_cancel, limiter=self._limiter
        )


def _tool(spec: ToolSpec) -> types.Tool:
    return types.Tool.model_validate(tool_json(spec))


def _result(output: Output | Failure) -> types.CallToolResult:
    """Text alone: hosts differ in which copy they give to the model, and some give it all."""
    return types.CallToolResult(
        content=[types.TextContent(text=output.to_text())], is_error=isinstance(output, Failure)
    )


def _call_safely(work: Callable[[], Output | Failure]) -> Output | Failure:
    """Logs an unexpected error; the client gets no details of it."""
    try:
        return work()
    except Exception:  # noqa: BLE001 - the outermost layer of a tool call
        _log.exception("a tool failed with an unexpected error")
        return UNEXPECTED


def _report(ctx: ServerRequestContext[Any], progress: Progress) -> None:
    """Called in the worker thread."""
    # The only point where a long call can notice that the client cancelled it.
    anyio.from_thread.check_cancelled()
    anyio.from_thread.run(
        ctx.session.report_progress, progress.completed, progress.total, progress.label
    )
