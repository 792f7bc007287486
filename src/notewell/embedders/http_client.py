"""One HTTP exchange: JSON out, JSON in, within a deadline and a limit of bytes.

Only transport errors are raised here; `error_mapping.py` decides what an error status means.
Redirects are not followed: a key is sent only to the address that it was configured for.
The body of an error reply is optional: it is read if it is short and arrives in time.
"""

from __future__ import annotations

import json
import threading
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.errors import AnswerUnusable, EmbedderUnreachable
from notewell.records import dataclass

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping

    from notewell.core import Secret
    from notewell.embedders.connection import HttpConnection, OpenReply
    from notewell.embedders.providers.provider import HttpRequest, Json
    from notewell.embedders.retrying import Deadline

ERROR_BYTES = 64 * 1024
"""An error message has a few hundred bytes; an HTML page in its place is cut off here."""

MAX_IDLE_CONNECTIONS = 8
"""Kept open between calls: the default concurrency for documents and some for queries."""

USER_AGENT = "notewell"


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply, whatever its status."""

    status: int
    data: Json
    """The parsed body. For an error that is not JSON: its text, or None."""
    retry_after: str | None = None
    date: str | None = None
    location: str | None = None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class HttpClient:
    """Exchanges with one address, over a pool of connections. Thread-safe."""

    def __init__(self, provider: str, base_url: str, headers: Mapping[str, Secret]) -> None:
        self._provider = provider
        self._base_url = base_url
        self._headers = dict(headers)
        self._idle: list[HttpConnection] = []
        self._lock = threading.Lock()
        self._ssl_context: ssl.SSLContext | None = None
        # An object that nobody closes must not leave connections open (and warn about them).
        weakref.finalize(self, _close_all, self._idle)

    def exchange(self, request: HttpRequest, deadline: Deadline, max_bytes: int) -> HttpReply:
        """Raises `EmbedderUnreachable` or `AnswerUnusable`; both close the connection."""
        with self._sent(request, deadline) as reply:
            return self._read(reply, max_bytes)

    def read_lines(
        self,
        request: HttpRequest,
        deadline: Deadline,
        max_bytes: int,
        take: Callable[[bytes], None],
    ) -> HttpReply:
        """Pass every line of a large reply to `take` as it arrives; the result has no data."""
        with self._sent(request, deadline) as reply:
            if not 200 <= reply.status < 300:
                return self._read(reply, max_bytes)
            if not _take_lines(reply.pieces(), max_bytes, take):
                raise self._unusable(f"a reply of more than {max_bytes} bytes")
            return HttpReply(reply.status, None)

    @contextmanager
    def _sent(self, request: HttpRequest, deadline: Deadline) -> Iterator[OpenReply]:
        from notewell.embedders.connection import FOREIGN, TIMEOUTS

        connection = self._take()
        headers, content = self._header_values(request), _content(request)
        try:
            with connection.send(request.method, request.url, headers, content, deadline) as reply:
                yield reply
        except FOREIGN as error:
            connection.close()
            # `from None`: the original exception holds the request with its headers.
            raise self._unreachable(error, deadline, is_late=isinstance(error, TIMEOUTS)) from None
        except BaseException:
            # Half of the reply may still be in the socket; the next call must not read it.
            connection.close()
            raise
        self._put_back(connection)

    def close(self) -> None:
        with self._lock:
            _close_all(self._idle)

    def _read(self, reply: OpenReply, max_bytes: int) -> HttpReply:
        if 200 <= reply.status < 300:
            content, whole = reply.read(max_bytes)
            if not whole:
                raise self._unusable(f"a reply of more than {max_bytes} bytes")
            return HttpReply(reply.status, self._parsed(content))
        return HttpReply(
            reply.status,
            _error_data(reply),
            reply.header("retry-after"),
            reply.header("date"),
            reply.header("location"),
        )

    def _parsed(self, content: bytes) -> Json:
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            # Neither the error nor its cause is shown: both may quote the text that we sent.
            raise self._unusable("a reply that is not JSON") from None

    def _unusable(self, why: str) -> AnswerUnusable:
        return AnswerUnusable(self._provider, f"{self._base_url} gave {why}", http_status=200)

    def _unreachable(
        self, error: Exception, deadline: Deadline, *, is_late: bool
    ) -> EmbedderUnreachable:
        # The foreign exception holds the request and so the key: only its reason is kept.
        why = "timeout" if is_late else _reason(error)
        action = "check that the server and the network are up"
        if is_late and deadline.setting:
            action += f", or wait longer with {deadline.setting}"
        trouble = EmbedderUnreachable(
            self._provider, f"no complete reply from {self._base_url} ({why}); {action}"
        )
        trouble.action = action
        return trouble

    def _header_values(self, request: HttpRequest) -> dict[str, str]:
        values = {"content-type": request.content_type, "user-agent": USER_AGENT}
        # Lower-cased, so that a header of the user replaces ours instead of being sent beside it.
        values |= {name.lower(): value.reveal() for name, value in self._headers.items()}
        if isinstance(request.body, bytes):
            values["content-type"] = request.content_type  # The multipart boundary is in it.
        return values

    def _take(self) -> HttpConnection:
        from notewell.embedders.connection import HttpConnection

        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._ssl_context is None and self._base_url.startswith("https:"):
                import httpx2

                # Once for all connections: it loads every CA certificate of the system.
                self._ssl_context = httpx2.create_ssl_context()
        return HttpConnection(self._base_url, self._ssl_context)

    def _put_back(self, connection: HttpConnection) -> None:
        with self._lock:
            if len(self._idle) < MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()


def _content(request: HttpRequest) -> bytes | None:
    if request.body is None or isinstance(request.body, bytes):
        return request.body
    return json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode()


def _take_lines(pieces: Iterator[bytes], max_bytes: int, take: Callable[[bytes], None]) -> bool:
    """False if there were more than `max_bytes`; the lines before that have been taken."""
    rest, total = b"", 0
    for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            return False
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            take(line)
    if rest:
        take(rest)
    return True


def _reason(error: Exception) -> str:
    """What the system reported: no such host, connection refused, untrusted certificate."""
    cause = error.args[0] if error.args else None  # The library puts the original error there.
    reason = getattr(cause, "verify_message", None) or getattr(cause, "strerror", None)
    return str(reason or type(error).__name__)


def _close_all(connections: list[HttpConnection]) -> None:
    while connections:
        connections.pop().close()


def _error_data(reply: OpenReply) -> Json:
    from notewell.embedders.connection import FOREIGN

    content = b""
    with suppress(*FOREIGN):
        content, _ = reply.read(ERROR_BYTES)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace") or None
