"""Who may ask for what. Every request passes these guards, in this order:

    Host        not a name of ours                          421   `Gate`, for everything
    Origin      there is one and it is not ours             403
    credentials none, unknown, revoked, over                401
    agent       not one of the token's                      403
    scope       the route needs another one                 403   `Guarded`, by route
    rate        more than the token may                     429
    body        larger than allowed                         413

A browser's cookie is sent along whatever page asks, so with a cookie a request that changes things
must say that it comes from our own page. There are no CORS headers: no other page reads answers.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Literal

from fastapi.routing import APIRoute
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request

from notewell.errors import NotewellError
from notewell.http_service import problems
from notewell.http_service.context import CALLER_KEY, PARTS_KEY, Caller, Parts
from notewell.http_service.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Send
    from starlette.types import Scope as AsgiScope

    from notewell.http_service.tokens import Scope, Token

COOKIE = "notewell"
AGENT_HEADER = "notewell-agent"
AGENT_QUERY = "agent"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PUBLIC = frozenset(
    {"/", "/open", "/healthz", "/readyz", "/openapi.json", "/favicon.ico", "/robots.txt"}
)
PUBLIC_BELOW = ("/web/",)
"""The page itself: there is no datum in it."""
NEEDS_KEY = "x-notewell-scope"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Names:
    """What this server is called, as clients have it in their Host and Origin headers."""

    hosts: frozenset[str]
    origins: frozenset[str]
    secure: frozenset[str] = frozenset()
    """Names behind a proxy that speaks TLS: cookies go there over TLS only."""

    @classmethod
    def of(cls, port: int, allowed: Sequence[str] = ()) -> Names:
        ours = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))
        outside = frozenset(name.lower() for name in allowed)
        origins = {f"http://{name}" for name in ours} | {f"https://{name}" for name in outside}
        return cls(ours | outside, frozenset(origins), outside)


# -- for everything ------------------------------------------------------------------------------


class Gate:
    """The outermost guard. What it lets in has the parts, and a caller where one is needed."""

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # Nobody speaks that here.
            return
        scope[PARTS_KEY] = self._parts
        try:
            self._admit(scope)
        except Problem as problem:
            scope[problems.KIND_KEY] = problem.kind
            await problem.response(scope["path"])(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _admit(self, scope: AsgiScope) -> None:
        headers = Headers(scope=scope)
        self._check_names(headers)
        if is_public(scope["path"]):
            return
        caller = caller_of(self._parts, scope, headers)
        scope[CALLER_KEY] = caller
        if not self._parts.book.was_used_today(caller.token):
            scope["notewell.first_today"] = True

    def _check_names(self, headers: Headers) -> None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._parts.names.hosts:
            raise problems.unknown_name()
        if any(origin.lower() not in self._parts.names.origins for origin in origins):
            raise problems.foreign_origin("the Origin header names another site")


def is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(PUBLIC_BELOW)


def caller_of(parts: Parts, scope: AsgiScope, headers: Headers) -> Caller:
    """Raises a `Problem` unless somebody known asks, for an agent of their own."""
    token = _token(parts, scope["method"], headers)
    wanted = headers.getlist(AGENT_HEADER)
    if not wanted:
        wanted = QueryParams(scope["query_string"]).getlist(AGENT_QUERY)
    mine = [agent for agent in token.agents if agent in parts.agents.ids]
    picked = wanted[0].lower() if wanted else (mine[0] if mine else "")
    if not mine:
        raise problems.not_allowed(
            "this server serves none of its agents", "make a token for an agent that it serves"
        )
    if len(wanted) > 1 or picked not in mine:
        raise problems.not_allowed(
            "it is not for that agent", "leave the agent out, or use a token that is for it"
        )
    return Caller(parts, token, picked)


def _token(parts: Parts, method: str, headers: Headers) -> Token:
    try:
        shown = headers.getlist("authorization")
        if shown:
            # Who shows a token means that one: a cookie does not help out.
            token = parts.book.find(_bearer(shown)) if len(shown) == 1 else None
        else:
            token = parts.book.find(_cookie(headers), "page")
            if token is not None:
                _check_own_page(method, headers)
    except NotewellError as error:
        _log.error("nobody is let in: %s", error)
        token = None
    if token is None:
        raise problems.no_credentials()
    return token


def _bearer(shown: list[str]) -> str:
    scheme, _, token = shown[0].partition(" ")
    return token if scheme.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    told: SimpleCookie = SimpleCookie()
    for line in headers.getlist("cookie"):
        try:
            told.load(line)
        except CookieError:
            return ""
    return told[COOKIE].value if COOKIE in told else ""


def _check_own_page(method: str, headers: Headers) -> None:
    """Another port of this machine is the same site to a browser, so SameSite is not enough."""
    site = headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise problems.foreign_origin("another page asked for this")
    if method not in SAFE_METHODS and site != "same-origin" and "origin" not in headers:
        raise problems.foreign_origin("nothing says that the page of this server asks")


# -- by route ------------------------------------------------------------------------------------


def needs(
    scope: Scope | Literal["nothing"], answers: Mapping[int, Any] | None = None
) -> dict[str, Any]:
    """What a route says of itself: `@router.get("/v1/x", **needs("read"))`.

    `answers` are those besides the usual one: a shape by status, None for a problem.
    """
    told: dict[str, Any] = {"openapi_extra": {NEEDS_KEY: scope}, "responses": {}}
    for status, shape in (answers or {}).items():
        told["responses"][status] = {"model": shape} if shape else _problem_told("See `detail`.")
    if scope != "nothing":
        told["openapi_extra"]["security"] = [{"token": []}, {"page": []}]
        told["responses"] |= {number: _problem_told(why) for number, why in _REFUSALS.items()}
    return told


def _problem_told(why: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": why, "content": {problems.CONTENT_TYPE: {"schema": schema}}}


_REFUSALS: dict[int | str, str] = {
    401: "No token, or none that is known.",
    403: "The token may not do this.",
    413: "The body is too large.",
    422: "The request cannot be answered as it stands.",
    429: "Too many requests.",
    "default": "What went wrong.",
}


class Guarded(APIRoute):
    """Looks at scope, rate and body before the body is read. For every router of ours:

    router = APIRouter(prefix="/v1", route_class=Guarded)
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        wanted: str = (self.openapi_extra or {})[NEEDS_KEY]  # A route without it is a mistake.
        inner = super().get_route_handler()

        async def handler(request: Request) -> Response:
            receive = await admitted(request.scope, request.receive, wanted)
            try:
                return await inner(Request(request.scope, receive))
            except HTTPException as error:
                # FastAPI takes what happens while a body is read for a body it cannot read.
                raise error.__cause__ if isinstance(error.__cause__, Problem) else error from None

        return handler


async def admitted(scope: AsgiScope, receive: Receive, wanted: str) -> Receive:
    """The guards that depend on the route; what is left of the request, bounded."""
    parts: Parts = scope[PARTS_KEY]
    if wanted != "nothing":
        caller: Caller = scope[CALLER_KEY]
        if wanted not in caller.scopes:
            raise problems.not_allowed(
                f"it has no scope {wanted!r}", "use a token that was made with that scope"
            )
        wait_s = parts.rates.take(caller.token.id)
        if wait_s:
            raise problems.too_many(wait_s)
        if scope.pop("notewell.first_today", False):
            await parts.pools.run("write", "", lambda: _note_use(parts, caller.token.id))
    return bounded(scope, receive, parts.limits.body_bytes)


def _note_use(parts: Parts, token_id: str) -> None:
    try:
        parts.book.used(token_id)
    except NotewellError as error:
        _log.warning("the use of a token was not noted: %s", error)


def bounded(scope: AsgiScope, receive: Receive, most: int) -> Callable[[], Awaitable[Message]]:
    """The body, up to a limit: told beforehand by its length, or found out while it comes."""
    told = Headers(scope=scope).get("content-length", "0")
    if not told.isdecimal() or int(told) > most:
        raise problems.too_large(most)
    read = 0

    async def receive_some() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise problems.too_large(most)
        return message

    return receive_some
