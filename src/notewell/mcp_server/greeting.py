"""What a server says of itself, and the requests that need nothing else.

Importing the SDK takes about a second of CPU time, longer than some hosts wait for a server. This
module needs only the settings, the tool specs and the names of the notes, so that `stdio.py` can
answer `initialize`, `server/discover`, `ping` and the lists before the SDK is there.

A request of an unusual form is left to the SDK. `tests/surfaces/test_mcp_greeting.py` compares
every answer with the SDK's own.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from notewell import __version__
from notewell.mcp_server.catalogue import NOTE_TEMPLATE, Json, prompts_for, resources_for
from notewell.records import dataclass, replace
from notewell.tools import ENTRY_TOOLS, TOOLS, failure_of, recall_section, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.errors import NotewellError
    from notewell.memory import Memory
    from notewell.tools import CallContext, Failure, ToolSpec

NAME = "notewell"
TITLE = "Notewell"
DESCRIPTION = "Memory of an agent: Markdown notes, searched by words and meaning."

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions that begin with `initialize`; the last one is offered to other clients."""
ENVELOPE_VERSION = "2026-07-28"
"""The protocol version without a handshake: each request carries it."""
STATUS = "memory_status"
_META = "io.modelcontextprotocol/"
_METHOD_NOT_FOUND = -32601


class Opening:
    """Whether the memory of a server has opened since its start. One thread sets it, others
    read."""

    greeting: Greeting | None = None
    """Of the server over the opened memory."""


@dataclass(frozen=True, slots=True)
class Greeting:
    instructions: str | None
    """What the host adds to its system prompt; a server without tools says why."""
    tools: tuple[ToolSpec, ...] = ()
    refusal: Failure | None = None
    """Why this conversation gets nothing of the memory."""
    description: str | None = DESCRIPTION
    has_notes: bool = True
    """False without a memory: the server then offers neither resources nor prompts."""
    prompts: tuple[Json, ...] = ()
    list_resources: Callable[[], Json] | None = None
    """Looks at the disk, so it takes a while; None if it depends on the request."""
    opening: Opening | None = None
    """Of a memory that may open while the server runs: the lists change then."""

    @property
    def current(self) -> Greeting:
        """What is listed now."""
        return (self.opening and self.opening.greeting) or self

    def initialize_result(self, requested: str) -> Json:
        known = requested in HANDSHAKE_VERSIONS
        return {
            "protocolVersion": requested if known else HANDSHAKE_VERSIONS[-1],
            "capabilities": self._capabilities(),
            "serverInfo": self._server_info(),
            **_instructions(self),
        }

    def discover_result(self) -> Json:
        return {
            "supportedVersions": [ENVELOPE_VERSION],
            "capabilities": self._capabilities(),
            **_instructions(self.current),
            **self.envelope(),
        }

    def listed(self, method: str) -> Json | None:
        """The answer to a request for a list; None: not from here."""
        if method == "tools/list":
            return {"tools": [tool_json(spec) for spec in self.current.tools]}
        if method == "prompts/list" and self.has_notes:
            return {"prompts": list(self.current.prompts)}
        if method == "resources/templates/list" and self.has_notes:
            return {"resourceTemplates": [NOTE_TEMPLATE]}
        return None

    def _capabilities(self) -> Json:
        change: Json = {"listChanged": self.opening is not None}
        if not self.has_notes:
            return {"tools": change}
        return {"prompts": change, "resources": {"subscribe": False, **change}, "tools": change}

    def _server_info(self) -> Json:
        named = {"name": NAME, "title": TITLE, "version": __version__}
        return {**named, "description": self.description} if self.description else named

    def envelope(self) -> Json:
        return {
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {_META + "serverInfo": self._server_info()},
        }


def _instructions(greeting: Greeting) -> Json:
    text = greeting.instructions
    return {"instructions": text} if text is not None else {}


def greeting_of(
    memory: Memory,
    context: CallContext,
    *,
    has_entries: bool,
    read_only: bool = False,
    key_per_call: bool = False,
) -> Greeting:
    """The greeting of a server over a memory. `read_only` leaves out the tools that write."""
    # Settings and conversation stay the same while the server runs, and so does the verdict.
    refused = refusal(memory, context)
    if refused:
        # A tool that always fails would only cost the model a turn.
        return Greeting(
            _without_tools(refused), refusal=refused, list_resources=lambda: {"resources": []}
        )
    specs = (*TOOLS, *ENTRY_TOOLS) if has_entries else TOOLS
    offered = tuple(spec for spec in specs if spec.read_only or not read_only)
    return Greeting(
        recall_section([spec.name for spec in offered], context) or None,
        offered,
        prompts=tuple(prompts_for(context, read_only=read_only)),
        list_resources=None if key_per_call else partial(resources_for, memory, None, context),
    )


def empty_greeting(failure: Failure) -> Greeting:
    """The greeting of a server for an agent that has no memory.

    A memory that does not work yet has one tool, which says why: Codex shows the instructions of a
    server to the model only if it has tools. A memory that the user switched off has none.
    """
    tools = () if failure.disabled else _STATUS_TOOL
    says = _without_memory(failure) if tools else _without_tools(failure)
    return Greeting(says, tools, refusal=failure, description=None, has_notes=False)


def waiting_greeting(error: NotewellError) -> Greeting:
    """The greeting of a server whose memory may open later (see `recovery.py`).

    A client asks for prompts and resources only if the server has announced them at its start."""
    return Greeting(
        _without_memory(waiting_failure(error)),
        _STATUS_TOOL,
        list_resources=lambda: {"resources": []},
        opening=Opening(),
    )


def waiting_failure(error: NotewellError) -> Failure:
    failure = failure_of(error)
    if failure.disabled:
        return failure
    return replace(failure, action=f"{failure.action}; then call {STATUS}, which tries again")


_STATUS_TOOL = tuple(spec for spec in TOOLS if spec.name == STATUS)


def _without_memory(failure: Failure) -> str:
    return f"This server has no memory: {failure.to_text()}"


def _without_tools(failure: Failure) -> str:
    return f"This server offers no tools: {failure.to_text()}"


def tool_json(spec: ToolSpec) -> Json:
    """No output schema: with one, the protocol requires JSON beside the text of each answer."""
    return {
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "annotations": {**_effects(spec), "openWorldHint": False},
    }


def _effects(spec: ToolSpec) -> Json:
    # The other two hints have no meaning for a tool that only reads.
    if spec.read_only:
        return {"readOnlyHint": True}
    # A repeated append is not written twice, nor is an entry deleted twice.
    return {"destructiveHint": spec.destructive, "idempotentHint": True}


# -- requests ------------------------------------------------------------------------------------


class Reply(NamedTuple):
    """What to do with a line of the client."""

    answer: bytes | None
    """Without the line break; None: the SDK answers, if anything does."""
    for_sdk: bool
    """Whether the SDK gets the line. It gets `initialize` also if that is answered here."""
    later: Callable[[], bytes] | None = None
    """Computes the answer, in a thread of its own because it takes a while. If it fails, the SDK
    gets the line."""


_TO_SDK = Reply(None, for_sdk=True)


class Greeter:
    """Answers the lines of one client as far as a greeting suffices."""

    def __init__(self, greeting: Greeting) -> None:
        self._greeting = greeting
        self._has_handshake = False
        self._has_resources = False

    def reply(self, line: bytes) -> Reply:
        request = _request_in(line)
        if request is None:
            return _TO_SDK
        method, params = request["method"], request.get("params", {})
        if method == "initialize":
            # The SDK refuses or accepts a second handshake.
            if self._has_handshake or not _is_handshake(params):
                return _TO_SDK
            self._has_handshake = True
            result = self._greeting.initialize_result(params["protocolVersion"])
            return Reply(_answer(request, result), for_sdk=True)
        in_envelope = self._is_in_envelope(params)
        if in_envelope is None:
            return _TO_SDK
        if method == "resources/list":
            return self._resources(request, in_envelope=in_envelope)
        known = self._result(method, in_envelope=in_envelope)
        return _TO_SDK if known is None else Reply(_answer(request, known), for_sdk=False)

    def _is_in_envelope(self, params: Json) -> bool | None:
        """Whether a request without arguments names its protocol version itself; None: it is not
        of the usual form, or comes before the handshake."""
        meta = params.get("_meta", {})
        if params.keys() - {"_meta"} or not isinstance(meta, dict):
            return None
        if _META + "protocolVersion" in meta:
            return True if _is_envelope(meta) else None
        return False if self._has_handshake else None

    def _result(self, method: str, *, in_envelope: bool) -> Json | None:
        if method == "ping":
            return None if in_envelope else {}
        if method == "server/discover":
            return self._greeting.discover_result() if in_envelope else None
        listed = self._greeting.listed(method)
        return {**listed, **self._greeting.envelope()} if listed and in_envelope else listed

    def _resources(self, request: Json, *, in_envelope: bool) -> Reply:
        work = self._greeting.current.list_resources
        # Once: a client that asks again and again must not start a thread each time.
        if work is None or self._has_resources:
            return _TO_SDK
        self._has_resources = True
        envelope = self._greeting.envelope() if in_envelope else {}
        return Reply(None, for_sdk=False, later=lambda: _answer(request, {**work(), **envelope}))


def refused(line: bytes, greeting: Greeting, failure: Failure) -> bytes | None:
    """The answer of a server that has only a reason, to what the greeting does not answer; None:
    the line is no request."""
    request = _request_in(line)
    if request is None:
        return None
    if request["method"] != "tools/call":
        answer = {"error": {"code": _METHOD_NOT_FOUND, "message": failure.to_text()}}
        return _message({"jsonrpc": "2.0", "id": request["id"], **answer})
    meta = request.get("params", {}).get("_meta")
    in_envelope = isinstance(meta, dict) and _META + "protocolVersion" in meta
    result = {"content": [{"type": "text", "text": failure.to_text()}], "isError": True}
    return _answer(request, {**result, **(greeting.envelope() if in_envelope else {})})


def _request_in(line: bytes) -> Json | None:
    """The request in a line; None if it is none, or not one in the usual form."""
    try:
        request = json.loads(line.decode(), parse_constant=_refuse_constant)
        # Half of a surrogate pair is no text to the SDK.
        json.dumps(request, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict) or request.keys() - {"params"} != {"jsonrpc", "id", "method"}:
        return None
    # `type` and not `isinstance`: a bool is no id.
    usual = request["jsonrpc"] == "2.0" and type(request["id"]) in (int, str)
    usual = usual and isinstance(request["method"], str)
    return request if usual and isinstance(request.get("params", {}), dict) else None


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _is_handshake(params: Json) -> bool:
    version, capabilities = params.get("protocolVersion"), params.get("capabilities")
    is_plain = isinstance(version, str) and isinstance(capabilities, dict)
    return is_plain and _is_named(params.get("clientInfo"))


def _is_envelope(meta: Json) -> bool:
    """Whether a request carries a whole envelope of the version that we know."""
    client = meta.get(_META + "clientInfo")
    return (
        meta[_META + "protocolVersion"] == ENVELOPE_VERSION
        and isinstance(meta.get(_META + "clientCapabilities"), dict)
        and (client is None or _is_named(client))
    )


def _is_named(client: object) -> bool:
    return isinstance(client, dict) and all(
        isinstance(client.get(key), str) for key in ("name", "version")
    )


def _answer(request: Json, result: Json) -> bytes:
    return _message({"jsonrpc": "2.0", "id": request["id"], "result": result})


def _message(message: Json) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
