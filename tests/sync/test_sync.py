"""A sync does as much as changed, never loses what it knew, and tells what it could not do."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sqlite_store import sqlite_store

from notewell import Memory, Progress, Settings, SyncSettings, open_memory
from notewell.errors import EmbedderFailed, NoteUnreadable
from notewell.notes.workspace import Workspace
from notewell.stores import index_dir
from notewell.testing import BrokenEmbedder, HashEmbedder, WindowedHashEmbedder
from notewell.types import Note

LATER_NS = 4_000_000_000_000_000_000
"""A clock for which every note is settled."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    for number in range(30):
        text = f"# Note {number}\n\nThe number of this note is n{number:04}.\n"
        (folder / "memory" / f"note-{number}.md").write_text(text, encoding="utf-8")
    return folder


class CountingWorkspace(Workspace):
    """The real thing, counting what is read; can refuse one note."""

    refused: str | None = None

    def read(self, path: str) -> Note:
        if path == self.refused:
            raise NoteUnreadable(path, "no permission")
        READ.append(path)
        return super().read(path)


READ: list[str] = []


@pytest.fixture
def memory(workspace: Path, tmp_path: Path) -> Memory:
    READ.clear()
    memory = open_memory(
        workspace,
        state_dir=tmp_path / "state",
        embedder=HashEmbedder(),
        now_ns=lambda: LATER_NS,
    )
    memory.indexer.notes = CountingWorkspace.open(workspace)
    return memory


def test_the_first_sync_writes_everything_and_tells_how_far_it_is(memory: Memory) -> None:
    told: list[Progress] = []
    report = memory.sync(progress=told.append)
    assert (report.written, report.unchanged, report.chunks) == (30, 0, 30)
    assert (report.vectors_added, report.vectors_waiting) == (30, 0)
    assert not report.is_degraded
    assert told[0] == Progress(30, 30, "notes")
    assert told[-1] == Progress(30, 30, "vectors")


def test_a_sync_without_changes_reads_no_note(memory: Memory) -> None:
    memory.sync()
    READ.clear()
    report = memory.sync()
    assert READ == []
    assert (report.written, report.unchanged, report.forgotten) == (0, 30, 0)


def test_after_one_edit_only_that_note_is_read(memory: Memory, workspace: Path) -> None:
    memory.sync()
    READ.clear()
    edited = workspace / "memory" / "note-7.md"
    edited.write_text("# Seven\n\nquite another text about zebras\n", encoding="utf-8")
    report = memory.sync()
    assert READ == ["memory/note-7.md"]
    assert (report.written, report.unchanged, report.vectors_added) == (1, 29, 1)
    assert memory.search("zebras").hits[0].path == "memory/note-7.md"


def test_a_touched_note_is_read_but_not_written(memory: Memory, workspace: Path) -> None:
    memory.sync()
    READ.clear()
    (workspace / "memory" / "note-7.md").touch()
    assert memory.sync().written == 0
    assert READ == ["memory/note-7.md"]
    READ.clear()
    memory.sync()
    assert READ == []


def test_a_removed_note_is_forgotten(memory: Memory, workspace: Path) -> None:
    memory.sync()
    (workspace / "memory" / "note-7.md").unlink()
    assert memory.sync().forgotten == 1
    assert not memory.search("n0007", mode="keyword").hits


def test_an_unreadable_note_keeps_what_was_known_of_it(memory: Memory, workspace: Path) -> None:
    memory.sync()
    notes = memory.indexer.notes
    assert isinstance(notes, CountingWorkspace)
    notes.refused = "memory/note-7.md"
    (workspace / notes.refused).write_text("changed, but nobody may look", encoding="utf-8")
    report = memory.sync()
    assert [(one.path, one.why) for one in report.unreadable] == [
        ("memory/note-7.md", "no permission")
    ]
    assert report.is_degraded
    answer = memory.search("n0007")
    assert answer.hits[0].path == "memory/note-7.md"
    assert answer.degraded
    assert answer.notice == (
        "memory/note-7.md could not be read (no permission): their last changes are not in this "
        "answer"
    )
    notes.refused = None
    assert memory.sync().written == 1
    assert not memory.search("n0007").degraded


def test_text_is_searchable_before_vectors_are_there(memory: Memory) -> None:
    report = memory.sync(vectors=False)
    assert (report.vectors_added, report.vectors_waiting) == (0, 30)
    answer = memory.search("n0007")
    assert answer.hits[0].path == "memory/note-7.md"
    assert (answer.mode, answer.degraded) == ("keyword", True)
    assert answer.notice == "none of 30 chunks has a vector yet: run `notewell index`"


def test_a_failing_embedder_leaves_the_text_and_is_told(workspace: Path, tmp_path: Path) -> None:
    trouble = EmbedderFailed("hash", "out of order")
    with open_memory(
        workspace, state_dir=tmp_path / "state", embedder=BrokenEmbedder(trouble)
    ) as memory:
        report = memory.sync()
        assert report.trouble == trouble
        assert report.is_degraded
        assert report.vectors_waiting == 30
        answer = memory.search("n0007")
        assert answer.hits[0].path == "memory/note-7.md"
        assert answer.degraded


def test_appending_embeds_only_what_is_new(workspace: Path, tmp_path: Path) -> None:
    embedder = HashEmbedder()
    day = workspace / "memory" / "2026-11-15.md"
    day.write_text(
        "".join(f"- entry {number} of a long day\n" for number in range(300)), encoding="utf-8"
    )
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        memory.sync()
        before = embedder.embedded_texts
        with day.open("a", encoding="utf-8") as file:
            file.write("- one more entry\n")
        memory.sync()
        assert embedder.embedded_texts - before == 1


def test_a_rebuild_takes_vectors_from_the_cache(workspace: Path, tmp_path: Path) -> None:
    embedder = HashEmbedder()
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        memory.sync()
        before = embedder.embedded_texts
        report = memory.sync(force=True)
        assert str(report.rebuilt) == "it was asked for"
        assert embedder.embedded_texts == before
        assert memory.search("n0007").mode == "hybrid"


@pytest.mark.parametrize("lost", ["nothing", "the cache", "the index"])
def test_a_rebuild_takes_over_windows(workspace: Path, tmp_path: Path, lost: str) -> None:
    note = "".join(f"- entry {number}: {'words of it, ' * 6}\n" for number in range(8))
    (workspace / "memory" / "long.md").write_text(note, encoding="utf-8")
    embedder = WindowedHashEmbedder()
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        memory.sync()
        before, asked = embedder.embedded_texts, memory.search("entry 5 words")
        folder = sqlite_store(memory).folder.path
        gone = {"nothing": "no file", "the cache": "cache.*", "the index": "index-*"}[lost]
        for file in [*folder.glob(gone), *(folder.glob("CURRENT") if lost == "the index" else ())]:
            file.unlink()
        memory.sync(force=lost != "the index")
        # Only the question was embedded in between.
        assert embedder.embedded_texts == before + 1
        assert memory.search("entry 5 words") == asked


def test_the_index_can_be_deleted_at_any_time(memory: Memory, workspace: Path) -> None:
    memory.sync()
    asked = memory.search("n0007")
    folder = sqlite_store(memory).folder.path
    for file in folder.iterdir():
        file.unlink()
    # The search indexes the words, as a first one does; the vectors come with a sync.
    answer = memory.search("n0007")
    assert (answer.hits[0].path, answer.indexed_words) == (asked.hits[0].path, True)
    memory.sync()
    assert memory.search("n0007") == asked


def test_another_model_builds_a_new_index(workspace: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with open_memory(workspace, state_dir=state, embedder=HashEmbedder()) as memory:
        memory.sync()
    with open_memory(
        workspace, state_dir=state, embedder=HashEmbedder(dims=32, model="hash-32")
    ) as memory:
        assert memory.status().rebuild_needed == "model changed from 'hash-64' to 'hash-32'"
        answer = memory.search("n0007")
        assert answer.mode == "keyword"
        assert answer.notice == "the index holds vectors of hash-64: run `notewell index`"
        report = memory.sync()
        assert str(report.rebuilt) == "model changed from 'hash-64' to 'hash-32'"
        assert memory.search("n0007").mode == "hybrid"


def test_other_chunk_limits_build_a_new_index(workspace: Path, tmp_path: Path) -> None:
    for tokens, rebuilt in (
        (400, "there was none"),
        (100, "chunk tokens changed from 400 to 100"),
    ):
        with open_memory(
            workspace,
            state_dir=tmp_path / "state",
            embedder=HashEmbedder(),
            settings=Settings(sync=SyncSettings(chunk_tokens=tokens)),
        ) as memory:
            found = memory.sync().rebuilt
            assert (str(found) if found else None) == rebuilt


def test_chunks_are_no_longer_than_the_model_reads(workspace: Path, tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.facts = replace(embedder.facts, chunk_tokens=50)
    (workspace / "MEMORY.md").write_text("word " * 2000, encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        memory.sync()
        hits = memory.search("word", max_results=50).hits
        assert hits
        assert all(len(hit.snippet) <= 200 for hit in hits)


def test_two_agents_and_two_workspaces_never_share_an_index(tmp_path: Path) -> None:
    state = tmp_path / "state"
    places = {
        index_dir(state, agent, tmp_path / folder) for agent in ("a", "b") for folder in "xy"
    }
    assert len(places) == 4


def test_a_second_filler_says_who_is_at_work(memory: Memory) -> None:
    memory.sync(vectors=False)
    with memory.indexer.store.embedding_lease():
        report = memory.sync()
    assert "another process is at work on this index" in str(report.trouble)
    assert report.vectors_waiting == 30
    assert not report.is_degraded
    assert memory.sync().vectors_added == 30


def test_cleaned_notes_are_reported_and_left_as_they_are(memory: Memory, workspace: Path) -> None:
    broken = workspace / "memory" / "broken.md"
    data = b"caf\xe9 and more\n"
    broken.write_bytes(data)
    report = memory.sync()
    assert [one.path for one in report.repaired] == ["memory/broken.md"]
    assert broken.read_bytes() == data


def test_a_search_does_not_wait_behind_a_sync_of_its_own_process(
    memory: Memory, workspace: Path
) -> None:
    memory.sync()
    (workspace / "memory" / "new.md").write_text("A quagga.\n", encoding="utf-8")
    begun, searched = threading.Event(), threading.Event()

    def meanwhile(_: Progress) -> None:
        begun.set()
        assert searched.wait(60)

    syncing = threading.Thread(target=lambda: memory.sync(force=True, progress=meanwhile))
    syncing.start()
    assert begun.wait(60)  # Before that, the search would find the lock free.
    answer = memory.search("n0007")
    searched.set()
    syncing.join()
    assert answer.hits[0].path == "memory/note-7.md"
    assert "could not be indexed" in (answer.notice or "")
