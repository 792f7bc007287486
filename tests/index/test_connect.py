"""Damage is noticed, a full or closed disk is not taken for damage, and reading goes on."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import closing
from typing import TYPE_CHECKING, NoReturn

import apsw
import pytest

from notewell.errors import (
    IndexBusy,
    IndexTooNew,
    IndexUnreadable,
    NotewellError,
    StateNotWritable,
)
from notewell.index.sqlite import SCHEMA, connect
from notewell.index.sqlite.connect import (
    PAGE_BYTES,
    is_immutable,
    open_new,
    open_reader,
    open_writer,
    our_errors,
    select,
    stamp,
    transaction,
    without_spare_pages,
)
from notewell.index.sqlite.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.index.conftest import Child, Room

    from notewell.index.sqlite import SqliteReader

    Ask = Callable[[SqliteReader, str], list[str]]

NOTES = {
    f"memory/{number}.md": "\n\n".join(f"router {number} {line} went away" for line in range(30))
    for number in range(20)
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


def overwrite(path: Path, content: bytes) -> None:
    """Another file of the same name, and no side files: as found after a restore or a crash."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(content)


def read_everything(room: Room) -> None:
    """Every page that holds something, by way of a search's own connection."""
    with closing(room.index.reader()) as reader, reader.view() as view:
        assert view is not None
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'chunks_words'"
        for (name,) in select(view._db, tables):
            select(view._db, f'SELECT * FROM "{name}"')
        # The three indexes; `integrity_check` would tell of a bad page, but not fail.
        select(view._db, "SELECT path FROM chunks ORDER BY path")
        view.waiting_for_vectors(1)
        view.counts()


# -- checksums -----------------------------------------------------------------------------------


def test_a_new_file_has_checksums_a_log_and_is_private(file: Path) -> None:
    with closing(open_new(file)) as db:
        with transaction(db):
            db.execute("CREATE TABLE t (x)")
        assert db.reserve_bytes("main", -1) == 8
        assert int(db.pragma("checksum_verification")) == 1
        assert db.pragma("journal_mode") == "wal"
        assert db.pragma("synchronous") == 2
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes()[20] == 8
    with closing(open_writer(file)) as db:
        assert int(db.pragma("checksum_verification")) == 1
    with closing(open_reader(file)) as db:
        assert int(db.pragma("checksum_verification")) == 1


def test_an_old_sqlite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "OLDEST_SOUND_SQLITE", (99, 0, 0))
    with pytest.raises(NotewellError, match="can lose commits in WAL mode: upgrade apsw"):
        connect._load_checksums.__wrapped__()


MANY_FIRST_OPENERS = """
import sys, threading
from pathlib import Path
from notewell.index.sqlite.connect import open_new

folder, barrier, verified = Path(sys.argv[1]), threading.Barrier(16), []

def first(number):
    barrier.wait(60)
    db = open_new(folder / f"{number}.sqlite")
    db.execute("CREATE TABLE t (x)")
    verified.append(int(db.pragma("checksum_verification")))

threads = [threading.Thread(target=first, args=(number,)) for number in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
sys.exit(verified != [1] * 16)
"""


def test_threads_that_open_first_at_once_all_get_checksums(
    tmp_path: Path, start: Callable[..., Child]
) -> None:
    assert start(MANY_FIRST_OPENERS, tmp_path).ended() == 0


# -- damage --------------------------------------------------------------------------------------


def test_a_flipped_bit_in_any_page_is_noticed(room: Room) -> None:
    path = room.publish(NOTES)
    sound = path.read_bytes()
    with closing(open_reader(path)) as db:
        pages = [page for (page,) in select(db, "SELECT pageno FROM dbstat ORDER BY pageno")]
        size = int(db.pragma("page_size"))
    assert len(pages) * size == len(sound)
    draw = random.Random(11)
    for page in draw.choices(pages, k=40):
        at = (page - 1) * size + draw.randrange(size)
        damaged = bytearray(sound)
        damaged[at] ^= 1 << draw.randrange(8)
        overwrite(path, bytes(damaged))
        with pytest.raises(IndexUnreadable):
            read_everything(room)
    overwrite(path, sound)
    read_everything(room)


def test_a_flipped_bit_in_the_header_is_noticed(room: Room) -> None:
    """One of its bytes says whether there are checksums at all."""
    path = room.publish({"MEMORY.md": "router"})
    sound = path.read_bytes()
    for at in range(100):
        damaged = bytearray(sound)
        damaged[at] ^= 1
        overwrite(path, bytes(damaged))
        with pytest.raises(IndexUnreadable):
            read_everything(room)


@pytest.mark.parametrize("left", [0, 1, 99, 512, 4096, 3 * 4096 + 17, -4096, -1])
def test_a_file_that_was_cut_off_is_noticed(room: Room, left: int) -> None:
    path = room.publish(NOTES)
    overwrite(path, path.read_bytes()[:left])
    with pytest.raises(IndexUnreadable):
        read_everything(room)


@pytest.mark.parametrize(
    ("head", "kept", "why"),
    [
        (bytes(100), True, "file is not a database"),
        (b"not at all a database\n" * 400, False, "file is not a database"),
        (b"", False, "not written by Notewell"),
    ],
)
def test_what_is_no_index_of_ours_is_refused_and_a_sync_sets_it_aside(
    room: Room, ask: Ask, head: bytes, *, kept: bool, why: str
) -> None:
    path = room.publish(NOTES)
    overwrite(path, head + path.read_bytes()[100:] if kept else head)
    with pytest.raises(IndexUnreadable, match=why):
        ask(room.index.reader(), "router")
    with room.index.writing(wait_s=0) as writer:
        reason = str(writer.open_current())
    assert reason is not None
    assert why in reason
    assert reason.endswith("and is kept as index-1.sqlite.damaged")


def stamped(room: Room, pragma: str, number: int) -> None:
    with closing(open_writer(room.current)) as db:
        db.pragma(pragma, number)


def test_the_database_of_another_program_is_refused(room: Room, ask: Ask) -> None:
    room.publish(NOTES)
    stamped(room, "application_id", 77)
    with pytest.raises(IndexUnreadable, match="it was not written by Notewell"):
        ask(room.index.reader(), "router")
    with room.index.writing(wait_s=0) as writer:
        assert "not written by Notewell" in str(writer.open_current())


def test_an_index_of_ours_without_checksums_is_refused(room: Room, ask: Ask) -> None:
    path = room.publish(NOTES)
    overwrite(path, b"")
    with closing(apsw.Connection(str(path))) as db:
        stamp(db)
        db.execute(TABLES)
    with pytest.raises(IndexUnreadable, match="its pages carry no checksums"):
        ask(room.index.reader(), "router")


def test_the_index_of_a_later_version_is_left_alone(room: Room, ask: Ask) -> None:
    path = room.publish(NOTES)
    stamped(room, "user_version", SCHEMA + 1)
    with pytest.raises(IndexTooNew) as too_new:
        ask(room.index.reader(), "router")
    assert (too_new.value.found, too_new.value.known) == (SCHEMA + 1, SCHEMA)
    with room.index.writing(wait_s=0) as writer, pytest.raises(IndexTooNew):
        writer.open_current()
    assert path.exists()
    with room.index.writing(wait_s=0) as writer:
        assert str(writer.open_current(force=True)) == "it was written by a newer version"


def test_the_index_of_a_much_older_version_is_to_be_rebuilt(room: Room, ask: Ask) -> None:
    room.publish(NOTES)
    stamped(room, "user_version", 1)
    with pytest.raises(IndexUnreadable, match="it has the older schema 1"):
        ask(room.index.reader(), "router")
    with room.index.writing(wait_s=0) as writer:
        assert str(writer.open_current()) == f"its schema was 1, now {SCHEMA}"


# -- no room -------------------------------------------------------------------------------------

NO_ROOM_TO_WRITE = """
import resource, sys
from pathlib import Path
from notewell import open_memory
from notewell.errors import StateNotWritable
from notewell.testing import HashEmbedder

work, kept, spare = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def opened():
    return open_memory(work, state_dir=kept, embedder=HashEmbedder())

memory = opened()
memory.sync()
folder = memory.indexer.store.folder
sizes = [path.stat().st_size for path in folder.path.iterdir()]
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
(work / "MEMORY.md").write_text("the router moved\\n", encoding="utf-8")
(work / "memory").mkdir()
with (work / "memory" / "large.md").open("w", encoding="utf-8") as large:
    for number in range(2_000):
        large.write(f"- gardening {number} {'x' * 1_500}\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes) + spare, hard))
for force in (False, True):
    try:
        memory.sync(force=force)
    except StateNotWritable as error:
        print(error.why)
    else:
        print("no error")
    for asked in (memory, opened()):
        print([hit.path for hit in asked.search("router", mode="keyword").hits])
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
memory.sync(vectors=False)
print([hit.path for hit in memory.search("gardening 63", mode="keyword", max_results=1).hits])
print(memory.search("router").hits[0].snippet)
print(sorted(path.name for path in folder.path.iterdir() if path.suffix == ".damaged"))
"""


@pytest.mark.parametrize("spare", [0, 2_000_000])
def test_a_write_that_finds_no_room_is_told_and_the_old_index_goes_on_answering(
    tmp_path: Path, start: Callable[..., Child], spare: int
) -> None:
    """Wherever the room ends: at once, or in the middle of a large transaction, where SQLite
    rolls back by itself."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "MEMORY.md").write_text("the router\n", encoding="utf-8")
    child = start(NO_ROOM_TO_WRITE, work, tmp_path / "kept", spare)
    for _ in ("sync", "rebuild"):
        assert child.line() == "input/output error (disk I/O error)"
        assert child.line() == "['MEMORY.md']"
        assert child.line() == "['MEMORY.md']"
    assert child.line() == "['memory/large.md']"
    assert child.line() == "the router moved"
    assert child.line() == "[]"
    assert child.ended() == 0


def test_a_full_file_is_told_as_a_full_disk(file: Path) -> None:
    with closing(open_new(file)) as db:
        with transaction(db):
            db.execute("CREATE TABLE t (x)")
        db.pragma("max_page_count", 10)
        full = pytest.raises(StateNotWritable, match="the disk is full")
        with full, our_errors(file), transaction(db):
            db.execute("INSERT INTO t VALUES (zeroblob(100000))")
        assert select(db, "SELECT count(*) FROM t") == [(0,)]


FULL_DISK = """
import os, subprocess, sys
from pathlib import Path
from notewell import open_memory
from notewell.errors import StateNotWritable
from notewell.testing import HashEmbedder

disk, work = Path(sys.argv[1]), Path(sys.argv[2])
made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk])
if made.returncode:
    sys.exit(77)

def opened():
    return open_memory(work, state_dir=disk, embedder=HashEmbedder())

def told(memory):
    return [hit.snippet for hit in memory.search("router").hits]

staying = opened()
staying.sync()
print(told(staying))
for path in staying.indexer.store.folder.path.glob("*-*m"):  # no -shm: a search makes one
    path.unlink()
for path in staying.indexer.store.folder.path.glob("*-wal"):
    path.unlink()
staying.close()
filler = os.open(disk / "filler", os.O_CREAT | os.O_WRONLY)
try:
    while True:
        os.write(filler, bytes(512))
except OSError:
    print("full")
staying = opened()
print(told(staying), told(opened()))
(work / "MEMORY.md").write_text("the router moved\\n", encoding="utf-8")
for force in (False, True):
    try:
        staying.sync(force=force)
    except StateNotWritable as error:
        print(error.path == str(staying.indexer.store.folder.path))
    print(told(staying), told(opened()))
os.ftruncate(filler, 0)
opened().sync()
print(told(staying), told(opened()))
print([path.name for path in staying.indexer.store.folder.path.glob("*.damaged")])
"""


def cannot_run(why: str) -> NoReturn:
    """Where we vouch for every test, one that cannot run has failed."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def test_a_full_disk_stops_writing_and_nothing_else(
    tmp_path: Path, start: Callable[..., Child]
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "MEMORY.md").write_text("the router\n", encoding="utf-8")
    if shutil.which("unshare") is None:
        cannot_run("a small disk of our own needs unshare")
    child = start(
        FULL_DISK,
        tmp_path / "disk",
        tmp_path / "work",
        wrapper=("unshare", "--user", "--map-root-user", "--mount"),
    )
    try:
        assert child.line() == "['the router']"
    except AssertionError:
        if child.process.wait(60) in (1, 77):
            cannot_run("a small disk of our own cannot be mounted here")
        raise
    assert child.line() == "full"
    assert child.line() == "['the router'] ['the router']"
    for _ in ("sync", "rebuild"):
        assert child.line() == "True"
        assert child.line() == "['the router'] ['the router']"
    assert child.line() == "['the router moved'] ['the router moved']"
    assert child.line() == "[]"
    assert child.ended() == 0


def test_a_file_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateNotWritable, match="No such file"):
        open_new(tmp_path / "missing" / "index.sqlite")
    (tmp_path / "there").touch()
    with pytest.raises(StateNotWritable, match="File exists"):
        open_new(tmp_path / "there")


def test_a_sound_index_that_cannot_be_opened_for_writing_is_not_set_aside(
    room: Room, ask: Ask
) -> None:
    path = room.publish(NOTES)
    path.with_name(f"{path.name}-wal").mkdir()  # for root too this is no place to write to
    with room.index.writing(wait_s=0) as writer, pytest.raises(StateNotWritable):
        writer.open_current()
    path.with_name(f"{path.name}-wal").rmdir()
    assert ask(room.index.reader(), "router") == sorted(NOTES)


# -- no permission -------------------------------------------------------------------------------


@pytest.fixture
def closed(shared_path: Path, room: Room) -> Room:
    """An index that others may read, in a folder they may not write into."""
    room.publish(NOTES)
    place = shared_path / "a folder? #1 100%"
    place.mkdir()
    for name in ("CURRENT", "index-1.sqlite"):
        shutil.copy(room.path / name, place / name)
        (place / name).chmod(0o444)
    place.chmod(0o555)
    return type(room)(place)


def test_an_index_is_read_where_nothing_can_be_written(
    closed: Room, ask: Ask, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    with unprivileged(), closing(closed.index.reader()) as reader:
        assert ask(reader, "router") == sorted(NOTES)
        assert ask(reader, "router") == sorted(NOTES)
        with closing(open_reader(closed.current)) as db:
            assert is_immutable(db)
    assert closed.names() == ["CURRENT", "index-1.sqlite"]


def test_what_is_read_without_locks_is_visit_afresh(
    closed: Room, ask: Ask, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    """Its owner may write meanwhile, and no lock or log tells the reader."""
    reader = closed.index.reader()
    with unprivileged():
        assert ask(reader, "tomato") == []
    closed.path.chmod(0o755)
    closed.current.chmod(0o644)
    closed.update({"memory/1.md": "a tomato"})
    closed.path.chmod(0o555)
    with unprivileged():
        assert ask(reader, "tomato") == ["memory/1.md"]
    reader.close()


def test_damage_that_is_met_without_locks_leaves_no_word(room: Room, ask: Ask) -> None:
    """A writer may have been at work; whoever reads with locks will know."""
    path = room.publish(NOTES)
    with closing(open_reader(path)) as db:
        ((page, size),) = select(
            db, "SELECT max(pageno), pgsize FROM dbstat WHERE name = 'chunks_fts_data'"
        )
    damaged = bytearray(path.read_bytes())
    damaged[page * size - 30] ^= 1
    overwrite(path, bytes(damaged))
    no_memory = path.with_name(f"{path.name}-shm")
    no_memory.symlink_to("nowhere")  # so that it cannot be read otherwise
    with pytest.raises(IndexUnreadable, match="a page does not match its checksum"):
        ask(room.index.reader(), "router")
    assert "SUSPECT" not in room.names()
    no_memory.unlink()
    with pytest.raises(IndexUnreadable, match="a page does not match its checksum"):
        ask(room.index.reader(), "router")
    assert "SUSPECT" in room.names()


def test_a_log_that_cannot_be_read_is_not_passed_over(
    shared_path: Path,
    room: Room,
    ask: Ask,
    unprivileged: Callable[[], AbstractContextManager[None]],
) -> None:
    """What was checkpointed in part is no index without the rest."""
    room.publish(NOTES)
    place = shared_path / "index"
    place.mkdir()
    with room.writing() as writer:
        room.put(writer, {"memory/1.md": "a tomato"})
        for name in ("CURRENT", "index-1.sqlite", "index-1.sqlite-wal"):
            shutil.copy(room.path / name, place / name)
            (place / name).chmod(0o444)
    place.chmod(0o555)
    copy = type(room)(place)
    with unprivileged(), pytest.raises(IndexUnreadable, match="unable to open"):
        ask(copy.index.reader(), "router")
    place.chmod(0o755)
    with closing(copy.index.reader()) as reader:
        assert ask(reader, "tomato") == ["memory/1.md"]


# -- errors --------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_unreadable(file: Path) -> None:
    with pytest.raises(IndexUnreadable, match="unable to open"), our_errors(file):
        open_reader(file)


def test_a_file_that_is_locked_is_busy(file: Path) -> None:
    with closing(open_new(file)) as first, closing(open_writer(file)) as second:
        second.set_busy_timeout(0)
        with transaction(first), pytest.raises(IndexBusy) as busy, our_errors(file):
            second.execute("BEGIN IMMEDIATE")
    assert busy.value.directory == str(file.parent)


def test_a_file_that_may_only_be_read_is_not_writable(file: Path) -> None:
    with closing(open_new(file)) as db, transaction(db):
        db.execute("CREATE TABLE t (x)")
    with closing(open_reader(file)) as db, pytest.raises(StateNotWritable), our_errors(file):
        db.execute("INSERT INTO t VALUES (1)")


def test_a_table_that_is_missing_makes_it_unreadable(file: Path) -> None:
    missing = pytest.raises(IndexUnreadable, match="no such table: chunks")
    with closing(open_new(file)) as db, missing, our_errors(file):
        select(db, "SELECT * FROM chunks")


# -- transactions --------------------------------------------------------------------------------


def test_a_transaction_is_done_whole_or_not_at_all(file: Path) -> None:
    with closing(open_new(file)) as db:
        with transaction(db):
            db.execute("CREATE TABLE t (x)")
        with pytest.raises(apsw.SQLError), transaction(db):
            db.execute("INSERT INTO t VALUES (1); INSERT INTO missing VALUES (1)")
        assert select(db, "SELECT * FROM t") == []
        with transaction(db):
            db.execute("INSERT INTO t VALUES (2)")
        assert select(db, "SELECT * FROM t") == [(2,)]
        assert not db.in_transaction


def test_a_reader_of_a_small_index_takes_little_memory(tmp_path: Path) -> None:
    """A service has one connection for each of its agents."""
    path = tmp_path / "index.sqlite"
    db = open_new(path)
    db.execute(TABLES)
    db.close()
    used = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)[0]
    reader = open_reader(path)
    at_once = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)[0] - used
    without_spare_pages(reader)
    page_by_page = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)[0] - used
    assert int(reader.pragma("cache_size")) == -2000
    reader.close()
    assert page_by_page < at_once - 10 * PAGE_BYTES
