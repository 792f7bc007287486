"""OpenAI's batch API: a file of requests, a job over it, a file of answers within 24 hours.

    POST /files           multipart: purpose=batch, file        {"id"}
    POST /batches         {"input_file_id", "endpoint", "completion_window": "24h"}
    GET  /batches/{id}    {"id", "status", "request_counts", "output_file_id", "errors"}
    POST /batches/{id}/cancel
    GET  /files/{id}/content

    {"custom_id", "method": "POST", "url": "/v1/embeddings", "body"}           a line of the input
    {"custom_id", "response": {"status_code", "body"}, "error"}                a line of the output

A job that expired or was cancelled has the answers that were ready in its output file.
Requests that failed are in a file of their own, which we do not need: what is missing is asked
for again, and then the provider says why.
Sources: the API reference (batch, files) and the batch guide, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from notewell.embedders.batch.api import BatchApi, JobState, Phase, Result, whole
from notewell.embedders.batch.multipart import form_data
from notewell.embedders.openai import request, rows, tokens
from notewell.embedders.provider import Json, NotRows, Request, Target, field, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDPOINT = "/v1/embeddings"

MOST_BYTES = 190_000_000
"""The provider takes 200 MB; whether it counts by 1000 or by 1024, this is below."""

PHASES: Mapping[str, Phase] = {
    "completed": "done",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
    "canceled": "cancelled",
}
"""Every other status is a way of waiting."""


def line(target: Target, custom_id: str, text: str) -> Json:
    body = request(target, [text], "document").body
    return {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}


def upload(target: Target, file: bytes) -> Request:
    form = form_data({"purpose": "batch"}, file)
    return Request(f"{target.base_url}/files", form.body, content_type=form.content_type)


def file_id(answer: Json) -> str | None:
    return text_or_none(field(answer, "id"))


def create(target: Target, file_id: str) -> Request:
    body = {"input_file_id": file_id, "endpoint": ENDPOINT, "completion_window": "24h"}
    return Request(f"{target.base_url}/batches", body)


def status(target: Target, job_id: str) -> Request:
    return Request(f"{target.base_url}/batches/{quote(job_id, safe='')}", None, method="GET")


def state(answer: Json) -> JobState | None:
    job_id = text_or_none(field(answer, "id"))
    if job_id is None:
        return None
    counts = field(answer, "request_counts")
    return JobState(
        job_id,
        PHASES.get(str(field(answer, "status")).lower(), "waiting"),
        done=whole(field(counts, "completed")) + whole(field(counts, "failed")),
        output=text_or_none(field(answer, "output_file_id")),
        why=_first_error(answer),
    )


def _first_error(answer: Json) -> str | None:
    errors = field(answer, "errors", "data")
    first = errors[0] if isinstance(errors, list) and errors else None
    return text_or_none(field(first, "code")) or text_or_none(field(first, "message"))


def cancel(target: Target, job_id: str) -> Request:
    return Request(f"{target.base_url}/batches/{quote(job_id, safe='')}/cancel", None)


def download(target: Target, file_id: str) -> Request:
    url = f"{target.base_url}/files/{quote(file_id, safe='')}/content"
    return Request(url, None, method="GET")


def result(answer: Json) -> Result | None:
    custom_id = text_or_none(field(answer, "custom_id"))
    if custom_id is None:
        return None
    body = field(answer, "response", "body")
    try:
        (row,) = rows(body, 1)
    except NotRows:
        return Result(custom_id, None)
    return Result(custom_id, row, tokens(body))


OPENAI_BATCH = BatchApi(
    provider="openai",
    most_bytes=MOST_BYTES,
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
