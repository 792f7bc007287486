"""The outermost layer: security headers, one log line and metrics for each request."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from starlette.datastructures import MutableHeaders

from notewell.http_service.context import CALLER_KEY
from notewell.http_service.observability import log_request, span
from notewell.http_service.problems import KIND_KEY, unexpected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from notewell.http_service.metrics import Metrics

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NO_STORE = "no-store"
STREAMS = frozenset({"/v1/page/events", "/mcp"})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Others are counted as `other`: a client must not be able to add time series to the metrics."""
CLIENT_CLOSED_REQUEST = 499
"""nginx's status for a client that disconnected before the response."""

_log = logging.getLogger(__name__)


class ObservabilityMiddleware:
    """Whatever happens inside, there is one response and one log line."""

    def __init__(self, app: ASGIApp, metrics: Metrics, templates: Mapping[Any, str]) -> None:
        """`templates`: the path template of each endpoint, for example `/v1/notes/{path}`."""
        self._app = app
        self._metrics = metrics
        self._templates = templates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Lifespan and WebSocket messages have no status and no route.
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        recorder = _ResponseRecorder(send)
        started = time.perf_counter()
        method = scope["method"] if scope["method"] in METHODS else "other"
        with span("request", method=method) as set_attribute:
            try:
                await self._app(scope, receive, recorder.send)
            except Exception as error:  # noqa: BLE001 - the outermost layer of the service
                _log.exception("a request failed with an unexpected error")
                self._metrics.failed(type(error).__name__)
                # If the response has started, a second one would break the protocol.
                if recorder.status is None:
                    await unexpected().response(scope["path"])(scope, receive, recorder.send)
            finally:
                took_s = time.perf_counter() - started
                # Never log the path itself: it may contain anything, also private text.
                route = self._templates.get(scope.get("endpoint"), "none")
                status = recorder.status or CLIENT_CLOSED_REQUEST
                set_attribute("route", route)
                set_attribute("status", status)
                self._record(scope, method, route, status, took_s)

    def _record(self, scope: Scope, method: str, route: str, status: int, took_s: float) -> None:
        self._metrics.answered(method, route, status, took_s)
        # Set by the exception handlers, which see the problem; the middleware sees only bytes.
        kind = scope.get(KIND_KEY)
        if kind is not None:
            self._metrics.failed(kind)
        caller = scope.get(CALLER_KEY)
        log_request(
            method=method,
            route=route,
            status=status,
            ms=round(took_s * 1000, 1),
            **({"token": caller.token.id, "agent": caller.agent} if caller else {}),
            **({"problem": kind} if kind else {}),
        )


class HeadMiddleware:
    """Answers HEAD as GET; the server leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A stream has no end, and MCP has methods of its own.
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"] in STREAMS:
            await self._app(scope, receive, send)
            return
        # A copy: the server must still know that it was HEAD.
        as_get = {**scope, "method": "GET"}
        try:
            await self._app(as_get, receive, send)
        finally:
            # What the log and the server look at afterwards.
            for key in ("endpoint", CALLER_KEY, KIND_KEY):
                if key in as_get:
                    scope[key] = as_get[key]


class _ResponseRecorder:
    """Adds headers to a response, forwards it, and records its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            # Responses contain private notes; only static files set a policy of their own.
            headers.setdefault("Cache-Control", NO_STORE)
        await self._send(message)
