"""Notewell's embedded model behind OpenAI's `/v1/embeddings`, on loopback.

    python -m bench.peers.embedding_server [--queries FILE]

Prints its address and serves until it is ended. Every peer that takes the address of an embedding
API gets this one, so that all systems use the same model and none needs a key.

The model embeds a question with a prefix, and the API has no field that all peers use to say what
a text is. So the server knows the questions of the benchmark (`--queries`, one JSON string in each
line) and embeds them as questions, every other text as a document: each peer gets the model at its
best. Nothing is cached, so that each peer pays for its own vectors.
"""

from __future__ import annotations

import argparse
import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from notewell.embedders import open_embedded

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from notewell.ports import Embedder, Kind, Vectors

MODEL = "notewell-embed"
PATH = "/v1/embeddings"


class EmbeddingServer(ThreadingHTTPServer):
    """Listens on loopback, on a free port if none is given."""

    daemon_threads = True

    def __init__(self, embedder: Embedder, queries: Collection[str] = (), port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Requests)
        self._embedder = embedder
        self._queries = frozenset(queries)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address that OpenAI's clients call `base_url`."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def embed(self, texts: Sequence[str]) -> list[Vectors]:
        kinds: list[Kind] = ["query" if text in self._queries else "document" for text in texts]
        if len(set(kinds)) < 2:
            # The embedder runs texts side by side; two requests at once would only share cores.
            with self._lock:
                return list(self._embedder.embed(texts, kinds[0])) if texts else []
        return [self.embed([text])[0] for text in texts]


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: EmbeddingServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != PATH:
            self._answer(404, {"error": {"message": f"there is only {PATH}"}})
            return
        try:
            payload = json.loads(body)
            given = payload["input"]
            texts = [given] if isinstance(given, str) else [str(text) for text in given]
        except (ValueError, KeyError, TypeError) as error:
            self._answer(400, {"error": {"message": f"expected {{'input': …}}: {error!r}"}})
            return
        as_base64 = payload.get("encoding_format") == "base64"
        rows = [
            {"object": "embedding", "index": at, "embedding": _encoded(vector, as_base64)}
            for at, vector in enumerate(self.server.embed(texts))
        ]
        tokens = sum(map(len, texts)) // 4
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self._answer(200, {"object": "list", "model": MODEL, "data": rows, "usage": usage})

    def _answer(self, status: int, payload: dict[str, Any]) -> None:
        body = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """A line for each request would be most of the output."""


def _encoded(vector: Vectors, as_base64: bool) -> str | list[float]:
    if as_base64:
        return base64.b64encode(vector.astype(np.float32).tobytes()).decode()
    values: list[float] = vector.tolist()
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    lines = options.queries.read_text(encoding="utf-8").splitlines() if options.queries else []
    server = EmbeddingServer(open_embedded(), [json.loads(line) for line in lines], options.port)
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
