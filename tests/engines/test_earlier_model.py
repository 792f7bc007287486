"""An index of the model that was part of Notewell before is built again, once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from notewell import EmbedderSettings, Settings, open_memory
from notewell.embedders.weights import EARLIER_NAMES, FULL_NAME
from notewell.records import replace
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from notewell import Answer, Embedder, Memory

EARLIER = EARLIER_NAMES[-1]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("The router is called Bert.\n", encoding="utf-8")
    with _opened(folder, embedder=_earlier()) as memory:
        memory.sync()
        assert memory.search("router").mode == "hybrid"
    return folder


def _earlier() -> HashEmbedder:
    embedder = HashEmbedder(384)
    facts = replace(embedder.facts, provider="embedded", model=EARLIER)
    embedder.facts = replace(facts, scripts=frozenset({"latin"}))
    return embedder


def _opened(
    workspace: Path, settings: Settings | None = None, embedder: Embedder | None = None
) -> Memory:
    return open_memory(
        workspace,
        state_dir=workspace.parent / "state",
        settings=settings or Settings(),
        embedder=embedder,
        environment={"PATH": os.environ["PATH"]},
    )


@pytest.mark.parametrize("model", [None, *EARLIER_NAMES])
def test_the_old_index_answers_until_the_new_one_is_built(
    workspace: Path, model: str | None
) -> None:
    settings = Settings()
    if model is not None:
        settings = Settings(embedder=EmbedderSettings(provider="embedded", model=model))
    meanwhile: list[Answer] = []
    with _opened(workspace, settings) as memory:
        needed = f"model changed from '{EARLIER}' to '{FULL_NAME}'"
        assert memory.status().rebuild_needed == needed
        answer = memory.search("router")
        assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
        assert (answer.mode, answer.degraded) == ("keyword", True)
        assert EARLIER in (answer.notice or "")
        report = memory.sync(progress=lambda _: meanwhile.append(memory.search("router")))
        assert str(report.rebuilt) == needed
        assert all([hit.path for hit in answer.hits] == ["MEMORY.md"] for answer in meanwhile)
        assert memory.search("路由器叫什么名字？").mode == "hybrid"
    with _opened(workspace, settings) as memory:
        assert memory.sync().rebuilt is None
    assert meanwhile
