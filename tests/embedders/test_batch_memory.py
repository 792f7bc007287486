"""A memory whose embedder uses batch jobs, or does not know yet how long its vectors are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedders.fake_batch import FakeBatches, batch_api

from notewell import Settings, StoreSettings
from notewell.assembly import open_memory
from notewell.embedders.api_keys import KeySources
from notewell.embedders.batch import BatchEmbedder, JobFolder
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import DimsCache, Runtime
from notewell.embedders.settings import BatchSettings, EmbedderSettings, RemoteSettings
from notewell.errors import EmbedderFailed
from notewell.memory import Memory
from notewell.sync import Progress


@pytest.fixture
def server() -> Iterator[FakeBatches]:
    running = FakeBatches()
    with running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    for n in range(5):
        note = folder / "memory" / f"2026-11-0{n + 1}.md"
        note.write_text(f"# Day {n}\n\nThe router number {n} was shipped.\n", encoding="utf-8")
    return folder


def plain_of(server: FakeBatches, dims: int | None = 8, path: str = "") -> RemoteEmbedder:
    """`dims` None: it has to ask, and remembers for no other."""
    remote = RemoteSettings(base_url=server.url("openai") + path)
    settings = EmbedderSettings(provider="openai", dims=dims, remote=remote)
    runtime = Runtime(sleep=lambda _: None, dims_cache=DimsCache(None), cooldown_s=0.0)
    return open_remote(
        REMOTE_PROVIDERS["openai"], settings, KeySources(), runtime, model="some-model"
    ).embedder


def memory_of(
    workspace: Path, embedder: RemoteEmbedder | BatchEmbedder, settings: Settings | None = None
) -> Memory:
    state = workspace.parent / "state"
    return open_memory(workspace, state_dir=state, settings=settings, embedder=embedder)


def test_an_index_is_filled_by_a_job_and_says_how_far_it_is(
    server: FakeBatches, workspace: Path, tmp_path: Path
) -> None:
    embedder = BatchEmbedder(
        plain_of(server),
        batch_api("openai"),
        JobFolder(tmp_path / "jobs"),
        BatchSettings(enabled=True),
        min_texts=2,
    )
    heard: list[Progress] = []
    with memory_of(workspace, embedder) as memory:
        report = memory.sync(progress=heard.append)
        assert (report.trouble, report.vectors_added, report.vectors_waiting) == (None, 5, 0)
        assert memory.search("router number 3").mode == "hybrid"
        asked = len(server.seen)
        memory.sync(force=True)
        assert len(server.seen) == asked  # Every vector was kept.
    assert len(server.jobs) == 1
    assert Progress(1, 5, "batch job batch_0") in heard
    assert heard[-1].label != "batch job batch_0"


def test_a_provider_that_is_down_does_not_cost_the_index(
    server: FakeBatches, workspace: Path
) -> None:
    with memory_of(workspace, plain_of(server, dims=None)) as memory:
        memory.sync()
    note = workspace / "memory" / "2026-11-09.md"
    note.write_text("# Day 9\n\nThe router was replaced.\n", encoding="utf-8")
    server.always("503")
    with memory_of(workspace, plain_of(server, dims=None)) as memory:
        assert memory.status().rebuild_needed is None
        report = memory.sync()
        assert report.rebuilt is None
        assert isinstance(report.trouble, EmbedderFailed)
        assert report.vectors_waiting == 1
        report = memory.sync(force=True)  # Built anew, and out of the cache.
        assert report.vectors_waiting == 1
    server.always(None)
    with memory_of(workspace, plain_of(server, dims=None)) as memory:
        report = memory.sync()
        assert (report.rebuilt, report.trouble, report.vectors_added) == (None, None, 1)


@pytest.mark.parametrize("driver", ["segments", "sqlite-vec"])
def test_a_first_index_without_a_provider_has_its_text_and_gets_its_vectors_later(
    server: FakeBatches, workspace: Path, driver: str
) -> None:
    settings = Settings(store=StoreSettings(vector_driver=driver))
    server.always("503")
    with memory_of(workspace, plain_of(server, dims=None), settings) as memory:
        report = memory.sync()
        assert isinstance(report.trouble, EmbedderFailed)
        assert report.vectors_waiting == 5
        assert memory.search("router number 3").hits
    server.always(None)
    with memory_of(workspace, plain_of(server, dims=None), settings) as memory:
        report = memory.sync()
        assert (report.trouble, report.vectors_waiting) == (None, 0)
        assert memory.search("router number 3").mode == "hybrid"


def test_vectors_of_another_address_are_not_taken_for_ours(
    server: FakeBatches, workspace: Path
) -> None:
    with memory_of(workspace, plain_of(server)) as memory:
        memory.sync()
    asked = len(server.seen)
    with memory_of(workspace, plain_of(server)) as memory:
        memory.sync(force=True)
    assert len(server.seen) == asked
    with memory_of(workspace, plain_of(server, path="/elsewhere")) as memory:
        report = memory.sync()
        assert report.rebuilt is None  # The same model: what is there stays.
        memory.sync(force=True)
    assert len(server.seen) > asked
