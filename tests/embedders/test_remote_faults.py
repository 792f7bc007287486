"""Every bad day of a provider, seen through the whole stack: what is raised, and what it cost."""

from __future__ import annotations

import logging
import time
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

import httpcore2
import httpx2
import numpy as np
import pytest
from tests.embedders.fake_server import ANSWERS, BROKEN, FakeProvider, vector_of

from notewell.core import Secret
from notewell.embedders.api_keys import KeySources
from notewell.embedders.connection import FOREIGN
from notewell.embedders.providers.gemini import error_facts
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import Runtime
from notewell.embedders.settings import EmbedderSettings, RemoteSettings
from notewell.errors import (
    AnswerUnusable,
    EmbedderFailed,
    EmbedderRefused,
    EmbedderTrouble,
    EmbedderUnreachable,
    QuotaExhausted,
    TextTooLarge,
)
from notewell.ports import Kind

if TYPE_CHECKING:
    from notewell.ports import Vectors

KEY = "sk-canary-0123456789"
SLOW = ("hang", "dripping headers", "dripping body")
SLOW_S = 0.3
AMPLE_S = 60.0
LIMITS_S = {**dict.fromkeys(SLOW, SLOW_S), "429 retry-after": 5.0}
"""The last one is less than the seven seconds that the server asks us to wait."""
LOADED_S = 30.0
"""What a loaded machine may add; a server that hangs does so for longer."""
PROVIDERS = ("openai", "openai-compatible", "gemini", "voyage", "ollama")
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass
class Pauses:
    """Sleeps that are noted, not slept."""

    taken: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


Open = Callable[..., RemoteEmbedder]


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def open_one(server: FakeProvider, pauses: Pauses) -> Iterator[Open]:
    opened: list[RemoteEmbedder] = []

    def open_it(
        provider: str = "openai-compatible",
        *,
        query_timeout_s: float = AMPLE_S,
        document_timeout_s: float = AMPLE_S,
        concurrency: int = 4,
        dims: int | None = None,
    ) -> RemoteEmbedder:
        settings = EmbedderSettings(
            provider=provider,
            dims=dims,
            remote=RemoteSettings(
                base_url=server.url(provider),
                api_key=Secret(KEY),
                concurrency=concurrency,
            ),
            query_timeout_s=query_timeout_s,
            document_timeout_s=document_timeout_s,
        )
        runtime = Runtime(sleep=pauses, random=lambda: 0.0)
        one = open_remote(
            REMOTE_PROVIDERS[provider], settings, KeySources(), runtime, model="some-model"
        ).embedder
        opened.append(one)
        return one

    yield open_it
    for one in opened:
        one.close()


@dataclass(frozen=True)
class Expected:
    error: type[EmbedderTrouble]
    requests: int
    status: int | None = None


ONCE, THRICE = 1, 3
FAULTS = {
    "400": Expected(EmbedderFailed, ONCE, 400),
    "401": Expected(EmbedderRefused, ONCE, 401),
    "402": Expected(QuotaExhausted, ONCE, 402),
    "403": Expected(EmbedderRefused, ONCE, 403),
    "404": Expected(EmbedderRefused, ONCE, 404),
    "408": Expected(EmbedderFailed, THRICE, 408),
    "413": Expected(TextTooLarge, ONCE, 413),
    "429": Expected(EmbedderFailed, THRICE, 429),
    "429 retry-after": Expected(EmbedderFailed, ONCE, 429),
    "quota": Expected(QuotaExhausted, ONCE, 429),
    "500": Expected(EmbedderFailed, THRICE, 500),
    "502 html": Expected(EmbedderFailed, THRICE, 502),
    "503": Expected(EmbedderFailed, THRICE, 503),
    "200 html": Expected(AnswerUnusable, ONCE, 200),
    "redirect": Expected(EmbedderRefused, ONCE, 307),
    "wrong count": Expected(AnswerUnusable, ONCE, 200),
    "numbered twice": Expected(AnswerUnusable, ONCE, 200),
    "wrong dims": Expected(AnswerUnusable, ONCE, 200),
    "ragged": Expected(AnswerUnusable, ONCE, 200),
    "nan": Expected(AnswerUnusable, ONCE, 200),
    "infinite": Expected(AnswerUnusable, ONCE, 200),
    "zeros": Expected(AnswerUnusable, ONCE, 200),
    "no numbers": Expected(AnswerUnusable, ONCE, 200),
    "empty object": Expected(AnswerUnusable, ONCE, 200),
    "truncated json": Expected(AnswerUnusable, ONCE, 200),
    "gzip bomb": Expected(AnswerUnusable, ONCE, 200),
    "deep json": Expected(AnswerUnusable, ONCE, 200),
    "not gzip": Expected(EmbedderUnreachable, THRICE),
    "hang": Expected(EmbedderUnreachable, ONCE),
    "dripping headers": Expected(EmbedderUnreachable, ONCE),
    "dripping body": Expected(EmbedderUnreachable, ONCE),
    "cut off": Expected(EmbedderUnreachable, THRICE),
    "connection reset": Expected(EmbedderUnreachable, THRICE),
    "hang up": Expected(EmbedderUnreachable, THRICE),
    "not http": Expected(EmbedderUnreachable, THRICE),
}


def test_every_fault_the_server_knows_is_in_the_table() -> None:
    assert {*FAULTS, "wrong order"} == {*ANSWERS, *BROKEN}


def shown(error: BaseException) -> str:
    """All that a log or a terminal would show of it."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_time_by_its_status_and_without_the_key(
    fault: str,
    kind: Kind,
    server: FakeProvider,
    open_one: Open,
    pauses: Pauses,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = FAULTS[fault]
    caplog.set_level(logging.DEBUG)
    limit_s = LIMITS_S.get(fault, AMPLE_S)
    embedder = open_one(query_timeout_s=limit_s, document_timeout_s=limit_s, dims=8)
    server.always(fault)
    began = time.monotonic()
    with pytest.raises(EmbedderTrouble) as caught:
        embedder.embed(["one", "two", "three"], kind)
    error = caught.value
    assert type(error) is expected.error
    assert time.monotonic() - began < limit_s + LOADED_S
    # Too much is halved first; of three texts the first one alone is refused as well.
    sizes = [3, 1] if fault == "413" else [3] * expected.requests
    assert [len(seen.texts) for seen in server.seen] == sizes
    assert embedder.usage.failed_requests == len(sizes)
    assert error.finished == {}
    assert getattr(error, "http_status", None) == expected.status
    assert error.provider == "openai-compatible"
    assert error.until_user_acts == issubclass(expected.error, EmbedderRefused)
    assert KEY not in shown(error)
    assert KEY not in caplog.text
    assert KEY not in repr(embedder) + repr(vars(embedder))


@pytest.mark.parametrize("fault", [f for f in FAULTS if FAULTS[f].requests == THRICE])
def test_a_fault_that_passes_is_not_noticed_while_indexing(
    fault: str, server: FakeProvider, open_one: Open, pauses: Pauses
) -> None:
    embedder = open_one(document_timeout_s=30.0)
    server.misbehave(fault, fault)
    vectors = embedder.embed(["one", "two"], "document")
    assert np.allclose(vectors, unit(["one", "two"]), atol=1e-6)
    assert len(server.seen) == 3
    assert pauses.taken == [0.25, 0.5]
    assert embedder.usage.failed_requests == 2


def unit(texts: list[str]) -> Vectors:
    rows = np.array([vector_of(text) for text in texts], dtype=np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_an_answer_out_of_order_is_put_into_order(server: FakeProvider, open_one: Open) -> None:
    server.always("wrong order")
    texts = ["one", "two", "three"]
    assert np.allclose(open_one().embed(texts, "document"), unit(texts), atol=1e-6)


def test_a_retry_after_is_waited_for_while_indexing_and_told_to_a_question(
    server: FakeProvider, open_one: Open, pauses: Pauses
) -> None:
    embedder = open_one(query_timeout_s=LIMITS_S["429 retry-after"], document_timeout_s=60.0)
    server.misbehave("429 retry-after")
    embedder.embed(["one"], "document")
    assert pauses.taken == [7.0]
    server.misbehave("429 retry-after")
    with pytest.raises(EmbedderFailed) as caught:
        embedder.embed(["one"], "query")
    assert caught.value.retry_after_s == 7.0
    assert pauses.taken == [7.0]


def test_a_small_answer_that_unpacks_to_a_huge_one_is_not_unpacked(
    server: FakeProvider, open_one: Open
) -> None:
    embedder = open_one(dims=8)
    embedder.embed(["warm up"], "document")
    server.always("gzip bomb")
    tracemalloc.start()
    with pytest.raises(AnswerUnusable, match="a reply of more than"):
        embedder.embed(["one"], "document")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_dims_that_change_midway_are_refused_and_asked_for_anew(
    server: FakeProvider, open_one: Open
) -> None:
    embedder = open_one()
    embedder.embed(["one"], "document")
    server.dims = 6
    with pytest.raises(AnswerUnusable, match="6 dimensions, and not of 8 as before"):
        embedder.embed(["two"], "document")
    assert open_one().facts.dims == 6


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("401", EmbedderRefused),
        ("404", EmbedderRefused),
        ("500", EmbedderFailed),
        ("wrong count", AnswerUnusable),
        ("nan", AnswerUnusable),
    ],
)
def test_the_same_fault_is_the_same_error_from_every_provider(
    provider: str, fault: str, error: type[EmbedderTrouble], server: FakeProvider, open_one: Open
) -> None:
    embedder = open_one(provider)
    server.always(fault)
    with pytest.raises(error) as caught:
        embedder.embed(["one", "two"], "document")
    assert type(caught.value) is error
    assert caught.value.provider == provider
    assert KEY not in shown(caught.value)


@pytest.mark.parametrize("provider", ["openai", "openai-compatible", "gemini"])
def test_a_used_up_quota_is_known_by_its_code_and_not_asked_for_again(
    provider: str, server: FakeProvider, open_one: Open
) -> None:
    embedder = open_one(provider)
    server.always("quota")
    for _ in range(3):
        with pytest.raises(QuotaExhausted):
            embedder.embed(["one"], "document")
    assert len(server.seen) == 1


def test_gemini_calls_a_bad_key_a_bad_request_and_is_understood() -> None:
    body = {
        "error": {
            "status": "INVALID_ARGUMENT",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "API_KEY_INVALID",
                }
            ],
        }
    }
    assert error_facts(400, body).bad_key
    assert not error_facts(400, body).too_large


# -- a question ----------------------------------------------------------------------------------


def test_after_a_failed_question_the_next_is_answered_at_once_until_the_cool_down_ends(
    server: FakeProvider, pauses: Pauses
) -> None:
    now = [0.0]
    settings = EmbedderSettings(
        provider="openai", remote=RemoteSettings(base_url=server.url("openai"))
    )
    runtime = Runtime(clock=lambda: now[0], sleep=pauses, random=lambda: 0.0)
    embedder = open_remote(
        REMOTE_PROVIDERS["openai"], settings, KeySources(), runtime, model="some-model"
    ).embedder
    server.always("not http")
    with pytest.raises(EmbedderUnreachable) as first:
        embedder.embed(["?"], "query")
    asked = len(server.seen)
    with pytest.raises(EmbedderUnreachable) as second:
        embedder.embed(["another?"], "query")
    assert str(second.value) == str(first.value)
    assert len(server.seen) == asked
    server.always(None)
    embedder.embed(["a note"], "document")
    embedder.embed(["?"], "query")  # A success of any kind ends the cool-down.
    server.always("not http")
    with pytest.raises(EmbedderUnreachable):
        embedder.embed(["?"], "query")
    server.always(None)
    now[0] += 31.0
    assert embedder.embed(["?"], "query").shape == (1, server.dims)
    embedder.close()


def test_a_question_that_hangs_is_given_up_within_its_time(
    server: FakeProvider, open_one: Open
) -> None:
    embedder = open_one("openai", query_timeout_s=0.3, dims=8)
    server.always("hang")
    began = time.monotonic()
    with pytest.raises(EmbedderUnreachable, match="timeout"):
        embedder.embed(["?"], "query")
    assert 0.25 < time.monotonic() - began < LOADED_S


def test_a_server_that_is_not_there_is_told_quickly(pauses: Pauses) -> None:
    settings = EmbedderSettings(
        provider="ollama",
        remote=RemoteSettings(base_url="http://127.0.0.1:9", api_key=Secret(KEY)),
    )
    embedder = open_remote(
        REMOTE_PROVIDERS["ollama"], settings, KeySources(), Runtime(sleep=pauses)
    ).embedder
    assert embedder.facts.dims == 0
    with pytest.raises(EmbedderUnreachable, match="refused"):
        embedder.embed(["?"], "query")


# -- what is lost --------------------------------------------------------------------------------


def test_what_was_ready_before_a_failure_comes_with_the_error(
    server: FakeProvider, open_one: Open
) -> None:
    embedder = open_one(concurrency=1, dims=8)
    texts = [f"{n} " + "x" * 12_000 for n in range(6)]  # two of them fill a request
    server.misbehave(*["wrong order"] * 2, "403")
    with pytest.raises(EmbedderRefused) as caught:
        embedder.embed(texts, "document")
    assert sorted(caught.value.finished) == [0, 1, 2, 3]
    rows = np.stack([caught.value.finished[n] for n in range(4)])
    assert np.allclose(rows, unit(texts[:4]), atol=1e-6)


def test_a_foreign_exception_never_gets_out() -> None:
    for module in (httpx2, httpcore2):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Exception):
                # What reports a broken stream of events or a warning is never reached from here.
                if value.__name__ in ("SSEError", "HTTPXDeprecationWarning"):
                    continue
                assert issubclass(value, FOREIGN), value
