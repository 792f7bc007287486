"""What went wrong, as RFC 9457 has it: `application/problem+json`.

    {"type": "…/not-a-note", "title": "…", "status": 404, "detail": "…", "action": "…",
     "instance": "/v1/notes/x.md"}

`type` is for programs, `detail` and `action` for whoever reads it. The words come from
`tools.failures`, which leaves out the folders of this machine; only an admin gets our own words.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from notewell.errors import (
    BackendFailed,
    BadRequest,
    BadSetting,
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
    NotForThisTalk,
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
SHOWN_MISTAKES = 10
KIND_KEY = "notewell.problem"
"""Where a request keeps what went wrong with it, for the log."""

_log = logging.getLogger(__name__)


@dataclass(eq=False)  # Not frozen: Python itself writes to an exception on its way up.
class Problem(Exception):
    """Raised anywhere in a request; it is what the caller gets."""

    status: int
    kind: str
    """One word to branch on: the end of `type`."""
    title: str
    detail: str
    action: str
    headers: Mapping[str, str] = field(default_factory=dict)
    mistakes: tuple[Mapping[str, Any], ...] = ()

    def body(self, instance: str) -> bytes:
        told: dict[str, Any] = {
            "type": f"urn:notewell:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "action": self.action,
            "instance": instance,
        }
        if self.mistakes:
            told["errors"] = list(self.mistakes)
        return json.dumps(told, ensure_ascii=False).encode("utf-8", "backslashreplace")

    def response(self, instance: str) -> Response:
        from starlette.responses import Response

        return Response(
            self.body(instance), self.status, dict(self.headers), media_type=CONTENT_TYPE
        )


def unknown_name() -> Problem:
    return Problem(
        421,
        "unknown-name",
        "This server does not go by that name",
        "the Host header names another server",
        "use the address that `notewell serve` printed, or start it with --allow-host NAME",
    )


def foreign_origin(why: str) -> Problem:
    return Problem(
        403, "foreign-origin", "Not from another site", why, "use the page of this server itself"
    )


def no_credentials() -> Problem:
    return Problem(
        401,
        "no-credentials",
        "A token is needed",
        "there is no token with this request, or none that is known here now",
        "send `Authorization: Bearer …`; `notewell token create` makes a token",
        {"WWW-Authenticate": "Bearer"},
    )


def not_allowed(detail: str, action: str) -> Problem:
    return Problem(403, "not-allowed", "This token may not do that", detail, action)


def too_many(wait_s: float) -> Problem:
    seconds = max(1, int(wait_s + 0.999))
    return Problem(
        429,
        "too-many-requests",
        "Too many requests",
        "this token has asked more often than it may",
        f"ask again in {seconds} s",
        {"Retry-After": str(seconds)},
    )


def too_large(most: int) -> Problem:
    return Problem(
        413,
        "too-large",
        "The body is too large",
        f"it has more than {most} bytes",
        "send less at once",
        {"Connection": "close"},
    )


def too_busy() -> Problem:
    return Problem(
        503,
        "too-busy",
        "Too much to do",
        "too many requests of this kind are waiting already",
        f"ask again in {RETRY_S} s",
        {"Retry-After": str(RETRY_S)},
    )


def unexpected() -> Problem:
    return Problem(500, "unexpected", "Something went wrong", UNEXPECTED.error, UNEXPECTED.action)


# The first that fits: a particular error stands before the kind it is of.
_STATUS: tuple[tuple[type[NotewellError], int, str, str], ...] = (
    (NotANote, 404, "not-a-note", "There is no such note"),
    (MemoryOff, 403, "memory-off", "This agent has no memory"),
    (NotForThisTalk, 403, "not-for-this-talk", "Not in this conversation"),
    (WorkspaceMissing, 503, "workspace-missing", "The notes cannot be reached"),
    (BadSetting, 503, "bad-setting", "A setting cannot be used"),
    (BadRequest, 422, "bad-request", "The request cannot be answered as it stands"),
    (NoteUnreadable, 404, "note-unreadable", "The note cannot be read"),
    (NoteBusy, 503, "note-busy", "Somebody else is writing"),
    (NoteNotWritable, 507, "note-not-writable", "Nothing was saved"),
    (EditRefused, 409, "edit-refused", "Nothing was changed"),
    (IndexBusy, 503, "index-busy", "Somebody else is writing the index"),
    (IndexTrouble, 503, "index-trouble", "The index cannot be used"),
    (BackendFailed, 502, "backend-failed", "The search engine did not answer"),
    (EmbedderTrouble, 502, "embedder-trouble", "The embedder did not answer"),
)


def problem_of(error: NotewellError, *, admin: bool = False) -> Problem:
    """What a caller is told of one of our errors; only an admin hears of folders."""
    told = failure_of(error)
    detail = str(error) if admin else told.error
    for kind, status, word, title in _STATUS:
        if isinstance(error, kind):
            again = {"Retry-After": str(RETRY_S)} if status == 503 else {}
            return Problem(status, word, title, detail, told.action, again)
    return Problem(500, "failed", "It could not be done", detail, told.action)


# -- FastAPI -------------------------------------------------------------------------------------


def add_handlers(app: FastAPI) -> None:
    """Whatever is raised in a route leaves as a problem."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    from notewell.http_service.limits import TooBusy

    def told(request: Request, error: Exception) -> Response:
        problem = _problem(request, error)
        request.scope[KIND_KEY] = problem.kind
        return problem.response(request.url.path)

    kinds = (Problem, NotewellError, TooBusy, RequestValidationError, HTTPException, Exception)
    for kind in kinds:
        app.add_exception_handler(kind, told)


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
            return _mistaken(error.errors())
        case HTTPException():
            return _of_http(error)
    return unexpected()


def _mistaken(errors: Any) -> Problem:
    """Which part is wrong and how; never what was sent, which may be anything."""
    mistakes = tuple(
        {"where": ".".join(str(part) for part in one["loc"])[:200], "what": str(one["msg"])[:200]}
        for one in list(errors)[:SHOWN_MISTAKES]
    )
    first = mistakes[0] if mistakes else {"where": "the request", "what": "not understood"}
    return Problem(
        422,
        "bad-request",
        "The request cannot be answered as it stands",
        f"{first['where']}: {first['what']}",
        "mend the request and make it again",
        mistakes=mistakes,
    )


def _of_http(error: Any) -> Problem:
    known = {
        400: ("bad-request", "The request cannot be read", "send JSON, as /openapi.json has it"),
        404: ("not-found", "There is nothing here", "see /openapi.json for what there is"),
        405: ("wrong-method", "Not with this method", "see /openapi.json for the methods"),
    }
    word, title, action = known.get(
        error.status_code, ("failed", "It failed", "see /openapi.json")
    )
    headers = dict(error.headers or {})
    return Problem(error.status_code, word, title, title.lower(), action, headers)
