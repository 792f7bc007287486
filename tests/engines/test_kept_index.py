"""An index is not thrown away because `auto` finds another embedder in this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.embedders.fake_server import FakeProvider

from notewell import EmbedderSettings, Settings, open_memory
from notewell.core import Secret
from notewell.embedders import ProviderSettings, RemoteSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell import Memory


@pytest.fixture
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("The router is called Bert.\n", encoding="utf-8")
    return folder


def opened(workspace: Path, settings: Settings | None = None) -> Memory:
    return open_memory(
        workspace,
        state_dir=workspace.parent / "state",
        settings=settings or Settings(),
        environment={"PATH": os.environ["PATH"]},
    )


def by_server(server: FakeProvider) -> Settings:
    remote = RemoteSettings(base_url=server.url("openai-compatible"))
    return Settings(
        embedder=EmbedderSettings(provider="openai-compatible", model="some", remote=remote)
    )


def test_an_index_of_another_provider_is_kept_and_its_words_are_searched(
    workspace: Path, server: FakeProvider
) -> None:
    with opened(workspace, by_server(server)) as memory:
        memory.sync()
        assert memory.search("router").mode == "hybrid"
        generation = memory.indexer.store.describe().generation
        requests = len(server.seen)
    # This process knows nothing of the server: `auto` would use the embedded model.
    with opened(workspace) as memory:
        (workspace / "memory").mkdir()
        (workspace / "memory" / "new.md").write_text("The zebra is Ada.\n", encoding="utf-8")
        report = memory.sync()
        assert report.rebuilt is None
        assert "the index holds vectors of some" in str(report.trouble)
        answer = memory.search("zebra")
        assert [hit.path for hit in answer.hits] == ["memory/new.md"]
        assert (answer.mode, answer.degraded) == ("keyword", True)
        assert "`notewell index --force` builds an index with embedded" in (answer.notice or "")
        status = memory.status()
        assert (status.provider, status.model) == ("openai-compatible", "some")
        assert status.rebuild_needed is None
    assert len(server.seen) == requests
    with opened(workspace, by_server(server)) as memory:
        memory.sync()
        assert memory.search("zebra").mode == "hybrid"
        assert memory.indexer.store.describe().generation == generation
        # What was embedded before was not embedded again.
        assert len(server.seen) == requests + 2


def test_force_builds_an_index_with_what_auto_finds(workspace: Path, server: FakeProvider) -> None:
    with opened(workspace, by_server(server)) as memory:
        memory.sync()
    with opened(workspace) as memory:
        memory.sync(force=True)
        answer = memory.search("router")
        assert (answer.mode, answer.provider) == ("hybrid", "embedded")


def test_settings_that_name_the_provider_change_the_index(
    workspace: Path, server: FakeProvider
) -> None:
    with opened(workspace, by_server(server)) as memory:
        memory.sync()
    named = Settings(embedder=EmbedderSettings(provider="embedded"))
    with opened(workspace, named) as memory:
        assert memory.sync().rebuilt is not None
        assert memory.search("router").provider == "embedded"


def test_an_index_of_this_machine_is_searched_by_its_own_vectors(
    workspace: Path, server: FakeProvider
) -> None:
    with opened(workspace) as memory:
        memory.sync()
    # `auto` takes a key in the user's own settings: another machine's file, for example.
    openai = ProviderSettings(base_url=server.url("openai"), api_key=Secret("sk-none"))
    found = Settings(embedder=EmbedderSettings(providers={"openai": openai}))
    with opened(workspace, found) as memory:
        assert memory.sync().rebuilt is None
        answer = memory.search("router")
        assert (answer.mode, answer.provider) == ("hybrid", "embedded")
        decision = memory.status().decision
        assert decision is not None
        assert (decision.requested, decision.used) == ("auto", "embedded")
        assert "it built the index" in decision.why
        # Nothing of the provider that was found and is not used.
        assert (decision.key_from, decision.endpoint) == (None, None)
        outcomes = [(step.provider, step.outcome) for step in decision.steps]
        assert outcomes[-2:] == [("openai", "passed over"), ("embedded", "used")]
        assert server.seen == []
        memory.sync(force=True)
        assert memory.search("router").provider == "openai"
