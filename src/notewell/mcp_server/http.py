"""Streamable HTTP: on this machine only unless told otherwise, and never without a token.

    Host      must be a name of ours: a page of another site cannot reach us through DNS rebinding
    Origin    if a browser sends one, it must be ours too
    token     `Authorization: Bearer …`, compared in constant time; one token is one agent

There is no TLS here: what leaves this machine belongs behind a proxy that has it.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings

from notewell.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
LEAST_TOKEN_CHARS = 16
"""Shorter ones are guessed sooner or later."""
STOP_WAIT_S = 3
MAX_PORT = 65535


def listen(host: str, port: int, allowed_hosts: Sequence[str] = ()) -> socket.socket:
    """A bound socket; other machines are let in only under names that were given."""
    if not is_loopback(host) and not allowed_hosts:
        raise BadSetting(
            "host",
            f"{host!r} can be reached from other machines: say under which name with --allow-host",
        )
    if not 0 <= port <= MAX_PORT:
        raise BadSetting("port", f"expected a number from 0 to {MAX_PORT}, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        why = error.strerror or str(error)
        raise BadSetting("port", f"cannot listen on {host}:{port}: {why}") from error
    # What is accepted inherits it. asyncio sets it only on sockets that name their protocol, which
    # this one does not, and then an answer's second part waits 40 ms for the client's nod.
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
    """The whole application, guarded."""
    if len(token) < LEAST_TOKEN_CHARS:
        raise BadSetting("token", f"shorter than {LEAST_TOKEN_CHARS} characters")
    ours = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[*ours, *allowed_hosts],
            allowed_origins=[
                *(f"http://{name}" for name in ours),
                *(f"https://{name}" for name in allowed_hosts),
            ],
        ),
    )
    return _WithToken(app, token)


def serve_http(app: ASGIApp, listener: socket.socket) -> None:
    """Returns when the process is told to stop."""
    import uvicorn

    # Without a log configuration of its own, uvicorn writes nothing to standard output.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=STOP_WAIT_S
    )
    uvicorn.Server(config).run(sockets=[listener])


class _WithToken:
    """Lets nobody past who does not show the token, whatever they ask for."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._knows(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _refuse(send)

    def _knows(self, scope: Scope) -> bool:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(shown) != 1:
            return False
        scheme, _, token = shown[0].partition(b" ")
        return secrets.compare_digest(scheme.lower() + b" " + token, self._wanted)


async def _refuse(send: Send) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    body = b"a token is needed: Authorization: Bearer ...\n"
    await send({"type": "http.response.body", "body": body})
