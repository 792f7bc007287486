"""OpenAI's `POST /embeddings`, and every server with the same API.

    {"model", "input": [texts], "encoding_format", "dimensions"?, "input_type"?}
    {"data": [{"index", "embedding"}], "usage": {"total_tokens"}}

Batch jobs take a file of requests and write a file of replies within 24 hours:

    POST /files           multipart: purpose=batch, file        {"id"}
    POST /batches         {"input_file_id", "endpoint", "completion_window": "24h"}
    GET  /batches/{id}    {"id", "status", "request_counts", "output_file_id", "errors"}
    POST /batches/{id}/cancel
    GET  /files/{id}/content

    {"custom_id", "method": "POST", "url": "/v1/embeddings", "body"}           an input line
    {"custom_id", "response": {"status_code", "body"}, "error"}                an output line

A job that expired or was cancelled has the finished replies in its output file. Failed requests
are in another file, which we do not read: missing texts are sent again as plain requests, and
then the provider says what is wrong with them.
Sources: the API reference (embeddings, error codes, batch, files), the model pages and the batch
guide, November 2026.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING
from urllib.parse import quote

from notewell.core import Secret
from notewell.embedders.providers.provider import (
    BATCH_FILE_NAME,
    JSON_LINES,
    SELF_HOSTED_TIMEOUT_S,
    BatchApi,
    BatchResult,
    Endpoint,
    ErrorFacts,
    HttpRequest,
    JobState,
    Json,
    Model,
    Phase,
    Prompts,
    Provider,
    count_or_none,
    count_or_zero,
    field,
    in_order,
    multipart_boundary,
    prompts_of,
    text_or_none,
)
from notewell.embedders.vectors import NotRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.embedders.vectors import Rows
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


def request(endpoint: Endpoint, texts: Sequence[str], kind: Kind) -> HttpRequest:
    input_type = endpoint.input_type(kind)
    # A server that is told the kind of a text adds the prompt of the model itself.
    prompts = Prompts() if input_type else prompts_of(endpoint.model)
    body: dict[str, Json] = {
        "model": endpoint.model,
        "input": prompts.before(texts, kind),
        # Base64 is a quarter of the bytes of decimal floats. Other servers may not support it.
        "encoding_format": "base64" if endpoint.own_address else "float",
    }
    if endpoint.dims is not None:
        body["dimensions"] = endpoint.dims
    if input_type:
        body["input_type"] = input_type
    return HttpRequest(f"{endpoint.base_url}/embeddings", body)


def rows(reply: Json, count: int) -> Rows:
    return [_numbers(row) for row in in_order(field(reply, "data"), count, "embedding")]


def tokens(reply: Json) -> int | None:
    return count_or_none(field(reply, "usage", "total_tokens"))


def error_facts(status: int, reply: Json) -> ErrorFacts:
    # Compatible servers often leave `code` empty and fill only `type`.
    kind = text_or_none(field(reply, "error", "type"))
    code = text_or_none(field(reply, "error", "code")) or kind
    return ErrorFacts(
        code=code,
        message=text_or_none(field(reply, "error", "message")) or text_or_none(reply),
        too_large=status == 413 or code in _TOO_LARGE or _may_be_too_large(status, reply),
        out_of_quota=code in _OUT_OF_QUOTA or kind == "insufficient_quota",
        bad_key=code in _BAD_KEY,
    )


def _may_be_too_large(status: int, reply: Json) -> bool:
    """Whether to try again with less text.

    OpenAI refuses a text over the model's length without a code, and so do many compatible
    servers for any of their limits. A wrong guess costs a few quick requests; without the guess
    the text would have no vector.
    """
    blamed = field(reply, "error", "param")
    named = text_or_none(field(reply, "error", "code"))
    return status in (400, 422) and named is None and blamed in (None, "input")


def _numbers(row: Json) -> Json:
    if not isinstance(row, str):
        return row
    import numpy as np

    try:
        data = base64.b64decode(row, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NotRows("a vector that is neither numbers nor base64") from error
    # `frombuffer` would raise a ValueError, which is not one of our errors.
    if len(data) % 4:
        raise NotRows("a base64 vector that is cut off")
    return np.frombuffer(data, dtype="<f4")


def auth(key: Secret) -> Mapping[str, Secret]:
    return {"Authorization": Secret(f"Bearer {key.reveal()}")}


# -- batch jobs ----------------------------------------------------------------------------------

BATCH_ENDPOINT = "/v1/embeddings"

_MAX_BATCH_BYTES = 190_000_000
"""The provider accepts 200 MB; this is below it whether a MB has 1000 or 1024 kB."""

_PHASES: Mapping[str, Phase] = {
    "completed": "done",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
    "canceled": "cancelled",
}
"""Every other status means that the job is not finished."""


def line(endpoint: Endpoint, custom_id: str, text: str) -> Json:
    body = request(endpoint, [text], "document").body
    return {"custom_id": custom_id, "method": "POST", "url": BATCH_ENDPOINT, "body": body}


def upload(endpoint: Endpoint, file: bytes) -> HttpRequest:
    """`multipart/form-data`, as a browser sends a form with one file."""
    boundary = multipart_boundary(file)
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{BATCH_FILE_NAME}"\r\n'
        f"Content-Type: {JSON_LINES}\r\n\r\n"
    )
    body = b"".join([head.encode(), file, f"\r\n--{boundary}--\r\n".encode()])
    content_type = f"multipart/form-data; boundary={boundary}"
    return HttpRequest(f"{endpoint.base_url}/files", body, content_type=content_type)


def file_id(reply: Json) -> str | None:
    return text_or_none(field(reply, "id"))


def create(endpoint: Endpoint, file_id: str) -> HttpRequest:
    # 24 hours is the only window that OpenAI offers.
    body = {"input_file_id": file_id, "endpoint": BATCH_ENDPOINT, "completion_window": "24h"}
    return HttpRequest(f"{endpoint.base_url}/batches", body)


def status(endpoint: Endpoint, job_id: str) -> HttpRequest:
    # Ids come from a server and from a file on disk: quoted, `../` cannot reach another path.
    url = f"{endpoint.base_url}/batches/{quote(job_id, safe='')}"
    return HttpRequest(url, None, method="GET")


def state(reply: Json) -> JobState | None:
    job_id = text_or_none(field(reply, "id"))
    if job_id is None:
        return None
    counts = field(reply, "request_counts")
    return JobState(
        job_id,
        _PHASES.get(str(field(reply, "status")).lower(), "waiting"),
        done=count_or_zero(field(counts, "completed")) + count_or_zero(field(counts, "failed")),
        output=text_or_none(field(reply, "output_file_id")),
        why=_first_error(reply),
    )


def _first_error(reply: Json) -> str | None:
    errors = field(reply, "errors", "data")
    first = errors[0] if isinstance(errors, list) and errors else None
    return text_or_none(field(first, "code")) or text_or_none(field(first, "message"))


def cancel(endpoint: Endpoint, job_id: str) -> HttpRequest:
    return HttpRequest(f"{endpoint.base_url}/batches/{quote(job_id, safe='')}/cancel", None)


def download(endpoint: Endpoint, file_id: str) -> HttpRequest:
    url = f"{endpoint.base_url}/files/{quote(file_id, safe='')}/content"
    return HttpRequest(url, None, method="GET")


def result(reply: Json) -> BatchResult | None:
    custom_id = text_or_none(field(reply, "custom_id"))
    if custom_id is None:
        return None
    body = field(reply, "response", "body")
    try:
        (row,) = rows(body, 1)
    except NotRows:
        # The line says whose request failed; its text is sent as a plain request.
        return BatchResult(custom_id, None)
    return BatchResult(custom_id, row, tokens(body))


OPENAI_BATCH = BatchApi(
    max_bytes=_MAX_BATCH_BYTES,
    price_share=0.5,
    line=line,
    upload=upload,
    file_id=file_id,
    create=create,
    status=status,
    state=state,
    cancel=cancel,
    download=download,
    result=result,
)

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
    error_facts=error_facts,
    batch=OPENAI_BATCH,
)

OPENAI_COMPATIBLE = Provider(
    name="openai-compatible",
    default_url=None,
    default_model=None,
    models={},
    # Such servers accept 32 (text-embeddings-inference) to 2048 texts. `LearnedLimits` finds out
    # when 256 are too many; nothing would find out that they are too few.
    items=256,
    query_timeout_s=SELF_HOSTED_TIMEOUT_S,
    needs_key=False,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    error_facts=error_facts,
)
