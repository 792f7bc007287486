"""`docs/reference/http.md`, written from the OpenAPI document.

python -m notewell.http_service.http_page > docs/reference/http.md
"""
# ruff: noqa: E501 - a page has one sentence a line, however long it is

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from notewell.http_service.auth import NEEDS_KEY
from notewell.http_service.limits import BODY_BYTES, QUERY_CHARS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = f"""# HTTP

This page is written from the code: `python -m notewell.http_service.http_page`.

What `notewell serve` answers (see [how to serve](../how-to/serve.md)); the whole of it, as OpenAPI 3.1, is at `/openapi.json`.

- **Who**: `Authorization: Bearer rct_…`. The token says which agent is meant; `Notewell-Agent: ID` picks another one of its own.
- **Scopes**: `read`, `append`, `admin`; each includes those before it.
- **Twice**: a write with the header `Idempotency-Key` is done once within 24 hours; made again, it gets the first answer and `Idempotent-Replayed: true`.
- **Limits**: {Limits().requests_a_minute} requests a minute for each token, {Limits().burst} of them at once; a body of {BODY_BYTES // 2**20} MiB; a question of {QUERY_CHARS} characters.
- **Mistakes** come as `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, `action`, `instance`. Branch on `type`; `action` is the next step.
- JSON is camelCase. An unknown field is refused.
- `/mcp` is the [MCP server](../how-to/mcp.md) for the token's agent. Without the scope `append` it offers nothing that writes.
- What is below `/v1/page` is for the page that comes with the server and changes with it.
"""

_STATUS = """
## What goes wrong

| status | when | what to do |
|---|---|---|
| 401 | no token, or one that is unknown, revoked or over | `notewell token create` |
| 403 | not this token's agent or scope; a browser's page of another site | another token |
| 404 | no such note, or nothing at this address | `GET /v1/notes` lists the notes |
| 409 | the same `Idempotency-Key` is under way, or was used for something else | wait; a new key for a new request |
| 413 | the body is too large | send less at once |
| 421 | the `Host` header names another server | the address that was printed at the start, or `--allow-host` |
| 422 | the request cannot be answered as it stands; `errors` says where | mend it |
| 429 | too many requests | wait for `Retry-After` seconds |
| 502 | an engine or an embedder did not answer | search by `mode: keyword` |
| 503 | the index, a note or all threads are busy, or the notes cannot be reached | wait for `Retry-After` seconds |
| 507 | the entry could not be saved | `detail` says why |
"""


def http_page(document: dict[str, Any]) -> str:
    schemas = document["components"]["schemas"]
    parts = [_HEAD]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if "page" not in operation["tags"]:
                parts.append(_operation(method.upper(), path, operation, schemas))
    return "".join((*parts, _STATUS))


def _operation(method: str, path: str, told: dict[str, Any], schemas: dict[str, Any]) -> str:
    scope = told[NEEDS_KEY]
    needs = "Needs no token." if scope == "nothing" else f"Needs the scope `{scope}`."
    text = " ".join(told["description"].split())
    parts = [f"\n## {method} {path}\n\n{text}\n\n{needs}\n"]
    given = [*_parameters(told), *_body(told, schemas)]
    if given:
        parts.append("\n| takes | is | |\n|---|---|---|\n" + "\n".join(given) + "\n")
    for status, answer in told["responses"].items():
        shape = answer.get("content", {}).get("application/json", {}).get("schema")
        if shape:
            rows = "\n".join(_fields(shape, schemas))
            parts.append(f"\n| {status} | is |\n|---|---|\n{rows}\n")
    return "".join(parts)


def _parameters(told: dict[str, Any]) -> Iterator[str]:
    for one in told.get("parameters", ()):
        if one["name"] != "Notewell-Agent":
            why = " ".join(one.get("description", "").split())
            yield f"| `{one['name']}` ({one['in']}) | {_kind(one['schema'])} | {why} |"


def _body(told: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    content = told.get("requestBody", {}).get("content", {}).get("application/json")
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
    """The fields of an object, those of objects in it below them."""
    for name, value in _shape(schema, schemas).get("properties", {}).items():
        yield f"{above}{name}", value
        inner = value.get("items", value)
        if _shape(inner, schemas).get("properties"):
            mark = "[]." if "items" in value else "."
            yield from _properties(inner, schemas, f"{above}{name}{mark}")


def _shape(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    for one in (schema, *schema.get("anyOf", ())):
        if "$ref" in one:
            found: dict[str, Any] = schemas[one["$ref"].rsplit("/", 1)[1]]
            return found
    return schema


_LIMITS = {
    "minimum": "from {}",
    "maximum": "to {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {}",
    "default": "unless given {}",
}


def _kind(value: dict[str, Any]) -> str:
    if "enum" in value:
        return " or ".join(f"`{one}`" for one in value["enum"]) + _limits(value)
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        kinds = [_kind(one) for one in value["anyOf"] if one.get("type") != "null"]
        return " or ".join(kinds) + _limits(value)
    return str(value.get("format") or value.get("type", "object")) + _limits(value)


def _limits(value: dict[str, Any]) -> str:
    told = [
        text.format(_number(value[name]))
        for name, text in _LIMITS.items()
        if value.get(name) is not None and value[name] is not False
    ]
    return f", {', '.join(told)}" if told else ""


def _number(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def document() -> dict[str, Any]:
    """What /openapi.json would be; nothing is opened for it."""
    import time
    from pathlib import Path

    import anyio

    from notewell.http_service.agents import Agents, Place
    from notewell.http_service.app import parts_of, routed
    from notewell.http_service.auth import Names
    from notewell.http_service.tokens import NAME, TokenBook

    nowhere = Path("nowhere")
    agents = Agents({"main": Place(str(nowhere))}, nowhere, watch=False)
    names, book = Names.of(0), TokenBook(nowhere / NAME)
    parts = parts_of(agents, book, names, Limits(), time.monotonic, anyio.Event())
    return routed(parts).openapi()


if __name__ == "__main__":
    sys.stdout.write(http_page(document()))
