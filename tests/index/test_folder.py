"""At every moment CURRENT names a whole index, and nothing is left lying about."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notewell.errors import IndexUnreadable, OldTextLeft, StateNotWritable
from notewell.index.sqlite.folder import IndexFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.index.conftest import Child, Room


@pytest.fixture
def folder(tmp_path: Path) -> IndexFolder:
    folder = IndexFolder(tmp_path / "state" / "index")
    folder.create()
    return folder


def generation(folder: IndexFolder, number: int, *suffixes: str) -> Path:
    path = folder.path / f"index-{number}.sqlite"
    for suffix in ("", *suffixes):
        path.with_name(path.name + suffix).write_bytes(b"pages")
    return path


def names(folder: IndexFolder) -> list[str]:
    return sorted(path.name for path in folder.path.iterdir())


# -- which generation answers --------------------------------------------------------------------


def test_where_nothing_was_published_nothing_answers(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert IndexFolder(tmp_path).current() is None
    assert IndexFolder(tmp_path / "missing").current() is None
    assert IndexFolder(tmp_path / "file").current() is None
    assert IndexFolder(tmp_path / "missing").next_generation().name == "index-1.sqlite"


@pytest.mark.parametrize(
    "pointer",
    [
        b"",
        b"\n",
        b"\xff\xfe\x00",
        b"../x",
        b"../index-1.sqlite",
        b"index-1.sqlite/../../x",
        b"/etc/passwd",
        b"cache.sqlite",
        b"index-.sqlite",
        b"index-1.sqlite.damaged",
        b"index-1.sqlite\nindex-2.sqlite",
        b"index-1.sqlite\x00",
        "index-１.sqlite".encode(),
        b"index-" + b"9" * 5_000 + b".sqlite",
    ],
)
def test_a_pointer_that_is_not_ours_points_nowhere(folder: IndexFolder, pointer: bytes) -> None:
    generation(folder, 1)
    (folder.path / "CURRENT").write_bytes(pointer)
    assert folder.current() is None
    assert folder.next_generation().name == "index-2.sqlite"


@given(pointer=st.binary(max_size=40) | st.from_regex(rb"\s*index-[0-9./\\]*\.sqlite.*"))
@example(pointer=b" index-12.sqlite\r\n")
def test_whatever_stands_in_the_pointer_we_stay_in_the_folder(pointer: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "CURRENT").write_bytes(pointer)
        found = IndexFolder(Path(place)).current()
        assert found is None or (found.parent == Path(place) and found.suffix == ".sqlite")


def test_a_pointer_that_cannot_be_read_is_told(folder: IndexFolder) -> None:
    (folder.path / "CURRENT").mkdir()
    with pytest.raises(IndexUnreadable, match="Is a directory"):
        folder.current()


# -- numbers -------------------------------------------------------------------------------------


def test_numbers_are_compared_as_numbers(folder: IndexFolder) -> None:
    for number in (2, 9, 10):
        generation(folder, number)
    assert folder.next_generation().name == "index-11.sqlite"


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_leftover_side_file_takes_its_number(folder: IndexFolder, suffix: str) -> None:
    (folder.path / f"index-4.sqlite{suffix}").touch()
    assert folder.next_generation().name == "index-5.sqlite"


def test_the_number_of_a_lost_generation_is_not_given_again(folder: IndexFolder) -> None:
    (folder.path / "CURRENT").write_text("index-7.sqlite\n", encoding="ascii")
    assert folder.next_generation().name == "index-8.sqlite"


def test_numbers_grow_even_after_the_pointer_was_lost(room: Room) -> None:
    for number in (1, 2, 3):
        assert room.publish({"MEMORY.md": "router"}).name == f"index-{number}.sqlite"
    (room.path / "CURRENT").unlink()
    assert room.publish({"MEMORY.md": "router"}).name == "index-4.sqlite"
    assert [name for name in room.names() if name.startswith("index-3")] == []


# -- publishing ----------------------------------------------------------------------------------

FAIL_TO_PUBLISH = """
import resource, sys
from pathlib import Path
from notewell.errors import StateNotWritable
from notewell.index.sqlite.folder import IndexFolder

folder = IndexFolder(Path(sys.argv[1]))
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), before[1]))
try:
    folder.publish(folder.path / "index-2.sqlite")
except StateNotWritable as error:
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    sys.exit(f"{error.why} {error.path}" != f"File too large {folder.path}")
sys.exit("it was published")
"""


@pytest.mark.parametrize("room_bytes", [0, 1, 10, 14])
def test_a_pointer_that_could_not_be_written_whole_is_not_used(
    folder: IndexFolder, start: Callable[..., Child], room_bytes: int
) -> None:
    folder.publish(generation(folder, 1))
    generation(folder, 2)
    assert start(FAIL_TO_PUBLISH, folder.path, room_bytes).ended() == 0
    assert (folder.path / "CURRENT").read_bytes() == b"index-1.sqlite\n"
    folder.sweep()
    assert names(folder) == ["CURRENT", "index-1.sqlite"]


PUBLISH_IN_TURN = """
import sys
from pathlib import Path
from notewell.index.sqlite.folder import IndexFolder

folder = IndexFolder(Path(sys.argv[1]))
for turn in range(100):
    folder.publish(folder.path / f"index-{1 + turn % 2}.sqlite")
print("done", flush=True)
"""


def test_whoever_looks_meanwhile_sees_the_old_name_or_the_new_one(
    folder: IndexFolder, start: Callable[..., Child]
) -> None:
    generation(folder, 2)
    folder.publish(generation(folder, 1))
    child = start(PUBLISH_IN_TURN, folder.path)
    seen = set()
    while child.process.poll() is None:
        seen.add((folder.path / "CURRENT").read_bytes())
    assert child.line() == "done"
    assert seen == {b"index-1.sqlite\n", b"index-2.sqlite\n"}


def test_a_generation_that_is_not_there_is_not_published(folder: IndexFolder) -> None:
    folder.publish(generation(folder, 1))
    with pytest.raises(StateNotWritable, match="No such file"):
        folder.publish(folder.path / "index-2.sqlite")
    assert folder.current() == folder.path / "index-1.sqlite"


# -- tidying up ----------------------------------------------------------------------------------


def test_a_sweep_leaves_what_answers_and_what_was_paid_for(folder: IndexFolder) -> None:
    generation(folder, 1, "-wal", "-shm")
    generation(folder, 2, "-journal")  # half built
    folder.publish(generation(folder, 3, "-wal", "-shm"))
    for leftover in ("index-4.sqlite-wal", "index-5.sqlite-shm", "index-6.sqlite-journal"):
        (folder.path / leftover).touch()
    for kept in ("cache.sqlite", "cache.sqlite-wal", "writer.lock", "index-0.sqlite.damaged"):
        (folder.path / kept).touch()
    (folder.path / "CURRENT.tmp").touch()
    folder.mark_suspect(folder.path / "index-1.sqlite")
    folder.sweep()
    assert names(folder) == [
        "CURRENT",
        "cache.sqlite",
        "cache.sqlite-wal",
        "index-0.sqlite.damaged",
        "index-3.sqlite",
        "index-3.sqlite-shm",
        "index-3.sqlite-wal",
        "writer.lock",
    ]


def test_only_the_published_generation_is_left_when_all_others_must_go(
    folder: IndexFolder,
) -> None:
    generation(folder, 1, "-wal", "-shm")
    folder.publish(generation(folder, 2))
    generation(folder, 3, "-journal")
    for name in ("index-0.sqlite.damaged", "index-1.sqlite-map", "cache.sqlite"):
        (folder.path / name).touch()
    (folder.path / "index-9.sqlite.damaged").mkdir()  # We make no folders: it is not ours.
    folder.remove_others()
    left = ["CURRENT", "cache.sqlite", "index-2.sqlite", "index-9.sqlite.damaged"]
    assert names(folder) == left
    folder.discard()
    assert names(folder) == ["cache.sqlite", "index-9.sqlite.damaged"]
    assert folder.current() is None


def test_each_file_that_must_go_and_cannot_is_named(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    folder = IndexFolder(shared_path / "index")
    folder.create()
    folder.publish(generation(folder, 2))
    left = [generation(folder, 1), folder.path / "index-0.sqlite.damaged"]
    left[1].touch()
    folder.pointer.chmod(0o644)
    folder.path.chmod(0o555)
    with unprivileged():
        folder.sweep()
        with pytest.raises(OldTextLeft, match="Permission denied") as raised:
            folder.remove_others()
        with pytest.raises(StateNotWritable, match="CURRENT"):
            folder.discard()
    assert raised.value.paths == tuple(map(str, left))
    assert "folder" not in raised.value.public_text()
    folder.path.chmod(0o755)


def test_a_damaged_generation_is_kept_under_another_name(folder: IndexFolder) -> None:
    path = generation(folder, 1, "-wal", "-shm")
    path.write_bytes(b"damaged")
    kept = folder.set_aside(path)
    assert kept is not None
    assert kept.read_bytes() == b"damaged"
    assert names(folder) == ["index-1.sqlite.damaged"]
    assert folder.set_aside(path) is None


# -- word of damage ------------------------------------------------------------------------------


def test_word_of_damage_is_about_one_generation(folder: IndexFolder) -> None:
    first, second = generation(folder, 1), generation(folder, 2)
    assert not folder.is_suspect(first)
    folder.mark_suspect(first)
    assert (folder.is_suspect(first), folder.is_suspect(second)) == (True, False)
    (folder.path / "SUSPECT").write_bytes(b"\xff\xff")
    assert not folder.is_suspect(first)


def test_where_no_word_can_be_left_nothing_is_raised(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path / "missing")
    folder.mark_suspect(folder.path / "index-1.sqlite")
    assert not folder.is_suspect(folder.path / "index-1.sqlite")


# -- private -------------------------------------------------------------------------------------

WITHOUT_A_MASK = """
import os, sys
from pathlib import Path
os.umask(0)
from notewell import open_memory
from notewell.testing import HashEmbedder

with open_memory(sys.argv[1], state_dir=sys.argv[2], embedder=HashEmbedder()) as memory:
    memory.sync()
    memory.search("router")
    folder = memory.indexer.store.folder
    folder.mark_suspect(folder.current())
    with memory.indexer.store.writing(wait_s=0):
        print(folder.path, flush=True)
        input()
"""


def test_the_folder_and_every_file_are_for_their_owner_alone(
    tmp_path: Path, start: Callable[..., Child]
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "MEMORY.md").write_text("the router\n", encoding="utf-8")
    child = start(WITHOUT_A_MASK, tmp_path / "work", tmp_path / "state")
    folder = Path(child.line())
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {"CURRENT", "SUSPECT", "cache.sqlite", "index-1.sqlite-wal", "writer.lock"} <= set(
        modes
    )
    assert set(modes.values()) == {0o600}


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "index"):
        with pytest.raises(StateNotWritable) as raised:
            IndexFolder(path).create()
        assert raised.value.path == str(path)


# -- size ----------------------------------------------------------------------------------------


def test_the_size_is_that_of_everything(folder: IndexFolder) -> None:
    generation(folder, 1, "-wal")
    assert folder.size() == 2 * len(b"pages")


def test_what_cannot_be_looked_into_has_no_size(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    folder = IndexFolder(shared_path / "index")
    assert folder.size() == 0
    folder.create()
    generation(folder, 1)
    folder.path.chmod(0o000)
    with unprivileged():
        assert folder.size() == 0
        with pytest.raises(IndexUnreadable, match="Permission denied"):
            folder.newer_than(folder.path / "index-0.sqlite")
        with pytest.raises(IndexUnreadable, match="Permission denied"):
            folder.current()
