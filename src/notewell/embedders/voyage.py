"""Voyage's `POST /embeddings`: OpenAI's answer, with a request of its own.

    {"model", "input": [texts], "input_type": "query" | "document", "truncation": false,
     "output_dimension"?}
    {"data": [{"index", "embedding"}], "usage": {"total_tokens"}}

Unless told otherwise it cuts a text that is too long and says nothing; we let it refuse instead.
Sources: the API reference (embeddings, error codes) and the price list, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.openai import auth, rows, tokens
from notewell.embedders.provider import (
    Json,
    Model,
    Provider,
    Request,
    Target,
    Told,
    field,
    text_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.ports import Kind

_DIMS = (256, 512, 1024, 2048)

MODELS = {
    "voyage-4-large": Model(1024, 32_000, 0.12, _DIMS, 120_000),
    "voyage-4": Model(1024, 32_000, 0.06, _DIMS, 320_000),
    "voyage-4-lite": Model(1024, 32_000, 0.02, _DIMS, 1_000_000),
    "voyage-3-large": Model(1024, 32_000, 0.18, _DIMS, 120_000),
    "voyage-3.5": Model(1024, 32_000, 0.06, _DIMS, 320_000),
    "voyage-3.5-lite": Model(1024, 32_000, 0.02, _DIMS, 1_000_000),
    "voyage-code-3": Model(1024, 32_000, 0.18, _DIMS, 120_000),
    "voyage-finance-2": Model(1024, 32_000, 0.12, (), 120_000),
    "voyage-law-2": Model(1024, 16_000, 0.12, (), 120_000),
}


def request(target: Target, texts: Sequence[str], kind: Kind) -> Request:
    body: dict[str, Json] = {
        "model": target.model,
        "input": list(texts),
        "input_type": kind,
        "truncation": False,
    }
    if target.dims is not None:
        body["output_dimension"] = target.dims
    return Request(f"{target.base_url}/embeddings", body)


def told(status: int, answer: Json) -> Told:
    """Its errors are prose alone, so the status has to do; 400 stands for size among others."""
    return Told(
        code=text_or_none(field(answer, "error", "code")),
        message=text_or_none(field(answer, "detail")),
        too_large=status in (400, 413),
    )


VOYAGE = Provider(
    name="voyage",
    default_url="https://api.voyageai.com/v1",
    default_model="voyage-4-large",
    models=MODELS,
    items=1000,
    needs_key=True,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    told=told,
)
