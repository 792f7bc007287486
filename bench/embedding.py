"""Indexing through a provider at the other end of a wire: how near it comes to the ideal time.

    python bench/embedding.py [--chunks 2000] [--latency-ms 50] [--concurrency 4] [--json]

The provider is the fake server of the tests, in a process of its own, with every answer delayed.
The ideal is what its requests take when as many as allowed are always under way, and nothing else
takes any time. A second run, and a rebuild, must make no call at all.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from notewell import open_memory
from notewell.embedders import (
    REMOTE_PROVIDERS,
    EmbedderSettings,
    KeySources,
    RemoteSettings,
    Runtime,
)
from notewell.embedders.remote import open_remote

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from notewell.embedders import RemoteEmbedder

DIMS = 64
"""Few, because the server writes them out on the machine that is measured."""

CHUNKS_A_NOTE = 20
WORDS_A_CHUNK = 100
"""Under a heading of its own: some 600 characters, so that each section is one chunk."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.chunks, arguments.latency_ms / 1000, arguments.concurrency)
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:36} {value:10.3f}")
    return 0


def measure(chunks: int, latency_s: float, concurrency: int) -> dict[str, float]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs, latency_s), daemon=True)
    server.start()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            write_notes(Path(scratch) / "workspace", chunks)
            remote = embedder_at(ours.recv(), concurrency)
            return runs(Path(scratch), remote, ours, latency_s, concurrency)
    finally:
        ours.send("stop")
        server.join()


def runs(
    scratch: Path, embedder: RemoteEmbedder, server: Connection, latency_s: float, concurrency: int
) -> dict[str, float]:
    figures: dict[str, float] = {}
    state = scratch / "state"
    with open_memory(scratch / "workspace", state_dir=state, embedder=embedder) as memory:
        text_s = seconds(lambda: memory.sync(vectors=False))
        embedder.embed(["warm up"], "query")  # The HTTP library is imported by the first call.
        before, _ = told(server)
        vectors_s = seconds(memory.sync)
        after, most = told(server)
        calls = after - before
        ideal_s = -(-calls // concurrency) * latency_s
        status = memory.status()
        figures["chunks"] = status.counts.chunks if status.counts else 0
        figures["requests"] = calls
        figures["under way at most"] = most
        figures["text published, s"] = text_s
        figures["vectors complete, s"] = vectors_s
        figures["ideal, s"] = ideal_s
        figures["vectors / ideal"] = vectors_s / ideal_s
        figures["text and vectors / ideal"] = (text_s + vectors_s) / ideal_s
        memory.sync()
        figures["calls of a second run"] = told(server)[0] - after
        memory.sync(force=True)
        figures["calls of a rebuild"] = told(server)[0] - after
    return figures


def serve(pipe: Connection, latency_s: float) -> None:
    """In a process of its own, so that its work is not counted as ours."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.embedders.fake_server import FakeProvider

    with FakeProvider(DIMS) as provider:
        provider.latency_s = latency_s
        pipe.send(provider.url("openai"))
        while pipe.recv() == "how many?":
            pipe.send((len(provider.seen), provider.most_at_once))


def told(server: Connection) -> tuple[int, int]:
    server.send("how many?")
    calls, most = server.recv()
    return calls, most


def embedder_at(url: str, concurrency: int) -> RemoteEmbedder:
    remote = RemoteSettings(base_url=url, concurrency=concurrency)
    settings = EmbedderSettings(provider="openai", dims=DIMS, remote=remote)
    return open_remote(
        REMOTE_PROVIDERS["openai"], settings, KeySources(), Runtime(), model="some-model"
    ).embedder


def write_notes(workspace: Path, chunks: int) -> None:
    choice = random.Random(1)
    words = ["".join(choice.choices("abcdefghij", k=5)) for _ in range(500)]
    (workspace / "memory").mkdir(parents=True)
    for start in range(0, chunks, CHUNKS_A_NOTE):
        sections = (
            f"# Section {number}\n\n{' '.join(choice.choices(words, k=WORDS_A_CHUNK))}\n"
            for number in range(start, min(chunks, start + CHUNKS_A_NOTE))
        )
        note = workspace / "memory" / f"note-{start}.md"
        note.write_text("\n".join(sections), encoding="utf-8")


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
