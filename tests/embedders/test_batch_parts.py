"""The parts of batch jobs by themselves: the plan, the store, and each provider's wire format."""

from __future__ import annotations

import email
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.embedders.api_keys import KeySources
from notewell.embedders.batch.embedder import JobLimits, plan_jobs
from notewell.embedders.batch.runner import BatchFailed, poll_pause_s
from notewell.embedders.batch.store import MAX_JOBS, JobFolder, StoredJob, covered
from notewell.embedders.batch.workers import BatchBreaker
from notewell.embedders.providers.gemini import GEMINI_BATCH
from notewell.embedders.providers.openai import OPENAI_BATCH
from notewell.embedders.providers.provider import Endpoint, HttpRequest
from notewell.embedders.providers.voyage import VOYAGE_BATCH
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import open_remote
from notewell.embedders.remote_plan import Runtime
from notewell.embedders.settings import BatchSettings, EmbedderSettings, RemoteSettings
from notewell.errors import BadSetting

OPENAI = Endpoint("https://api.openai.com/v1", "text-embedding-3-small", 256, own_address=True)
VOYAGE = Endpoint("https://api.voyageai.com/v1", "voyage-4-large", 512, own_address=True)
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
GEMINI = Endpoint(GOOGLE, "gemini-embedding-001", 768, own_address=True)
KEYS = [
    "id",
    "name",
    "status",
    "response",
    "body",
    "data",
    "custom_id",
    "key",
    "error",
    "errors",
    "metadata",
    "request_counts",
    "embedding",
    "values",
]

# -- the plan ------------------------------------------------------------------------------------

digests = st.lists(st.text("abcdef", min_size=1, max_size=3), unique=True, max_size=30)


@given(digests, st.lists(digests, max_size=3), st.integers(1, 9), st.integers(1, 40), st.data())
def test_a_plan_leaves_nothing_out_and_sends_nothing_twice(
    needed: list[str], stored: list[list[str]], requests: int, most: int, data: st.DataObject
) -> None:
    sizes = {one: data.draw(st.integers(1, 50)) for one in needed}
    least = data.draw(st.integers(1, 9))
    jobs = [StoredJob("key", 8, tuple(one), f"job{n}") for n, one in enumerate(stored)]
    plan = plan_jobs(sizes, jobs, JobLimits(least, requests, most))
    resumed = covered(plan.resume) & set(needed)
    begun = [one for job in plan.begin for one in job]
    rest = [one for one in needed if one not in covered(jobs)]
    assert resumed == covered(jobs) & set(needed)
    for number, job in enumerate(plan.resume):
        assert covered([job]) & set(needed) - covered(plan.resume[:number])
    fitting = [one for one in rest if sizes[one] <= most]
    assert begun == (fitting if len(rest) >= least else [])
    assert all(len(job) <= requests for job in plan.begin)
    assert all(sum(sizes[one] for one in job) <= most for job in plan.begin)


def test_looks_at_a_job_come_less_and_less_often() -> None:
    pauses = [poll_pause_s(looks, 2.0) for looks in range(50)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (2.0, 30.0)


def test_the_switch_goes_off_once_and_keeps_its_reason() -> None:
    switch = BatchBreaker()
    for why in ("one", "two", "three"):
        switch.failed(BatchFailed(why))
    assert switch.state.off_because == "2 batch jobs failed, the last one: two"
    assert (switch.state.failures, switch.state.last_failure) == (3, "three")
    at_once = BatchBreaker()
    at_once.failed(BatchFailed("no such address", lasting=True))
    assert at_once.is_open


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"poll_interval_s": 0.0}, {"timeout_minutes": -1.0}]
)
def test_settings_that_would_wait_for_ever_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadSetting):
        BatchSettings(**wrong)


# -- the store -----------------------------------------------------------------------------------

JOB = StoredJob("endpoint", 8, ("a" * 32, "b" * 32), "batch_1")


def test_a_job_is_remembered_for_its_endpoint_and_length_alone(tmp_path: Path) -> None:
    JobFolder(tmp_path / "jobs").put(JOB)
    store = JobFolder(tmp_path / "jobs")
    assert store.jobs("endpoint", 8) == [JOB]
    assert store.jobs("endpoint", 9) == store.jobs("another", 8) == []
    store.remove(JOB)
    store.remove(JOB)
    assert store.jobs("endpoint", 8) == []


def test_a_job_that_was_not_made_yet_is_not_waited_for(tmp_path: Path) -> None:
    store = JobFolder(tmp_path)
    draft = StoredJob("endpoint", 8, JOB.digests)
    store.put(draft)
    assert store.jobs("endpoint", 8) == []
    store.put(JOB)
    assert store.jobs("endpoint", 8) == [JOB]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 10_000,
        b"\xff",
        b'{"version": 2}',
        b'{"version": 1, "endpoint_key": "endpoint", "dims": 8, "digests": [1], "job_id": "x"}',
        b'{"version": 1, "endpoint_key": "endpoint", "dims": null, "digests": [], "job_id": "x"}',
    ],
)
def test_a_damaged_record_is_passed_over(tmp_path: Path, content: bytes) -> None:
    store = JobFolder(tmp_path)
    store.put(JOB)
    (tmp_path / "damaged.json").write_bytes(content)
    assert store.jobs("endpoint", 8) == [JOB]


def test_the_folder_does_not_grow_for_ever(tmp_path: Path) -> None:
    store = JobFolder(tmp_path)
    for number in range(MAX_JOBS + 5):
        store.put(StoredJob("endpoint", 8, (str(number),), f"batch_{number}"))
    jobs = store.jobs("endpoint", 8)
    assert len(jobs) == MAX_JOBS
    assert f"batch_{MAX_JOBS + 4}" in {job.job_id for job in jobs}


# -- the wire ------------------------------------------------------------------------------------


def parts(request: HttpRequest) -> list[tuple[str, str, bytes]]:
    """Of a body of several parts: disposition, type and content, read by somebody else's code."""
    head = f"Content-Type: {request.content_type}\r\n\r\n".encode()
    message = email.message_from_bytes(head + request.body)
    assert message.is_multipart()
    return [
        (
            part.get("Content-Disposition", ""),
            part.get_content_type(),
            bytes(part.get_payload(decode=True)),
        )
        for part in message.walk()
        if not part.is_multipart()
    ]


def test_openai_is_sent_what_its_reference_asks_for() -> None:
    assert OPENAI_BATCH.line(OPENAI, "id1", "a text") == {
        "custom_id": "id1",
        "method": "POST",
        "url": "/v1/embeddings",
        "body": {
            "model": "text-embedding-3-small",
            "input": ["a text"],
            "encoding_format": "base64",
            "dimensions": 256,
        },
    }
    upload = OPENAI_BATCH.upload(OPENAI, b'{"x":1}\n')
    assert upload.url == "https://api.openai.com/v1/files"
    assert parts(upload) == [
        ('form-data; name="purpose"', "text/plain", b"batch"),
        (
            'form-data; name="file"; filename="notewell.jsonl"',
            "application/jsonl",
            b'{"x":1}\n',
        ),
    ]
    assert OPENAI_BATCH.create(OPENAI, "file-1") == HttpRequest(
        "https://api.openai.com/v1/batches",
        {"input_file_id": "file-1", "endpoint": "/v1/embeddings", "completion_window": "24h"},
    )
    assert OPENAI_BATCH.status(OPENAI, "batch_1") == HttpRequest(
        "https://api.openai.com/v1/batches/batch_1", None, method="GET"
    )
    assert OPENAI_BATCH.cancel(OPENAI, "batch_1").url.endswith("/batches/batch_1/cancel")
    assert OPENAI_BATCH.download(OPENAI, "file-2") == HttpRequest(
        "https://api.openai.com/v1/files/file-2/content", None, method="GET"
    )
    assert OPENAI_BATCH.status(OPENAI, "../keys").url.endswith("/batches/..%2Fkeys")


def test_voyage_is_told_model_and_kind_once_for_the_whole_job() -> None:
    assert VOYAGE_BATCH.line(VOYAGE, "id1", "a text") == {
        "custom_id": "id1",
        "body": {"input": ["a text"]},
    }
    assert VOYAGE_BATCH.create(VOYAGE, "file-1").body == {
        "input_file_id": "file-1",
        "endpoint": "/v1/embeddings",
        "completion_window": "12h",
        "request_params": {
            "model": "voyage-4-large",
            "input_type": "document",
            "truncation": False,
            "output_dimension": 512,
        },
    }


def test_gemini_has_its_files_beside_the_api() -> None:
    assert GEMINI_BATCH.line(GEMINI, "id1", "a text") == {
        "key": "id1",
        "request": {
            "model": "models/gemini-embedding-001",
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 768,
            "content": {"parts": [{"text": "a text"}]},
        },
    }
    upload = GEMINI_BATCH.upload(GEMINI, b'{"x":1}\n')
    host = "https://generativelanguage.googleapis.com"
    assert upload.url == f"{host}/upload/v1beta/files?uploadType=multipart"
    (_, kind, about), (_, file_kind, file) = parts(upload)
    assert (kind, file_kind, file) == ("application/json", "application/jsonl", b'{"x":1}\n')
    assert json.loads(about)["file"]["mimeType"] == "application/jsonl"
    assert GEMINI_BATCH.create(GEMINI, "files/1") == HttpRequest(
        f"{host}/v1beta/models/gemini-embedding-001:asyncBatchEmbedContent",
        {"batch": {"displayName": "notewell", "inputConfig": {"fileName": "files/1"}}},
    )
    assert GEMINI_BATCH.status(GEMINI, "batches/1").url == f"{host}/v1beta/batches/1"
    assert GEMINI_BATCH.cancel(GEMINI, "batches/1").url == f"{host}/v1beta/batches/1:cancel"
    download = GEMINI_BATCH.download(GEMINI, "files/out")
    assert download.url == f"{host}/download/v1beta/files/out:download?alt=media"
    gateway = Endpoint("https://gateway.example/v1beta", "m", None, own_address=False)
    download = GEMINI_BATCH.download(gateway, "files/out")
    assert download.url == "https://gateway.example/v1beta/files/out:download?alt=media"


def operation(state: str, **more: Any) -> dict[str, Any]:
    return {"name": "batches/1", "metadata": {"state": state}, **more}


@pytest.mark.parametrize(
    ("answer", "phase", "output"),
    [
        (operation("BATCH_STATE_PENDING"), "waiting", None),
        (operation("JOB_STATE_RUNNING", done=False), "waiting", None),
        (operation("BATCH_STATE_RUNNING", done=True), "done", None),
        (
            operation("BATCH_STATE_SUCCEEDED", response={"responsesFile": "files/1"}),
            "done",
            "files/1",
        ),
        (
            {
                "name": "batches/1",
                "metadata": {
                    "state": "BATCH_STATE_SUCCEEDED",
                    "output": {"responsesFile": "files/2"},
                },
            },
            "done",
            "files/2",
        ),
        (operation("BATCH_STATE_SUCCEEDED", error={"code": 13}), "failed", None),
        (operation("BATCH_STATE_CANCELLED", error={"code": 1}), "cancelled", None),
        ({"name": "batches/1", "state": "BATCH_STATE_EXPIRED"}, "expired", None),
        ({"name": "batches/1"}, "waiting", None),
    ],
)
def test_an_operation_of_google_is_read_by_what_counts(
    answer: dict[str, Any], phase: str, output: str | None
) -> None:
    state = GEMINI_BATCH.state(answer)
    assert state is not None
    assert (state.job_id, state.phase, state.output) == ("batches/1", phase, output)


@pytest.mark.parametrize("status", ["validating", "in_progress", "finalizing", "cancelling", None])
def test_every_status_that_is_no_end_is_waited_for(status: str | None) -> None:
    state = OPENAI_BATCH.state({"id": "batch_1", "status": status})
    assert state is not None
    assert state.phase == "waiting"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
        ),
        max_leaves=20,
    )
)
def test_no_answer_of_any_shape_breaks_the_reading(answer: Any) -> None:
    for api in (OPENAI_BATCH, GEMINI_BATCH, VOYAGE_BATCH):
        api.state(answer)
        api.file_id(answer)
        api.result(answer)


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("http://files.example/download/1", True),
        ("https://elsewhere.example/download/1", True),
        ("http://files.example.evil/download/1", False),
        ("http://files.example:8080/download/1", False),
        ("http://elsewhere.example/download/1", False),
        ("/download/1", False),
    ],
)
def test_results_come_over_https_or_from_the_configured_host(
    location: str, followed: bool
) -> None:
    settings = EmbedderSettings(remote=RemoteSettings(base_url="http://files.example/v1"))
    provider = REMOTE_PROVIDERS["openai-compatible"]
    opened = open_remote(provider, settings, KeySources(), Runtime(), model="m")
    assert opened.embedder._may_follow(location) is followed
