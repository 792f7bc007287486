"""Batch jobs over real sockets: whatever becomes of a job, every text has its vector."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.embedders.fake_batch import FakeBatches, Line, batch_api
from tests.embedders.fake_server import vector_of

from notewell.core import Secret
from notewell.embedders.api_keys import KeySources
from notewell.embedders.batch import BatchEmbedder, JobFolder, with_batch
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import Runtime
from notewell.embedders.settings import (
    BatchSettings,
    EmbedderSettings,
    RemoteSettings,
)
from notewell.errors import EmbedderFailed, EmbedderRefused
from notewell.ports import ReportsWaiting, Waiting

if TYPE_CHECKING:
    from notewell.ports import Vectors

KEY = "sk-canary-0123456789"
PROVIDERS = tuple(name for name, provider in REMOTE_PROVIDERS.items() if provider.batch)
TEXTS = [f"note number {n}" for n in range(6)]
TIMEOUT_MINUTES = 10.0


class Killed(BaseException):
    """As kill -9 does, it lets nobody tidy up."""


@dataclass
class Time:
    """A clock that only sleeping moves."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)
    killed_at: int | None = None
    """The pause in which the process dies."""

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        if len(self.pauses) == self.killed_at:
            raise Killed
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server() -> Iterator[FakeBatches]:
    running = FakeBatches()
    with running:
        yield running


@pytest.fixture
def time() -> Time:
    return Time()


Open = Callable[..., BatchEmbedder]


@pytest.fixture
def open_one(server: FakeBatches, provider: str, tmp_path: Path, time: Time) -> Iterator[Open]:
    opened: list[RemoteEmbedder] = []

    def open_it(
        *, min_texts: int = 2, job_texts: int = 100, concurrency: int = 2, when: Time = time
    ) -> BatchEmbedder:
        remote = RemoteSettings(base_url=server.url(provider), api_key=Secret(KEY))
        settings = EmbedderSettings(provider=provider, dims=8, remote=remote)
        runtime = Runtime(clock=when.clock, sleep=when.sleep, random=lambda: 0.0)
        plain = open_remote(
            REMOTE_PROVIDERS[provider], settings, KeySources(), runtime, model="some-model"
        ).embedder
        opened.append(plain)
        return BatchEmbedder(
            plain,
            batch_api(provider),
            JobFolder(tmp_path / "jobs"),
            BatchSettings(enabled=True, concurrency=concurrency, timeout_minutes=TIMEOUT_MINUTES),
            min_texts=min_texts,
            job_texts=job_texts,
        )

    yield open_it
    for one in opened:
        one.close()


def unit(texts: list[str]) -> Vectors:
    rows = np.array([vector_of(text) for text in texts])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, dtype=np.float32)


def assert_right(vectors: Vectors, texts: list[str] = TEXTS) -> None:
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, unit(texts), atol=1e-6)


def stored(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "jobs").glob("*.json"))


# -- a good day ----------------------------------------------------------------------------------


def test_many_texts_are_one_job_and_no_plain_call(
    server: FakeBatches, open_one: Open, time: Time
) -> None:
    server.looks_before_end = 3
    embedder = open_one()
    assert_right(embedder.embed([*TEXTS, TEXTS[0]], "document"), [*TEXTS, TEXTS[0]])
    assert server.plain_texts == []
    (job,) = server.jobs.values()
    assert job.looks == ["waiting"] * 3 + ["done"]
    assert time.pauses == [2.0, 3.0, 4.5]
    assert embedder.usage.texts == len(TEXTS)
    assert embedder.batch.off_because is None


def test_questions_and_few_texts_go_straight_through(server: FakeBatches, open_one: Open) -> None:
    embedder = open_one(min_texts=7)
    embedder.embed(TEXTS, "query")
    assert_right(embedder.embed(TEXTS, "document"))
    assert server.plain_texts == TEXTS * 2
    assert server.jobs == {}
    assert embedder.embed([], "document").shape == (0, 8)


def test_texts_are_cut_into_jobs_of_which_so_many_are_under_way(
    server: FakeBatches, open_one: Open
) -> None:
    embedder = open_one(job_texts=2, concurrency=2)
    assert embedder.texts_at_once == 4
    assert_right(embedder.embed(TEXTS, "document"))
    assert [len(job.lines) for job in server.jobs.values()] == [2, 2, 2]
    assert server.plain_texts == []


def test_progress_says_what_is_waiting(server: FakeBatches, open_one: Open) -> None:
    embedder = open_one()
    heard: list[Waiting] = []

    def hear(waiting: Waiting) -> None:
        heard.append(waiting)
        assert embedder.batch.waiting == (waiting,)

    assert isinstance(embedder, ReportsWaiting)
    with embedder.reporting(hear):
        embedder.embed(TEXTS, "document")
    (job_id,) = server.jobs
    assert [str(one) for one in heard] == [
        f"batch job {job_id}: 0 of 6 done",
        f"batch job {job_id}: 1 of 6 done",
    ]
    assert embedder.batch.waiting == ()


def test_results_in_any_order_find_their_texts(server: FakeBatches, open_one: Open) -> None:
    server.change = lambda lines: lines[::-1]
    assert_right(open_one().embed(TEXTS, "document"))
    assert server.plain_texts == []


def test_the_key_goes_with_every_request_and_into_no_file(
    server: FakeBatches, open_one: Open, provider: str, tmp_path: Path
) -> None:
    open_one().embed(TEXTS, "document")
    name = "x-goog-api-key" if provider == "gemini" else "authorization"
    assert all(KEY in seen.headers[name] for seen in server.seen)
    (file,) = stored(tmp_path)
    kept = file.read_text(encoding="ascii")
    assert KEY not in kept
    assert not any(text in kept for text in TEXTS)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("provider", ["voyage", "openai"], indirect=True)
def test_a_file_that_is_kept_elsewhere_is_fetched_without_the_key(
    server: FakeBatches, open_one: Open
) -> None:
    server.elsewhere = server.address
    assert_right(open_one().embed(TEXTS, "document"))
    assert server.plain_texts == []
    assert ["authorization" in seen.headers for seen in server.requests("download")] == [
        True,
        False,
    ]


# -- single lines that are no good ---------------------------------------------------------------


def failed(line: Line) -> Line:
    key = "key" if "key" in line else "custom_id"
    return {key: line[key], "response": None, "error": {"code": 13, "message": "no"}}


def with_row(line: Line, row: Any) -> Line:
    if "key" in line:
        return {**line, "response": {"embedding": {"values": row}}}
    body = {"data": [{"index": 0, "embedding": row}]}
    return {**line, "response": {"status_code": 200, "body": body}}


NAN = float("nan")
BAD_LINES: dict[str, Callable[[list[Line]], list[Any]]] = {
    "failed": lambda lines: [failed(lines[0]), *lines[1:]],
    "missing": lambda lines: lines[1:],
    "not json": lambda lines: [b"{not json", *lines[1:]],
    "truncated": lambda lines: [*lines[1:], json.dumps(lines[0]).encode()[:-9]],
    "nan": lambda lines: [with_row(lines[0], [NAN] * 8), *lines[1:]],
    "zeros": lambda lines: [with_row(lines[0], [0.0] * 8), *lines[1:]],
    "other dims": lambda lines: [with_row(lines[0], [1.0] * 7), *lines[1:]],
    "no numbers": lambda lines: [with_row(lines[0], None), *lines[1:]],
    "twice": lambda lines: [*lines, with_row(lines[0], [1.0] * 8)],
    "of nobody": lambda lines: [{"custom_id": "x", "key": "x"}, [], *lines[1:]],
}


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_line_that_is_no_good_costs_that_line_alone(
    bad: str, server: FakeBatches, open_one: Open
) -> None:
    server.change = BAD_LINES[bad]
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert server.plain_texts == TEXTS[:1]
    assert embedder.batch.failures == 0


def test_a_job_without_one_good_line_counts_as_failed(server: FakeBatches, open_one: Open) -> None:
    server.change = lambda lines: [failed(line) for line in lines]
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert server.plain_texts == TEXTS
    assert "no usable vector" in (embedder.batch.last_failure or "")


# -- jobs that fail ------------------------------------------------------------------------------


@dataclass(frozen=True)
class BadDay:
    ready: Callable[[FakeBatches], None]
    failure: str
    requests: dict[str, int]


BAD_DAYS = {
    "upload 500": BadDay(
        lambda server: server.stumble("upload", "500", "500", "500"),
        "upload: .*HTTP 500",
        {"upload": 3, "create": 0},
    ),
    "create 400": BadDay(
        lambda server: server.stumble("create", "400"), "create: ", {"create": 1, "status": 0}
    ),
    "create without an answer": BadDay(
        lambda server: server.stumble("create", "hang up"), "create: ", {"create": 1, "status": 0}
    ),
    "status 400": BadDay(
        lambda server: server.stumble("status", "400"), "cannot be read", {"status": 1}
    ),
    "job gone": BadDay(
        lambda server: server.stumble("status", "404"), "is unknown to the provider", {"status": 1}
    ),
    "job failed": BadDay(
        lambda server: setattr(server, "ending", "failed"), "failed", {"download": 0}
    ),
    "no output file named": BadDay(
        lambda server: setattr(server, "has_output", False), "without results", {"download": 0}
    ),
    "output file missing": BadDay(
        lambda server: server.stumble("download", "404"), "the results: ", {"download": 1}
    ),
    "output file never comes": BadDay(
        lambda server: server.stumble("download", "503", "503", "hang up"),
        "the results: ",
        {"download": 3},
    ),
}


@pytest.mark.parametrize("day", BAD_DAYS)
def test_a_job_that_fails_costs_time_and_nothing_else(
    day: str, server: FakeBatches, open_one: Open, tmp_path: Path
) -> None:
    bad = BAD_DAYS[day]
    bad.ready(server)
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert server.plain_texts == TEXTS
    assert {stage: len(server.requests(stage)) for stage in bad.requests} == bad.requests
    state = embedder.batch
    assert (state.failures, state.off_because) == (1, None)
    assert state.last_failure is not None
    assert re.search(bad.failure, state.last_failure)
    assert KEY not in state.last_failure
    assert stored(tmp_path) == []


@pytest.mark.parametrize("ending", ["expired", "cancelled"])
def test_what_was_ready_when_a_job_ended_early_is_kept(
    ending: str, server: FakeBatches, open_one: Open, provider: str
) -> None:
    server.ending = ending
    server.change = lambda lines: lines[:4]
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    # Google says nothing about results of a job that did not come to its end.
    assert server.plain_texts == (TEXTS if provider == "gemini" else TEXTS[4:])
    assert embedder.batch.failures == 1
    assert ending in (embedder.batch.last_failure or "")


def test_a_passing_fault_is_not_noticed(server: FakeBatches, open_one: Open) -> None:
    server.stumble("upload", "503", "hang up")
    server.stumble("create", "429")
    server.stumble("status", "500", "hang up", "502", "503", "hang up")
    server.stumble("download", "hang up")
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert server.plain_texts == []
    assert embedder.batch.failures == 0


def test_after_two_failures_jobs_are_off_and_say_why(server: FakeBatches, open_one: Open) -> None:
    server.ending = "failed"
    embedder = open_one(job_texts=2, concurrency=1)
    for _ in range(2):
        assert_right(embedder.embed(TEXTS, "document"))
    assert len(server.jobs) == 2
    assert "2 batch jobs failed" in (embedder.batch.off_because or "")
    assert embedder.texts_at_once == embedder._plain.texts_at_once
    server.ending = "done"
    assert_right(embedder.embed(TEXTS, "document"))
    assert len(server.jobs) == 2
    assert_right(open_one().embed(TEXTS, "document"))  # Another process tries again.
    assert len(server.jobs) == 3


def test_a_job_that_works_makes_up_for_one_that_failed(
    server: FakeBatches, open_one: Open
) -> None:
    embedder = open_one()
    for ending in ("failed", "done", "failed"):
        server.ending = ending
        assert_right(embedder.embed(TEXTS, "document"))
    assert (embedder.batch.failures, embedder.batch.off_because) == (1, None)


def test_a_server_without_batch_jobs_is_asked_once(server: FakeBatches, open_one: Open) -> None:
    server.stumble("upload", "404")
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert "cannot be used" in (embedder.batch.off_because or "")
    assert_right(embedder.embed(TEXTS, "document"))
    assert len(server.requests("upload")) == 1


def test_a_job_that_takes_too_long_is_waited_for_once_more_and_then_cancelled(
    server: FakeBatches, open_one: Open, time: Time, tmp_path: Path
) -> None:
    server.looks_before_end = 10_000
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert time.now == pytest.approx(2 * TIMEOUT_MINUTES * 60, abs=1)
    assert len(server.requests("cancel")) == 1
    assert "had not ended after 2 times 10 minutes" in (embedder.batch.last_failure or "")
    assert server.plain_texts == TEXTS
    assert stored(tmp_path) == []


def test_a_job_that_ends_in_the_second_wait_is_taken(server: FakeBatches, open_one: Open) -> None:
    server.looks_before_end = 30
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert server.plain_texts == []


def test_trouble_of_the_plain_calls_is_raised_with_what_jobs_had(
    server: FakeBatches, open_one: Open
) -> None:
    server.change = lambda lines: lines[:4]
    server.always("403")
    with pytest.raises(EmbedderRefused) as caught:
        open_one().embed([*TEXTS, TEXTS[0]], "document")
    finished = caught.value.finished
    assert sorted(finished) == [0, 1, 2, 3, 6]
    assert_right(np.stack([finished[n] for n in range(4)]), TEXTS[:4])


# -- a restart -----------------------------------------------------------------------------------


def test_a_restart_polls_the_job_instead_of_paying_again(
    server: FakeBatches, open_one: Open, tmp_path: Path
) -> None:
    server.looks_before_end = 3
    with pytest.raises(Killed):
        open_one(when=Time(killed_at=1)).embed(TEXTS, "document")
    assert len(stored(tmp_path)) == 1
    again = open_one()
    assert_right(again.embed(TEXTS, "document"))
    assert len(server.jobs) == len(server.requests("upload")) == 1
    assert server.plain_texts == []
    assert len(stored(tmp_path)) == 1  # Nobody knows yet whether the vectors were kept.
    again.embed(["one more"], "document")
    assert stored(tmp_path) == []


def test_after_a_restart_only_texts_that_no_job_has_are_new(
    server: FakeBatches, open_one: Open
) -> None:
    with pytest.raises(Killed):
        open_one(when=Time(killed_at=0)).embed(TEXTS, "document")
    texts = [*TEXTS[3:], *(f"written since then {n}" for n in range(3))]
    assert_right(open_one().embed(texts, "document"), texts)
    assert [len(job.lines) for job in server.jobs.values()] == [6, 3]
    assert server.plain_texts == []


def test_a_job_that_is_gone_after_a_restart_is_done_by_plain_calls(
    server: FakeBatches, open_one: Open, tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        open_one(when=Time(killed_at=0)).embed(TEXTS, "document")
    server.jobs.clear()
    assert_right(open_one().embed(TEXTS, "document"))
    assert server.plain_texts == TEXTS
    assert stored(tmp_path) == []


def test_a_kill_before_the_job_was_made_leaves_nothing_to_wait_for(
    server: FakeBatches, open_one: Open, tmp_path: Path
) -> None:
    server.stumble("upload", "503")
    with pytest.raises(Killed):
        open_one(when=Time(killed_at=0)).embed(TEXTS, "document")
    assert len(stored(tmp_path)) == 1
    assert_right(open_one().embed(TEXTS, "document"))
    assert len(server.jobs) == 1


def test_where_no_id_can_be_kept_no_job_is_begun(
    server: FakeBatches, open_one: Open, tmp_path: Path
) -> None:
    (tmp_path / "jobs").write_text("a file, not a folder", encoding="ascii")
    embedder = open_one()
    assert_right(embedder.embed(TEXTS, "document"))
    assert server.requests("upload") == []
    assert "cannot be stored" in (embedder.batch.off_because or "")


# -- whether it is used --------------------------------------------------------------------------


def test_it_is_off_unless_asked_for(open_one: Open, tmp_path: Path) -> None:
    plain = open_one()._plain
    assert with_batch(plain, BatchSettings(), tmp_path) is plain
    assert with_batch(plain, BatchSettings(enabled=True), None) is plain
    assert isinstance(with_batch(plain, BatchSettings(enabled=True), tmp_path), BatchEmbedder)


def test_while_the_length_of_vectors_is_not_known_there_is_no_job(
    server: FakeBatches, tmp_path: Path, time: Time, provider: str
) -> None:
    remote = RemoteSettings(base_url=server.url(provider))
    runtime = Runtime(clock=time.clock, sleep=time.sleep)
    settings = EmbedderSettings(provider=provider, remote=remote)
    plain = open_remote(
        REMOTE_PROVIDERS[provider], settings, KeySources(), runtime, model="some-model"
    ).embedder
    embedder = BatchEmbedder(
        plain,
        batch_api(provider),
        JobFolder(tmp_path),
        BatchSettings(enabled=True),
        min_texts=2,
    )
    server.always("500")
    with pytest.raises(EmbedderFailed):
        embedder.embed(TEXTS, "document")
    assert server.requests("upload") == []
    plain.close()
