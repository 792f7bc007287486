"""Ollama's own `POST /api/embed`.

    {"model", "input": [texts], "truncate": false, "dimensions"?}
    {"embeddings": [[numbers]], "prompt_eval_count"}

A name can stand for any model that the user has installed, so its dimensions are measured with a
request and never guessed.
Sources: the project's API page, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.providers.openai import auth
from notewell.embedders.providers.provider import (
    SELF_HOSTED_TIMEOUT_S,
    Endpoint,
    ErrorFacts,
    HttpRequest,
    Json,
    Provider,
    count_or_none,
    field,
    list_of,
    prompts_of,
    text_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.embedders.vectors import Rows
    from notewell.ports import Kind


def request(endpoint: Endpoint, texts: Sequence[str], kind: Kind) -> HttpRequest:
    body: dict[str, Json] = {
        "model": endpoint.model,
        "input": prompts_of(endpoint.model).before(texts, kind),
        "truncate": False,
    }
    if endpoint.dims is not None:
        body["dimensions"] = endpoint.dims
    # Users of its OpenAI-compatible API have `/v1` in their settings; both addresses work.
    return HttpRequest(f"{endpoint.base_url.removesuffix('/v1')}/api/embed", body)


def rows(reply: Json, count: int) -> Rows:
    return list_of(field(reply, "embeddings"), count)


def tokens(reply: Json) -> int | None:
    return count_or_none(field(reply, "prompt_eval_count"))


def error_facts(status: int, reply: Json) -> ErrorFacts:
    """Ollama's errors are prose without codes. A well-formed request gets a 400 for one reason
    only: a text is longer than the context."""
    return ErrorFacts(message=text_or_none(field(reply, "error")), too_large=status in (400, 413))


OLLAMA = Provider(
    name="ollama",
    # Not `localhost`: many machines try IPv6 first for it, and Ollama listens on IPv4 only.
    default_url="http://127.0.0.1:11434",
    default_model="nomic-embed-text",
    models={},
    items=64,
    query_timeout_s=SELF_HOSTED_TIMEOUT_S,
    needs_key=False,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    error_facts=error_facts,
)
