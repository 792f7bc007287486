"""QMD kept running between questions: `qmd mcp --http` on this machine, on a port of its own.

    not running ──ask──▶ starting ──"listening on …"──▶ ready ──ends, hangs──▶ not running
                            └──ends, or START_S passes──▶ not running, and left alone for a while

It is ready when it says so on its own standard error. Whoever else may answer on that port, that
line comes from our child after it has the port.

A question to a running server takes milliseconds, a command most of a second. The server has no
password, so other users of this machine could ask it too; `daemon: false` goes without.
"""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from notewell.qmd.failures import QmdFailed, error_line, failed_exit
from notewell.qmd.home import INDEX
from notewell.qmd.http_call import HOST, Answer, HungUp, Late, TooLarge, exchange
from notewell.qmd.process import STDERR_BYTES, end, start
from notewell.qmd.schedule import pause_after

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.qmd.process import Program

START_S = 15.0
"""Two seconds here; a laptop that wakes up takes longer."""
HEALTH_S = 0.5
"""After a question that was not answered in time: is anybody there at all?"""


class Daemon:
    """One server. Safe for several threads; only starting and ending take turns."""

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
        self._turn = threading.Lock()
        self._server: _Server | None = None
        self._failures = 0
        self._not_before = 0.0
        self._trouble: QmdFailed | None = None
        """Why it did not start the last time."""

    @property
    def pid(self) -> int | None:
        """Of the process group, while it runs."""
        server = self._server
        return server.child.pid if server and server.is_alive else None

    def ask(self, content: Any, timeout_s: float, *, start_within_s: float | None = None) -> bytes:
        """The body of the answer. Raises `QmdFailed`: `timeout` when the time is up, something
        else when there is no server to be had, so that another way may be tried.

        `start_within_s` is how much of the time a start may take before that is said; the server
        then goes on starting, for the next question.
        """
        until = time.monotonic() + timeout_s
        server = self._ready(timeout_s if start_within_s is None else start_within_s)
        try:
            answer = exchange(server.port, "POST", "/query", content, until)
        except Late:
            self._end_if_deaf(server)
            why = f"the qmd server gave no answer within {timeout_s:g} s"
            raise QmdFailed("timeout", why) from None
        except TooLarge:
            why = "the qmd server sent more than anybody would read"
            raise QmdFailed("output-too-large", why) from None
        except HungUp as error:
            self._drop(server)
            why = f"the qmd server ended in the middle of a question ({error})"
            raise QmdFailed("exit", why) from error
        self._failures = 0
        return _content(answer)

    def close(self) -> None:
        """End the server; the next question would start another."""
        with self._turn:
            server, self._server = self._server, None
        if server:
            server.end()

    # -- one server after the other --------------------------------------------------------------

    def _ready(self, within_s: float) -> _Server:
        with self._turn:
            server = self._server
            if server is None or not server.is_alive:
                server = self._server = self._started(server)
        if server.listens.wait(within_s) and server.is_alive:
            return server
        if server.is_alive and self._monotonic_s() - server.since < self._start_s:
            raise QmdFailed("spawn-failed", "the qmd server is still starting")
        failure = self._start_failed(server)
        self._drop(server)
        self._failures += 1
        self._not_before = self._monotonic_s() + pause_after(self._failures)
        self._trouble = failure
        raise failure

    def _started(self, dead: _Server | None) -> _Server:
        if dead:
            dead.end()
        left = self._not_before - self._monotonic_s()
        if left > 0 and self._trouble:
            why = f"the qmd server is tried again in {left:.0f} s; last time: {self._trouble.why}"
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
        return failed_exit("mcp --http", code, server.said())

    def _end_if_deaf(self, server: _Server) -> None:
        """A server that loads a model is slow and well; one that does not even say so is lost."""
        try:
            until = time.monotonic() + HEALTH_S
            if exchange(server.port, "GET", "/health", None, until).status == 200:
                return
        except (Late, HungUp, TooLarge):
            pass
        self._drop(server)

    def _drop(self, server: _Server) -> None:
        with self._turn:
            if self._server is server:
                self._server = None
        server.end()


class _Server:
    """One child process and what it says."""

    def __init__(self, child: subprocess.Popen[bytes], port: int, since: float) -> None:
        self.child = child
        self.port = port
        self.since = since
        self.listens = threading.Event()
        """Set when it listens, and when it will never do."""
        self.code: int | None = None
        self._said = bytearray()
        # It logs every question: nobody may let that pipe fill up.
        self._reader = threading.Thread(target=self._read, name="notewell-qmd", daemon=True)
        self._reader.start()

    @property
    def is_alive(self) -> bool:
        return self.code is None and self._reader.is_alive()

    def said(self) -> str:
        return self._said.decode("utf-8", "replace")

    def end(self) -> None:
        if self.child.stdin is not None:
            with suppress(OSError):
                self.child.stdin.close()  # The leash kills the group, and that ends the reader.
        self._reader.join(HEALTH_S)
        end(self.child)

    def _read(self) -> None:
        mark = f":{self.port}".encode()
        for line in self.child.stderr or ():
            if len(self._said) < STDERR_BYTES:
                self._said += line
            if b"listening" in line and mark in line:
                self.listens.set()
        self.code = self.child.wait()
        self.listens.set()


def _free_port() -> int:
    """Somebody may take it before QMD does; then QMD ends and says so."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as line:
        line.bind((HOST, 0))
        port: int = line.getsockname()[1]
        return port


def _content(answer: Answer) -> bytes:
    if answer.status != 200:
        said = error_line(answer.body.decode("utf-8", "replace"))
        raise QmdFailed("exit", f"the qmd server said HTTP {answer.status}: {said}")
    return answer.body
