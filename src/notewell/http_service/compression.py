"""What a client need not be sent: a body that it has (ETag), and bytes that gzip saves.

    If-None-Match: "…"        the body has not changed ──▶ 304 without a body
    Accept-Encoding: gzip     text of a kilobyte or more ──▶ compressed

Streams pass as they are. Browsers do not store the responses (`no-store`), so an ETag is for
programs, and for a page that keeps its data itself.
"""

from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_BYTES = 1024
"""A shorter body fits into one packet either way."""
LARGE_BYTES = 64 * 1024
"""A larger body is compressed in a thread: it takes milliseconds."""
LEVEL = 4
TEXTS = ("application/json", "application/problem+json", "text/", "image/svg+xml")
STREAM = "text/event-stream"


class CompressionMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD", "POST"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        response = _Response(
            send,
            accepts_gzip="gzip" in headers.get("accept-encoding", ""),
            # A search is no document that could be asked for again.
            known_tags=None if scope["method"] == "POST" else headers.get("if-none-match", ""),
        )
        await self._app(scope, receive, response.send)


class _Response:
    """Holds the start back until the whole body is there."""

    def __init__(self, send: Send, *, accepts_gzip: bool, known_tags: str | None) -> None:
        self._send = send
        self._accepts_gzip = accepts_gzip
        self._known_tags = known_tags
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = Headers(raw=message["headers"])
            media_type = headers.get("content-type", "")
            # Its start must not wait for its first event.
            is_whole = media_type.startswith(TEXTS) and not media_type.startswith(STREAM)
            # The files of the page are compressed already.
            if is_whole and "content-encoding" not in headers:
                self._start = message
            else:
                await self._send(message)
            return
        start, self._start = self._start, None
        if start is None:
            await self._send(message)
            return
        if not message.get("more_body", False):
            message = await self._shortened(start, message)
        await self._send(start)
        await self._send(message)

    async def _shortened(self, start: Message, message: Message) -> Message:
        """Changes the headers."""
        body: bytes = message.get("body", b"")
        headers = MutableHeaders(scope=start)
        if self._known_tags is not None and start["status"] == 200:
            # Of the body before its compression, so it is a weak one.
            headers.setdefault("etag", f'W/"{hashlib.sha256(body).hexdigest()[:20]}"')
            if has_tag(self._known_tags, headers["etag"]):
                start["status"] = 304
                del headers["content-length"]
                return {**message, "body": b""}
        if len(body) < LEAST_BYTES:
            return message
        headers.add_vary_header("Accept-Encoding")
        if not self._accepts_gzip:
            return message
        if len(body) > LARGE_BYTES:
            body = await anyio.to_thread.run_sync(_compressed, body)
        else:
            body = _compressed(body)
        headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        return {**message, "body": body}


def _compressed(body: bytes) -> bytes:
    # Without the time: the same body gives the same bytes.
    return gzip.compress(body, LEVEL, mtime=0)


def has_tag(known: str, tag: str) -> bool:
    """Whether an If-None-Match names this tag; weak comparison, as RFC 9110 demands."""
    if known.strip() == "*":
        return True
    strong = tag.removeprefix("W/")
    return any(one.strip().removeprefix("W/") == strong for one in known.split(","))
