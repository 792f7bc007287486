"""A reader follows CURRENT, keeps its view while it looks, and never writes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from notewell import open_memory
from notewell.core import text_query
from notewell.errors import EmbedderFailed, IndexUnreadable
from notewell.index.sqlite.connect import open_reader, select
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.index.conftest import Child, Room

    from notewell.index.sqlite import SqliteReader, SqliteView

    Ask = Callable[[SqliteReader, str], list[str]]

PUBLISHED_ELSEWHERE = """
import sys
from pathlib import Path
from notewell import open_memory
from notewell.testing import HashEmbedder

work = Path(sys.argv[1])
with open_memory(work, state_dir=sys.argv[2], embedder=HashEmbedder()) as memory:
    for turn in range(int(sys.argv[3])):
        # In one step: a search that met a half-written note would be right to find nothing.
        saved = work.parent / "saved"
        saved.write_text(f"the router has number {turn}\\n", encoding="utf-8")
        saved.replace(work / "MEMORY.md")
        memory.sync(force=True)
        print(turn, flush=True)
        if sys.argv[4] == "in step":
            input()
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_where_there_is_no_index_there_is_no_snapshot(room: Room) -> None:
    with room.index.reader().view() as view:
        assert view is None
    assert not room.path.exists()


def test_an_index_that_was_taken_away_is_let_go(room: Room, ask: Ask) -> None:
    room.publish({"MEMORY.md": "router"})
    with closing(room.index.reader()) as reader:
        assert ask(reader, "router") == ["MEMORY.md"]
        (room.path / "CURRENT").unlink()
        with reader.view() as view:
            assert view is None


def test_what_another_process_publishes_is_seen_by_the_next_look(
    work: Path, tmp_path: Path, start: Callable[..., Child]
) -> None:
    child = start(PUBLISHED_ELSEWHERE, work, tmp_path / "kept", 4, "in step")
    memory = open_memory(work, state_dir=tmp_path / "kept", embedder=HashEmbedder())
    with memory:
        for turn in range(4):
            assert child.line() == str(turn)
            (hit,) = memory.search("router").hits
            assert hit.snippet == f"the router has number {turn}"
            child.tell()
    assert child.ended() == 0


def test_a_look_in_progress_keeps_its_view(
    room: Room, ask: Ask, paths_of: Callable[[SqliteView, str], list[str]]
) -> None:
    room.publish({"a.md": "router", "b.md": "router"})
    with closing(room.index.reader()) as reader:
        with reader.view() as view:
            assert view is not None
            assert paths_of(view, "router") == ["a.md", "b.md"]
            with room.writing() as writer:
                room.put(writer, {"c.md": "router"})
                with writer.transaction():
                    writer.forget(["a.md"])
            assert paths_of(view, "router") == ["a.md", "b.md"]
            assert (view.counts().files, view.counts().chunks) == (2, 2)
            room.publish({"d.md": "router"})
            assert paths_of(view, "router") == ["a.md", "b.md"]
        assert ask(reader, "router") == ["d.md"]


def test_what_is_written_in_place_is_seen_by_the_next_look(room: Room, ask: Ask) -> None:
    room.publish({"a.md": "router"})
    with closing(room.index.reader()) as reader:
        assert ask(reader, "router") == ["a.md"]
        room.update({"b.md": "router"}, forget=("a.md",))
        assert ask(reader, "router") == ["b.md"]


def test_an_index_rebuilt_under_the_same_name_is_followed(room: Room, ask: Ask) -> None:
    first = room.publish({"a.md": "router"})
    with closing(room.index.reader()) as reader:
        assert ask(reader, "router") == ["a.md"]
        for path in list(room.path.iterdir()):
            path.unlink()
        assert room.publish({"b.md": "router"}) == first
        assert ask(reader, "router") == ["b.md"]


def test_vectors_are_those_of_the_generation_that_answers(room: Room) -> None:
    vector = room.embedder.embed(["router"], "query")[0]
    with closing(room.index.reader()) as reader:
        for text in ("router", "gardening"):
            room.publish({"a.md": text, "b.md": "something else"})
            with reader.view() as view:
                assert view is not None
                nearest = view.nearest(vector, ["memory"], 1)
                assert view.answered_by == "exact"
                assert (view.cosines(vector, nearest)[nearest[0]] == 1.0) == (text == "router")


def test_a_pointer_to_a_missing_file_is_told(room: Room, ask: Ask) -> None:
    room.publish({"a.md": "router"}).unlink()
    with pytest.raises(IndexUnreadable, match="CURRENT names a file that is not there"):
        ask(room.index.reader(), "router")
    assert "SUSPECT" not in room.names()


def test_a_file_that_vanishes_while_it_is_opened_is_looked_for_again(
    room: Room, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer may publish and sweep between the look at CURRENT and the open."""
    swept = room.publish({"a.md": "router"})

    def opened_too_late(path: Path) -> apsw.Connection:
        if path == swept:
            room.publish({"b.md": "router"})
        return open_reader(path)

    monkeypatch.setattr("notewell.index.sqlite.store.open_reader", opened_too_late)
    with closing(room.index.reader()) as reader:
        assert ask(reader, "router") == ["b.md"]


def test_a_file_that_is_there_and_cannot_be_opened_is_told(
    room: Room,
    ask: Ask,
    shared_path: Path,
    unprivileged: Callable[[], AbstractContextManager[None]],
) -> None:
    closed = type(room)(shared_path)
    closed.publish({"a.md": "router"}).chmod(0o000)
    (shared_path / "CURRENT").chmod(0o644)
    with unprivileged(), pytest.raises(IndexUnreadable, match="unable to open database file"):
        ask(closed.index.reader(), "router")


def test_damage_met_by_a_look_is_told_and_leaves_word(room: Room, ask: Ask) -> None:
    path = room.publish({"a.md": "router", "b.md": "gardening"})
    with closing(open_reader(path)) as db:
        sizes = "SELECT pageno, pgsize FROM dbstat WHERE name = 'chunks'"
        ((page, size),) = select(db, sizes)
    damaged = bytearray(path.read_bytes())
    damaged[page * size - 20] ^= 1
    path.write_bytes(damaged)
    with closing(room.index.reader()) as reader:
        with pytest.raises(IndexUnreadable) as raised:
            ask(reader, "router")
        assert raised.value.why == "a page does not match its checksum"
        assert room.index.folder.is_suspect(path)
        with reader.view() as view:  # the rest of it can still be asked
            assert view is not None
            assert sorted(view.notes()) == ["a.md", "b.md"]


def test_what_goes_wrong_during_a_look_does_not_hold_up_the_next(room: Room, ask: Ask) -> None:
    room.publish({"a.md": "router"})
    with closing(room.index.reader()) as reader:
        with pytest.raises(EmbedderFailed), reader.view():
            raise EmbedderFailed("hash", "no reason")
        assert ask(reader, "router") == ["a.md"]
        assert "SUSPECT" not in room.names()
        room.publish({"b.md": "router"})
        assert ask(reader, "router") == ["b.md"]


def test_a_reader_writes_nothing(room: Room) -> None:
    room.publish({"a.md": "router"})
    with closing(room.index.reader()) as reader, reader.view() as view:
        assert view is not None
        with pytest.raises(apsw.ReadOnlyError):
            view._db.execute("DELETE FROM chunks")


def test_a_reader_can_be_closed_twice_and_used_again(room: Room, ask: Ask) -> None:
    room.publish({"a.md": "router"})
    reader = room.index.reader()
    assert ask(reader, "router") == ["a.md"]
    reader.close()
    reader.close()
    assert ask(reader, "router") == ["a.md"]
    reader.close()


@pytest.mark.parametrize("shared", [True, False])
def test_threads_that_search_while_generations_come_and_go_never_miss_an_answer(
    work: Path, tmp_path: Path, start: Callable[..., Child], *, shared: bool
) -> None:
    """Once with a memory for all, once with one each, opened anew for every question."""
    child = start(PUBLISHED_ELSEWHERE, work, tmp_path / "kept", 11, "at will")
    assert child.line() == "0"
    done = threading.Event()

    def opened() -> Callable[[], int]:
        memory = open_memory(work, state_dir=tmp_path / "kept", embedder=HashEmbedder())

        def asked() -> int:
            (hit,) = memory.search("router").hits
            if not shared:
                memory.close()
            return int(hit.snippet.rpartition(" ")[2])

        return asked

    one_for_all = opened()

    def search() -> list[int]:
        asked = one_for_all if shared else opened()
        seen = [asked()]
        while not done.is_set():
            seen.append(asked())
        seen.append(asked())
        return seen

    with ThreadPoolExecutor(4) as threads:
        searching = [threads.submit(search) for _ in range(4)]
        try:
            assert [child.line() for _ in range(10)] == [str(turn) for turn in range(1, 11)]
        finally:
            done.set()
        for thread in searching:
            seen = thread.result(60)
            assert seen == sorted(seen)  # nobody ever went back to an older generation
            assert seen[-1] == 10
    assert child.ended() == 0


def test_a_question_without_terms_or_sources_matches_nothing(room: Room) -> None:
    room.publish({"a.md": "router"})
    with closing(room.index.reader()) as reader, reader.view() as view:
        assert view is not None
        assert view.matching(text_query("?!"), ["memory"], 5)[0] == []
        assert view.matching(text_query("router"), [], 5)[0] == []
