"""The embedding server as a process of its own, so that its CPU time is known."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.peers.peer import PeerFailed
from bench.peers.processes import cpu_s, started

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]


class EmbeddingService(NamedTuple):
    url: str
    pid: int

    def cpu_s(self) -> float:
        return cpu_s(self.pid)


@contextmanager
def embedding_service(
    folder: Path, queries: Iterable[str], port: int = 0
) -> Iterator[EmbeddingService]:
    """`folder` gets its log and the list of the questions."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "queries.jsonl"
    file.write_text("".join(json.dumps(query) + "\n" for query in queries), encoding="utf-8")
    command = [sys.executable, "-m", "bench.peers.embedding_server", "--queries", str(file)]
    command += ["--port", str(port)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with started(command, environ, folder, lines=True) as process:
        assert process.stdout
        if not (url := process.stdout.readline().strip()):
            raise PeerFailed("the embedding server did not start: see serve.log")
        yield EmbeddingService(url, process.pid)
