"""One HTTP exchange: JSON out, JSON in, within a deadline and a number of bytes.

Only what happened on the way is an error here; what an answer that is no success means is
for `faults.py`. Redirects are not followed: a key goes to the address it was given for.
The body of an error is read as far as it is short and comes in time, and never needed.
"""

from __future__ import annotations

import json
import threading
import weakref
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.errors import AnswerUnusable, EmbedderUnreachable

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping

    from notewell.core import Secret
    from notewell.embedders.connection import Line, Posted
    from notewell.embedders.deadline import Deadline
    from notewell.embedders.provider import Json, Request

ERROR_BYTES = 64 * 1024
"""An error message is a few hundred bytes; a page of HTML in its place is cut here."""

LINES_KEPT = 8
"""Connections kept open between calls; the default concurrency and some for queries."""

USER_AGENT = "notewell"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whatever its status."""

    status: int
    data: Json
    """The body as JSON; of an error without JSON its text, or None."""
    retry_after: str | None = None
    date: str | None = None
    location: str | None = None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class Calls:
    """Makes exchanges with one address; from as many threads as you like."""

    def __init__(self, provider: str, base_url: str, headers: Mapping[str, Secret]) -> None:
        self._provider = provider
        self._base_url = base_url
        self._headers = dict(headers)
        self._idle: list[Line] = []
        self._lock = threading.Lock()
        self._trust: ssl.SSLContext | None = None
        # Who forgets to close leaves no open connection behind.
        weakref.finalize(self, _close_all, self._idle)

    def exchange(self, request: Request, deadline: Deadline, cap: int) -> Reply:
        """Raises `EmbedderUnreachable` or `AnswerUnusable`; both leave the line unused."""
        with self._sent(request, deadline) as posted:
            return self._read(posted, cap)

    def read_lines(
        self, request: Request, deadline: Deadline, cap: int, take: Callable[[bytes], None]
    ) -> Reply:
        """Hand every line of a large answer to `take` while it comes; the reply has no data."""
        with self._sent(request, deadline) as posted:
            if not 200 <= posted.status < 300:
                return self._read(posted, cap)
            if not _take_lines(posted.pieces(), cap, take):
                raise self._unusable(f"an answer of more than {cap} bytes")
            return Reply(posted.status, None)

    @contextmanager
    def _sent(self, request: Request, deadline: Deadline) -> Iterator[Posted]:
        from notewell.embedders.connection import FOREIGN, TOO_LATE

        line = self._take()
        headers, content = self._plain_headers(request), _content(request)
        try:
            with line.send(request.method, request.url, headers, content, deadline) as posted:
                yield posted
        except FOREIGN as error:
            line.close()
            raise self._unreachable(error, late=isinstance(error, TOO_LATE)) from None
        except BaseException:
            line.close()
            raise
        self._put_back(line)

    def close(self) -> None:
        with self._lock:
            _close_all(self._idle)

    def _read(self, posted: Posted, cap: int) -> Reply:
        if 200 <= posted.status < 300:
            content, whole = posted.read(cap)
            if not whole:
                raise self._unusable(f"an answer of more than {cap} bytes")
            return Reply(posted.status, self._parsed(content))
        return Reply(
            posted.status,
            _error_data(posted),
            posted.header("retry-after"),
            posted.header("date"),
            posted.header("location"),
        )

    def _parsed(self, content: bytes) -> Json:
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            # Neither the error nor its cause is shown: both may quote what was sent.
            raise self._unusable("an answer that is not JSON") from None

    def _unusable(self, why: str) -> AnswerUnusable:
        return AnswerUnusable(self._provider, f"{self._base_url} gave {why}", http_status=200)

    def _unreachable(self, error: Exception, *, late: bool) -> EmbedderUnreachable:
        # The foreign exception holds the request, and so the key: only the reason goes on.
        why = "not in time" if late else _reason(error)
        return EmbedderUnreachable(
            self._provider,
            f"no whole answer from {self._base_url} ({why}); is it up, and the network?",
        )

    def _plain_headers(self, request: Request) -> dict[str, str]:
        ours = {"content-type": request.content_type, "user-agent": USER_AGENT}
        ours |= {name.lower(): value.reveal() for name, value in self._headers.items()}
        if isinstance(request.body, bytes):
            ours["content-type"] = request.content_type  # It says how the bytes are to be read.
        return ours

    def _take(self) -> Line:
        from notewell.embedders.connection import Line

        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._trust is None and self._base_url.startswith("https:"):
                import httpx2

                self._trust = httpx2.create_ssl_context()
        return Line(self._base_url, self._trust)

    def _put_back(self, line: Line) -> None:
        with self._lock:
            if len(self._idle) < LINES_KEPT:
                self._idle.append(line)
                return
        line.close()


def _content(request: Request) -> bytes | None:
    if request.body is None or isinstance(request.body, bytes):
        return request.body
    return json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode()


def _take_lines(pieces: Iterator[bytes], cap: int, take: Callable[[bytes], None]) -> bool:
    """False if there were more than `cap` bytes; the lines up to there have been taken."""
    rest, total = b"", 0
    for piece in pieces:
        total += len(piece)
        if total > cap:
            return False
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            take(line)
    if rest:
        take(rest)
    return True


def _reason(error: Exception) -> str:
    """What the system said: no such host, connection refused, a certificate nobody trusts."""
    cause = error.args[0] if error.args else None  # The library puts it there.
    told = getattr(cause, "verify_message", None) or getattr(cause, "strerror", None)
    return str(told or type(error).__name__)


def _close_all(lines: list[Line]) -> None:
    while lines:
        lines.pop().close()


def _error_data(posted: Posted) -> Json:
    from notewell.embedders.connection import FOREIGN

    content = b""
    with suppress(*FOREIGN):
        content, _ = posted.read(ERROR_BYTES)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace") or None
