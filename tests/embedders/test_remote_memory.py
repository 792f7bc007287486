"""A memory whose provider has a bad day: nothing is lost, and the answer comes in time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedders.fake_server import FakeProvider

from notewell import SearchSettings, Settings
from notewell.assembly import open_memory
from notewell.embedders.api_keys import KeySources
from notewell.embedders.registry import REMOTE_PROVIDERS
from notewell.embedders.remote import RemoteEmbedder, open_remote
from notewell.embedders.remote_plan import Runtime
from notewell.embedders.settings import EmbedderSettings, RemoteSettings
from notewell.errors import QuotaExhausted
from notewell.memory import Memory


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    for n in range(5):
        note = folder / "memory" / f"2026-11-0{n + 1}.md"
        note.write_text(f"# Day {n}\n\nThe router number {n} was shipped.\n", encoding="utf-8")
    return folder


def embedder_of(server: FakeProvider, query_timeout_s: float = 60.0) -> RemoteEmbedder:
    settings = EmbedderSettings(
        provider="openai-compatible",
        remote=RemoteSettings(base_url=server.url("openai-compatible")),
        query_timeout_s=query_timeout_s,
    )
    return open_remote(
        REMOTE_PROVIDERS["openai-compatible"],
        settings,
        KeySources(),
        Runtime(),
        model="some-model",
    ).embedder


def memory_of(workspace: Path, embedder: RemoteEmbedder) -> Memory:
    return open_memory(workspace, state_dir=workspace.parent / "state", embedder=embedder)


def test_a_search_has_its_keyword_answer_when_the_provider_hangs(
    server: FakeProvider, workspace: Path
) -> None:
    with memory_of(workspace, embedder_of(server)) as memory:
        memory.sync()
        assert memory.search("router number 2").mode == "hybrid"
    with memory_of(workspace, embedder_of(server, query_timeout_s=1.0)) as memory:
        server.always("hang")
        began = time.monotonic()
        first = memory.search("router number 3")
        waited = time.monotonic() - began
        requests = len(server.seen)
        second = memory.search("router number 3")
        assert len(server.seen) == requests  # The cool-down asks nobody, so it waits for nobody.
    assert first.mode == second.mode == "keyword"
    assert first.hits[0].path == second.hits[0].path == "memory/2026-11-04.md"
    assert "timeout" in (first.notice or "")
    assert second.notice == first.notice
    assert waited < 60.0  # The provider hangs for longer; a loaded machine adds to the timeout.


def test_an_exhausted_quota_leaves_the_text_searchable_and_the_vectors_waiting(
    server: FakeProvider, workspace: Path
) -> None:
    embedder = embedder_of(server)
    assert embedder.facts.dims == 8
    server.always("quota")
    with memory_of(workspace, embedder) as memory:
        report = memory.sync()
        assert isinstance(report.trouble, QuotaExhausted)
        assert report.vectors_waiting == 5
        assert memory.search("router").hits
        asked = len(server.seen)
        memory.sync()
        assert len(server.seen) == asked
    server.always(None)
    with memory_of(workspace, embedder_of(server)) as memory:  # The user has acted.
        report = memory.sync()
        assert (report.trouble, report.vectors_waiting) == (None, 0)
        assert memory.search("router number 3").mode == "hybrid"


@pytest.mark.parametrize(("cached", "requests"), [(2, 4), (0, 6)])
def test_a_question_that_is_asked_again_costs_no_request(
    server: FakeProvider, workspace: Path, cached: int, requests: int
) -> None:
    settings = Settings(search=SearchSettings(cached_questions=cached))
    with open_memory(
        workspace,
        state_dir=workspace.parent / "state",
        embedder=embedder_of(server),
        settings=settings,
    ) as memory:
        memory.sync()
        before = len(server.seen)
        first = memory.search("router")
        # The cache of two questions keeps the one that was asked last, and drops the other.
        for question in ("router", "ship", "router", "number", "ship"):
            assert memory.search(question).mode == "hybrid"
        assert len(server.seen) - before == requests
        assert memory.search("router").hits == first.hits
