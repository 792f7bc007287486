"""Google's `models/{model}:asyncBatchEmbedContent`, over a file of requests, within 24 hours.

    POST /upload/v1beta/files?uploadType=multipart      {"file": {"name": "files/…"}}
    POST /models/{model}:asyncBatchEmbedContent         {"batch": {"displayName", "inputConfig"}}
    GET  /batches/{id}                                  an operation
    POST /batches/{id}:cancel
    GET  /download/v1beta/files/{id}:download?alt=media

    {"key", "request"}                                          a line of the input
    {"key", "response": {"embedding": {"values"}}, "error"}     a line of the output

An operation is `{"name", "done", "metadata", "response" or "error"}`. How the job is stands in its
metadata, or, by other servers, at its top; `done` and `error` count for more than either.
A job can also hold its requests in itself up to 20 MB; the file does for every size.
Sources: the API reference (batches, files) and the batch guide, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from notewell.embedders.batch.api import BatchApi, JobState, Phase, Result, whole
from notewell.embedders.batch.multipart import FILE_NAME, JSON_LINES, related
from notewell.embedders.gemini import request
from notewell.embedders.provider import Json, Request, Target, count_or_none, field, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_BYTES = 1_900_000_000
"""The provider takes files of 2 GB."""

PHASES: Mapping[str, Phase] = {
    "SUCCEEDED": "done",
    "FAILED": "failed",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
}


def line(target: Target, custom_id: str, text: str) -> Json:
    (one,) = request(target, [text], "document").body["requests"]
    return {"key": custom_id, "request": one}


def upload(target: Target, file: bytes) -> Request:
    about = {"file": {"displayName": FILE_NAME, "mimeType": JSON_LINES}}
    form = related(about, file)
    url = f"{_beside(target, 'upload')}/files?uploadType=multipart"
    return Request(url, form.body, content_type=form.content_type)


def file_id(answer: Json) -> str | None:
    return text_or_none(field(answer, "file", "name")) or text_or_none(field(answer, "name"))


def create(target: Target, file_id: str) -> Request:
    model = quote(target.model.removeprefix("models/"), safe="")
    return Request(
        f"{target.base_url}/models/{model}:asyncBatchEmbedContent",
        {"batch": {"displayName": "notewell", "inputConfig": {"fileName": file_id}}},
    )


def status(target: Target, job_id: str) -> Request:
    return Request(f"{target.base_url}/{quote(job_id)}", None, method="GET")


def state(answer: Json) -> JobState | None:
    job_id = text_or_none(field(answer, "name"))
    if job_id is None:
        return None
    finished = whole(_told(answer, "batchStats", "successfulRequestCount"))
    finished += whole(_told(answer, "batchStats", "failedRequestCount"))
    error = field(answer, "error")
    return JobState(
        job_id,
        _phase(answer),
        done=finished,
        output=text_or_none(_told(answer, "output", "responsesFile"))
        or text_or_none(field(answer, "response", "responsesFile")),
        why=text_or_none(field(error, "message")) or text_or_none(field(error, "status")),
    )


def _phase(answer: Json) -> Phase:
    # BATCH_STATE_SUCCEEDED, and by older servers JOB_STATE_SUCCEEDED.
    named = PHASES.get(str(_told(answer, "state")).rsplit("_", 1)[-1], "waiting")
    if field(answer, "error") is not None and named in ("waiting", "done"):
        return "failed"
    if field(answer, "done") is True and named == "waiting":
        return "done"
    return named


def _told(answer: Json, *path: str) -> Json:
    """From the top, or else from the metadata."""
    return next(_found(answer, *path), None)


def _found(answer: Json, *path: str) -> Iterator[Json]:
    for place in (answer, field(answer, "metadata")):
        if (value := field(place, *path)) is not None:
            yield value


def cancel(target: Target, job_id: str) -> Request:
    return Request(f"{target.base_url}/{quote(job_id)}:cancel", None)


def download(target: Target, file_id: str) -> Request:
    # Google itself serves files beside the API; other servers have them in it.
    base = _beside(target, "download") if target.own_address else target.base_url
    return Request(f"{base}/{quote(file_id)}:download?alt=media", None, method="GET")


def _beside(target: Target, place: str) -> str:
    """`https://host/v1beta` becomes `https://host/upload/v1beta`."""
    head, _, version = target.base_url.rpartition("/")
    return f"{head}/{place}/{version}"


def result(answer: Json) -> Result | None:
    custom_id = text_or_none(field(answer, "key"))
    if custom_id is None:
        return None
    used = field(answer, "response", "usageMetadata", "promptTokenCount")
    return Result(custom_id, field(answer, "response", "embedding", "values"), count_or_none(used))


GEMINI_BATCH = BatchApi(
    provider="gemini",
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
