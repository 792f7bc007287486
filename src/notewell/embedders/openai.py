"""OpenAI's `POST /embeddings`, and every server that speaks it.

    {"model", "input": [texts], "encoding_format", "dimensions"?}
    {"data": [{"index", "embedding"}], "usage": {"total_tokens"}}

OpenAI itself is asked for base64, a quarter of the bytes; others may not know it and get floats.
Sources: the API reference (embeddings/create, error codes) and the model pages, November 2026.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from notewell.core import Secret
from notewell.embedders.prompts import prompts_of
from notewell.embedders.provider import (
    Json,
    Model,
    NotRows,
    Provider,
    Request,
    Rows,
    Target,
    Told,
    count_or_none,
    field,
    in_order,
    text_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.ports import Kind

_REQUEST_TOKENS = 300_000

MODELS = {
    "text-embedding-3-small": Model(1536, 8191, 0.02, range(1, 1537), _REQUEST_TOKENS),
    "text-embedding-3-large": Model(3072, 8191, 0.13, range(1, 3073), _REQUEST_TOKENS),
    "text-embedding-ada-002": Model(1536, 8191, 0.10, (), _REQUEST_TOKENS),
}

_TOO_LARGE = {
    "max_tokens_per_request",
    "context_length_exceeded",
    "string_above_max_length",
    "array_above_max_length",
}
_OUT_OF_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_BAD_KEY = {"invalid_api_key", "incorrect_api_key"}


def request(target: Target, texts: Sequence[str], kind: Kind) -> Request:
    body: dict[str, Json] = {
        "model": target.model,
        "input": prompts_of(target.model).before(texts, kind),
        "encoding_format": "base64" if target.own_address else "float",
    }
    if target.dims is not None:
        body["dimensions"] = target.dims
    return Request(f"{target.base_url}/embeddings", body)


def rows(answer: Json, count: int) -> Rows:
    return [_numbers(row) for row in in_order(field(answer, "data"), count, "embedding")]


def tokens(answer: Json) -> int | None:
    return count_or_none(field(answer, "usage", "total_tokens"))


def told(status: int, answer: Json) -> Told:
    kind = text_or_none(field(answer, "error", "type"))
    code = text_or_none(field(answer, "error", "code")) or kind
    return Told(
        code=code,
        message=text_or_none(field(answer, "error", "message")) or text_or_none(answer),
        too_large=status == 413 or code in _TOO_LARGE or _may_be_too_large(status, answer),
        out_of_quota=code in _OUT_OF_QUOTA or kind == "insufficient_quota",
        bad_key=code in _BAD_KEY,
    )


def _may_be_too_large(status: int, answer: Json) -> bool:
    """A text over the model's length is refused without a code, as are the limits of many servers
    that only speak like OpenAI. Sending less costs a few quick requests; giving up, the text."""
    blamed = field(answer, "error", "param")
    named = text_or_none(field(answer, "error", "code"))
    return status in (400, 422) and named is None and blamed in (None, "input")


def _numbers(row: Json) -> Json:
    if not isinstance(row, str):
        return row
    import numpy as np

    try:
        data = base64.b64decode(row, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NotRows("a vector is neither numbers nor base64") from error
    if len(data) % 4:
        raise NotRows("a vector in base64 is cut short")
    return np.frombuffer(data, dtype="<f4")


def auth(key: Secret) -> Mapping[str, Secret]:
    return {"Authorization": Secret(f"Bearer {key.reveal()}")}


OPENAI = Provider(
    name="openai",
    default_url="https://api.openai.com/v1",
    default_model="text-embedding-3-small",
    models=MODELS,
    items=2048,
    needs_key=True,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    told=told,
)

OPENAI_COMPATIBLE = Provider(
    name="openai-compatible",
    default_url=None,
    default_model=None,
    models={},
    # Servers of this kind take 32 (text-embeddings-inference) to 2048 texts; what is too many is
    # learned, what is too few would never be.
    items=256,
    needs_key=False,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    told=told,
)
