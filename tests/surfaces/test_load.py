"""What a step costs must not grow with what it has nothing to do with.

Counted, not timed: SQLite's own steps, statements, descriptors, and which notes were opened.
How long things take at which size is for `bench/load.py` to say.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from tests.sqlite_store import sqlite_store

from notewell import Memory, Progress, Settings, StoreSettings, open_memory
from notewell.index.sqlite import count_entries, select
from notewell.index.sqlite.cache import SqliteVectorCache
from notewell.index.sqlite.segments import SegmentDriver
from notewell.ports import ModelFacts
from notewell.sync import embed_pending
from notewell.testing import HashEmbedder

LATER_NS = 4_000_000_000 * 10**9
"""Long after every note was written: one of a moment ago is read once more."""


def memory_of(
    folder: Path, embedder: HashEmbedder | None = None, *, cache_entries: int = 50_000
) -> Memory:
    return open_memory(
        folder / "workspace",
        state_dir=folder / "state",
        settings=Settings(store=StoreSettings(cache_entries=cache_entries)),
        embedder=embedder or HashEmbedder(),
        now_ns=lambda: LATER_NS,
    )


def write_notes(folder: Path, notes: int, sections: int = 1) -> None:
    (folder / "workspace/memory").mkdir(parents=True, exist_ok=True)
    for number in range(notes):
        parts = (
            f"## Part {part}\n\nnote{number} section{part} {'and so on ' * 30}\n"
            for part in range(sections)
        )
        target = folder / f"workspace/memory/note-{number:03}.md"
        target.write_text("\n".join(parts), encoding="utf-8")


@dataclass
class Counted:
    statements: int = 0
    steps: int = 0

    def __call__(self, event: dict[str, Any]) -> None:
        self.statements += 1
        self.steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]


@pytest.fixture
def counted() -> Iterator[Callable[[Callable[[], object]], Counted]]:
    """What SQLite did meanwhile, on every connection that is opened from now on."""
    told: list[Counted] = []

    def watch(db: apsw.Connection) -> None:
        db.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda event: told[-1](event) if told else None)

    def count(action: Callable[[], object]) -> Counted:
        told.append(Counted())
        action()
        return told[-1]

    apsw.connection_hooks.append(watch)
    yield count
    apsw.connection_hooks.remove(watch)


# -- a sync that finds nothing to do -------------------------------------------------------------


def test_a_sync_without_changes_asks_as_much_of_sixty_notes_as_of_three(
    tmp_path: Path, counted: Callable[[Callable[[], object]], Counted]
) -> None:
    asked = []
    for notes in (3, 60):
        write_notes(tmp_path / str(notes), notes)
        with memory_of(tmp_path / str(notes)) as memory:
            memory.sync()
            asked.append(counted(memory.sync).statements)
    assert asked[0] == asked[1]


OPENED: list[str] | None = None


def _hear(event: str, values: tuple[object, ...]) -> None:
    if OPENED is not None and event == "open" and isinstance(values[0], str):
        OPENED.append(values[0])


sys.addaudithook(_hear)  # For good: Python has no way to take one back. It says nothing unasked.


def test_a_sync_without_changes_opens_no_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_notes(tmp_path, 20)
    with memory_of(tmp_path) as memory:
        opened: list[str] = []
        monkeypatch.setattr(sys.modules[__name__], "OPENED", opened)
        memory.sync()
        assert sum(name.endswith(".md") for name in opened) == 20
        opened.clear()
        assert memory.sync().unchanged == 20
        assert opened
        assert not [name for name in opened if name.endswith(".md")]


def test_descriptors_do_not_grow_with_the_number_of_notes(tmp_path: Path) -> None:
    peaks = []
    for notes in (3, 60):
        write_notes(tmp_path / str(notes), notes)
        before, seen = _descriptors(), [0]
        with memory_of(tmp_path / str(notes)) as memory:

            def look(_: Progress, seen: list[int] = seen) -> None:
                seen.append(_descriptors())

            memory.sync(progress=look)
            memory.sync(force=True, progress=look)
            memory.search("note1")
        peaks.append(max(seen) - before)
        assert _descriptors() == before
    assert peaks[0] == peaks[1]


def _descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


# -- chunks that nobody asked about --------------------------------------------------------------


@pytest.mark.parametrize("step", ["nothing changed", "one note changed", "status"])
def test_the_chunks_of_other_notes_are_not_walked_through(
    tmp_path: Path, counted: Callable[[Callable[[], object]], Counted], step: str
) -> None:
    steps = []
    for sections in (2, 60):
        folder = tmp_path / str(sections)
        write_notes(folder, 10, sections)
        changed = folder / "workspace/MEMORY.md"
        changed.write_text("one line\n", encoding="utf-8")
        with memory_of(folder) as memory:
            # What is not sealed yet is counted one by one: there, it is at most 8192 rows.
            sqlite_store(memory).driver = SegmentDriver(exact_rows=8, tail_rows=4)
            memory.sync()
            if step == "one note changed":
                changed.write_text("another line\n", encoding="utf-8")
            action = memory.status if step == "status" else memory.sync
            steps.append(counted(action).steps)
    assert steps[0] == pytest.approx(steps[1], abs=50)  # 580 chunks more, and no step for each


# -- vectors -------------------------------------------------------------------------------------


def test_a_full_cache_takes_in_a_vector_as_quickly_whatever_its_size(
    tmp_path: Path, counted: Callable[[Callable[[], object]], Counted]
) -> None:
    facts = ModelFacts(provider="hash", model="small", dims=4, chunk_tokens=400)

    def steps_a_vector(entries: int) -> float:
        file = tmp_path / f"{entries}.sqlite"
        with closing(SqliteVectorCache(file, facts, entries)) as cache:

            def put(start: int, count: int) -> None:
                for number in range(start, start + count):
                    cache.put({f"{number:064}": np.ones(4, np.float32)})

            put(0, entries)
            spent = counted(lambda: put(entries, entries)).steps
            assert entries * 15 // 16 <= count_entries(file) <= entries
            assert not cache.get([f"{0:064}"])
            assert cache.get([f"{2 * entries - 1:064}"])
        return spent / entries

    assert steps_a_vector(640) < 1.2 * steps_a_vector(64)


def test_vectors_are_settled_while_they_come_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search reads all that is not settled, so it must not pile up until the end."""
    monkeypatch.setattr(embed_pending, "SETTLED_EVERY", 64)
    write_notes(tmp_path, 20, sections=20)
    unsettled = []
    with memory_of(tmp_path) as memory:
        sqlite_store(memory).driver = SegmentDriver(exact_rows=64, tail_rows=32)

        def look(done: Progress) -> None:
            with sqlite_store(memory).view() as view:
                if view is not None and done.label == "vectors":
                    ((rows,),) = select(view._db, "SELECT count(*) FROM vec_tail")
                    unsettled.append(rows)

        report = memory.sync(progress=look)
    assert report.vectors_added == 400
    assert len(unsettled) == 50
    assert max(unsettled) <= 2 * 64


def test_a_rebuild_embeds_nothing_again_however_small_the_cache(tmp_path: Path) -> None:
    write_notes(tmp_path, 5, sections=10)
    embedder = HashEmbedder()
    with memory_of(tmp_path, embedder, cache_entries=8) as memory:
        memory.sync()
        before = memory.search("note3 section7").hits
        assert embedder.embedded_texts == 50 + 1
        report = memory.sync(force=True)
        assert (str(report.rebuilt), report.vectors_waiting) == ("it was asked for", 0)
        assert embedder.embedded_texts == 50 + 1
        assert memory.search("note3 section7").hits == before


def test_a_rebuild_for_another_model_takes_nothing_of_the_old(tmp_path: Path) -> None:
    write_notes(tmp_path, 5, sections=10)
    with memory_of(tmp_path, cache_entries=8) as memory:
        memory.sync()
    other = HashEmbedder(model="another")
    with memory_of(tmp_path, other, cache_entries=8) as memory:
        report = memory.sync()
        assert report.rebuilt
        # One more: it is asked whether it works before it replaces the vectors of another model.
        assert other.embedded_texts == 50 + 1
