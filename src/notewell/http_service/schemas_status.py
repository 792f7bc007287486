"""JSON models of the status and of a sync: the same as `notewell status` and `index --json`.

An admin sees all fields. For other callers, paths of this machine are emptied; for a group, so are
the numbers, because they count what a group may not see.
"""

from typing import Annotated, Any

from pydantic import Field

from notewell.engines import Status
from notewell.http_service.activity import Activity
from notewell.http_service.schemas import FallbackFacts, ResponseModel
from notewell.sync import SyncReport
from notewell.tools import (
    JSON_VERSION,
    fallback_json,
    public_status_json,
    report_json,
    status_json,
    without_private,
)


class SkippedFile(ResponseModel):
    path: str
    why: str


class SyncAnswer(ResponseModel):
    """The same as `notewell index --json`."""

    rebuilt: str | None
    notes: int | None
    written: int | None
    forgotten: int | None
    chunks: int | None
    vectors_added: int | None
    vectors_waiting: int | None
    trouble: str | None
    fallback: FallbackFacts | None
    ignored: list[SkippedFile]
    unreadable: list[SkippedFile]
    repaired: list[SkippedFile]


def sync_answer(report: SyncReport, *, admin: bool, sees_private: bool) -> SyncAnswer:
    payload = report_json(report) if sees_private else without_private(report_json(report))
    if not admin and report.trouble:
        payload["trouble"] = report.trouble.public_text()
    payload["fallback"] = fallback_json(report.fallback, public=not admin)
    return SyncAnswer.model_validate(payload)


class SourceCount(ResponseModel):
    source: str
    eligible: int
    files: int
    chunks: int


class FtsFacts(ResponseModel):
    enabled: bool
    available: bool
    error: str | None


class VectorFacts(ResponseModel):
    enabled: bool
    available: bool
    driver: str
    load_error: str | None
    dims: int
    embedded: int | None


class CacheFacts(ResponseModel):
    enabled: bool
    max_entries: int | None
    entries: int | None


class BatchJobFacts(ResponseModel):
    enabled: bool
    failures: int
    off_because: str | None
    last_error: str | None
    jobs: list[str]
    concurrency: int | None
    poll_interval_ms: int | None
    timeout_minutes: float | None


class LastError(ResponseModel):
    kind: str
    message: str
    at: str


class SyncActivity(ResponseModel):
    """The sync that runs now."""

    what: Annotated[str, Field(description="`notes`, `sessions`, `vectors`, …")]
    done: int
    total: Annotated[int, Field(description="0 until the notes are listed.")]


def activity_answer(activity: Activity | None) -> SyncActivity | None:
    return None if activity is None else SyncActivity.model_validate(activity._asdict())


class StatusAnswer(ResponseModel):
    version: int
    agent: str
    backend: str
    fallback: dict[str, str | None] | None
    engine: dict[str, str]
    workspace: str | None
    extra_paths: list[str]
    index_path: str | None
    state: str
    problem: str | None
    last_error: LastError | None
    provider: str
    model: str
    eligible: int | None
    files: int | None
    chunks: int | None
    dirty: int | None
    sources: list[str]
    source_counts: list[SourceCount]
    fts: FtsFacts
    vector: VectorFacts
    cache: CacheFacts
    batch: BatchJobFacts
    index_bytes: int | None
    index_age: int | None
    embedder_missing: str | None
    embedder: dict[str, Any] | None
    probe: None
    rebuild_needed: str | None
    refused_keys: list[str]
    workspace_errors: int
    ignored: list[SkippedFile]
    unreadable: list[SkippedFile]
    activity: Annotated[
        SyncActivity | None, Field(description="What the service does now; null: nothing.")
    ] = None


def status_answer(
    status: Status, *, admin: bool, sees_private: bool, activity: Activity | None = None
) -> StatusAnswer:
    """The same as `notewell status --json`, and what this process does for the memory; only an
    admin sees paths of this machine. For a group, the numbers would count what it may not see."""
    payload = status_json(status) if admin else public_status_json(status)
    if not sees_private:
        payload = without_private(payload)
    shown = activity_answer(activity) if sees_private else None
    return StatusAnswer.model_validate({"version": JSON_VERSION, **payload, "activity": shown})
