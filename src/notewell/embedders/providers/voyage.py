"""Voyage's `POST /embeddings`: OpenAI's reply to a different request.

    {"model", "input": [texts], "input_type": "query" | "document", "truncation": false,
     "output_dimension"?}
    {"data": [{"index", "embedding"}], "usage": {"total_tokens"}}

By default Voyage truncates a text that is too long without saying so; `truncation: false` makes
it refuse, and then we embed the text in parts.

Batch jobs are OpenAI's with the model named once for the complete job, within 12 hours:

    {"custom_id", "body": {"input": [text]}}                                      an input line
    POST /batches   {"input_file_id", "endpoint", "completion_window": "12h",
                     "request_params": {"model", "input_type", "truncation", "output_dimension"?}}

The files may be on another host: the reply to a download can be a redirect.
Sources: the API reference (embeddings, error codes, batches, files), the price list and the batch
inference guide, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.providers.openai import (
    BATCH_ENDPOINT,
    OPENAI_BATCH,
    auth,
    rows,
    tokens,
)
from notewell.embedders.providers.provider import (
    Endpoint,
    ErrorFacts,
    HttpRequest,
    Json,
    Model,
    Provider,
    field,
    text_or_none,
)
from notewell.records import replace

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


def request(endpoint: Endpoint, texts: Sequence[str], kind: Kind) -> HttpRequest:
    body: dict[str, Json] = {
        "model": endpoint.model,
        "input": list(texts),
        "input_type": endpoint.input_type(kind) or kind,
        "truncation": False,
    }
    if endpoint.dims is not None:
        body["output_dimension"] = endpoint.dims
    return HttpRequest(f"{endpoint.base_url}/embeddings", body)


def error_facts(status: int, reply: Json) -> ErrorFacts:
    """Voyage's errors are prose without codes, so the status decides; 400 includes the size."""
    return ErrorFacts(
        code=text_or_none(field(reply, "error", "code")),
        message=text_or_none(field(reply, "detail")),
        too_large=status in (400, 413),
    )


# -- batch jobs ----------------------------------------------------------------------------------

_MAX_BATCH_BYTES = 900_000_000
"""The provider accepts 1 GB and 100 000 texts."""


def line(endpoint: Endpoint, custom_id: str, text: str) -> Json:
    return {"custom_id": custom_id, "body": {"input": [text]}}


def create(endpoint: Endpoint, file_id: str) -> HttpRequest:
    # The job has the model and the options once; a line has only its text.
    params = dict(request(endpoint, [], "document").body)
    del params["input"]
    body = {
        "input_file_id": file_id,
        "endpoint": BATCH_ENDPOINT,
        "completion_window": "12h",
        "request_params": params,
    }
    return HttpRequest(f"{endpoint.base_url}/batches", body)


# Everything else, from the upload to the result lines, is OpenAI's format.
VOYAGE_BATCH = replace(
    OPENAI_BATCH, max_bytes=_MAX_BATCH_BYTES, price_share=0.67, line=line, create=create
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
    error_facts=error_facts,
    batch=VOYAGE_BATCH,
)
