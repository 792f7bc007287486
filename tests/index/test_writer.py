"""Writing keeps what did not change, forgets the rest whole, and survives being killed."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.sqlite_store import sqlite_store

from notewell import open_memory
from notewell.core import ChunkLimits
from notewell.errors import EmbedderFailed, IndexBusy, IndexUnreadable
from notewell.index import MustRebuild
from notewell.index.sqlite import connect
from notewell.index.sqlite.connect import open_reader, open_writer, select, transaction
from notewell.testing import HashEmbedder
from notewell.types import NoteStat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.index.conftest import Child, Room

    from notewell import Memory
    from notewell.index import StoredChunk
    from notewell.index.sqlite.store import SqliteReader
    from notewell.index.sqlite.writer import SqliteWriter

    Ask = Callable[[SqliteReader, str], list[str]]

SECTIONS = [f"# Part {number}\n\n" + f"word{number} " * 8 for number in range(6)]


def note(*parts: int) -> str:
    return "\n\n".join(SECTIONS[part] for part in parts) + "\n"


def stored(room: Room) -> list[StoredChunk]:
    with closing(room.index.reader()) as reader, reader.view() as view:
        assert view is not None
        return sorted(view.chunks(range(1_000)).values(), key=lambda one: one.span)


def rows(room: Room) -> dict[str, int]:
    """How many rows every table of the index has that speaks of chunks."""
    tables = ("files", "chunks", "chunks_fts_docsize", "chunks_vec", "vec_tail")
    with closing(open_reader(room.current)) as db:
        found = {name: int(select(db, f"SELECT count(*) FROM {name}")[0][0]) for name in tables}
        found["words"] = len(select(db, "SELECT term FROM chunks_words"))
    return found


# -- replace -------------------------------------------------------------------------------------


def test_chunks_that_did_not_change_keep_their_ids_and_vectors(room: Room) -> None:
    room.publish({"a.md": note(0, 1, 2, 3)})
    before = {one.digest: one.id for one in stored(room)}
    assert (len(before), room.embedder.embedded_texts) == (4, 4)
    room.update({"a.md": note(3, 0, 5, 2)})  # one is new, one is gone, the others moved
    after = {one.digest: one.id for one in stored(room)}
    assert len(before.keys() & after.keys()) == 3
    assert all(after[same] == before[same] for same in before.keys() & after.keys())
    assert max(after.values()) > max(before.values())
    assert room.embedder.embedded_texts == 5
    assert rows(room) | {"words": 0} == {
        "files": 1,
        "chunks": 4,
        "chunks_fts_docsize": 4,
        "chunks_vec": 4,
        "vec_tail": 4,
        "words": 0,
    }


def test_chunks_that_moved_know_their_new_lines(room: Room) -> None:
    room.publish({"a.md": note(0, 1)})
    room.update({"a.md": note(4, 0, 1)})
    assert [one.span for one in stored(room)] == [(1, 3), (5, 7), (9, 11)]
    assert room.embedder.embedded_texts == 3


def test_chunks_of_the_same_text_are_kept_one_by_one(room: Room) -> None:
    room.publish({"a.md": note(1, 1, 1), "b.md": note(1)})
    ids = {one.id for one in stored(room)}
    room.update({"a.md": note(1, 1)})
    assert {one.id for one in stored(room)} < ids
    assert [one.path for one in stored(room)].count("a.md") == 2
    assert room.embedder.embedded_texts == 4


def test_a_note_written_again_as_it_was_changes_nothing(room: Room) -> None:
    room.publish({"a.md": note(0, 1)})
    before = stored(room)
    room.update({"a.md": note(0, 1)})
    assert (stored(room), room.embedder.embedded_texts) == (before, 2)


def test_an_id_is_never_given_twice(room: Room) -> None:
    """A vector is known by its chunk's id; a reader may still hold the old one."""
    room.publish({"a.md": note(0, 1, 2)})
    before = {one.id for one in stored(room)}
    room.update({}, forget=("a.md",))
    room.update({"a.md": note(0, 1, 2)})
    assert before.isdisjoint(one.id for one in stored(room))


def test_a_file_time_beyond_sqlites_integers_is_no_obstacle(room: Room) -> None:
    late = NoteStat(size=1, mtime_ns=10**19, ctime_ns=10**19, inode=2**64 - 1)
    room.publish({})
    with room.writing() as writer:
        with writer.transaction():
            writer.note_seen("a.md", "memory", "digest", late)
        found = writer.view.notes()["a.md"].stat
    assert found.inode == late.inode
    assert found != late  # so it is read again each time, which is slower and right


# -- forget --------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", ["segments", "sqlite-vec"])
def test_a_forgotten_note_leaves_nothing_behind(tmp_path: Path, room: Room, driver: str) -> None:
    room = type(room)(tmp_path / driver, driver)
    room.publish({"a.md": note(0, 1), "b.md": note(2, 3, 4)})
    room.update({}, forget=("b.md", "never/there.md"))
    assert {one.path for one in stored(room)} == {"a.md"}
    with closing(room.index.reader()) as reader, reader.view() as view:
        assert view is not None
        assert set(view.notes()) == {"a.md"}
        assert room.index.driver.count(view._db, ["memory"]) == 2
        vector = room.embedder.embed(["word3"], "query")[0]
        assert set(view.nearest(vector, ["memory"], 9)) == {one.id for one in stored(room)}
    room.update({}, forget=("a.md",))
    with closing(open_reader(room.current)) as db:
        for table in ("files", "chunks", "chunks_fts_docsize", "chunks_words"):
            assert select(db, f"SELECT count(*) FROM {table}") == [(0,)]
    if driver == "segments":
        assert rows(room) == dict.fromkeys(rows(room), 0)


def test_forgotten_words_are_not_in_the_file_for_long(room: Room) -> None:
    """A rebuild leaves no trace at all of what was forgotten."""
    room.publish({"a.md": "a zanzibar secret", "b.md": "router"})
    room.publish({"b.md": "router"})
    assert b"zanzibar" not in room.current.read_bytes()


# -- vectors -------------------------------------------------------------------------------------


def test_a_vector_for_a_chunk_that_was_replaced_meanwhile_is_passed_over(room: Room) -> None:
    room.publish({"a.md": note(0), "b.md": note(1)})
    with room.writing() as writer:
        room.put(writer, {"c.md": note(2), "d.md": note(3)})
        waiting = writer.view.waiting_for_vectors(10)
        assert [one.path for one in waiting] == ["c.md", "d.md"]
        room.put(writer, {"c.md": note(4)})
        with writer.transaction():
            vectors = np.ones((2, room.embedder.facts.dims), np.float32)
            assert writer.add_vectors(waiting, vectors) == 1
            assert writer.add_vectors(waiting, vectors) == 0  # d.md has one now
            other = [waiting[1]._replace(digest="of another text")]
            assert writer.add_vectors(other, vectors[:1]) == 0
        assert [one.path for one in writer.view.waiting_for_vectors(10)] == ["c.md"]
        counts = writer.view.counts()
        assert (counts.chunks, counts.embedded) == (4, 3)


def test_vectors_go_to_their_own_source(room: Room) -> None:
    room.publish({"a.md": note(0)})
    with room.writing() as writer:
        room.put(writer, {"s.jsonl": note(1)}, source="sessions")
        assert room.embed(writer) == 1
        assert dict(writer.view.counts().by_source) == {"memory": (1, 1), "sessions": (1, 1)}
    with closing(room.index.reader()) as reader, reader.view() as view:
        assert view is not None
        vector = room.embedder.embed([note(1)], "query")[0]
        (only,) = view.nearest(vector, ["memory"], 5)
        assert view.chunks([only])[only].path == "a.md"


# -- opening and finishing -----------------------------------------------------------------------


def test_without_an_open_generation_nothing_can_be_written(room: Room) -> None:
    with room.index.writing(wait_s=0) as writer:
        assert writer.open_current() == MustRebuild("first")
        with pytest.raises(RuntimeError, match="no generation is open"):
            writer.forget(["a.md"])
        with pytest.raises(RuntimeError, match="no generation is open"):
            writer.publish()


def test_a_pointer_to_a_missing_file_means_a_first_index(room: Room) -> None:
    room.publish({"a.md": note(0)}).unlink()
    with room.index.writing(wait_s=0) as writer:
        assert writer.open_current() == MustRebuild("first")


def test_a_reader_in_the_middle_of_something_does_not_hold_up_a_writer(
    room: Room, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.publish({"a.md": note(0)})
    monkeypatch.setattr(connect, "BUSY_MS", 20)
    with closing(room.index.reader()) as reader:
        with reader.view() as view:
            assert view is not None
            view.counts()  # now it holds its view of the log
            room.update({"b.md": note(0)})
            assert view.counts().files == 1
        assert ask(reader, "word0") == ["a.md", "b.md"]


def test_after_a_sync_the_log_is_empty(room: Room) -> None:
    path = room.publish({"a.md": note(0)})
    with room.writing() as writer:
        room.put(writer, {"b.md": note(1)})
        log = path.with_name(f"{path.name}-wal")
        assert log.stat().st_size > 0
        writer.finish()
        assert log.stat().st_size == 0


def test_one_writer_at_a_time_and_one_embedder_beside_it(room: Room) -> None:
    with room.index.writing(wait_s=0), room.index.embedding_lease():
        with pytest.raises(IndexBusy), room.index.writing(wait_s=0):
            pytest.fail("two writers")
        with pytest.raises(IndexBusy), room.index.embedding_lease():
            pytest.fail("two embedders")


def test_a_transaction_that_fails_leaves_everything_as_it_was(room: Room) -> None:
    room.publish({"a.md": note(0)})
    before = rows(room)
    with room.writing() as writer, pytest.raises(EmbedderFailed):
        _forget_and_fail(writer)
    assert rows(room) == before


def _forget_and_fail(writer: SqliteWriter) -> None:
    with writer.transaction():
        writer.forget(["a.md"])
        raise EmbedderFailed("hash", "no reason")


# -- killed --------------------------------------------------------------------------------------

REBUILD_AND_STOP = """
import sys
from pathlib import Path
from notewell import open_memory
from notewell.index.sqlite import SqliteStore
from notewell.index.sqlite.folder import IndexFolder
from notewell.testing import HashEmbedder

point = sys.argv[3]

def stop(here):
    if here == point:
        print(here, flush=True)
        input()

class Folder(IndexFolder):
    def next_generation(self):
        stop("before it is begun")
        return super().next_generation()
    def publish(self, generation):
        stop("before it is published")
        super().publish(generation)
        stop("before the old one is swept")
    def sweep(self):
        super().sweep()
        stop("after the sweep")

class Notes:
    def __init__(self, notes):
        self.scan, self._read = notes.scan, notes.read
    def read(self, path):
        if path.endswith("9.md"):
            stop("in a transaction")
        return self._read(path)

class Embedder(HashEmbedder):
    def embed(self, texts, kind):
        # Another model has to answer once before it replaces the vectors of the old one.
        stop("before the first answer" if len(texts) == 1 else "before the vectors")
        return super().embed(texts, kind)

memory = open_memory(sys.argv[1], state_dir=sys.argv[2], embedder=Embedder(model="another"))
memory.indexer.store.folder = Folder(memory.indexer.store.folder.path)
memory.indexer.notes = Notes(memory.indexer.notes)
memory.sync(progress=lambda progress: stop(f"after the {progress.label}"))
"""

POINTS = {
    "before the first answer": "old",
    "before it is begun": "old",
    "after the sweep": "old",
    "in a transaction": "old",
    "after the notes": "old",
    "before it is published": "old",
    "before the old one is swept": "new",
    "before the vectors": "new",
    "after the vectors": "new",
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work" / "memory").mkdir(parents=True)
    for number in range(10):
        path = tmp_path / "work" / "memory" / f"{number}.md"
        path.write_text(f"router {number}\n", encoding="utf-8")
    return tmp_path / "work"


def opened(work: Path, embedder: HashEmbedder | None = None) -> Memory:
    return open_memory(work, state_dir=work.parent / "kept", embedder=embedder or HashEmbedder())


def answers(memory: Memory) -> list[str]:
    return sorted(hit.path for hit in memory.search("router", max_results=50).hits)


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_any_point_of_a_rebuild_an_index_answers_and_the_next_sync_cleans_up(
    work: Path, start: Callable[..., Child], point: str
) -> None:
    everything = [f"memory/{number}.md" for number in range(10)]
    with opened(work) as memory:
        memory.sync()
        child = start(REBUILD_AND_STOP, work, work.parent / "kept", point)
        assert child.line() == point
        assert answers(memory) == everything  # while it is being built
        child.kill()
        assert answers(memory) == everything
        folder = sqlite_store(memory).folder
        current = folder.current()
        assert current is not None
        assert current.name == {"old": "index-1.sqlite", "new": "index-2.sqlite"}[POINTS[point]]
    with opened(work, HashEmbedder(model="another")) as memory:
        report = memory.sync()
        assert (report.rebuilt is None) == (POINTS[point] == "new")
        assert report.vectors_waiting == 0
        assert answers(memory) == everything
        current = folder.current()
        assert current is not None
        stems = {path.name.partition("-wal")[0] for path in folder.path.glob("index-*")}
        assert {stem.partition("-shm")[0] for stem in stems} == {current.name}
        assert not (folder.path / "CURRENT.tmp").exists()


# -- damaged -------------------------------------------------------------------------------------


def harm(generation: Path, table: str) -> None:
    """One bit of the last page of a table, in a file that nobody has open."""
    with closing(open_writer(generation)) as db:
        found = "SELECT max(pageno), pgsize FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
        ((page, size),) = select(db, found, (table,))
    damaged = bytearray(generation.read_bytes())
    damaged[page * size - 30] ^= 4
    generation.write_bytes(damaged)


@pytest.mark.parametrize("table", ["chunks", "chunks_fts_data", "chunks_vec", "meta", "files"])
def test_damage_met_by_a_search_or_a_sync_ends_in_a_new_index(work: Path, table: str) -> None:
    with opened(work) as memory:
        memory.sync()
        current = sqlite_store(memory).folder.current()
        assert current is not None
    harm(current, table)
    damaged = current.read_bytes()
    embedder = HashEmbedder()
    with opened(work, embedder) as memory:
        try:
            answers(memory)
        except IndexUnreadable as error:
            assert error.why == "a page does not match its checksum"  # noqa: PT017
            assert sqlite_store(memory).folder.is_suspect(current)
        else:
            assert table in ("meta", "files")  # a search has no need of these
        report = memory.sync()
        assert report.rebuilt is not None
        assert str(report.rebuilt).endswith("and is kept as index-1.sqlite.damaged")
        assert answers(memory) == [f"memory/{number}.md" for number in range(10)]
        assert embedder.embedded_texts == 1  # the question, once; the chunks were cached
        assert memory.sync().rebuilt is None
    kept = current.with_name("index-1.sqlite.damaged")
    assert kept.read_bytes() == damaged
    assert not (current.parent / "SUSPECT").exists()


@pytest.mark.parametrize(
    ("table", "damage"),
    [("files", "a page does not match its checksum"), ("meta", "a reader met a damaged page")],
)
def test_damage_that_only_a_sync_meets_ends_in_a_new_index_at_once(
    work: Path, table: str, damage: str
) -> None:
    with opened(work) as memory:
        memory.sync()
        current = sqlite_store(memory).folder.current()
        assert current is not None
    harm(current, table)
    with opened(work) as memory:
        assert str(memory.sync().rebuilt) == (
            f"the old index was damaged ({damage}) and is kept as index-1.sqlite.damaged"
        )
        assert answers(memory) == [f"memory/{number}.md" for number in range(10)]


def test_damage_met_while_vectors_are_written_leaves_word_too(room: Room) -> None:
    path = room.publish({"a.md": note(0, 1, 2)})
    harm(path, "chunks_vec")
    met = pytest.raises(IndexUnreadable, match="does not match its checksum")
    with room.writing() as writer, met:
        room.put(writer, {"a.md": note(5)})
    with room.index.writing(wait_s=0) as writer:
        assert "and is kept as index-1.sqlite.damaged" in str(writer.open_current())


def test_damage_without_a_file_to_keep_is_told_all_the_same(room: Room) -> None:
    path = room.publish({"a.md": note(0)})
    with room.index.writing(wait_s=0) as writer:
        path.unlink()
        error = IndexUnreadable(str(path), "no reason")
        assert str(writer.set_aside(error)) == "the old index was damaged (no reason)"
        shutil.rmtree(room.path)
        assert str(writer.set_aside(error)) == "the old index was damaged (no reason)"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "does not say what it was built with"),
        ("{", "is not JSON"),
        ("{}", "its description is invalid"),
        ('{"sources": []}', "its description is invalid"),
        ('{"sources": 3}', "its description is invalid"),
        ("[]", "its description is invalid"),
    ],
)
def test_an_index_that_does_not_say_what_it_is_is_unreadable(
    room: Room, value: str | None, why: str
) -> None:
    room.publish({"a.md": note(0)})
    with closing(open_writer(room.current)) as db, transaction(db):
        db.execute("DELETE FROM meta")
        if value is not None:
            db.execute("INSERT INTO meta VALUES ('memory_index_meta_v1', ?)", (value,))
    with room.writing() as writer, pytest.raises(IndexUnreadable, match=why):
        writer.view.identity()


def test_the_first_difference_of_two_identities_is_told_in_words(room: Room) -> None:
    mine = room.identity
    assert mine.difference(mine) is None
    other = type(room)(room.path, limits=ChunkLimits(tokens=32, overlap=0)).identity
    assert mine.difference(other) == "chunk tokens changed from 24 to 32"
    room.publish({})
    with room.writing() as writer:
        assert writer.view.identity() == mine
