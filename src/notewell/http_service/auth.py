"""Authentication and authorization. Every request passes these checks, in this order:

    framing      two lengths of one body                      400   `AuthMiddleware`, always
    Host         not a name of this server                    421
    Origin       present and not ours                         403
    credentials  missing, unknown, revoked or expired         401
    agent        not served, or not one of the token's        403
    scope        the route needs another scope                403   `GuardedRoute`, per route
    rate limit   the token, or a stranger's address, has used up its bucket   429
    body         larger than allowed, or not JSON             413, 415

The Host check defends against DNS rebinding. Browsers attach the cookie to requests of any page
(CSRF), so a request with a cookie that changes data must prove that it comes from our own page.
There are no CORS headers, so no other page can read our responses.
"""

from __future__ import annotations

import logging
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fastapi.routing import APIRoute
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request

from notewell.errors import DatabaseTrouble, NotewellError
from notewell.http_service import problems
from notewell.http_service.context import (
    CALLER_KEY,
    CONTEXT_KEY,
    Caller,
    ServiceContext,
)
from notewell.http_service.limits import REFUSAL_COST, TooBusy
from notewell.http_service.problems import Problem
from notewell.http_service.strangers import charge_address, cost_of, delay_refusal
from notewell.http_service.token_file import ALL_AGENTS
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Send
    from starlette.types import Scope as AsgiScope

    from notewell.http_service.token_file import Scope, Token

_T = TypeVar("_T")

COOKIE = "notewell"
AGENT_HEADER = "notewell-agent"
AGENT_QUERY = "agent"
"""The same as the header, for `EventSource` in browsers, which cannot send headers."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PUBLIC = frozenset(
    {"/", "/open", "/healthz", "/readyz", "/openapi.json", "/favicon.ico", "/robots.txt"}
)
PUBLIC_BELOW = ("/web/",)
"""The static files of the UI, which contain no user data."""
SCOPE_KEY = "x-notewell-scope"
"""The OpenAPI extension that names the scope of an operation."""
FIRST_USE_KEY = "notewell.first_use_today"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The names of this server, as clients send them in Host and Origin headers."""

    hosts: frozenset[str]
    origins: frozenset[str]
    secure: frozenset[str] = frozenset()
    """Names behind a TLS proxy. Cookies for them get the attribute `Secure`."""
    cookie: str = COOKIE
    """The name of the cookie. With the port: browsers keep one set of cookies for all ports of a
    machine, so two servers would log each other out."""

    @classmethod
    def of(cls, port: int, allowed: Sequence[str] = ()) -> AllowedHosts:
        # All three spellings of this machine: browsers and libraries differ in which one they use.
        local = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))
        # Host names are case-insensitive, and we compare strings.
        public = frozenset(name.lower() for name in allowed)
        origins = {f"http://{name}" for name in local} | {f"https://{name}" for name in public}
        return cls(local | public, frozenset(origins), public, f"{COOKIE}-{port}")


# -- for every request ---------------------------------------------------------------------------


class AuthMiddleware:
    """Adds the context to the ASGI scope, and the caller unless the path is public."""

    def __init__(self, app: ASGIApp, context: ServiceContext) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # There are no WebSocket routes. 1008: policy violation.
            await send({"type": "websocket.close", "code": 1008})
            return
        scope[CONTEXT_KEY] = self._context
        try:
            await self._check(scope)
        except Problem as problem:
            scope[problems.KIND_KEY] = problem.kind
            if problem.status == 429:
                await delay_refusal(scope)
            await problem.response(scope["path"])(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _check(self, scope: AsgiScope) -> None:
        headers = Headers(scope=scope)
        if "transfer-encoding" in headers and "content-length" in headers:
            # Request smuggling: a proxy and we could disagree about where the body ends.
            raise problems.unreadable_request("it has a Content-Length and a Transfer-Encoding")
        # Also for public paths: a rebound DNS name must not even load the page.
        self._check_names(headers)
        if is_public(scope["path"]):
            await self._charge_stranger(scope, headers)
            return
        try:
            caller = await self._looked_up(lambda: authenticate(self._context, scope, headers))
        except Problem as problem:
            if problem.status == 401:
                charge_address(self._context.stranger_limiter, scope, REFUSAL_COST)
            raise
        scope[CALLER_KEY] = caller
        # The use is recorded later, in a thread: this method runs in the event loop.
        if not self._context.tokens.was_used_today(caller.token):
            scope[FIRST_USE_KEY] = True

    async def _looked_up(self, find: Callable[[], _T]) -> _T:
        """In a thread, if tokens are looked up in a database."""
        if not self._context.tokens.waits:
            return find()
        try:
            return await self._context.pools.run("quick", "", find)
        except TooBusy:
            raise problems.too_busy() from None

    async def _charge_stranger(self, scope: AsgiScope, headers: Headers) -> None:
        cost = cost_of(scope["path"])
        if not cost:
            return
        # A login costs the same for everybody: its link is looked up in a file.
        is_file = cost == 1
        if not (is_file and await self._looked_up(lambda: self._is_known(headers))):
            charge_address(self._context.stranger_limiter, scope, cost)

    def _is_known(self, headers: Headers) -> bool:
        """A browser that is logged in sends its cookie with requests for files, too."""
        if "cookie" not in headers:
            return False
        try:
            cookie = _cookie(headers, self._context.allowed_hosts.cookie)
            return self._context.tokens.find(cookie, "page") is not None
        except NotewellError:
            return False

    def _check_names(self, headers: Headers) -> None:
        allowed = self._context.allowed_hosts
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        # Two Host headers may be request smuggling: a proxy and we could disagree about which one
        # counts.
        if len(hosts) != 1 or hosts[0].lower() not in allowed.hosts:
            raise problems.unknown_host()
        if any(origin.lower() not in allowed.origins for origin in origins):
            raise problems.foreign_origin("the Origin header names another site")


def is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(PUBLIC_BELOW)


def authenticate(context: ServiceContext, scope: AsgiScope, headers: Headers) -> Caller:
    """Raises a `Problem` unless the token is valid and has the requested agent."""
    token = _token(context, scope["method"], headers)
    requested = headers.getlist(AGENT_HEADER)
    if not requested:
        requested = QueryParams(scope["query_string"]).getlist(AGENT_QUERY)
    available = token.opens(context.agents.ids)
    if not available or (requested and requested[0].lower() not in available):
        # It may have been added a moment ago, through another replica.
        context.agents.look_again()
        available = token.opens(context.agents.ids)
    if not available:
        raise problems.not_allowed(
            f"this server serves none of the token's agents ({', '.join(token.agents)}): they "
            "were removed from its settings, or the token belongs to another server",
            "make a token for an agent that this server serves",
        )
    if len(requested) > 1:
        raise problems.not_allowed("the request names several agents", "name one of them")
    agent = requested[0].lower() if requested else _default_agent(context, token, available)
    if agent not in available:
        raise _wrong_agent(token)
    return Caller(context, token, agent)


def _wrong_agent(token: Token) -> Problem:
    """Does not say whether the agent exists, unless the token is for all agents."""
    if token.is_for_all:
        return problems.not_allowed(
            "this server has no such agent",
            "leave the agent out, or add the agent to the settings of the server",
        )
    other = (
        "log in again: `notewell token link`"
        if token.kind == "page"
        else f"`notewell token create --agent '{ALL_AGENTS}'` makes a token for all agents"
    )
    return problems.not_allowed(
        f"the token was made for {', '.join(token.agents)} and not for the requested agent",
        f"leave the agent out, or use a token for that agent; {other}",
    )


def _default_agent(context: ServiceContext, token: Token, available: Sequence[str]) -> str:
    """The agent to which the bindings route the token's conversation, else its first agent."""
    routed = context.agents.route(token.session_key) if token.session_key else None
    if routed is None:
        return available[0]
    if routed not in available:
        # Its first agent would answer from the memory of somebody else.
        raise problems.not_allowed(
            "the conversation of the token belongs to an agent that the token does not have",
            "make a token for that agent, or name one of the token's agents in the request",
        )
    return routed


def _token(context: ServiceContext, method: str, headers: Headers) -> Token:
    try:
        authorization = headers.getlist("authorization")
        if authorization:
            # A bad bearer token is refused even if there is a valid cookie: the client meant it.
            bearer = _bearer(authorization[0]) if len(authorization) == 1 else ""
            token = context.tokens.find(bearer)
        else:
            cookie = _cookie(headers, context.allowed_hosts.cookie)
            token = context.tokens.find(cookie, "page")
            if token is not None:
                _check_own_page(method, headers)
    except DatabaseTrouble as error:
        # The token may be valid: the client should keep it and come back.
        raise problems.problem_of(error) from None
    except NotewellError as error:
        # The token file cannot be trusted or read. Fail closed.
        _log.error("all requests are refused: %s", error)
        token = None
    if token is None:
        raise problems.no_credentials()
    return token


def _bearer(header: str) -> str:
    scheme, _, token = header.partition(" ")
    return token if scheme.lower() == "bearer" else ""


def _cookie(headers: Headers, name: str) -> str:
    cookies: SimpleCookie = SimpleCookie()
    for line in headers.getlist("cookie"):
        try:
            cookies.load(line)
        # A malformed cookie counts as no cookie; the client gets 401 and not 500.
        except CookieError:
            return ""
    return cookies[name].value if name in cookies else ""


def _check_own_page(method: str, headers: Headers) -> None:
    """Checks Fetch Metadata. SameSite is not enough: to a browser, another port of this machine is
    the same site."""
    # `none` means that the user typed the URL or used a bookmark.
    site = headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise problems.foreign_origin("the request comes from another page")
    # Old browsers send no Fetch Metadata but an Origin, which `_check_names` has checked.
    if method not in SAFE_METHODS and site != "same-origin" and "origin" not in headers:
        raise problems.foreign_origin("no header shows that the request comes from our own page")


# -- per route -----------------------------------------------------------------------------------


def needs(
    scope: Scope | Literal["nothing"], answers: Mapping[int, Any] | None = None
) -> dict[str, Any]:
    """Declares the scope of a route: `@router.get("/v1/x", **needs("read"))`.

    `answers` documents further responses: a model by status, or None for a problem.
    """
    responses: dict[int | str, Any] = {}
    extra: dict[str, Any] = {SCOPE_KEY: scope}
    for status, model in (answers or {}).items():
        responses[status] = {"model": model} if model else _problem_response("See `detail`.")
    if scope != "nothing":
        # A list of alternatives: either the bearer token or the cookie.
        extra["security"] = [{"token": []}, {"page": []}]
        responses |= {status: _problem_response(why) for status, why in _REFUSALS.items()}
    return {"openapi_extra": extra, "responses": responses}


def _problem_response(why: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": why, "content": {problems.CONTENT_TYPE: {"schema": schema}}}


_REFUSALS: dict[int | str, str] = {
    401: "The token is missing or unknown.",
    403: "The token does not allow this.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The request is not valid.",
    429: "Too many requests.",
    "default": "Another error.",
}


class GuardedRoute(APIRoute):
    """Checks scope, rate limit and body size before FastAPI reads the body. For every router:

    router = APIRouter(prefix="/v1", route_class=GuardedRoute)
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        # A KeyError at startup: a route without a declared scope must not exist.
        scope: str = (self.openapi_extra or {})[SCOPE_KEY]
        inner = super().get_route_handler()

        async def handler(request: Request) -> Response:
            receive = await authorize(request.scope, request.receive, scope)
            if self.body_field is not None:
                _require_json(request.headers)
            try:
                return await inner(Request(request.scope, receive))
            except HTTPException as error:
                # FastAPI wraps any exception during the reading of a body into a 400.
                raise error.__cause__ if isinstance(error.__cause__, Problem) else error from None

        return handler


def _require_json(headers: Headers) -> None:
    """Without this, the body of `curl -d` would be told that it is no dictionary."""
    media_type = headers.get("content-type", "")
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    kind = media_type.partition(";")[0].strip().lower()
    if has_body and not (kind == "application/json" or kind.endswith("+json")):
        raise problems.not_json(media_type)


async def authorize(scope: AsgiScope, receive: Receive, needed: str) -> Receive:
    """The checks that depend on the route. Returns `receive` with a limit on the body."""
    context: ServiceContext = scope[CONTEXT_KEY]
    if needed != "nothing":
        caller: Caller = scope[CALLER_KEY]
        if needed not in caller.scopes:
            raise problems.not_allowed(
                f"the token does not have the scope {needed!r}", "use a token with that scope"
            )
        # After the scope check: a request that is refused anyway costs nothing.
        wait_s = context.rate_limiter.take(caller.token.id)
        if wait_s:
            raise problems.rate_limited(wait_s)
        if scope.pop(FIRST_USE_KEY, False):
            await context.pools.run("write", "", lambda: _record_use(context, caller.token.id))
    return limit_body(scope, receive, context.limits.body_bytes)


def _record_use(context: ServiceContext, token_id: str) -> None:
    try:
        context.tokens.record_use(token_id)
    except NotewellError as error:
        _log.warning("cannot record the use of a token: %s", error)


def limit_body(
    scope: AsgiScope, receive: Receive, max_bytes: int
) -> Callable[[], Awaitable[Message]]:
    """Refuses a large body by its Content-Length, or while it arrives if that is missing."""
    length = Headers(scope=scope).get("content-length", "0")
    # `isdecimal` refuses signs and spaces, which `int` would accept.
    if not length.isdecimal() or int(length) > max_bytes:
        raise problems.body_too_large(max_bytes)
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > max_bytes:
            raise problems.body_too_large(max_bytes)
        return message

    return receive_limited
