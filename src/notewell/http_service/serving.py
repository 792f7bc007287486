"""Runs uvicorn until a signal arrives, then shuts down in order.

    SIGTERM, SIGINT ─▶ no new connections ─▶ streams end, running requests are answered
                    ─▶ writes finish, syncs stop between two batches ─▶ memories are closed

A second SIGINT stops without waiting.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import uvicorn

from notewell.http_service.connections import (
    KEEP_ALIVE_S,
    LimitedH11Protocol,
    limited_httptools_protocol,
)

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Iterator

    import anyio
    from starlette.types import ASGIApp

    from notewell.http_service.limits import ServiceLimits

STOP_WAIT_S = 10
"""How long running requests may take at shutdown. A search takes less."""
MAX_HEADER_BYTES = 32 * 1024
"""For all headers together: a token, a cookie and what browsers add."""


def serve(
    app: ASGIApp,
    listener: socket.socket,
    closing: anyio.Event,
    limits: ServiceLimits,
    ready: Callable[[], None],
) -> None:
    """Returns after shutdown. `ready` is called when requests and signals are handled."""
    new_server(app, closing, limits, ready).run(sockets=[listener])


def new_server(
    app: ASGIApp, closing: anyio.Event, limits: ServiceLimits, ready: Callable[[], None]
) -> uvicorn.Server:
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
        timeout_keep_alive=int(KEEP_ALIVE_S),
        timeout_graceful_shutdown=STOP_WAIT_S,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    return _Server(config, closing, ready)


def protocol_class() -> type[asyncio.Protocol]:
    """The parser in C that comes with the extra `serve`; h11 where it is not installed."""
    if find_spec("httptools") is None:
        return LimitedH11Protocol
    return limited_httptools_protocol()


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
