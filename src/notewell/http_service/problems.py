"""Errors as RFC 9457 problem details: `application/problem+json`.

    {"type": "…/not-a-note", "title": "…", "status": 404, "detail": "…", "action": "…",
     "instance": "/v1/notes/x.md"}

`type` is for programs; `detail` and `action` are for people. The texts come from `tools.failures`,
which removes paths of this machine. Only an admin gets the full message of an error.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from notewell.capture import UnknownWrite
from notewell.errors import (
    BackendFailed,
    BadRequest,
    BadSetting,
    ConversationDenied,
    DatabaseBusy,
    DatabaseTrouble,
    EditRefused,
    EmbedderTrouble,
    IndexBusy,
    IndexTrouble,
    MemoryOff,
    NotANote,
    NoteBusy,
    NoteNotWritable,
    NoteUnreadable,
    NotewellError,
    WorkspaceMissing,
)
from notewell.tools import UNEXPECTED, failure_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

CONTENT_TYPE = "application/problem+json"
RETRY_S = 5
BUSY_RETRY_S = 2
"""For a full queue: as long as a request waits in it at most, so by then it has moved on."""
MAX_MISTAKES = 10
KIND_KEY = "notewell.problem"
"""Key of the ASGI scope that holds the kind of the problem, for the log and the metrics."""

_log = logging.getLogger(__name__)


@dataclass(eq=False)  # Not frozen: Python sets attributes such as __traceback__ on exceptions.
class Problem(Exception):
    """An error response. It can be raised anywhere in a request."""

    status: int
    kind: str
    """The last part of `type`: what programs branch on."""
    title: str
    detail: str
    action: str
    headers: Mapping[str, str] = field(default_factory=dict)
    mistakes: tuple[Mapping[str, Any], ...] = ()

    def body(self, instance: str) -> bytes:
        body: dict[str, Any] = {
            "type": f"urn:notewell:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "action": self.action,
            "instance": instance,
        }
        if self.mistakes:
            body["errors"] = list(self.mistakes)
        # A note's name may contain lone surrogates (undecodable bytes), which UTF-8 refuses.
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")

    def response(self, instance: str) -> Response:
        from starlette.responses import Response

        return Response(
            self.body(instance), self.status, dict(self.headers), media_type=CONTENT_TYPE
        )


def unknown_host() -> Problem:
    return Problem(
        421,
        "unknown-name",
        "Unknown host name",
        "the Host header does not name this server",
        "use the address that `notewell serve` printed, or start it with --allow-host NAME",
    )


def foreign_origin(why: str) -> Problem:
    return Problem(
        403,
        "foreign-origin",
        "Requests from other sites are refused",
        why,
        "use the page of this server",
    )


def no_credentials() -> Problem:
    return Problem(
        401,
        "no-credentials",
        "A token is needed",
        "the request has no token, or the token is unknown, revoked or expired",
        "send `Authorization: Bearer …`; `notewell token create` makes a token",
        # RFC 9110 requires this header with every 401.
        {"WWW-Authenticate": "Bearer"},
    )


def not_allowed(detail: str, action: str) -> Problem:
    return Problem(403, "not-allowed", "The token does not allow this", detail, action)


def rate_limited(wait_s: float, why: str = "the token has reached its rate limit") -> Problem:
    # Rounded up: a client that waits exactly this long must be allowed.
    seconds = max(1, int(wait_s + 0.999))
    return Problem(
        429,
        "too-many-requests",
        "Too many requests",
        why,
        f"try again in {seconds} s",
        {"Retry-After": str(seconds)},
    )


def not_json(media_type: str) -> Problem:
    return Problem(
        415,
        "not-json",
        "The body is not JSON",
        f"its Content-Type is {media_type[:80]!r}" if media_type else "it has no Content-Type",
        "send JSON with the header `Content-Type: application/json` (curl: `--json` for `-d`)",
    )


def body_too_large(max_bytes: int) -> Problem:
    return Problem(
        413,
        "too-large",
        "The body is too large",
        f"the body has more than {max_bytes} bytes",
        "split it into several requests",
        # The rest of the body is not read, so the connection cannot be reused.
        {"Connection": "close"},
    )


def too_busy(
    detail: str = "no thread became free in time, or too many requests of this kind are waiting",
) -> Problem:
    return Problem(
        503,
        "too-busy",
        "The server is too busy",
        detail,
        f"try again in {BUSY_RETRY_S} s",
        {"Retry-After": str(BUSY_RETRY_S)},
    )


def too_many_connections() -> Problem:
    return Problem(
        503,
        "too-many-connections",
        "Too many connections",
        "the server works for as many connections as it can",
        f"try again in {BUSY_RETRY_S} s, and close connections that you do not need",
        {"Retry-After": str(BUSY_RETRY_S), "Connection": "close"},
    )


def request_too_slow() -> Problem:
    return Problem(
        408,
        "too-slow",
        "The request did not arrive in time",
        "the server has waited long enough for the rest of the request",
        "send it again, without pauses",
    )


def unreadable_request(detail: str) -> Problem:
    return Problem(
        400,
        "bad-request",
        "The request cannot be read",
        detail,
        "send a request in the format of HTTP/1.1",
        {"Connection": "close"},
    )


def unexpected() -> Problem:
    return Problem(500, "unexpected", "Something went wrong", UNEXPECTED.error, UNEXPECTED.action)


# The first match wins: subclasses stand before their base class.
_STATUS: tuple[tuple[type[NotewellError], int, str, str], ...] = (
    (NotANote, 404, "not-a-note", "There is no such note"),
    (MemoryOff, 403, "memory-off", "The memory of this agent is disabled"),
    (ConversationDenied, 403, "not-for-this-talk", "Not available in this conversation"),
    # 503 and not 404: the folder may come back, for example on a drive that is mounted later.
    (WorkspaceMissing, 503, "workspace-missing", "The notes cannot be reached"),
    (UnknownWrite, 404, "unknown-write", "There is no such write"),
    (BadSetting, 503, "bad-setting", "A setting is not valid"),
    (BadRequest, 422, "bad-request", "The request is not valid"),
    (NoteUnreadable, 404, "note-unreadable", "The note cannot be read"),
    (NoteBusy, 503, "note-busy", "Another process is writing the note"),
    (NoteNotWritable, 507, "note-not-writable", "Nothing was saved"),
    (EditRefused, 409, "edit-refused", "Nothing was changed"),
    (IndexBusy, 503, "index-busy", "Another process is writing the index"),
    (IndexTrouble, 503, "index-trouble", "The index cannot be used"),
    (DatabaseTrouble, 503, "database-trouble", "The database cannot be used"),
    (BackendFailed, 502, "backend-failed", "The search engine did not answer"),
    (EmbedderTrouble, 502, "embedder-trouble", "The embedder did not answer"),
)


_HTTP_ACTIONS = {
    "not-a-note": "use the path of a hit, or one that GET /v1/notes lists",
    "unknown-write": "use an id that the history of a note lists",
    "bad-request": "correct the request and send it again",
}
"""Where the words of the tools would name what a client of HTTP does not have."""


def problem_of(error: NotewellError, *, admin: bool = False) -> Problem:
    """The response for one of our errors. Only an admin sees paths of this machine."""
    # Trouble with the index may have this cause. It is our own load, and passes soon.
    if isinstance(error, DatabaseBusy) or isinstance(error.__cause__, DatabaseBusy):
        return too_busy("all connections of this service to its database are in use")
    failure = failure_of(error)
    detail = str(error) if admin else failure.error
    for kind, status, word, title in _STATUS:
        if isinstance(error, kind):
            # Only 503 goes away by itself.
            headers = {"Retry-After": str(RETRY_S)} if status == 503 else {}
            action = _HTTP_ACTIONS.get(word, failure.action)
            return Problem(status, word, title, detail, action, headers)
    return Problem(500, "failed", "The request failed", detail, failure.action)


# -- FastAPI -------------------------------------------------------------------------------------


def add_handlers(app: FastAPI) -> None:
    """Turns every exception of a route into a problem."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    from notewell.http_service.limits import TooBusy

    # `async`: otherwise it would run in a thread, and a refusal must not need one.
    async def respond(request: Request, error: Exception) -> Response:
        problem = _problem(request, error)
        request.scope[KIND_KEY] = problem.kind
        return problem.response(request.url.path)

    # `Exception` is in the list, so FastAPI never sends its own plain-text 500.
    kinds = (Problem, NotewellError, TooBusy, RequestValidationError, HTTPException, Exception)
    for kind in kinds:
        app.add_exception_handler(kind, respond)


def _problem(request: Request, error: Exception) -> Problem:
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    from notewell.http_service.limits import TooBusy

    match error:
        case Problem():
            return error
        case NotewellError():
            caller = request.scope.get("notewell.caller")
            return problem_of(error, admin=caller is not None and "admin" in caller.scopes)
        case TooBusy():
            return too_busy()
        case RequestValidationError():
            return _validation_problem(error.errors())
        case HTTPException():
            allow = {"Allow": _methods(request)} if error.status_code == 405 else {}
            return _http_problem(error, allow)
    return unexpected()


def _validation_problem(errors: Any) -> Problem:
    """Names the wrong fields and the reasons, but never repeats the values that were sent."""
    mistakes = tuple(
        {
            "where": ".".join(str(part) for part in error["loc"])[:200],
            "what": _what(error)[:200],
        }
        for error in list(errors)[:MAX_MISTAKES]
    )
    first = mistakes[0] if mistakes else {"where": "the request", "what": "not valid"}
    return Problem(
        422,
        "bad-request",
        "The request is not valid",
        f"{first['where']}: {first['what']}",
        "correct the request and send it again",
        mistakes=mistakes,
    )


def _what(error: Any) -> str:
    if error["type"] != "extra_forbidden":
        return str(error["msg"])
    from notewell.http_service.schemas import nearest_field

    known = nearest_field(str(error["loc"][-1]))
    return f"unknown field: did you mean {known!r}?" if known else "unknown field"


def _methods(request: Request) -> str:
    """What a path allows. Starlette names the methods of the first route alone."""
    from fastapi.routing import iter_route_contexts
    from starlette.routing import compile_path

    path = request.scope["path"]
    found = {
        method
        for route in iter_route_contexts(request.app.routes)
        if route.path and compile_path(route.path)[0].match(path)
        for method in route.methods or ()
    }
    return ", ".join(sorted(found))


def _http_problem(error: Any, more: Mapping[str, str]) -> Problem:
    texts = {
        400: ("bad-request", "The request cannot be read", "send JSON as /openapi.json describes"),
        404: ("not-found", "Not found", "see /openapi.json for the endpoints"),
        405: ("wrong-method", "The method is not allowed", "see /openapi.json for the methods"),
    }
    word, title, action = texts.get(
        error.status_code, ("failed", "The request failed", "see /openapi.json")
    )
    # For example `Allow` with a 405.
    headers = {**(error.headers or {}), **more}
    return Problem(error.status_code, word, title, title.lower(), action, headers)
