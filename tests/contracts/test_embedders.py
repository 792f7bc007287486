"""What every embedder must do, whoever stands behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.embedders.fake_server import FakeProvider
from tests.embedders.test_cached import Shelf

from notewell.embedders import (
    REMOTE_PROVIDERS,
    Cached,
    EmbedderSettings,
    KeySources,
    RemoteSettings,
    Runtime,
    open_embedded,
)
from notewell.embedders.remote import open_remote
from notewell.errors import EmbedderTrouble
from notewell.ports import Embedder
from notewell.testing import HashEmbedder

TEXTS = ["a note about routers", "eine Notiz über Router", "a note about routers", "日本の"]


@pytest.fixture(params=["embedded", "hash", "cached", *REMOTE_PROVIDERS])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
    name: str = request.param
    if name in REMOTE_PROVIDERS:
        with FakeProvider() as server:
            remote = RemoteSettings(base_url=server.url(name))
            settings = EmbedderSettings(provider=name, dims=8, remote=remote)
            one = open_remote(
                REMOTE_PROVIDERS[name], settings, KeySources(), Runtime(), model="some-model"
            ).embedder
            yield one
            one.close()
    elif name == "cached":
        yield Cached(HashEmbedder(), Shelf())
    else:
        yield HashEmbedder() if name == "hash" else open_embedded(tmp_path)


def test_it_says_what_it_is_without_being_asked_for_vectors(embedder: Embedder) -> None:
    facts = embedder.facts
    assert facts.provider
    assert facts.model
    assert facts.dims > 0
    assert facts.chunk_tokens >= 200
    assert embedder.missing() is None
    assert embedder.facts == facts


def test_one_row_a_text_in_order_of_length_one(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS, "document")
    assert vectors.shape == (len(TEXTS), embedder.facts.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert np.allclose(vectors[0], vectors[2], atol=1e-5)
    assert not np.allclose(vectors[0], vectors[1], atol=1e-5)
    alone = np.concatenate([embedder.embed([text], "document") for text in TEXTS])
    assert np.allclose(alone, vectors, atol=1e-4)


def test_questions_and_documents_are_of_one_length(embedder: Embedder) -> None:
    assert embedder.embed(["where?"], "query").shape == (1, embedder.facts.dims)


def test_no_texts_are_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([], "query").shape[0] == 0


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "x" * 20_000, "日" * 500])
def test_no_text_breaks_it(embedder: Embedder, text: str) -> None:
    try:
        vectors = embedder.embed([text], "document")
    except EmbedderTrouble:
        return
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
