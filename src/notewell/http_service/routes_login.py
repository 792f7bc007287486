"""The page itself, and the link that opens it.

The files of the page hold no datum and need no credentials. They are read once, when the
application is put together: there is no path on disk that a request could steer.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from notewell.http_service.auth import COOKIE, Guarded, needs
from notewell.http_service.context import Parts, PartsOf
from notewell.http_service.problems import Problem
from notewell.http_service.tokens import PAGE_DAYS, Wish

WEB = Path(__file__).with_name("web")
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
MAX_AGE = "no-cache"
"""Kept by the browser and asked for each time: an upgrade shows at once."""

router = APIRouter(route_class=Guarded, include_in_schema=False)


class WebFile(NamedTuple):
    data: bytes
    media_type: str
    etag: str


@cache
def web_files(folder: Path = WEB) -> dict[str, WebFile]:
    """By path below the folder; what is not of a known kind is left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in TYPES and path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            etag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'
            found[path.relative_to(folder).as_posix()] = WebFile(data, TYPES[path.suffix], etag)
    return found


@router.get("/", **needs("nothing"))
async def index(request: Request) -> Response:
    return _file(request, "index.html")


@router.get("/web/{path:path}", **needs("nothing"))
async def web(request: Request, path: str) -> Response:
    return _file(request, path)


def _file(request: Request, name: str) -> Response:
    found = web_files().get(name)
    if found is None:
        raise Problem(404, "not-found", "There is nothing here", "no such file", "open /")
    headers = {"ETag": found.etag, "Cache-Control": MAX_AGE}
    if request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers=headers)
    return Response(found.data, 200, headers, found.media_type)


@router.get("/open", **needs("nothing"))
async def open_page(
    request: Request, parts: PartsOf, code: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """A link works once: it gives the browser a cookie and is worth nothing afterwards."""
    if "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
        raise Problem(403, "not-yet", "Not before somebody follows it", "a preview", "follow it")
    secret = await parts.pools.run("write", "", lambda: _let_in(parts, code))
    if secret is None and "text/html" in request.headers.get("accept", ""):
        return RedirectResponse("/", 303)  # To a person the page says it better than a problem.
    if secret is None:
        raise Problem(
            403,
            "link-over",
            "This link does not open anything",
            "it was used already, or it is older than ten minutes",
            "make a new one with `notewell token link`",
        )
    answer = RedirectResponse("/", 303)
    host = request.headers["host"].lower()
    answer.set_cookie(
        COOKIE,
        secret,
        max_age=PAGE_DAYS * 24 * 3600,
        path="/",
        secure=host in parts.names.secure,
        httponly=True,
        samesite="strict",
    )
    return answer


def _let_in(parts: Parts, code: str) -> str | None:
    if not parts.links.take(code):
        return None
    wish = Wish("page", parts.agents.ids, ("admin",), PAGE_DAYS, "page")
    return parts.book.create(wish)[1]
