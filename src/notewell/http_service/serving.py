"""Runs uvicorn until a signal arrives, then shuts down in order.

    SIGTERM, SIGINT ─▶ no new connections ─▶ streams end, running requests are answered
                    ─▶ writes finish, syncs stop between two batches ─▶ memories are closed

A second SIGINT stops without waiting.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Iterator

    import anyio
    from starlette.types import ASGIApp

    from notewell.http_service.limits import ServiceLimits

STOP_WAIT_S = 10
"""How long running requests may take at shutdown. A search takes less."""
KEEP_ALIVE_S = 30
FIRST_REQUEST_S = 20.0
"""For the first request of a connection, with its body: a megabyte over a slow network."""
MAX_HEADER_BYTES = 32 * 1024
"""For all headers together: a token, a cookie and what browsers add."""
MAX_FRAMING_BYTES = 128 * 1024
"""For what is not the body: headers, and with chunked encoding the sizes of chunks and trailers. A
body of a megabyte in chunks of 64 bytes stays below."""


def serve(
    app: ASGIApp,
    listener: socket.socket,
    closing: anyio.Event,
    limits: ServiceLimits,
    ready: Callable[[], None],
) -> None:
    """Returns after shutdown. `ready` is called when requests and signals are handled."""
    config = uvicorn.Config(
        app,
        http=protocol_class(),
        # There are no WebSocket routes; without this, uvicorn would import a library for them.
        ws="none",
        lifespan="on",
        log_config=None,  # `configure_logging` has run; standard output stays free for data.
        access_log=False,
        # Says nothing useful to clients, but tells an attacker the software.
        server_header=False,
        proxy_headers=False,  # No check depends on the client's address, so none is believed.
        limit_concurrency=limits.connections,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_WAIT_S,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    _Server(config, closing, ready).run(sockets=[listener])


def protocol_class() -> type[asyncio.Protocol]:
    """The parser in C that comes with the extra `serve`; h11 where it is not installed."""
    if find_spec("httptools") is None:
        return H11TimeoutProtocol
    return httptools_protocol()


class _FirstRequestTimeout:
    """Closes connections whose first request does not arrive in time (slowloris). Without this,
    256 silent connections, which need no token, would block all other clients."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    cycle: Any
    """The current request of uvicorn; None before the first one."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self.loop.call_later(FIRST_REQUEST_S, self._check_first_request)

    def _check_first_request(self) -> None:
        if self.transport.is_closing():
            return
        # `more_body`: the headers have arrived, but the body is not complete yet.
        if self.cycle is None or self.cycle.more_body:
            self.transport.close()


class H11TimeoutProtocol(_FirstRequestTimeout, H11Protocol):  # type: ignore[misc]
    """h11 limits the headers itself: `h11_max_incomplete_event_size`."""


@cache
def httptools_protocol() -> type[asyncio.Protocol]:
    """Defined when it is needed, because the module of uvicorn imports httptools."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class HttpToolsTimeoutProtocol(_FirstRequestTimeout, HttpToolsProtocol):  # type: ignore[misc]
        """httptools has no limit of its own: a client without a token could fill the memory with
        a header that does not end."""

        _framing_bytes = 0

        def on_message_begin(self) -> None:
            self._framing_bytes = 0
            super().on_message_begin()

        def on_body(self, body: bytes) -> None:
            self._framing_bytes -= len(body)
            super().on_body(body)

        def data_received(self, data: bytes) -> None:
            # Counted first. A request that begins in the middle of the data gets a few more bytes.
            self._framing_bytes += len(data)
            super().data_received(data)
            if self._framing_bytes > MAX_FRAMING_BYTES and not self.transport.is_closing():
                self.send_400_response("The headers are too large.")

    return HttpToolsTimeoutProtocol


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, closing: anyio.Event, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._closing = closing
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before uvicorn's own shutdown, which waits for open streams to end.
        self._closing.set()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Like uvicorn's method, but it does not raise the signal again at the end: that would
        kill the process before the command can remove its state file."""
        # Python allows signal handlers in the main thread only; tests run servers in others.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
