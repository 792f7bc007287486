"""What goes over the wire, to the byte, as each provider's public API reference asks for it."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.embedders.fake_server import FakeProvider

from notewell.core import Secret
from notewell.embedders.api_keys import KeySources
from notewell.embedders.providers.gemini import GEMINI
from notewell.embedders.providers.gemini import error_facts as gemini_error_facts
from notewell.embedders.providers.ollama import OLLAMA
from notewell.embedders.providers.openai import OPENAI, OPENAI_COMPATIBLE
from notewell.embedders.providers.openai import error_facts as openai_error_facts
from notewell.embedders.providers.provider import Endpoint, Provider, prompts_of
from notewell.embedders.providers.voyage import VOYAGE
from notewell.embedders.providers.voyage import error_facts as voyage_error_facts
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import Runtime
from notewell.embedders.settings import EmbedderSettings, RemoteSettings
from notewell.embedders.vectors import NotRows
from notewell.ports import Kind

TEXTS = ["first", "日本 “quoted”\n\ttab"]


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


def opened(
    server: FakeProvider, provider: str, model: str | None, dims: int | None = None
) -> RemoteEmbedder:
    remote = RemoteSettings(
        base_url=server.url(provider) + "/",
        api_key=Secret("the-key"),
        headers={"X-Project": Secret("p1")},
    )
    settings = EmbedderSettings(provider=provider, dims=dims, remote=remote)
    return open_remote(
        REMOTE_PROVIDERS[provider], settings, KeySources(), Runtime(), model=model
    ).embedder


def body_of(provider: Provider, target: Endpoint, kind: Kind) -> Any:
    return provider.request(target, TEXTS, kind).body


@pytest.mark.parametrize(
    ("provider", "model", "kind", "path", "auth", "body"),
    [
        (
            "openai",
            "text-embedding-3-small",
            "document",
            "/openai/v1/embeddings",
            ("authorization", "Bearer the-key"),
            {
                "model": "text-embedding-3-small",
                "input": TEXTS,
                "encoding_format": "float",
                "dimensions": 8,
            },
        ),
        (
            "openai-compatible",
            "nomic-embed-text-v1.5",
            "query",
            "/openai/v1/embeddings",
            ("authorization", "Bearer the-key"),
            {
                "model": "nomic-embed-text-v1.5",
                "input": ["search_query: " + text for text in TEXTS],
                "encoding_format": "float",
                "dimensions": 8,
            },
        ),
        (
            "voyage",
            "voyage-9",
            "query",
            "/voyage/v1/embeddings",
            ("authorization", "Bearer the-key"),
            {
                "model": "voyage-9",
                "input": TEXTS,
                "input_type": "query",
                "truncation": False,
                "output_dimension": 8,
            },
        ),
        (
            "gemini",
            "gemini-embedding-9",
            "document",
            "/gemini/v1beta/models/gemini-embedding-9:batchEmbedContents",
            ("x-goog-api-key", "the-key"),
            {
                "requests": [
                    {
                        "model": "models/gemini-embedding-9",
                        "taskType": "RETRIEVAL_DOCUMENT",
                        "outputDimensionality": 8,
                        "content": {"parts": [{"text": text}]},
                    }
                    for text in TEXTS
                ]
            },
        ),
        (
            "ollama",
            "all-minilm",
            "document",
            "/ollama/api/embed",
            ("authorization", "Bearer the-key"),
            {"model": "all-minilm", "input": TEXTS, "truncate": False, "dimensions": 8},
        ),
    ],
)
def test_a_request_is_what_the_provider_documents(
    server: FakeProvider,
    provider: str,
    model: str,
    kind: Kind,
    path: str,
    auth: tuple[str, str],
    body: Any,
) -> None:
    embedder = opened(server, provider, model, dims=8)
    vectors = embedder.embed(TEXTS, kind)
    embedder.close()
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", path)
    assert seen.raw.decode() == json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    assert seen.headers[auth[0]] == auth[1]
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["x-project"] == "p1"
    assert seen.headers["accept-encoding"].startswith("gzip")
    assert vectors.shape == (2, 8)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)


def test_openai_itself_is_asked_for_base64_and_at_its_own_length_for_nothing() -> None:
    target = Endpoint(
        "https://api.openai.com/v1", "text-embedding-3-small", None, own_address=True
    )
    assert body_of(OPENAI, target, "query") == {
        "model": "text-embedding-3-small",
        "input": TEXTS,
        "encoding_format": "base64",
    }


def test_vectors_in_base64_are_read_as_little_endian_floats() -> None:
    row = base64.b64encode(struct.pack("<3f", 0.25, -2.0, 1e-3)).decode()
    (found,) = OPENAI.rows({"data": [{"index": 0, "embedding": row}]}, 1)
    assert np.allclose(found, [0.25, -2.0, 1e-3])


@pytest.mark.parametrize("row", ["not base64!", "QQ==", "AAAAAAA="])
def test_a_vector_that_is_no_base64_is_refused(row: str) -> None:
    with pytest.raises(NotRows):
        OPENAI.rows({"data": [{"index": 0, "embedding": row}]}, 1)


def test_the_questions_and_notes_of_gemini_have_task_types_or_words_before_them() -> None:
    plain = Endpoint("http://g", "gemini-embedding-001", None, own_address=True)
    newer = Endpoint("http://g", "models/gemini-embedding-2", None, own_address=True)
    tasks = [
        body_of(GEMINI, plain, kind)["requests"][0]["taskType"] for kind in ("query", "document")
    ]
    assert tasks == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]
    request = GEMINI.request(newer, ["x"], "query")
    assert request.url == "http://g/models/gemini-embedding-2:batchEmbedContents"
    assert request.body["requests"] == [
        {
            "model": "models/gemini-embedding-2",
            "content": {"parts": [{"text": "task: search result | query: x"}]},
        }
    ]


def test_a_model_name_cannot_change_the_address() -> None:
    target = Endpoint("http://g/v1", "x/../../secret?a=b", None, own_address=False)
    assert GEMINI.request(target, ["x"], "query").url == (
        "http://g/v1/models/x%2F..%2F..%2Fsecret%3Fa%3Db:batchEmbedContents"
    )


def test_the_openai_door_of_ollama_is_understood_as_its_own() -> None:
    target = Endpoint("http://127.0.0.1:11434/v1", "m", None, own_address=False)
    assert OLLAMA.request(target, ["x"], "query").url == "http://127.0.0.1:11434/api/embed"


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("library/embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-m3", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_a_model_gets_the_words_it_was_trained_with(model: str, query: str, document: str) -> None:
    assert prompts_of(model) == (query, document)


# -- error answers, in the shapes the providers have been seen to give --------------------------


@pytest.mark.parametrize(
    ("status", "error", "too_large", "quota", "bad_key"),
    [
        (
            400,
            {
                "message": "Requested 416735 tokens, max 300000 tokens per request",
                "type": "max_tokens_per_request",
                "param": None,
                "code": "max_tokens_per_request",
            },
            True,
            False,
            False,
        ),
        (
            400,
            {
                "message": "This model's maximum context length is 8192 tokens",
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            },
            True,
            False,
            False,
        ),
        (
            429,
            {"message": "…", "type": "insufficient_quota", "code": "insufficient_quota"},
            False,
            True,
            False,
        ),
        (
            429,
            {"message": "You exceeded your current quota", "type": "tokens", "code": "rate"},
            False,
            False,
            False,
        ),
        (401, {"type": "invalid_request_error", "code": "invalid_api_key"}, False, False, True),
        (
            400,
            {"type": "invalid_request_error", "param": "dimensions", "code": None},
            False,
            False,
            False,
        ),
    ],
)
def test_openai_is_understood_by_its_codes(
    status: int, error: Any, too_large: bool, quota: bool, bad_key: bool
) -> None:
    facts = openai_error_facts(status, {"error": error})
    assert (facts.too_large, facts.out_of_quota, facts.bad_key) == (too_large, quota, bad_key)


def google(kind: str, **fields: Any) -> dict[str, Any]:
    return {"@type": f"type.googleapis.com/google.rpc.{kind}", **fields}


def test_gemini_is_understood_by_its_details() -> None:
    def facts_of(*details: Any) -> Any:
        error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": list(details)}
        return gemini_error_facts(429, {"error": error})

    a_day = google(
        "QuotaFailure", violations=[{"quotaId": "EmbedContentRequestsPerDayPerProjectPerModel"}]
    )
    a_minute = google(
        "QuotaFailure", violations=[{"quotaId": "EmbedContentRequestsPerMinutePerProject"}]
    )
    assert facts_of(a_day).out_of_quota
    assert not facts_of(a_minute).out_of_quota
    assert facts_of(a_minute, google("RetryInfo", retryDelay="34.07s")).retry_after_s == 34.07
    assert facts_of(google("RetryInfo", retryDelay="soon")).retry_after_s is None


@pytest.mark.parametrize("provider", [OPENAI, OPENAI_COMPATIBLE, GEMINI, VOYAGE, OLLAMA])
@pytest.mark.parametrize(
    "body", [None, "words", [], {}, {"error": None}, {"error": {"details": [1, {"@type": 2}]}}, 7]
)
def test_no_shape_of_an_error_breaks_the_reading_of_it(provider: Provider, body: Any) -> None:
    for status in (400, 404, 413, 429, 500):
        assert provider.error_facts(status, body).too_large in (True, False)


@pytest.mark.parametrize("provider", [OPENAI, GEMINI, VOYAGE, OLLAMA])
@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {"data": {}},
        {"data": [1]},
        {"data": [{"index": True, "embedding": [1]}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": "0", "embedding": [1.0]}]},
        {"embeddings": {"values": [1.0]}},
        {"embeddings": []},
    ],
)
def test_an_answer_of_another_shape_is_refused(provider: Provider, body: Any) -> None:
    with pytest.raises(NotRows):
        provider.rows(body, 1)


def test_voyage_is_understood_by_its_status_alone() -> None:
    assert voyage_error_facts(400, {"detail": "any words"}).too_large
    assert not voyage_error_facts(429, {"detail": "too many tokens in this batch"}).too_large


def test_the_tables_of_models_agree_with_themselves() -> None:
    for provider in REMOTE_PROVIDERS.values():
        assert (
            provider.default_model is None
            or not provider.models
            or (provider.default_model in provider.models)
        )
        for model in provider.models.values():
            assert 0 < model.usd_per_million < 1
            assert model.text_tokens <= model.request_tokens
