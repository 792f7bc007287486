"""The MCP server over streamable HTTP. (Over standard input and output: see `stdio.py`.)

It listens on this machine only unless configured otherwise, and always needs a token:

    Host      must name this server (defends against DNS rebinding)
    Origin    if a browser sends one, it must be this server too
    token     `Authorization: Bearer …`, compared in constant time; one token is for one agent

There is no TLS: to serve other machines, use a proxy that has it.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from typing import TYPE_CHECKING, Any

from notewell.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
MIN_TOKEN_CHARS = 16
"""Shorter tokens can be guessed."""
STOP_WAIT_S = 3
MAX_PORT = 65535


def listen(host: str, port: int, allowed_hosts: Sequence[str] = ()) -> socket.socket:
    """A listening socket. Access from other machines needs an allowed host name."""
    if not is_loopback(host) and not allowed_hosts:
        raise BadSetting(
            "host",
            f"{host!r} can be reached from other machines: give its host name with --allow-host",
        )
    if not 0 <= port <= MAX_PORT:
        raise BadSetting("port", f"expected a number from 0 to {MAX_PORT}, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSetting("port", f"cannot listen on {host}:{port}: {reason}") from error
    # Accepted connections inherit this option. asyncio sets it only on sockets that were created
    # with a protocol number, which this one was not. Without it, Nagle's algorithm and delayed
    # acknowledgements hold back the second part of a response for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def http_app(
    server: Server[Any], token: str, port: int, allowed_hosts: Sequence[str] = ()
) -> ASGIApp:
    """The whole application with its checks."""
    if len(token) < MIN_TOKEN_CHARS:
        raise BadSetting("token", f"shorter than {MIN_TOKEN_CHARS} characters")
    # `notewell serve` uses this module, too, and loads the SDK only when it is asked over MCP.
    from mcp.server.transport_security import TransportSecuritySettings

    local = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[*local, *allowed_hosts],
            allowed_origins=[
                *(f"http://{name}" for name in local),
                # Other names are behind a TLS proxy.
                *(f"https://{name}" for name in allowed_hosts),
            ],
        ),
    )
    return _TokenMiddleware(app, token)


def serve_http(app: ASGIApp, listener: socket.socket) -> None:
    """Returns when the process gets a signal to stop."""
    import uvicorn

    # With its default log configuration, uvicorn would write to standard output.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=STOP_WAIT_S
    )
    uvicorn.Server(config).run(sockets=[listener])


class _TokenMiddleware:
    """Refuses every request without the token, whatever its path."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._has_token(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _refuse(send)

    def _has_token(self, scope: Scope) -> bool:
        values = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(values) != 1:
            return False
        scheme, _, token = values[0].partition(b" ")
        return secrets.compare_digest(scheme.lower() + b" " + token, self._expected)


async def _refuse(send: Send) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    body = b"a token is needed: Authorization: Bearer ...\n"
    await send({"type": "http.response.body", "body": body})
