"""Standard input and output as the wire to one MCP client.

    reader thread   reads the lines of the client; answers what a greeting suffices for
    list thread     lists the notes for the first client that asks, which takes a while
    main thread     imports the SDK meanwhile, creates the server, serves the other lines

The client is answered in the first moments of the process, and nothing that it sends is lost.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from notewell.errors import BadSetting
from notewell.mcp_server.greeting import Greeter, empty_greeting, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp.server import Server

    from notewell.mcp_server.greeting import Greeting
    from notewell.tools import Failure

SWITCH_S = 0.0002
_STDERR = 2


class Line(NamedTuple):
    """A line for the SDK."""

    text: str
    is_answered: bool
    """The SDK's own answer must not reach the client a second time."""


class Wire:
    """The two pipes of a client. Any thread may write."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._writing = Lock()
        self.lines: SimpleQueue[Line | None] = SimpleQueue()
        """What the SDK must see; None at the end."""

    def read(self, greeter: Greeter) -> None:
        """Reads until the client disconnects."""
        try:
            for line in self._source:
                answer, for_sdk, later = greeter.reply(line)
                text = line.decode(errors="replace")
                if for_sdk:
                    self.lines.put(Line(text, is_answered=answer is not None))
                if answer is not None:
                    self.write(answer)
                if later is not None:
                    work = partial(self._answer_later, text, later)
                    Thread(target=work, name="mcp-list", daemon=True).start()
        finally:
            self.lines.put(None)

    def _answer_later(self, text: str, later: Callable[[], bytes]) -> None:
        try:
            answer = later()
        except Exception:  # noqa: BLE001 - the root of a thread
            # The SDK's handler fails in the same way, and reports it.
            self.lines.put(Line(text, is_answered=False))
        else:
            self.write(answer)

    def write(self, message: bytes) -> None:
        try:
            with self._writing:
                self._target.write(message + b"\n")
                self._target.flush()
        except OSError:
            # The client does not read any more, so it has gone.
            self.lines.put(None)


def serve_stdio(greeting: Greeting, create: Callable[[], Server[Any]]) -> None:
    """Serves one client; returns when it disconnects. `create` may import the SDK."""
    with _claimed_wire() as wire:
        _start_reader(wire, greeting)
        with _quick_switches():
            server = create()
            from notewell.mcp_server.eras import serve_lines
        serve_lines(server, wire)


def serve_failure(failure: Failure) -> None:
    """Serves one client with a reason, and without the SDK, which may not be installed."""
    greeting = empty_greeting(failure)
    with _claimed_wire() as wire:
        _start_reader(wire, greeting)
        while (line := wire.lines.get()) is not None:
            answer = None if line.is_answered else refused(line.text.encode(), greeting, failure)
            if answer is not None:
                wire.write(answer)


def _start_reader(wire: Wire, greeting: Greeting) -> None:
    work = partial(wire.read, Greeter(greeting))
    Thread(target=work, name="mcp-reader", daemon=True).start()


@contextmanager
def _quick_switches() -> Iterator[None]:
    """An importing thread lets another one run only after the switch interval, 5 ms by default,
    and each read and write of the reader waits for that."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@contextmanager
def _claimed_wire() -> Iterator[Wire]:
    """The wire, and meanwhile other files as descriptors 0 and 1.

    What a library, its C code or a child process prints would corrupt the protocol: it goes to
    standard error. What they read is empty."""
    # A stream is None if the process was started without it. Its descriptor may since belong to
    # another file.
    if sys.stdin is None:
        raise BadSetting("mcp serve", "standard input is closed; a client must be connected to it")
    source, target = _duplicate(0), _duplicate(1)
    _redirect(os.open(os.devnull, os.O_RDONLY), 0)
    has_stderr = sys.stderr is not None
    _redirect(os.dup(_STDERR) if has_stderr else os.open(os.devnull, os.O_WRONLY), 1)
    try:
        with redirect_stdout(sys.stderr):
            # Never closed: the reader may still wait for the client when this process ends.
            yield Wire(
                os.fdopen(source, "rb", closefd=False), os.fdopen(target, "wb", closefd=False)
            )
    finally:
        with suppress(OSError):
            os.dup2(target, 1)
            os.dup2(source, 0)


def _duplicate(descriptor: int) -> int:
    """A copy above the standard descriptors, also where one of those is closed."""
    copy = os.dup(descriptor)
    if copy > _STDERR:
        return copy
    try:
        return _duplicate(descriptor)
    finally:
        os.close(copy)


def _redirect(file: int, descriptor: int) -> None:
    os.dup2(file, descriptor)
    os.close(file)
