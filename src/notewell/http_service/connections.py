"""How long a connection may take for each phase of a request, and how many there may be.

    idle ──first byte──▶ head ──end of headers──▶ body ──last byte──▶ answer ──▶ idle
    FIRST_S, KEEP_ALIVE_S   HEAD_S                   BODY_S              the limits of the work

A phase has one deadline: another byte does not move it. A client that stops reading its answer has
STALL_S. When there are too many connections, of one peer or in all, a new one takes the place of
one that waits for its client: first of those that never showed a token, the oldest. So a client
that holds connections open takes them from itself, and a request that runs is never cut off. Only
if all of them are at work, a new one is refused.

uvicorn has a limit for an idle connection alone, and drops it at the first byte.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from uvicorn.protocols.http.h11_impl import H11Protocol

from notewell.http_service.context import CALLER_KEY, DELAYED_KEY
from notewell.http_service.problems import (
    CONTENT_TYPE,
    Problem,
    request_too_slow,
    too_many_connections,
    unreadable_request,
)

if TYPE_CHECKING:
    import asyncio

    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

FIRST_S = 10.0
"""From the connection to the first byte. Browsers open connections that they may need soon."""
HEAD_S = 10.0
"""From the first byte of a request to the end of its headers."""
BODY_S = 20.0
"""For the body: a megabyte over a slow network."""
KEEP_ALIVE_S = 30.0
"""Between two requests."""
STALL_S = 30.0
"""For a client that does not read its answer."""
PEER_SHARE = 0.75
"""Of all connections, for one address: others get in while one peer has as many as it can. All
clients of a proxy, and all of this machine, are one peer."""
SPARE = 64
"""Connections above the limit that live long enough to read that there are too many."""
MAX_FRAMING_BYTES = 128 * 1024
"""For what is not the body: headers, and with chunked encoding the sizes of chunks and trailers. A
body of a megabyte in chunks of 64 bytes stays below."""

Phase: TypeAlias = Literal["first", "idle", "head", "body", "answer"]


class _State(NamedTuple):
    phase: Phase
    since_s: float


def _limits_s() -> dict[Phase, float]:
    # Not a constant: tests shorten the limits.
    return {"first": FIRST_S, "idle": KEEP_ALIVE_S, "head": HEAD_S, "body": BODY_S}


class PhaseLimits:
    """To be mixed into a protocol of uvicorn, which keeps the attributes below."""

    config: uvicorn.Config
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    connections: set[Any]
    """All open ones."""
    limit_concurrency: int | None
    client: tuple[str, int] | None
    app: ASGIApp
    scope: Any
    cycle: Any
    """The last request; None before the first one."""

    _state: _State
    _timer: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    # -- phases ----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        # uvicorn would count the others, and answer in plain text.
        self.limit_concurrency = None
        self._enter("first")
        self._make_room()

    def data_received(self, data: bytes) -> None:
        if self._state.phase in ("first", "idle"):
            self._enter("head")
        super().data_received(data)  # type: ignore[misc]
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # type: ignore[misc]
        self._look(is_answered=True)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._timer, self._stall):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)  # type: ignore[misc]

    def _look(self, *, is_answered: bool = False) -> None:
        """Finds out in which phase the parser is."""
        cycle = self.cycle
        if cycle is None:
            return
        if cycle.response_complete:
            # The rest of a body that nobody reads is still limited in time.
            if is_answered and not cycle.more_body:
                self._enter("idle")
        elif cycle.more_body:
            self._enter("body")
        else:
            self._enter("answer")

    def _enter(self, phase: Phase) -> None:
        # A phase that goes on keeps its deadline.
        if hasattr(self, "_state") and self._state.phase == phase:
            return
        self._state = _State(phase, self.loop.time())
        if self._timer is not None:
            self._timer.cancel()
        limit_s = _limits_s().get(phase)
        self._timer = None if limit_s is None else self.loop.call_later(limit_s, self._too_late)

    def _too_late(self) -> None:
        # A client that has not begun is not told anything: it may send its request just now, and
        # would take this for the answer.
        if self._state.phase in ("head", "body") and not self._has_answer:
            self._refuse(request_too_slow())
        else:
            self.transport.close()

    @property
    def _has_answer(self) -> bool:
        """Whether an answer to the current request has begun."""
        is_next = self._state.phase == "head"
        return self.cycle is not None and not is_next and bool(self.cycle.response_started)

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        if self._stall is not None:
            self._stall.cancel()

    def _watch_reader(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._stall = self.loop.call_later(STALL_S, self._check_reader, unread)

    def _check_reader(self, unread_before: int) -> None:
        if self.transport.get_write_buffer_size() < unread_before:
            self._watch_reader()  # It is slow, but it reads.
        else:
            self.transport.abort()

    # -- how many --------------------------------------------------------------------------------

    def _make_room(self) -> None:
        limit = self.config.limit_concurrency
        if limit is None:
            return
        peers = [one for one in self.connections if one.peer == self.peer]
        if len(peers) > max(1, int(limit * PEER_SHARE)):
            crowd = peers
        elif len(self.connections) > limit:
            crowd = list(self.connections)
        else:
            return
        waiting = [one for one in crowd if one is not self and one.is_waiting]
        if waiting:
            min(waiting, key=lambda one: one.worth).transport.abort()
        elif len(self.connections) > limit + SPARE:
            self.transport.abort()
        else:
            self.app = _refuse_connection

    @property
    def peer(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def is_waiting(self) -> bool:
        """Whether its client has to do the next step, and no work would be lost."""
        if self.transport.is_closing():
            return False
        if self.cycle is None or self.cycle.response_complete:
            return True
        return DELAYED_KEY in self.cycle.scope

    @property
    def worth(self) -> tuple[bool, float]:
        is_known = self.scope is not None and CALLER_KEY in self.scope
        return is_known, self._state.since_s

    # -- answers without the application ---------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        self._refuse(unreadable_request(msg))

    def _refuse(self, problem: Problem) -> None:
        """Written past the parser: what it was given is not a whole request."""
        if not self.transport.is_closing():
            self.transport.write(_raw(problem))
            self.transport.close()


async def _refuse_connection(scope: Scope, receive: Receive, send: Send) -> None:
    await too_many_connections().response(scope["path"])(scope, receive, send)


def _raw(problem: Problem) -> bytes:
    from http import HTTPStatus

    body = problem.body("")
    head = [
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}",
        f"content-type: {CONTENT_TYPE}",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "connection: close",
    ]
    return "\r\n".join([*head, "", ""]).encode("ascii") + body


# -- the two parsers -----------------------------------------------------------------------------


class LimitedH11Protocol(PhaseLimits, H11Protocol):  # type: ignore[misc]
    """h11 limits the headers itself: `h11_max_incomplete_event_size`."""


@cache
def limited_httptools_protocol() -> type[asyncio.Protocol]:
    """Defined when it is needed, because the module of uvicorn imports httptools."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class LimitedHttpToolsProtocol(PhaseLimits, HttpToolsProtocol):  # type: ignore[misc]
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

    return LimitedHttpToolsProtocol
