"""What is seen of each request from outside, and the headers that every answer has."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from starlette.datastructures import MutableHeaders

from notewell.http_service.context import CALLER_KEY
from notewell.http_service.logs import log_request
from notewell.http_service.problems import KIND_KEY, unexpected
from notewell.http_service.traces import span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from notewell.http_service.metrics import Metrics

HEADERS = {
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
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_log = logging.getLogger(__name__)


class Observed:
    """The outermost layer: whatever happens inside, there is one answer and one line of log."""

    def __init__(self, app: ASGIApp, metrics: Metrics, templates: Mapping[Any, str]) -> None:
        """`templates` are the addresses of all routes, by what answers there."""
        self._app = app
        self._metrics = metrics
        self._templates = templates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = _Seen(send)
        started = time.perf_counter()
        method = scope["method"] if scope["method"] in METHODS else "other"
        with span("request", method=method) as note:
            try:
                await self._app(scope, receive, seen.send)
            except Exception as error:  # noqa: BLE001 - the edge of the house
                _log.exception("a request ran into something unforeseen")
                self._metrics.failed(type(error).__name__)
                if seen.status is None:
                    await unexpected().response(scope["path"])(scope, receive, seen.send)
            finally:
                took_s = time.perf_counter() - started
                # Never the address itself, which may hold anything.
                route = self._templates.get(scope.get("endpoint"), "none")
                status = seen.status or 499
                note("route", route)
                note("status", status)
                self._tell(scope, method, route, status, took_s)

    def _tell(self, scope: Scope, method: str, route: str, status: int, took_s: float) -> None:
        self._metrics.answered(method, route, status, took_s)
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


class _Seen:
    """Passes an answer on and remembers its status; 499 is a caller who did not wait for it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", NO_STORE)
        await self._send(message)
