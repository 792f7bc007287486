"""What was just written is found, and what could not be indexed is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from notewell import Memory, SearchSettings, Settings, StoreSettings, SyncSettings, open_memory
from notewell.core import Secret
from notewell.embedders import EmbedderSettings, RemoteSettings
from notewell.embedders.decision import Chosen
from notewell.engines import Engine
from notewell.errors import (
    EmbedderRefused,
    EmbedderTrouble,
    EmbedderUnreachable,
    MemoryOff,
)
from notewell.search import Question
from notewell.sync import Progress
from notewell.sync.indexer import CATCH_UP_CHUNKS, CATCH_UP_NOTES
from notewell.testing import BrokenEmbedder, HashEmbedder
from notewell.types import Answer


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Facts\n\nThe boat is green.\n", encoding="utf-8")
    return folder


@pytest.fixture
def memory(workspace: Path, tmp_path: Path) -> Iterator[Memory]:
    with open_memory(
        workspace, state_dir=tmp_path / "state", embedder=HashEmbedder(), environment={}
    ) as memory:
        memory.sync()
        yield memory


def found(memory: Memory, question: str) -> list[str]:
    return [hit.path for hit in memory.search(question).hits]


def test_what_was_appended_is_found_by_the_next_search(memory: Memory) -> None:
    done = memory.append("The zebra is called Ada.", origin="test")
    assert done.added
    answer = memory.search("what is the zebra called?")
    assert answer.hits[0].path == done.path
    assert (answer.mode, answer.notice) == ("hybrid", None)


def test_an_entry_goes_under_its_heading_and_is_not_doubled(
    memory: Memory, workspace: Path
) -> None:
    assert memory.append("The sail is white.", section="Facts").added
    assert not memory.append("The sail is white.", section="Facts").added
    text = (workspace / "MEMORY.md").read_text(encoding="utf-8")
    assert text.startswith("# Facts\n\nThe boat is green.\n")
    assert text.count("The sail is white.") == 1


def test_what_an_editor_saved_is_found_and_what_it_removed_is_not(
    memory: Memory, workspace: Path
) -> None:
    (workspace / "memory" / "new.md").write_text("The zebra is called Ada.", encoding="utf-8")
    memory.indexer.look_again()
    assert found(memory, "what is the zebra called?")[0] == "memory/new.md"
    (workspace / "memory" / "new.md").unlink()
    memory.indexer.look_again()
    assert "memory/new.md" not in found(memory, "what is the zebra called?")


def test_a_change_up_to_the_limit_is_taken_in(memory: Memory, workspace: Path) -> None:
    for number in range(CATCH_UP_NOTES):
        (workspace / "memory" / f"n{number}.md").write_text(f"zebra {number}", encoding="utf-8")
    memory.indexer.look_again()
    answer = memory.search(f"zebra {CATCH_UP_NOTES - 1}")
    assert answer.hits[0].path == f"memory/n{CATCH_UP_NOTES - 1}.md"
    assert "have changed" not in (answer.notice or "")


@pytest.mark.parametrize(("chunks", "mode"), [(0, "hybrid"), (1, "partial")])
def test_new_chunks_are_embedded_up_to_the_limit(
    memory: Memory, workspace: Path, chunks: int, mode: str
) -> None:
    for number in range(CATCH_UP_CHUNKS + chunks):
        (workspace / "memory" / f"n{number}.md").write_text(f"zebra {number}", encoding="utf-8")
    memory.indexer.look_again()
    assert memory.search("zebra").mode == mode


def test_a_large_change_is_not_waited_for_but_told(memory: Memory, workspace: Path) -> None:
    for number in range(CATCH_UP_NOTES + 1):
        (workspace / "memory" / f"n{number}.md").write_text(f"zebra {number}", encoding="utf-8")
    memory.indexer.look_again()
    answer = memory.search("boat")
    assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
    assert answer.notice == (
        f"{CATCH_UP_NOTES + 1} notes have changed since the last sync: run `notewell index`"
    )


def test_many_new_chunks_are_found_by_their_words_first(memory: Memory, workspace: Path) -> None:
    text = "\n\n".join(f"## {n}\n\n" + "zebra words " * 60 for n in range(CATCH_UP_CHUNKS + 4))
    (workspace / "memory" / "long.md").write_text(text, encoding="utf-8")
    memory.indexer.look_again()
    answer = memory.search("zebra")
    assert answer.hits[0].path == "memory/long.md"
    assert answer.mode == "partial"


def test_where_the_index_cannot_be_written_the_last_one_answers_and_says_so(
    memory: Memory, workspace: Path
) -> None:
    (workspace / "memory" / "new.md").write_text("The zebra is called Ada.", encoding="utf-8")
    memory.indexer.look_again()
    with memory.indexer.store.writing(wait_s=0):
        answer = memory.search("green boat")
    assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
    assert answer.notice is not None
    assert answer.notice.startswith("a note has changed and could not be indexed: another process")


def test_until_a_change_is_indexed_every_search_says_that_it_is_not(
    memory: Memory, workspace: Path
) -> None:
    (workspace / "memory" / "new.md").write_text("The zebra is called Ada.", encoding="utf-8")
    memory.indexer.look_again()
    with memory.indexer.store.writing(wait_s=0):
        notices = [memory.search("zebra").notice for _ in range(2)]
    assert all(notice and "could not be indexed" in notice for notice in notices)
    assert "memory/new.md" in found(memory, "zebra")
    for number in range(CATCH_UP_NOTES + 1):
        (workspace / "memory" / f"n{number}.md").write_text(f"zebra {number}", encoding="utf-8")
    memory.indexer.look_again()
    notices = [memory.search("zebra").notice for _ in range(2)]
    assert notices[0] is not None
    assert notices[0] == notices[1]
    memory.sync()
    assert memory.search("zebra").notice is None


def test_a_search_that_comes_while_another_one_indexes_does_not_miss_the_change_silently(
    memory: Memory,
) -> None:
    others: list[Answer] = []

    def ask_meanwhile(text: str) -> str:
        # Called while the first search indexes the note.
        others.append(memory.search("zebra"))
        return text

    memory.append("The zebra is called Ada.")
    clock = count()
    memory.indexer.looks.monotonic_s = lambda: next(clock)  # Each look takes a second.
    memory.indexer.redact_notes = ask_meanwhile
    assert memory.search("zebra").hits
    assert others
    assert all(one.hits or one.notice for one in others)


def test_a_search_looks_at_the_notes_only_now_and_then(memory: Memory, workspace: Path) -> None:
    clock = iter([0.0, 100.0, 100.5, 104.0, 106.0, 106.1, 106.2])
    memory.indexer.looks.monotonic_s = lambda: next(clock)
    memory.indexer.look_again()
    assert found(memory, "boat") == ["MEMORY.md"]  # looked for half a second
    (workspace / "memory" / "new.md").write_text("The zebra is called Ada.", encoding="utf-8")
    assert "memory/new.md" not in found(memory, "zebra")  # at 104, within five seconds
    assert "memory/new.md" in found(memory, "zebra")


def test_catching_up_can_be_switched_off(workspace: Path, tmp_path: Path) -> None:
    settings = Settings(sync=SyncSettings(on_search=False))
    with open_memory(
        workspace, state_dir=tmp_path / "s", embedder=HashEmbedder(), settings=settings
    ) as memory:
        memory.sync()
        memory.append("The zebra is called Ada.")
        assert found(memory, "zebra") == []


def test_a_memory_that_is_switched_off_says_who_did_it(workspace: Path, tmp_path: Path) -> None:
    (workspace / "notewell.json").write_text(
        '{"agents": {"defaults": {"memorySearch": {\n"enabled": false}}}}', encoding="utf-8"
    )
    with pytest.raises(MemoryOff, match=r"enabled is false \(.*notewell\.json:2\)"):
        open_memory(workspace, environment={"HOME": str(tmp_path)})


# -- the second choice ---------------------------------------------------------------------------


class Refusing(BrokenEmbedder):
    def __init__(self, error: EmbedderTrouble) -> None:
        super().__init__(error)
        self.facts = replace(self.facts, provider="openai", model="text-embedding-3-small")


FALLING_BACK = Settings(
    embedder=EmbedderSettings(
        provider="openai",
        fallback="embedded",
        remote=RemoteSettings(api_key=Secret("sk-test")),
    )
)


def opened(
    workspace: Path,
    tmp_path: Path,
    settings: Settings = FALLING_BACK,
    trouble: EmbedderTrouble | None = None,
) -> Memory:
    """With an `openai` that raises `trouble` instead of calling anybody."""
    memory = open_memory(
        workspace, state_dir=tmp_path / "state", settings=settings, environment={}
    )
    if trouble:
        selection = memory._builtin._selection
        assert selection._first is not None
        selection._first = Chosen(Refusing(trouble), selection._first.decision)
        selection.embedder = memory.indexer.embedder = selection._first.embedder
    return memory


REFUSED = EmbedderRefused("openai", "no such key", "set one", http_status=401)


def test_a_provider_that_refuses_for_good_gives_way_to_the_fallback_and_stays_so(
    workspace: Path, tmp_path: Path
) -> None:
    with opened(workspace, tmp_path, trouble=REFUSED) as memory:
        report = memory.sync()
        assert report.trouble is None
        status = memory.status()
        assert status.decision is not None
        assert (status.decision.requested, status.decision.used) == ("openai", "embedded")
        assert "no such key" in status.decision.why
        assert memory.search("which colour is the boat?").mode == "hybrid"
    with opened(workspace, tmp_path) as memory:
        assert memory.search("which colour is the boat?").mode == "hybrid"
        decision = memory.status().decision
        assert decision is not None
        assert "`notewell index` tries openai again" in decision.why


def test_without_a_fallback_text_is_published_and_nobody_else_is_asked(
    workspace: Path, tmp_path: Path
) -> None:
    assert FALLING_BACK.embedder is not None
    settings = replace(FALLING_BACK, embedder=replace(FALLING_BACK.embedder, fallback="none"))
    with opened(workspace, tmp_path, settings, REFUSED) as memory:
        report = memory.sync()
        assert isinstance(report.trouble, EmbedderRefused)
        answer = memory.search("green boat")
        assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
        assert (answer.mode, answer.degraded) == ("keyword", True)


def test_a_provider_that_cannot_be_reached_gives_way_after_a_second_try(
    workspace: Path, tmp_path: Path
) -> None:
    trouble = EmbedderUnreachable("openai", "no connection")
    with opened(workspace, tmp_path, trouble=trouble) as memory:
        assert memory.sync().trouble is None
        assert memory.status().provider == "embedded"
        assert memory.search("which colour is the boat?").mode == "hybrid"


def test_while_the_first_is_away_the_fallbacks_index_is_not_built_anew(
    workspace: Path, tmp_path: Path
) -> None:
    with opened(workspace, tmp_path, trouble=REFUSED) as memory:
        memory.sync()
    with opened(workspace, tmp_path, trouble=REFUSED) as memory:
        (workspace / "memory" / "new.md").write_text("The sail is white.", encoding="utf-8")
        report = memory.sync()
        assert (report.rebuilt, report.written, report.trouble) == (None, 1, None)


def test_words_alone_are_told_as_such(workspace: Path, tmp_path: Path) -> None:
    settings = Settings(
        embedder=EmbedderSettings(provider="none"), search=SearchSettings(keyword_only=True)
    )
    with opened(workspace, tmp_path, settings) as memory:
        memory.sync()
        answer = memory.search("green boat")
        assert (answer.mode, answer.provider, answer.degraded) == ("keyword", "none", False)
        status = memory.status()
        assert (status.provider, status.embedder_missing) == ("none", None)
        assert status.counts is not None


class Counting(HashEmbedder):
    closed = False

    def close(self) -> None:
        self.closed = True


def test_an_embedder_that_was_handed_in_is_not_closed(workspace: Path, tmp_path: Path) -> None:
    embedder = Counting()
    with open_memory(workspace, state_dir=tmp_path / "s", embedder=embedder):
        pass
    assert not embedder.closed


def test_a_note_that_is_being_saved_in_place_is_not_found_empty(
    memory: Memory, workspace: Path
) -> None:
    (workspace / "MEMORY.md").write_text("", encoding="utf-8")  # and the new text comes next
    memory.indexer.look_again()
    assert found(memory, "green boat") == ["MEMORY.md"]
    (workspace / "MEMORY.md").write_text("The boat is red now.\n", encoding="utf-8")
    memory.indexer.look_again()
    assert "red now" in memory.search("boat").hits[0].snippet


def test_the_index_and_the_cache_are_kept_as_the_settings_say(
    workspace: Path, tmp_path: Path
) -> None:
    settings = Settings(store=StoreSettings(path=tmp_path / "elsewhere", cache_entries=0))
    with open_memory(
        workspace, state_dir=tmp_path / "s", embedder=HashEmbedder(), settings=settings
    ) as memory:
        memory.sync()
        status = memory.status()
        assert Path(status.index_path).parent == tmp_path / "elsewhere"
        assert status.cache_entries == 0
        assert memory.search("green boat").mode == "hybrid"
    assert not (tmp_path / "s" / "memory").exists()


def test_what_was_appended_can_be_taken_back(memory: Memory, workspace: Path) -> None:
    from datetime import UTC, datetime

    from notewell.capture import writes
    from notewell.capture.undo import undo_write

    before = (workspace / "MEMORY.md").read_bytes()
    memory.append("The sail is white.", section="Facts")
    folder = memory.journal.writer().folder
    (written,) = writes(folder, memory.notes)
    undo_write(memory.notes, folder, written.id, now=datetime(2026, 11, 15, tzinfo=UTC))
    assert (workspace / "MEMORY.md").read_bytes() == before


def test_what_agents_are_shown_is_counted_by_days_for_the_review(memory: Memory) -> None:
    from notewell.capture import recall_days
    from notewell.tools import SearchInput, memory_search

    memory_search(memory, SearchInput("which colour is the boat?"))
    days = recall_days(memory.journal.writer().folder)
    assert len(days[("MEMORY.md", 3)]) == 1


# -- a folder that was never indexed -------------------------------------------------------------


def test_the_first_search_of_the_library_indexes_the_words(
    workspace: Path, tmp_path: Path
) -> None:
    seen: list[Progress] = []
    embedder = HashEmbedder()
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        answer = memory.search("boat", progress=seen.append)
        assert answer.hits
        assert (answer.mode, answer.indexed_words) == ("keyword", True)
        assert "run `notewell index`" in (answer.notice or "")
        assert [progress.label for progress in seen] == ["notes"]
        assert not memory.search("boat").indexed_words


class OvertakenEngine:
    """The engine of a memory; the index is built elsewhere just after its first search."""

    def __init__(self, engine: Engine, build: Callable[[], object]) -> None:
        self._engine = engine
        self._build: Callable[[], object] | None = build

    def search(self, request: Question) -> Answer:
        answer = self._engine.search(request)
        if self._build:
            self._build()
            self._build = None
        return answer

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)


def test_a_search_uses_an_index_that_was_built_meanwhile(workspace: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with (
        open_memory(workspace, state_dir=state, embedder=HashEmbedder()) as memory,
        open_memory(workspace, state_dir=state, embedder=HashEmbedder()) as other,
    ):
        memory._engine = OvertakenEngine(memory._engine, other.sync)  # type: ignore[assignment]
        answer = memory.search("boat")
        assert answer.hits
        assert not answer.indexed_words


def test_a_user_who_keeps_searches_from_indexing_is_told_to_index(
    workspace: Path, tmp_path: Path
) -> None:
    settings = Settings(sync=SyncSettings(on_search=False))
    with open_memory(
        workspace, state_dir=tmp_path / "state", embedder=HashEmbedder(), settings=settings
    ) as memory:
        assert memory.search("boat").reason == "nothing is indexed yet: run `notewell index`"
        assert memory.status().state == "missing"
