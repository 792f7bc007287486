"""The description that programs read: /openapi.json, OpenAPI 3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

from notewell.http_service.auth import COOKIE, NEEDS_KEY
from notewell.http_service.schemas import ProblemShape

if TYPE_CHECKING:
    from fastapi import FastAPI

_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "Made by `notewell token create`.",
    },
    "page": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "What the page uses. What changes anything needs an Origin header too.",
    },
}
_AGENT = {
    "name": "Notewell-Agent",
    "in": "header",
    "required": False,
    "description": "One of the token's own agents; the first unless it is given.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"},
}


def described(app: FastAPI) -> None:
    """Makes the application describe itself, once."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    told = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
    )
    components = told.setdefault("components", {})
    components["securitySchemes"] = _SCHEMES
    components.setdefault("schemas", {})["Problem"] = ProblemShape.model_json_schema()
    for operations in told["paths"].values():
        for operation in operations.values():
            if operation.get(NEEDS_KEY) != "nothing":
                operation.setdefault("parameters", []).append(_AGENT)
    return told
