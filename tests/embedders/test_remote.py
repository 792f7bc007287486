from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpcore2
import numpy as np
import pytest
from tests.embedders.fake_server import FakeProvider

from notewell.embedders.api_keys import KeySources
from notewell.embedders.connection import _Attempt, _proxy_for
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import DimsCache, Runtime
from notewell.embedders.settings import EmbedderSettings, RemoteSettings
from notewell.errors import EmbedderFailed, EmbedderRefused


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


def opened(
    server: FakeProvider,
    provider: str = "openai-compatible",
    *,
    model: str = "some-model",
    dims: int | None = None,
    runtime: Runtime | None = None,
) -> RemoteEmbedder:
    settings = EmbedderSettings(
        provider=provider, dims=dims, remote=RemoteSettings(base_url=server.url(provider))
    )
    return open_remote(
        REMOTE_PROVIDERS[provider], settings, KeySources(), runtime or Runtime(), model=model
    ).embedder


def test_the_dims_of_an_unknown_model_are_asked_for_once_and_remembered(
    server: FakeProvider, tmp_path: Path
) -> None:
    runtime = Runtime(dims_cache=DimsCache(tmp_path / "models"))
    first = opened(server, runtime=runtime)
    assert first.missing() is None
    assert server.seen == []
    assert [first.facts.dims for _ in range(3)] == [8, 8, 8]
    assert len(server.seen) == 1
    assert opened(server, runtime=runtime).facts.dims == 8
    assert opened(server, model="another", runtime=runtime).facts.dims == 8
    assert len(server.seen) == 2


def test_when_the_dims_change_they_are_forgotten(server: FakeProvider, tmp_path: Path) -> None:
    runtime = Runtime(dims_cache=DimsCache(tmp_path))
    assert opened(server, runtime=runtime).facts.dims == 8
    server.dims = 5
    with pytest.raises(EmbedderFailed, match="vectors of 5 dimensions, and not of 8 as before"):
        opened(server, runtime=runtime).embed(["x"], "document")
    assert opened(server, runtime=runtime).facts.dims == 5


def test_a_known_model_with_other_vectors_is_another_model(server: FakeProvider) -> None:
    embedder = opened(server, provider="openai", model="text-embedding-3-small")
    with pytest.raises(EmbedderFailed, match="of 8 dimensions, and not of 1536 as this model"):
        embedder.embed(["x"], "document")


def test_a_model_that_cannot_be_asked_has_no_dims_yet_and_two_seconds_are_not_spent_twice(
    server: FakeProvider,
) -> None:
    server.always("403")
    embedder = opened(server)
    assert embedder.facts.dims == 0
    assert embedder.facts.dims == 0
    with pytest.raises(EmbedderRefused):
        embedder.embed(["?"], "query")
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b'{"k": "8"}', b'{"k": true}', b"\xff", b"[" * 9999]
)
def test_a_damaged_memory_of_dims_is_no_memory(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "dims.json").write_bytes(content)
    known = DimsCache(tmp_path)
    assert known.get("k") is None
    known.put("k", 9)
    assert DimsCache(tmp_path).get("k") == 9
    known.put("k", None)
    assert DimsCache(tmp_path).get("k") is None


def test_a_place_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    DimsCache(blocked).put("k", 9)
    assert DimsCache(blocked).get("k") is None


def test_usage_counts_what_was_sent_and_served(server: FakeProvider) -> None:
    embedder = opened(server, "openai", model="text-embedding-3-small", dims=8)
    embedder.embed(["one", "two"], "document")
    server.misbehave("403")
    with pytest.raises(EmbedderRefused):
        embedder.embed(["three"], "query")
    usage = embedder.usage
    assert (usage.texts, usage.tokens, usage.requests, usage.failed_requests) == (2, 14, 2, 1)
    assert usage.usd == pytest.approx(14 * 0.02 / 1e6)
    assert opened(server).usage.usd is None


def test_tokens_are_estimated_where_the_provider_does_not_count(server: FakeProvider) -> None:
    embedder = opened(server, "gemini", model="gemini-embedding-001", dims=128)
    server.dims = 128
    embedder.embed(["12345678"], "document")
    assert embedder.usage.tokens == 2


def test_nothing_to_embed_is_nothing_sent(server: FakeProvider) -> None:
    assert opened(server, dims=8).embed([], "document").shape == (0, 8)
    assert server.seen == []


def test_what_cannot_be_sent_as_it_is_is_sent_as_nearly_as_possible(server: FakeProvider) -> None:
    opened(server).embed(["", " \n", "half \ud800 a pair", "\x00"], "document")
    assert server.seen[-1].texts == ["(blank)", "(blank)", "half ? a pair", "\x00"]


def test_a_large_answer_comes_whole(server: FakeProvider) -> None:
    server.dims = 3072
    texts = [f"text {n}" for n in range(200)]
    assert opened(server).embed(texts, "document").shape == (200, 3072)


def test_the_limit_of_a_server_is_learned_over_the_wire(server: FakeProvider) -> None:
    server.most_texts = 10
    embedder = opened(server, dims=8)
    vectors = embedder.embed([f"text {n}" for n in range(40)], "document")
    assert vectors.shape == (40, 8)
    assert [len(seen.texts) for seen in server.seen][:3] == [40, 20, 10]


@pytest.mark.parametrize("provider", ["openai-compatible", "ollama", "voyage", "gemini"])
def test_a_text_too_long_for_the_model_still_gets_a_vector(
    server: FakeProvider, provider: str
) -> None:
    server.most_chars = 700
    texts = ["short", "a long text " * 100, "short too"]
    vectors = opened(server, provider, dims=8).embed(texts, "document")
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_four_requests_are_under_way_together(server: FakeProvider) -> None:
    server.latency_s = 0.2
    embedder = opened(server, dims=8)
    embedder.embed(["warm up"], "document")
    texts = [f"{n} " + "x" * 31_000 for n in range(16)]  # one fills a request
    embedder.embed(texts, "document")
    assert server.most_at_once == 4


def test_a_question_does_not_wait_behind_documents(server: FakeProvider) -> None:
    embedder = opened(server, dims=8)
    held = server.hold = threading.Event()
    texts = [f"{n} " + "x" * 31_000 for n in range(4)]
    documents = threading.Thread(target=embedder.embed, args=(texts, "document"))
    documents.start()
    while server.most_at_once < 4:
        assert documents.is_alive()
    server.hold = None
    try:
        embedder.embed(["?"], "query")  # Would wait for ever behind the documents.
        assert documents.is_alive()
    finally:
        held.set()
        documents.join()


def test_many_threads_share_one_embedder(server: FakeProvider) -> None:
    embedder = opened(server)
    failed: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for n in range(10):
                kind: Any = "query" if n % 2 else "document"
                assert embedder.embed([f"{name} {n}"], kind).shape == (1, 8)
        except BaseException as error:  # noqa: BLE001 - the root of a thread
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert embedder.usage.texts == 80
    embedder.close()


def test_the_endpoint_key_knows_the_place_and_no_secret(server: FakeProvider) -> None:
    assert opened(server).endpoint_key == opened(server).endpoint_key
    assert opened(server).endpoint_key != opened(server, model="other").endpoint_key


# -- connecting ----------------------------------------------------------------------------------


class SlowName(httpcore2.SyncBackend):
    """A name server that answers when it is told to."""

    def __init__(self) -> None:
        self.answer = threading.Event()
        self.closed = threading.Event()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        self.answer.wait(60)
        return ClosedSoon(self.closed)


class ClosedSoon(httpcore2.NetworkStream):
    def __init__(self, closed: threading.Event) -> None:
        self._closed = closed

    def close(self) -> None:
        self._closed.set()


def test_a_name_that_is_not_found_in_time_is_given_up_and_its_late_connection_closed() -> None:
    names = SlowName()
    attempt = _Attempt()
    thread = threading.Thread(target=attempt.run, args=(names, "h", 1, 0.05, None))
    thread.start()
    with pytest.raises(httpcore2.ConnectTimeout):
        attempt.result(0.05)
    names.answer.set()
    assert names.closed.wait(60)
    thread.join()


def test_the_proxy_of_the_environment_is_used_unless_the_host_is_excepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert _proxy_for("https://api.openai.com/v1") == "http://proxy.example:3128"
    assert _proxy_for("https://inside.example/v1") is None
    assert _proxy_for("http://127.0.0.1:1/") is None


def test_a_model_of_this_machine_is_never_asked_through_a_proxy(
    server: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProvider() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        settings = EmbedderSettings(
            provider="ollama", remote=RemoteSettings(base_url=server.url("openai-compatible"))
        )
        embedder = open_remote(
            REMOTE_PROVIDERS["openai-compatible"], settings, KeySources(), Runtime(), model="m"
        ).embedder
        assert embedder.embed(["x"], "query").shape == (1, 8)
        assert (len(server.seen), proxy.seen) == (1, [])
    for address in ("http://localhost:1/", "http://[::1]:1/", "http://127.9.9.9/"):
        assert _proxy_for(address) is None


def test_requests_go_through_the_proxy(
    server: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.address)
    monkeypatch.delenv("NO_PROXY", raising=False)
    settings = EmbedderSettings(
        provider="ollama", remote=RemoteSettings(base_url="http://far.example/openai/v1")
    )
    embedder = open_remote(
        REMOTE_PROVIDERS["openai-compatible"], settings, KeySources(), Runtime(), model="m"
    ).embedder
    assert embedder.embed(["x"], "query").shape == (1, 8)
    (seen,) = server.seen
    assert seen.path == "http://far.example/openai/v1/embeddings"
