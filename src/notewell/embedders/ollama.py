"""Ollama's own `POST /api/embed`.

    {"model", "input": [texts], "truncate": false, "dimensions"?}
    {"embeddings": [[numbers]], "prompt_eval_count"}

Which model stands behind a name is the user's affair, so its dims are asked for, never guessed.
Sources: the project's API page, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.openai import auth
from notewell.embedders.prompts import prompts_of
from notewell.embedders.provider import (
    Json,
    NotRows,
    Provider,
    Request,
    Rows,
    Target,
    Told,
    count_or_none,
    field,
    text_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.ports import Kind


def request(target: Target, texts: Sequence[str], kind: Kind) -> Request:
    body: dict[str, Json] = {
        "model": target.model,
        "input": prompts_of(target.model).before(texts, kind),
        "truncate": False,
    }
    if target.dims is not None:
        body["dimensions"] = target.dims
    # People who come from its OpenAI door have that path in their settings.
    return Request(f"{target.base_url.removesuffix('/v1')}/api/embed", body)


def rows(answer: Json, count: int) -> Rows:
    found = field(answer, "embeddings")
    if not isinstance(found, list) or len(found) != count:
        got = len(found) if isinstance(found, list) else "no list"
        raise NotRows(f"{got} vectors for {count} texts")
    return found


def tokens(answer: Json) -> int | None:
    return count_or_none(field(answer, "prompt_eval_count"))


def told(status: int, answer: Json) -> Told:
    """Its errors are prose alone; the 400 it gives for a text longer than the context is the one
    that a well-formed request can meet."""
    return Told(message=text_or_none(field(answer, "error")), too_large=status in (400, 413))


OLLAMA = Provider(
    name="ollama",
    # Not `localhost`, which tries IPv6 first on many machines where only IPv4 listens.
    default_url="http://127.0.0.1:11434",
    default_model="nomic-embed-text",
    models={},
    items=64,
    needs_key=False,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    told=told,
)
