"""`docs/reference/http.md`, generated from the OpenAPI document.

python -m scripts.docs.http_page > docs/reference/http.md
"""
# ruff: noqa: E501 - a page has one sentence a line, however long it is

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from notewell.http_service.auth import SCOPE_KEY
from notewell.http_service.limits import MAX_BODY_BYTES, MAX_HTTP_QUERY_CHARS, ServiceLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMITS = ServiceLimits()
_HEAD = f"""# HTTP

This page is generated from the code: `python -m scripts.docs.http_page`.

It describes the API of `notewell serve` (see [how to serve](../how-to/serve.md)). The full description, as OpenAPI 3.1, is at `/openapi.json`.

- **Authentication**: `Authorization: Bearer nwt_…`. The token selects the agent. `Notewell-Agent: ID` selects another agent of the same token.
- **Scopes**: `read`, `append`, `admin`. Each scope includes those before it.
- **Idempotency**: a write with the header `Idempotency-Key` is executed once within 24 hours. A repeated request gets the first response and the header `Idempotent-Replayed: true`.
- **Limits**: {_LIMITS.requests_a_minute} short requests per minute for each token, in bursts of up to {_LIMITS.burst} (a long question [counts more](../how-to/serve.md#limits)); a body of {MAX_BODY_BYTES // 2**20} MiB; a query of {MAX_HTTP_QUERY_CHARS} characters.
- **Errors** are `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, `action`, `instance`. Branch on `type`; `action` names the next step.
- JSON is camelCase. Unknown fields are refused.
- `/mcp` is the [MCP server](../how-to/mcp.md) for the agent of the token. Without the scope `append` it offers no tools that write.
- Routes below `/v1/page` belong to the web UI and change together with it.
"""

_STATUS = """
## Errors

| status | when | what to do |
|---|---|---|
| 401 | the token is missing, unknown, revoked or expired | `notewell token create` |
| 403 | the token does not have this agent or scope; or the request comes from a page of another site | use another token |
| 404 | there is no such note, or no such endpoint | `GET /v1/notes` lists the notes |
| 400, 408 | the request is not HTTP, has two lengths, or did not arrive in time | send it again |
| 409 | a request with the same `Idempotency-Key` is running, or had another body | wait; use a new key for a new request |
| 413 | the body is too large | split it |
| 415 | the body is not sent as JSON | add `Content-Type: application/json` |
| 421 | the `Host` header names another server | use the address that was printed at the start, or `--allow-host` |
| 422 | the request is not valid; `errors` names the fields | correct it |
| 429 | too many requests of this token, or without a valid token from this address | wait for `Retry-After` seconds |
| 502 | the search engine or the embedder did not answer | search with `mode: keyword` |
| 503 | the index or a note is busy, the notes cannot be reached, no thread became free within 2 s, or all connections are at work | wait for `Retry-After` seconds |
| 507 | the entry could not be saved | `detail` gives the reason |
"""


def http_page(document: dict[str, Any]) -> str:
    schemas = document["components"]["schemas"]
    sections = [_HEAD]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if "page" not in operation["tags"]:
                sections.append(_operation(method.upper(), path, operation, schemas))
    return "".join((*sections, _STATUS))


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    scope = operation[SCOPE_KEY]
    needs = "Needs no token." if scope == "nothing" else f"Needs the scope `{scope}`."
    text = " ".join(operation["description"].split())
    parts = [f"\n## {method} {path}\n\n{text}\n\n{needs}\n"]
    given = [*_parameters(operation), *_body(operation, schemas)]
    if given:
        parts.append("\n| parameter | type | |\n|---|---|---|\n" + "\n".join(given) + "\n")
    for status, answer in operation["responses"].items():
        shape = answer.get("content", {}).get("application/json", {}).get("schema")
        if shape:
            rows = "\n".join(_fields(shape, schemas))
            parts.append(f"\n| {status} | type |\n|---|---|\n{rows}\n")
    return "".join(parts)


def _parameters(operation: dict[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        # Described once at the top of the page, because every operation has it.
        if parameter["name"] != "Notewell-Agent":
            text = " ".join(parameter.get("description", "").split())
            name, place = parameter["name"], parameter["in"]
            yield f"| `{name}` ({place}) | {_kind(parameter['schema'])} | {text} |"


def _body(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content:
        required = set(_shape(content["schema"], schemas).get("required", ()))
        for name, value in _properties(content["schema"], schemas):
            star = " (required)" if name in required else ""
            yield f"| `{name}`{star} | {_kind(value)} | {value.get('description', '')} |"


def _fields(schema: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    for name, value in _properties(schema, schemas):
        yield f"| `{name}` | {_kind(value)} |"


def _properties(
    schema: dict[str, Any], schemas: dict[str, Any], above: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The fields of an object, each followed by the fields of the objects inside it."""
    for name, value in _shape(schema, schemas).get("properties", {}).items():
        yield f"{above}{name}", value
        inner = value.get("items", value)
        if _shape(inner, schemas).get("properties"):
            mark = "[]." if "items" in value else "."
            yield from _properties(inner, schemas, f"{above}{name}{mark}")


def _shape(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    for option in (schema, *schema.get("anyOf", ())):
        if "$ref" in option:
            referenced: dict[str, Any] = schemas[option["$ref"].rsplit("/", 1)[1]]
            return referenced
    return schema


_CONSTRAINTS = {
    "minimum": "from {}",
    "maximum": "to {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {}",
    "default": "default {}",
}


def _kind(value: dict[str, Any]) -> str:
    if "enum" in value:
        return " or ".join(f"`{option}`" for option in value["enum"]) + _constraints(value)
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        kinds = [_kind(option) for option in value["anyOf"] if option.get("type") != "null"]
        return " or ".join(kinds) + _constraints(value)
    return str(value.get("format") or value.get("type", "object")) + _constraints(value)


def _constraints(value: dict[str, Any]) -> str:
    texts = [
        text.format(_number(value[name]))
        for name, text in _CONSTRAINTS.items()
        if value.get(name) not in (None, "") and value[name] is not False
    ]
    return f", {', '.join(texts)}" if texts else ""


def _number(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def document() -> dict[str, Any]:
    """The content of /openapi.json. No memory is opened for it."""
    import time
    from pathlib import Path

    import anyio

    from notewell.http_service import (
        TOKENS_FILE,
        Agents,
        AllowedHosts,
        ServedAgent,
        TokenStore,
        local_state,
    )
    from notewell.http_service.app import build_api, build_context

    nowhere = Path("nowhere")
    agents = Agents({"main": ServedAgent(str(nowhere))}, nowhere, watch=False)
    tokens, hosts = TokenStore(nowhere / TOKENS_FILE), AllowedHosts.of(7374)
    kept = local_state(nowhere, tokens)
    context = build_context(agents, kept, hosts, _LIMITS, time.monotonic, anyio.Event())
    return build_api(context).openapi()


if __name__ == "__main__":
    sys.stdout.write(http_page(document()))
