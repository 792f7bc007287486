"""Rows are kept as they come: what a kill costs does not grow with the length of a call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.embedders.fake_batch import FakeBatches, batch_api
from tests.embedders.fake_server import vector_of
from tests.embedders.test_cached import Shelf

from notewell.assembly import open_memory
from notewell.core.calibration import MEASURED_CHUNKS, PROBES
from notewell.embedders import Cached
from notewell.embedders.api_keys import KeySources
from notewell.embedders.batch import BatchEmbedder, JobFolder
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import Runtime
from notewell.embedders.settings import BatchSettings, EmbedderSettings, RemoteSettings
from notewell.errors import EmbedderRefused
from notewell.index.sqlite import count_entries
from notewell.ports import Gradual

if TYPE_CHECKING:
    from notewell.ports import Vectors

LONG = " ".join(["word"] * 2_500)  # two of them fill a request
TEXTS = [f"{n} {LONG}" for n in range(6)]


@pytest.fixture
def server() -> Iterator[FakeBatches]:
    running = FakeBatches()
    with running:
        yield running


def plain_of(url: str, concurrency: int = 1) -> RemoteEmbedder:
    settings = EmbedderSettings(
        provider="openai",
        dims=8,
        remote=RemoteSettings(base_url=url, concurrency=concurrency),
    )
    runtime = Runtime(sleep=lambda _: None)
    return open_remote(
        REMOTE_PROVIDERS["openai"], settings, KeySources(), runtime, model="some-model"
    ).embedder


def unit(text: str) -> Vectors:
    row = np.array(vector_of(text))
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


def test_rows_are_handed_on_request_by_request(server: FakeBatches) -> None:
    heard: list[list[int]] = []

    def keep(rows: Mapping[int, Vectors]) -> None:
        heard.append(sorted(rows))
        for number, row in rows.items():
            assert np.allclose(row, unit(TEXTS[number]), atol=1e-6)

    with closing(plain_of(server.url("openai"))) as embedder:
        assert isinstance(embedder, Gradual)
        vectors = embedder.embed_gradually(TEXTS, keep)
        assert np.allclose(vectors, [unit(text) for text in TEXTS], atol=1e-6)
    assert heard == [[0, 1], [2, 3], [4, 5]]


def test_what_came_before_a_refusal_is_in_the_cache(server: FakeBatches) -> None:
    shelf = Shelf()
    server.misbehave("wrong order", "wrong order", "403")
    with closing(plain_of(server.url("openai"))) as embedder, pytest.raises(EmbedderRefused):
        Cached(embedder, shelf).embed(TEXTS, "document")
    assert len(shelf.kept) == 4
    with closing(plain_of(server.url("openai"))) as embedder:
        Cached(embedder, shelf).embed(TEXTS, "document")
    assert server.seen[-1].texts == TEXTS[4:]


def test_a_job_is_forgotten_as_soon_as_its_vectors_are_kept(
    server: FakeBatches, tmp_path: Path
) -> None:
    shelf = Shelf()
    jobs = tmp_path / "jobs"
    embedder = BatchEmbedder(
        plain_of(server.url("openai")),
        batch_api("openai"),
        JobFolder(jobs),
        BatchSettings(enabled=True, concurrency=1),
        min_texts=2,
        job_texts=3,
    )
    ended: list[int] = []

    class Watched(Shelf):
        def put(
            self, vectors: Mapping[str, Vectors], windows: Mapping[str, bytes] | None = None
        ) -> None:
            ended.append(len(list(jobs.glob("*.json"))))
            shelf.put(vectors)

    with closing(embedder):
        vectors = Cached(embedder, Watched()).embed(TEXTS, "document")
    assert np.allclose(vectors, [unit(text) for text in TEXTS], atol=1e-6)
    assert len(shelf.kept) == 6
    assert all(ended)  # Kept first, forgotten then.
    assert list(jobs.glob("*.json")) == []


CHILD = """
import os, signal, sys
from pathlib import Path
from notewell.index.sqlite.cache import SqliteVectorCache
from notewell.assembly import open_memory
from tests.embedders.test_gradual import plain_of

workspace, state, url = sys.argv[1:]
puts = 0
put = SqliteVectorCache.put

def put_and_die(self, vectors):
    global puts
    put(self, vectors)
    puts += 1
    if puts == 3:
        os.kill(os.getpid(), signal.SIGKILL)

SqliteVectorCache.put = put_and_die
with open_memory(Path(workspace), state_dir=state, embedder=plain_of(url, 4)) as memory:
    memory.sync()
"""


def test_after_a_kill_only_what_was_not_kept_is_asked_for_again(
    server: FakeBatches, tmp_path: Path
) -> None:
    workspace, state = tmp_path / "workspace", tmp_path / "state"
    (workspace / "memory").mkdir(parents=True)
    for n in range(60):
        sections = (f"# {n} {m}\n\n{' '.join([f'w{n}x{m}'] * 90)}\n" for m in range(10))
        (workspace / "memory" / f"{n}.md").write_text("\n".join(sections), encoding="utf-8")
    root = Path(__file__).parents[2]
    died = subprocess.run(
        [sys.executable, "-c", CHILD, str(workspace), str(state), server.url("openai")],
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        check=False,
        timeout=60,
    )
    assert died.returncode == -signal.SIGKILL
    (cache,) = state.rglob("cache.sqlite")
    kept, asked = count_entries(cache), len(server.seen)
    assert kept > 0
    embedder = plain_of(server.url("openai"), 4)
    with closing(embedder), open_memory(workspace, state_dir=state, embedder=embedder) as memory:
        report = memory.sync()
    assert (report.trouble, report.vectors_waiting, report.vectors_added) == (None, 0, 600)
    # And the short texts by which the scale of the model is measured.
    measured = len(PROBES) + MEASURED_CHUNKS
    assert sum(len(seen.texts) for seen in server.seen[asked:]) == 600 - kept + measured
