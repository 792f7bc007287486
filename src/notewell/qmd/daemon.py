"""QMD's server, kept running between questions: `qmd mcp --http` on a port of this machine.

    not running ──ask──▶ starting ──"listening on …"──▶ ready ──ends, hangs──▶ not running
                            └──ends, or START_S passes──▶ not running, and backoff

It is ready when its standard error says so. Another process may answer on that port, but this
line can only come from our child after it has bound the port.

The server answers in milliseconds, a command takes most of a second. The server has no password,
so other users of this machine can query it too; `daemon: false` avoids that.

HTTP libraries apply a timeout to each wait, so a server that sends a byte now and then can keep
them for hours. `exchange` applies one deadline to the whole exchange, and limits the size of the
answer. Each connection serves one exchange: a new one costs a fifth of a millisecond here.
"""

from __future__ import annotations

import io
import json
import socket
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.qmd.failures import QmdFailed, backoff_s, error_line, failed_exit
from notewell.qmd.home import INDEX
from notewell.qmd.process import STDERR_BYTES, end, start

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.qmd.process import Program

START_S = 15.0
"""Two seconds on the machine we measured; a laptop that wakes up takes longer."""
HEALTH_S = 0.5
"""For the health check after a question that timed out."""
HOST = "127.0.0.1"
BODY_BYTES = 2_000_000
"""As much as a command may print, plus percent-encoding."""
READ_BYTES = 64 * 1024


class Daemon:
    """One server. Thread-safe; questions run in parallel, start and stop are serialized."""

    def __init__(
        self,
        program: Program,
        *,
        start_s: float = START_S,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._program = program
        self._start_s = start_s
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._failures = 0
        self._not_before = 0.0
        self._start_failure: QmdFailed | None = None
        """The last one."""

    @property
    def pid(self) -> int | None:
        """The process group, while it runs."""
        server = self._server
        return server.child.pid if server and server.is_alive else None

    def ask(self, content: Any, timeout_s: float, *, start_within_s: float | None = None) -> bytes:
        """The body of the answer. Raises `QmdFailed`: `timeout` if the time is used up, another
        kind if no server can be reached, so that the caller can try a command instead.

        `start_within_s` is the part of the time that a start may take. If it is not enough, the
        server continues to start for the next question.
        """
        until = time.monotonic() + timeout_s
        server = self._ready(timeout_s if start_within_s is None else start_within_s)
        try:
            response = exchange(server.port, "POST", "/query", content, until)
        except DeadlinePassed:
            self._end_if_unresponsive(server)
            why = f"the qmd server gave no answer within {timeout_s:g} s"
            raise QmdFailed("timeout", why) from None
        except ResponseTooLarge:
            why = f"the qmd server sent more than {BODY_BYTES} bytes"
            raise QmdFailed("output-too-large", why) from None
        except ConnectionLost as error:
            self._drop(server)
            why = f"the qmd server ended in the middle of a question ({error})"
            raise QmdFailed("exit", why) from error
        self._failures = 0  # An answer of any kind ends the backoff.
        return _content(response)

    def close(self) -> None:
        """Stop the server; the next question starts another."""
        with self._lock:
            server, self._server = self._server, None
        if server:
            server.end()

    # -- starting and stopping -------------------------------------------------------------------

    def _ready(self, within_s: float) -> _Server:
        with self._lock:
            server = self._server
            if server is None or not server.is_alive:
                server = self._server = self._started(server)
        # Outside the lock: others may use a server that is ready while we wait for this one.
        if server.listens.wait(within_s) and server.is_alive:
            return server
        if server.is_alive and self._monotonic_s() - server.since < self._start_s:
            raise QmdFailed("spawn-failed", "the qmd server is still starting")
        failure = self._start_failed(server)
        self._drop(server)
        self._failures += 1
        self._not_before = self._monotonic_s() + backoff_s(self._failures)
        self._start_failure = failure
        raise failure

    def _started(self, dead: _Server | None) -> _Server:
        if dead:
            dead.end()
        left = self._not_before - self._monotonic_s()
        if left > 0 and self._start_failure:
            last = self._start_failure.why
            why = f"the qmd server is tried again in {left:.0f} s; last time: {last}"
            raise QmdFailed("spawn-failed", why)
        port = _free_port()
        flags = ["--index", INDEX, "mcp", "--http", "--host", HOST, "--port", str(port)]
        child = start(self._program, flags, stdout=subprocess.DEVNULL)
        return _Server(child, port, self._monotonic_s())

    def _start_failed(self, server: _Server) -> QmdFailed:
        code = server.code
        if code is None:
            why = f"the qmd server was not ready within {self._start_s:g} s"
            return QmdFailed("spawn-failed", why)
        return failed_exit("mcp --http", code, server.stderr())

    def _end_if_unresponsive(self, server: _Server) -> None:
        """A server that loads a model is slow but answers its health check; it stays."""
        try:
            until = time.monotonic() + HEALTH_S
            if exchange(server.port, "GET", "/health", None, until).status == 200:
                return
        except (DeadlinePassed, ConnectionLost, ResponseTooLarge):
            pass
        self._drop(server)

    def _drop(self, server: _Server) -> None:
        with self._lock:
            if self._server is server:
                self._server = None
        server.end()


class _Server:
    """One child process and its standard error."""

    def __init__(self, child: subprocess.Popen[bytes], port: int, since: float) -> None:
        self.child = child
        self.port = port
        self.since = since
        self.listens = threading.Event()
        """Set when it listens, and when it has ended."""
        self.code: int | None = None
        self._stderr = bytearray()
        # The server logs every question: if nobody reads the pipe, it fills up and blocks it.
        self._reader = threading.Thread(target=self._read, name="notewell-qmd", daemon=True)
        self._reader.start()

    @property
    def is_alive(self) -> bool:
        return self.code is None and self._reader.is_alive()

    def stderr(self) -> str:
        return self._stderr.decode("utf-8", "replace")

    def end(self) -> None:
        if self.child.stdin is not None:
            with suppress(OSError):
                self.child.stdin.close()  # The guard kills the group, which ends the reader.
        self._reader.join(HEALTH_S)
        end(self.child)

    def _read(self) -> None:
        mark = f":{self.port}".encode()
        for line in self.child.stderr or ():
            if len(self._stderr) < STDERR_BYTES:
                self._stderr += line
            if b"listening" in line and mark in line:
                self.listens.set()
        self.code = self.child.wait()  # Before the event: a waiter then sees that it ended.
        self.listens.set()


def _free_port() -> int:
    # Another process may take it before QMD does; then QMD exits with an error.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _content(response: HttpResponse) -> bytes:
    if response.status != 200:
        message = error_line(response.body.decode("utf-8", "replace"))
        raise QmdFailed("exit", f"the qmd server said HTTP {response.status}: {message}")
    return response.body


# -- one HTTP exchange under one deadline --------------------------------------------------------


class DeadlinePassed(Exception):
    """No complete answer before the deadline."""


class ResponseTooLarge(Exception):
    """More than `BODY_BYTES`."""


class ConnectionLost(Exception):
    """The connection was refused or ended before the answer did; the message says which."""


class HttpResponse(NamedTuple):
    status: int
    body: bytes


def exchange(port: int, method: str, path: str, content: Any, until: float) -> HttpResponse:
    """Send and receive; `until` is on the monotonic clock."""
    body = b"" if content is None else json.dumps(content).encode()
    # Written by hand: the clients of the standard library have no deadline for the whole answer.
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        with socket.create_connection((HOST, port), timeout=_left(until)) as connection:
            connection.settimeout(_left(until))
            connection.sendall(head.encode("ascii") + body)
            return _parse(_receive(connection, until))
    except TimeoutError:
        raise DeadlinePassed from None
    except OSError as error:
        raise ConnectionLost(error.strerror or str(error)) from error


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise DeadlinePassed
    return left


def _receive(connection: socket.socket, until: float) -> bytes:
    """Everything up to the end of the connection, which the server closes."""
    data = bytearray()
    while True:
        connection.settimeout(_left(until))
        piece = connection.recv(READ_BYTES)
        if not piece:
            return bytes(data)
        data += piece
        if len(data) > BODY_BYTES:
            raise ResponseTooLarge


class _ReceivedSocket:
    """For `http.client`, which parses from a socket: one whose data was read already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _parse(data: bytes) -> HttpResponse:
    if not data:
        raise ConnectionLost("the connection ended without an answer")
    if b"\r\n\r\n" not in data:  # `http.client` would accept an incomplete head.
        raise ConnectionLost("the answer is cut off or no HTTP")
    import http.client  # Here, because it imports the whole `email` package.

    response = http.client.HTTPResponse(_ReceivedSocket(data))  # type: ignore[arg-type]
    try:
        response.begin()
        return HttpResponse(response.status, response.read())
    except (http.client.HTTPException, ValueError) as error:
        raise ConnectionLost(
            f"the answer is cut off or no HTTP ({type(error).__name__})"
        ) from error
