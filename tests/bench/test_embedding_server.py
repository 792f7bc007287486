"""The server that gives all peers the same vectors."""

from __future__ import annotations

import base64
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bench.peers.embedding_server import EmbeddingServer

from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from notewell.ports import Kind, Vectors

QUESTION = "Where is the key?"


class _KindEmbedder(HashEmbedder):
    """A question is another text than a document with the same words."""

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        return super().embed([f"{kind} {text}" for text in texts], kind)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(_KindEmbedder(), [QUESTION]) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def post(url: str, body: object) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_vectors_come_in_the_order_of_the_texts(server: EmbeddingServer) -> None:
    texts = ["a b c", QUESTION, "x y z"]
    answer = post(f"{server.url}/embeddings", {"model": "any", "input": texts})
    assert [row["index"] for row in answer["data"]] == [0, 1, 2]
    embedder = _KindEmbedder()
    # The question of the benchmark is embedded as a question, the others as documents.
    wanted = [
        embedder.embed([text], "query" if text == QUESTION else "document")[0] for text in texts
    ]
    for row, vector in zip(answer["data"], wanted, strict=True):
        assert np.allclose(row["embedding"], vector)


def test_base64_has_the_same_numbers(server: EmbeddingServer) -> None:
    url = f"{server.url}/embeddings"
    plain = post(url, {"input": "a b c"})["data"][0]["embedding"]
    packed = post(url, {"input": "a b c", "encoding_format": "base64"})["data"][0]["embedding"]
    assert np.allclose(np.frombuffer(base64.b64decode(packed), dtype=np.float32), plain)


@pytest.mark.parametrize(("path", "body", "status"), [("/embeddings", {}, 400), ("/x", {}, 404)])
def test_other_requests_are_refused(
    server: EmbeddingServer, path: str, body: object, status: int
) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(server.url + path, body)
    assert refused.value.code == status
    refused.value.close()
