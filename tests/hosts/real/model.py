"""A model on loopback that follows a script: search, get, append, then an answer with its source.

It keeps no state between requests: what it does next follows from the conversation in the request,
as with a real model. Every request is kept, so that a test can see what reached the model.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.hosts.real.dialects import Conversation, Dialect, Exchange, Move, Tool, dialect_of

STEPS = ("memory_search", "memory_get", "memory_append")
QUESTION = "Which espresso machine did we choose for the office?"
MARKER = "the scripted model wrote this entry"
_CITATION = re.compile(r"(?:MEMORY|memory/[\w./-]+)\.md#L\d+(?:-L\d+)?")


class Proxy(NamedTuple):
    """A tool of the host through which the model calls tools that are not in the list."""

    tool: str
    name_key: str
    arguments_key: str
    names: str
    """The name of a memory tool there, with `{}` for ours."""


class Asked(NamedTuple):
    """A request of the host, and what the model did."""

    text: str
    conversation: Conversation
    move: Move


class Script:
    """Decides the next move. `proxy` is how this host hides tools, if it does."""

    def __init__(self, proxy: Proxy | None) -> None:
        self._proxy = proxy

    def move(self, conversation: Conversation) -> Move:
        if not conversation.tools or not any(QUESTION in one for one in conversation.prompts):
            return Move("Nothing to do.")  # Hosts also ask for a title, for example.
        for step in STEPS:
            if self.exchange(conversation, step) is None:
                return self._call(conversation, step)
        return Move(f"The Rancilio Silvia Pro X. Source: {self._citation(conversation)}")

    def exchange(self, conversation: Conversation, step: str) -> Exchange | None:
        for one in conversation.exchanges:
            is_proxy = self._proxy and one.name == self._proxy.tool
            if is_named(one.name, step) or (is_proxy and step in one.arguments):
                return one
        return None

    def _call(self, conversation: Conversation, step: str) -> Move:
        arguments = {
            "memory_search": {"query": QUESTION},
            "memory_get": {"path": self._citation(conversation)},
            "memory_append": {"text": f"On the day of the check {MARKER}."},
        }[step]
        tools = {tool.name: tool for tool in conversation.tools}
        for name, tool in tools.items():
            if is_named(name, step):
                return Move(tool=tool, arguments=arguments)
        proxy = self._proxy
        if proxy and proxy.tool in tools:
            name = proxy.names.format(step)
            wrapped = {proxy.name_key: name, proxy.arguments_key: arguments}
            return Move(tool=Tool(proxy.tool, None, {}), arguments=wrapped)
        return Move(f"There is no tool {step}.")

    def _citation(self, conversation: Conversation) -> str:
        search = self.exchange(conversation, "memory_search")
        match = _CITATION.search(search.result) if search else None
        return match[0] if match else "MEMORY.md"


def is_named(name: str, step: str) -> bool:
    """Whether a host's name for a tool (`mcp__notewell__memory_search`) means ours."""
    return re.fullmatch(rf"(?:.*[-_./])?{step}", name) is not None


class ScriptedModel:
    """The server's address, and what it was asked."""

    def __init__(self, url: str, script: Script) -> None:
        self.url, self.script = url, script
        self.asked: list[Asked] = []
        self.unknown: list[str] = []
        """Requests that are none of the four APIs: most likely telemetry."""

    @property
    def session(self) -> list[Asked]:
        """The requests of the conversation itself, in order."""
        return [
            one
            for one in self.asked
            if one.conversation.tools and any(QUESTION in p for p in one.conversation.prompts)
        ]


@contextmanager
def scripted_model(
    proxy: Proxy | None = None, script: Script | None = None
) -> Iterator[ScriptedModel]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    model = ScriptedModel(f"http://127.0.0.1:{server.server_port}", script or Script(proxy))
    server.model = model  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        listed = [{"id": "scripted", "object": "model"}]
        self._send({"object": "list", "data": listed, "models": []})

    def do_POST(self) -> None:
        model: ScriptedModel = self.server.model  # type: ignore[attr-defined]
        raw = self._body()
        dialect = dialect_of(self.path)
        if dialect is None:
            model.unknown.append(self.path)
            self._send({"input_tokens": 10, "totalTokens": 10})  # The form of a token count.
            return
        body = json.loads(raw)
        conversation = dialect.read(body)
        move = model.script.move(conversation)
        model.asked.append(Asked(json.dumps(body, ensure_ascii=False), conversation, move))
        if body.get("stream") or "stream" in self.path:
            self._stream(dialect, body, move)
        else:
            self._send(dialect.document(body, move))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b"".join(self._chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().strip() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _stream(self, dialect: Dialect, body: dict[str, Any], move: Move) -> None:
        self._head("text/event-stream")
        for name, data in dialect.events(body, move):
            event = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{event}data: {text}\n\n".encode())

    def _send(self, document: dict[str, Any]) -> None:
        self._head("application/json")
        self.wfile.write(json.dumps(document).encode())

    def _head(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
