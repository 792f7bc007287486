"""Answering on a socket until somebody says stop, and stopping well.

    SIGTERM, SIGINT ─▶ no new connections ─▶ streams end, answers under way are given
                    ─▶ writes finish, syncs end between two batches ─▶ memories are closed

A second SIGINT does not wait.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Iterator

    import anyio
    from starlette.types import ASGIApp

    from notewell.http_service.limits import Limits

STOP_WAIT_S = 10
"""The longest that answers under way are waited for; a search takes less."""
KEEP_ALIVE_S = 30
ASK_WITHIN_S = 20.0
"""For the first request of a connection, its body included: a megabyte over a slow line."""
HEADER_BYTES = 32 * 1024
"""Of all headers together: a token, a cookie and what browsers add."""


def serve(
    app: ASGIApp,
    listener: socket.socket,
    closing: anyio.Event,
    limits: Limits,
    ready: Callable[[], None],
) -> None:
    """Returns when everything is closed. `ready` is called as soon as requests are answered and
    signals are heard."""
    config = uvicorn.Config(
        app,
        http=_Impatient,
        ws="none",
        lifespan="on",
        log_config=None,  # Ours is set up already, and nothing goes to standard output.
        access_log=False,
        server_header=False,
        proxy_headers=False,  # Who we are called by is checked; who calls is not asked.
        limit_concurrency=limits.connections,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_WAIT_S,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )
    _Server(config, closing, ready).run(sockets=[listener])


class _Impatient(H11Protocol):
    """Hangs up on who connects and does not ask: 256 silent connections, which need no token,
    would keep everybody else out. A body that does not come ends with its connection too."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(ASK_WITHIN_S, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        begun = self.cycle is not None
        if not begun or self.conn.their_state is h11.SEND_BODY:
            self.transport.close()


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
        self._closing.set()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does it, except that the signal is not raised again in the end: everything is
        closed by then, and dying of it would keep the command from tidying up."""
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
