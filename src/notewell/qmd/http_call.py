"""One exchange with a server on this machine, under one deadline for all of it.

HTTP libraries bound each single wait, so a server that sends a byte now and then keeps them for
hours. Here every wait gets what is left of the whole, and the answer has a largest size. A
connection serves one exchange: on this machine a new one costs a fifth of a millisecond.
"""

from __future__ import annotations

import io
import json
import socket
import time
from typing import Any, NamedTuple

HOST = "127.0.0.1"
BODY_BYTES = 2_000_000
"""As much as a command may print, with room for percent-encoding."""
READ_BYTES = 64 * 1024


class Late(Exception):
    """The deadline passed first."""


class TooLarge(Exception):
    """More than `BODY_BYTES`."""


class HungUp(Exception):
    """The connection was refused or ended before the answer did; the message says how."""


class Answer(NamedTuple):
    status: int
    body: bytes


def exchange(port: int, method: str, path: str, content: Any, until: float) -> Answer:
    """Send and receive; `until` is on the monotonic clock."""
    body = b"" if content is None else json.dumps(content).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        with socket.create_connection((HOST, port), timeout=_left(until)) as line:
            line.settimeout(_left(until))
            line.sendall(head.encode("ascii") + body)
            return _parsed(_received(line, until))
    except TimeoutError:
        raise Late from None
    except OSError as error:
        raise HungUp(error.strerror or str(error)) from error


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise Late
    return left


def _received(line: socket.socket, until: float) -> bytes:
    """Everything up to the end of the connection, which we asked the server to close."""
    data = bytearray()
    while True:
        line.settimeout(_left(until))
        piece = line.recv(READ_BYTES)
        if not piece:
            return bytes(data)
        data += piece
        if len(data) > BODY_BYTES:
            raise TooLarge


class _Received:
    """What `http.client` takes for a socket: all has been read from it already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _parsed(data: bytes) -> Answer:
    if not data:
        raise HungUp("the connection ended without an answer")
    if b"\r\n\r\n" not in data:  # The library takes what there is of a head for all of it.
        raise HungUp("the answer is cut off or no HTTP")
    import http.client  # It brings the whole of `email` along.

    response = http.client.HTTPResponse(_Received(data))  # type: ignore[arg-type]
    try:
        response.begin()
        return Answer(response.status, response.read())
    except (http.client.HTTPException, ValueError) as error:
        raise HungUp(f"the answer is cut off or no HTTP ({type(error).__name__})") from error
