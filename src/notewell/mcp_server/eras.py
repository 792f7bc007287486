"""Serves the lines of one client with the SDK, in both eras of the protocol at once.

The versions with a handshake and the version without one are two eras. The SDK's loop serves a
connection in the era of its first request and refuses the other one. A client may try both on one
pipe: it asks `server/discover`, and if the answer is late, it sends `initialize`. So each era gets
a loop of its own, over the same server.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp.server import Server

    from notewell.mcp_server.stdio import Line, Wire

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


def serve_lines(server: Server[Any], wire: Wire) -> None:
    """Returns when the client has disconnected."""
    try:
        anyio.run(_serve, server, wire)
    finally:
        # Also after Ctrl-C: a thread that still waits for a line would keep the process alive.
        wire.lines.put(None)


async def _serve(server: Server[Any], wire: Wire) -> None:
    with _woken_by_signals():
        await _serve_client(server, wire)


@contextmanager
def _woken_by_signals() -> Iterator[None]:
    """A signal always wakes the loop, which then runs Python's handler of it.

    Without this, Ctrl-C does nothing until the next line of the client if the signal comes in the
    moment before the loop begins to wait, or if the system gives it to another thread."""
    # On Windows the loop does this itself.
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.settimeout(0)
        writer.settimeout(0)
        loop.add_reader(reader, reader.recv, 1)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(reader)


async def _serve_client(server: Server[Any], wire: Wire) -> None:
    async with server.lifespan(server) as state, anyio.create_task_group() as group:
        eras: dict[bool, _Era] = {}

        def era_of(is_modern: bool) -> _Era:
            if is_modern not in eras:
                era = eras[is_modern] = _Era(wire.write)
                group.start_soon(era.write_answers)
                group.start_soon(partial(era.serve, server, state))
            return eras[is_modern]

        while (line := await _next(wire)) is not None:
            item = _parsed(line.text)
            if isinstance(item, types.JSONRPCRequest):
                await era_of(_is_modern(item)).take(item, is_answered=line.is_answered)
                continue
            # A notification does not say its era, and each loop ignores what is not about it.
            for era in list(eras.values()) or [era_of(is_modern=False)]:
                await era.pass_on(item)
        for era in eras.values():
            era.close()


async def _next(wire: Wire) -> Line | None:
    return await anyio.to_thread.run_sync(wire.lines.get, abandon_on_cancel=True)


def _parsed(text: str) -> types.JSONRPCMessage | Exception:
    try:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError as error:
        # The loop of the SDK reports it.
        return error


def _is_modern(request: types.JSONRPCRequest) -> bool:
    meta = (request.params or {}).get("_meta")
    return request.method != "initialize" and isinstance(meta, dict) and _VERSION_KEY in meta


class _Era:
    """A loop of the SDK and the streams to and from it."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._to_loop, self._loop_in = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ]()
        self._loop_out, self._from_loop = anyio.create_memory_object_stream[SessionMessage]()
        self._withheld: types.RequestId | None = None
        """The request whose answer the client has already."""
        self._was_refused = False
        self._arrived = anyio.Event()

    async def serve(self, server: Server[Any], state: object) -> None:
        options = server.create_initialization_options()
        await serve_dual_era_loop(
            server, self._loop_in, self._loop_out, lifespan_state=state, init_options=options
        )

    async def take(self, request: types.JSONRPCRequest, *, is_answered: bool) -> None:
        if not is_answered:
            await self.pass_on(request)
            return
        await self._take_answered(request)
        if self._was_refused:
            # The client counts as connected, so it must be: without the details that the SDK
            # could not read.
            await self._take_answered(_reduced(request))

    async def _take_answered(self, request: types.JSONRPCRequest) -> None:
        self._withheld, self._was_refused, self._arrived = request.id, False, anyio.Event()
        await self.pass_on(request)
        await self._arrived.wait()

    async def pass_on(self, item: types.JSONRPCMessage | Exception) -> None:
        await self._to_loop.send(item if isinstance(item, Exception) else SessionMessage(item))

    async def write_answers(self) -> None:
        async with self._from_loop:
            async for sent in self._from_loop:
                message = sent.message
                if self._withholds(message):
                    continue
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                await anyio.to_thread.run_sync(self._write, text.encode())
        self._arrived.set()

    def _withholds(self, message: types.JSONRPCMessage) -> bool:
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return False
        if self._withheld is None or message.id != self._withheld:
            return False
        self._withheld = None
        self._was_refused = isinstance(message, types.JSONRPCError)
        self._arrived.set()
        return True

    def close(self) -> None:
        self._to_loop.close()


def _reduced(request: types.JSONRPCRequest) -> types.JSONRPCRequest:
    params = request.params or {}
    client = {key: params["clientInfo"][key] for key in ("name", "version")}
    kept = {"protocolVersion": params["protocolVersion"], "capabilities": {}, "clientInfo": client}
    return request.model_copy(update={"params": kept})
