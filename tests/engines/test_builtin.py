"""The built-in engine: how long a search holds the index, and an index that appears meanwhile."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.sqlite_store import sqlite_store

from notewell import open_memory
from notewell.engines.protocol import with_sync_notice
from notewell.errors import EmbedderFailed
from notewell.search import Question
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from notewell import Memory
    from notewell.index import IndexView
    from notewell.ports import Kind, Vectors


class Views:
    """Counts the views of a memory, and knows whether one is open."""

    def __init__(self, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = 0
        self.is_open = False
        self._view = memory.indexer.store.view
        monkeypatch.setattr(memory.indexer.store, "view", self._counted)

    @contextmanager
    def _counted(self) -> Iterator[IndexView | None]:
        self.opened += 1
        self.is_open = True
        try:
            with self._view() as view:
                yield view
        finally:
            self.is_open = False


class WatchfulEmbedder(HashEmbedder):
    """Notes whether a view was open while it embedded a question."""

    views: Views | None = None
    held: bool = False

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        self.held = self.held or (self.views is not None and self.views.is_open)
        return super().embed(texts, kind)


@pytest.fixture
def embedder() -> WatchfulEmbedder:
    return WatchfulEmbedder()


@pytest.fixture
def memory(tmp_path: Path, embedder: WatchfulEmbedder) -> Iterator[Memory]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("The router is called Bert.\n", encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        memory.sync()
        yield memory


def test_an_answer_from_an_index_that_appeared_after_the_look_says_so(tmp_path: Path) -> None:
    """Of three replicas that began together, one answered without an entry that was acknowledged
    before, and said nothing: it had found no index, and then the first one of another replica."""
    note = tmp_path / "MEMORY.md"
    note.write_text("The router is called Bert.\n", encoding="utf-8")
    one, other = (
        open_memory(tmp_path, state_dir=tmp_path / "state", embedder=HashEmbedder())
        for _ in range(2)
    )
    with one, other:
        question = Question("router")
        looked = one._builtin.sync_before_search(question)
        empty = with_sync_notice(one._builtin.search(question), looked)
        assert (empty.has_index, empty.notice) == (False, None)
        other.sync()
        note.write_text("The router is called Bert, the switch Ada.\n", encoding="utf-8")
        answer = with_sync_notice(one._builtin.search(Question("Ada")), looked)
        assert answer.degraded
        assert answer.notice is not None
        assert "may be missing: ask again" in answer.notice
        again = one.search("Ada")
        assert (len(again.hits), again.notice) == (1, None)


def test_a_search_opens_two_views_and_none_while_it_embeds(
    memory: Memory, embedder: WatchfulEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = embedder.views = Views(memory, monkeypatch)
    assert memory.search("router").mode == "hybrid"
    # One for the scan and the facts, one for the hits.
    assert views.opened == 2
    # The notes were scanned a moment ago, and nothing was written: the facts are known.
    monkeypatch.setattr(memory.indexer.looks, "_again_at", float("inf"))
    assert memory.search("router").mode == "hybrid"
    assert views.opened == 3
    assert not embedder.held


def test_facts_that_are_known_follow_every_write(
    memory: Memory, embedder: WatchfulEmbedder
) -> None:
    def facts() -> tuple[int, bool]:
        index = memory.indexer.index_facts()
        assert index is not None
        return index.waiting, index.has_vectors

    assert facts() == (0, True)
    (memory.workspace / "MEMORY.md").write_text("The router is Ada.\n", encoding="utf-8")
    memory.sync(vectors=False)
    assert facts() == (1, False)
    memory.sync()
    assert facts() == (0, True)
    generation = memory.indexer.index_facts()
    memory.sync(force=True)
    assert memory.indexer.index_facts() != generation


def test_an_index_that_was_removed_is_not_remembered(memory: Memory) -> None:
    assert memory.indexer.index_facts() is not None
    sqlite_store(memory).folder.pointer.unlink()
    assert memory.indexer.index_facts() is None


def test_a_change_that_is_reported_during_a_scan_is_not_forgotten(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = memory.notes.scan

    def slow_scan() -> object:
        listed = scan()
        # After the scan, and before it ends: an append of another thread.
        (memory.workspace / "MEMORY.md").write_text("The router is Ada.\n", encoding="utf-8")
        memory.mark_changed()
        return replace(listed)

    monkeypatch.setattr(memory.indexer, "monotonic_s", iter(range(0, 10**6, 100)).__next__)
    with monkeypatch.context() as during:
        during.setattr(type(memory.notes), "scan", lambda _: slow_scan())
        assert memory.search("router").hits
    assert memory.search("Ada", mode="keyword").hits


class FirstFailing(HashEmbedder):
    """Refuses its first question."""

    questions = 0

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "query":
            self.questions += 1
            if self.questions == 1:
                raise EmbedderFailed("hash", "not now")
        return super().embed(texts, kind)


def test_a_question_that_failed_is_sent_again_and_then_kept(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("The router is called Bert.\n", encoding="utf-8")
    embedder = FirstFailing()
    with open_memory(tmp_path, state_dir=tmp_path / "state", embedder=embedder) as memory:
        memory.sync()
        modes = [memory.search("router").mode for _ in range(3)]
    assert modes == ["keyword", "hybrid", "hybrid"]
    assert embedder.questions == 2
