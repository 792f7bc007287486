"""Google's `POST /models/{model}:batchEmbedContents`.

    {"requests": [{"model", "content": {"parts": [{"text"}]}, "taskType",
                   "outputDimensionality"?}]}
    {"embeddings": [{"values"}]}

Vectors come in the order of the requests and have no index. Shortened vectors of
gemini-embedding-001 do not have length 1; `unit_vectors` normalises every vector anyway.

Batch jobs (`:asyncBatchEmbedContent`) take a file of requests, within 24 hours:

    POST /upload/v1beta/files?uploadType=multipart      {"file": {"name": "files/…"}}
    POST /models/{model}:asyncBatchEmbedContent         {"batch": {"displayName", "inputConfig"}}
    GET  /batches/{id}                                  an operation
    POST /batches/{id}:cancel
    GET  /download/v1beta/files/{id}:download?alt=media

    {"key", "request"}                                          an input line
    {"key", "response": {"embedding": {"values"}}, "error"}     an output line

An operation is `{"name", "done", "metadata", "response" or "error"}`. Google puts the state of
the job into the metadata, other servers at the top level; `done` and `error` override both.
A job can also contain its requests up to 20 MB; we always use a file, which works for every size.
Sources: the API reference (embeddings, batches, files, error details of google.rpc) and the batch
guide, November 2026.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from notewell.embedders.providers.provider import (
    BATCH_FILE_NAME,
    GEMMA,
    JSON_LINES,
    BatchApi,
    BatchResult,
    Endpoint,
    ErrorFacts,
    HttpRequest,
    JobState,
    Json,
    Model,
    Phase,
    Provider,
    count_or_none,
    count_or_zero,
    field,
    list_of,
    multipart_boundary,
    text_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.core import Secret
    from notewell.embedders.vectors import Rows
    from notewell.ports import Kind

MODELS = {
    "gemini-embedding-001": Model(3072, 2048, 0.15, range(128, 3073)),
    "gemini-embedding-2": Model(3072, 8192, 0.20, range(128, 3073)),
}

_TASKS = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_NO_TASK_TYPES = "gemini-embedding-2"
"""This family has no task types; it expects the prompts of `GEMMA` before a text."""


def request(endpoint: Endpoint, texts: Sequence[str], kind: Kind) -> HttpRequest:
    model = endpoint.model.removeprefix("models/")
    common: dict[str, Json] = {"model": f"models/{model}"}
    if model.startswith(_NO_TASK_TYPES):
        texts = GEMMA.before(texts, kind)
    else:
        common["taskType"] = endpoint.input_type(kind) or _TASKS[kind]
    if endpoint.dims is not None:
        common["outputDimensionality"] = endpoint.dims
    return HttpRequest(
        # Quoted: a model name with `../` must not reach another path of the API.
        f"{endpoint.base_url}/models/{quote(model, safe='')}:batchEmbedContents",
        {"requests": [{**common, "content": {"parts": [{"text": text}]}} for text in texts]},
    )


def rows(reply: Json, count: int) -> Rows:
    return [field(entry, "values") for entry in list_of(field(reply, "embeddings"), count)]


def tokens(reply: Json) -> int | None:
    return count_or_none(field(reply, "usageMetadata", "promptTokenCount"))


def error_facts(status: int, reply: Json) -> ErrorFacts:
    name = text_or_none(field(reply, "error", "status"))
    reasons = {detail.get("reason") for detail in _details(reply, "ErrorInfo")}
    bad_key = "API_KEY_INVALID" in reasons
    return ErrorFacts(
        code="API_KEY_INVALID" if bad_key else name,
        message=text_or_none(field(reply, "error", "message")),
        # INVALID_ARGUMENT covers every bad argument, the size too; only a bad key has a reason.
        too_large=status == 413 or (status == 400 and name == "INVALID_ARGUMENT" and not bad_key),
        # A quota per minute recovers by itself; a quota per day does not, as far as we can wait.
        out_of_quota=any("PerDay" in quota for quota in _quotas(reply)),
        bad_key=bad_key,
        retry_after_s=_retry_after_s(reply),
    )


def _quotas(reply: Json) -> Iterator[str]:
    """The ids of the exceeded quotas."""
    for detail in _details(reply, "QuotaFailure"):
        for violation in detail.get("violations") or ():
            quota = field(violation, "quotaId")
            if isinstance(quota, str):
                yield quota


def _retry_after_s(reply: Json) -> float | None:
    """Google writes a duration in JSON as `34.07s`."""
    for detail in _details(reply, "RetryInfo"):
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            try:
                return max(0.0, float(delay[:-1]))
            except ValueError:
                return None
    return None


def _details(reply: Json, kind: str) -> Iterator[dict[str, Json]]:
    details = field(reply, "error", "details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and str(detail.get("@type")).endswith(f"google.rpc.{kind}"):
            yield detail


def auth(key: Secret) -> Mapping[str, Secret]:
    # In a header, not as `?key=`: an address is written to logs, a header is not.
    return {"x-goog-api-key": key}


# -- batch jobs ----------------------------------------------------------------------------------

_MAX_BATCH_BYTES = 1_900_000_000
"""The provider accepts files of 2 GB."""

_PHASES: Mapping[str, Phase] = {
    "SUCCEEDED": "done",
    "FAILED": "failed",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
}


def line(endpoint: Endpoint, custom_id: str, text: str) -> Json:
    (single,) = request(endpoint, [text], "document").body["requests"]
    return {"key": custom_id, "request": single}


def upload(endpoint: Endpoint, file: bytes) -> HttpRequest:
    """`multipart/related`: the description of the file, then the file."""
    boundary = multipart_boundary(file)
    description = {"file": {"displayName": BATCH_FILE_NAME, "mimeType": JSON_LINES}}
    head = (
        f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
        f"{json.dumps(description)}\r\n--{boundary}\r\nContent-Type: {JSON_LINES}\r\n\r\n"
    )
    body = b"".join([head.encode(), file, f"\r\n--{boundary}--\r\n".encode()])
    url = f"{_service_url(endpoint, 'upload')}/files?uploadType=multipart"
    return HttpRequest(url, body, content_type=f"multipart/related; boundary={boundary}")


def file_id(reply: Json) -> str | None:
    return text_or_none(field(reply, "file", "name")) or text_or_none(field(reply, "name"))


def create(endpoint: Endpoint, file_id: str) -> HttpRequest:
    model = quote(endpoint.model.removeprefix("models/"), safe="")
    return HttpRequest(
        f"{endpoint.base_url}/models/{model}:asyncBatchEmbedContent",
        {"batch": {"displayName": "notewell", "inputConfig": {"fileName": file_id}}},
    )


def status(endpoint: Endpoint, job_id: str) -> HttpRequest:
    # An id is `batches/…`, so its slash is not quoted.
    return HttpRequest(f"{endpoint.base_url}/{quote(job_id)}", None, method="GET")


def state(reply: Json) -> JobState | None:
    job_id = text_or_none(field(reply, "name"))
    if job_id is None:
        return None
    finished = count_or_zero(_job_field(reply, "batchStats", "successfulRequestCount"))
    finished += count_or_zero(_job_field(reply, "batchStats", "failedRequestCount"))
    error = field(reply, "error")
    return JobState(
        job_id,
        _phase(reply),
        done=finished,
        output=text_or_none(_job_field(reply, "output", "responsesFile"))
        or text_or_none(field(reply, "response", "responsesFile")),
        why=text_or_none(field(error, "message")) or text_or_none(field(error, "status")),
    )


def _phase(reply: Json) -> Phase:
    # BATCH_STATE_SUCCEEDED; older servers write JOB_STATE_SUCCEEDED.
    named = _PHASES.get(str(_job_field(reply, "state")).rsplit("_", 1)[-1], "waiting")
    # A finished operation with an error has failed, even if its state says otherwise.
    if field(reply, "error") is not None and named in ("waiting", "done"):
        return "failed"
    if field(reply, "done") is True and named == "waiting":
        return "done"
    return named


def _job_field(reply: Json, *path: str) -> Json:
    """From the top level, else from the metadata."""
    value = field(reply, *path)
    return value if value is not None else field(reply, "metadata", *path)


def cancel(endpoint: Endpoint, job_id: str) -> HttpRequest:
    return HttpRequest(f"{endpoint.base_url}/{quote(job_id)}:cancel", None)


def download(endpoint: Endpoint, file_id: str) -> HttpRequest:
    # Google serves files from a separate path; other servers serve them from the API itself.
    base = _service_url(endpoint, "download") if endpoint.own_address else endpoint.base_url
    return HttpRequest(f"{base}/{quote(file_id)}:download?alt=media", None, method="GET")


def _service_url(endpoint: Endpoint, service: str) -> str:
    """`https://host/v1beta` becomes `https://host/upload/v1beta`."""
    host, _, version = endpoint.base_url.rpartition("/")
    return f"{host}/{service}/{version}"


def result(reply: Json) -> BatchResult | None:
    custom_id = text_or_none(field(reply, "key"))
    if custom_id is None:
        return None
    values = field(reply, "response", "embedding", "values")
    used = field(reply, "response", "usageMetadata", "promptTokenCount")
    return BatchResult(custom_id, values, count_or_none(used))


GEMINI_BATCH = BatchApi(
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

GEMINI = Provider(
    name="gemini",
    default_url="https://generativelanguage.googleapis.com/v1beta",
    default_model="gemini-embedding-001",
    models=MODELS,
    items=100,
    needs_key=True,
    auth=auth,
    request=request,
    rows=rows,
    tokens=tokens,
    error_facts=error_facts,
    batch=GEMINI_BATCH,
)
