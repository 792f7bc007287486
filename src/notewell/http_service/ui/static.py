"""The static files of the web UI, and the login link.

The files contain no user data and need no credentials. They are read into memory and compressed
once, so a request can never reach a path on disk.
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import ContextDep, ServiceContext
from notewell.http_service.problems import Problem
from notewell.http_service.token_file import ALL_AGENTS
from notewell.http_service.tokens import BROWSER_DAYS, TokenRequest
from notewell.http_service.ui.bundle import bundle

WEB = Path(__file__).parents[1] / "web"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
STYLES = (
    "base.css",
    "frame.css",
    "parts.css",
    "search.css",
    "notes.css",
    "markdown.css",
    "views.css",
)
"""Sent as one file, `page.css`: six requests less before the first paint."""
SCRIPT = "main.js"
"""Sent as one file with all that it imports, `page.js`."""
CACHE_CONTROL = "no-cache"
"""Browsers revalidate with the ETag each time, so an upgrade takes effect at once."""

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)


class WebFile(NamedTuple):
    data: bytes
    media_type: str
    etag: str
    packed: bytes
    """With gzip."""


@cache
def web_files(folder: Path = WEB) -> dict[str, WebFile]:
    """By path below the folder. Files with an unknown suffix are left out."""
    data = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        # A link in the package folder could lead anywhere.
        if path.suffix in TYPES and path.is_file() and not path.is_symlink()
    }
    data["page.css"] = b"".join(data[name] for name in STYLES if name in data)
    modules = {name: text.decode() for name, text in data.items() if name.endswith(".js")}
    data["page.js"] = bundle(modules, SCRIPT).encode()
    return {name: _web_file(name, text) for name, text in data.items()}


def _web_file(name: str, data: bytes) -> WebFile:
    etag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'
    return WebFile(data, TYPES[Path(name).suffix], etag, gzip.compress(data, mtime=0))


@router.get("/", **needs("nothing"))
async def index(request: Request) -> Response:
    return _file_response(request, "index.html")


@router.get("/web/{path:path}", **needs("nothing"))
async def web(request: Request, path: str) -> Response:
    return _file_response(request, path)


def _file_response(request: Request, name: str) -> Response:
    file = web_files().get(name)
    if file is None:
        raise Problem(404, "not-found", "Not found", "there is no such file", "open /")
    headers = {
        "ETag": file.etag,
        "Cache-Control": CACHE_CONTROL,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.data, 200, headers, file.media_type)
    return Response(file.packed, 200, {**headers, "Content-Encoding": "gzip"}, file.media_type)


@router.get("/open", **needs("nothing"))
async def open_page(
    request: Request, context: ContextDep, code: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """Log a browser in: the link works once and sets a cookie."""
    # A browser that prefetches the link would use it up before anybody clicks it.
    if "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
        raise Problem(
            403, "not-yet", "Login links are not prefetched", "this is a prefetch", "open the link"
        )
    secret = await context.pools.run("write", "", lambda: _redeem(context, code))
    if secret is None and "text/html" in request.headers.get("accept", ""):
        # A person sees the page, which says so and explains how to get a new link.
        return RedirectResponse("/#link-over", 303)
    if secret is None:
        raise Problem(
            403,
            "link-over",
            "This link is not valid",
            "the link was already used, or it is older than ten minutes",
            "make a new link with `notewell token link`",
        )
    response = RedirectResponse("/", 303)
    host = request.headers["host"].lower()
    response.set_cookie(
        context.allowed_hosts.cookie,
        secret,
        max_age=BROWSER_DAYS * 24 * 3600,
        path="/",
        # On http://localhost a Secure cookie would not be sent by every browser.
        secure=host in context.allowed_hosts.secure,
        # Scripts cannot read the cookie, even if one were injected.
        httponly=True,
        samesite="strict",
    )
    return response


def _redeem(context: ServiceContext, code: str) -> str | None:
    if not context.login_links.redeem(code):
        return None
    # Only the owner of the state folder can make a link, so the browser becomes an admin.
    request = TokenRequest("page", (ALL_AGENTS,), ("admin",), BROWSER_DAYS, "page")
    return context.tokens.create(request)[1]
