"""A folder of its own for an agent: what is there is never lost, and no way leads out."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.errors import EditRefused, NoteBusy
from notewell.files import WritableDir
from notewell.notes.edit import (
    MAX_EDIT_BYTES,
    MAX_ENTRIES,
    EditableFolder,
)
from notewell.notes.workspace import Workspace

NOON = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def place(root: Path) -> Path:
    return root / "memory" / "claude"


@pytest.fixture
def folder(root: Path) -> EditableFolder:
    return EditableFolder(root, "memory/claude", now=lambda: NOON, wait_s=0.05)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def refused(work: Callable[[], object]) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        work()
    return caught.value


def all_files(path: Path) -> dict[str, str]:
    return {
        file.relative_to(path).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


# -- creating and reading ------------------------------------------------------------------------


def test_a_created_note_is_a_note_of_the_memory(root: Path, folder: EditableFolder) -> None:
    folder.create("projects/router.md", b"# Router\n")
    assert folder.read("projects/router.md").data == b"# Router\n"
    assert "memory/claude/projects/router.md" in Workspace.open(root).scan().notes


def test_creating_never_writes_over_what_is_there(place: Path, folder: EditableFolder) -> None:
    folder.create("a.md", b"first")
    assert refused(lambda: folder.create("a.md", b"second")).reason == "exists"
    assert all_files(place) == {"a.md": "first"}


def test_of_a_create_that_fails_nothing_remains(
    place: Path, folder: EditableFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    folder.create("a.md", b"first")
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        assert refused(lambda: folder.create("b.md", b"second")).reason == "disk"
    assert all_files(place) == {"a.md": "first"}


def test_too_much_is_refused_before_anything_is_made(place: Path, folder: EditableFolder) -> None:
    assert refused(lambda: folder.create("a.md", b"x" * (MAX_EDIT_BYTES + 1))).reason == "limit"
    assert not place.exists()


def test_a_folder_has_a_limit(place: Path, folder: EditableFolder) -> None:
    place.mkdir(parents=True)
    for number in range(MAX_ENTRIES):
        (place / f"{number}.md").touch()
    assert refused(lambda: folder.create("more.md", b"")).reason == "limit"
    folder.create("below/more.md", b"")


def test_a_listing_has_notes_and_folders_only(place: Path, folder: EditableFolder) -> None:
    folder.create("a.md", b"1234")
    folder.create("sub/b.md", b"")
    (place / ".hidden.md").touch()
    (place / "picture.png").touch()
    (place / "link.md").symlink_to(place / "a.md")
    os.mkfifo(place / "pipe.md")
    assert [(entry.path, entry.kind) for entry in folder.entries("")] == [
        ("a.md", "note"),
        ("sub", "folder"),
    ]


@pytest.mark.parametrize("outside", ["memory", "notes/claude", "memory/../x", "", "memory/.git"])
def test_only_a_folder_below_memory_can_be_given_away(root: Path, outside: str) -> None:
    assert refused(lambda: EditableFolder(root, outside)).reason == "name"


# -- replacing -----------------------------------------------------------------------------------


def test_a_note_is_replaced_when_it_is_the_one_that_was_read(
    place: Path, folder: EditableFolder
) -> None:
    folder.create("a.md", b"first")
    (place / "a.md").chmod(0o640)
    assert folder.replace("a.md", b"second", expected=digest("first")) is None
    assert all_files(place) == {"a.md": "second"}
    assert stat.S_IMODE((place / "a.md").stat().st_mode) == 0o640


def test_a_note_that_changed_meanwhile_is_left_alone(place: Path, folder: EditableFolder) -> None:
    folder.create("a.md", b"first")
    (place / "a.md").write_text("the user's", encoding="utf-8")
    stale = refused(lambda: folder.replace("a.md", b"second", expected=digest("first")))
    assert stale.reason == "changed"
    assert all_files(place) == {"a.md": "the user's"}


def test_a_note_that_is_replaced_while_ours_is_written_is_left_alone(
    place: Path, folder: EditableFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor saves while the temporary file is on its way to the disk."""
    folder.create("a.md", b"first")
    real = os.fsync

    def meanwhile(fd: int) -> None:
        other = place / "other"
        other.write_text("the user's", encoding="utf-8")
        other.replace(place / "a.md")
        real(fd)

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", meanwhile)
        stale = refused(lambda: folder.replace("a.md", b"second", expected=digest("first")))
    assert stale.reason == "changed"
    assert all_files(place) == {"a.md": "the user's"}


def test_what_is_written_in_the_last_moment_is_kept(
    place: Path, folder: EditableFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor writes into the old file between our last look and the rename."""
    folder.create("a.md", b"first")
    real = os.rename

    def meanwhile(old: str, new: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        (place / "a.md").write_text("the user's", encoding="utf-8")
        real(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    with monkeypatch.context() as disk:
        disk.setattr(os, "rename", meanwhile)
        kept = folder.replace("a.md", b"second", expected=digest("first"))
    assert kept == "memory/claude/.trash/20261115T120000Z-1/a.md"
    assert all_files(place) == {"a.md": "second", ".trash/20261115T120000Z-1/a.md": "the user's"}


def test_whoever_holds_the_lock_is_waited_for(place: Path, folder: EditableFolder) -> None:
    import fcntl

    folder.create("a.md", b"first")
    with (place / "a.md").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(NoteBusy):
            folder.replace("a.md", b"second", expected=digest("first"))
        with pytest.raises(NoteBusy):
            folder.trash("a.md")
        with pytest.raises(NoteBusy):
            folder.move("a.md", "b.md")
    assert all_files(place) == {"a.md": "first"}


def test_a_note_made_read_only_is_not_replaced(
    shared_path: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    place = shared_path / "memory" / "claude"
    place.mkdir(parents=True)
    place.chmod(0o777)
    (place / "a.md").write_text("first", encoding="utf-8")
    (place / "a.md").chmod(0o444)
    folder = EditableFolder(shared_path, "memory/claude")
    with unprivileged():
        assert refused(lambda: folder.replace("a.md", b"x", expected=digest("first"))).reason == (
            "disk"
        )
    assert all_files(place) == {"a.md": "first"}


def test_of_many_writers_each_success_is_a_step_from_what_it_read(place: Path, root: Path) -> None:
    """Compare-and-swap: a counter that four threads add to loses no addition."""
    EditableFolder(root, "memory/claude").create("n.md", b"0")
    threads = [threading.Thread(target=_add_five, args=(root,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all_files(place) == {"n.md": "20"}


def _add_five(root: Path) -> None:
    folder = EditableFolder(root, "memory/claude")
    added = 0
    while added < 5:
        before = folder.read("n.md")
        more = str(int(before.data) + 1).encode()
        with suppress(EditRefused):  # somebody was quicker
            folder.replace("n.md", more, expected=before.digest)
            added += 1


# -- moving --------------------------------------------------------------------------------------


def test_a_move_lands_on_nothing_of_anybodys(place: Path, folder: EditableFolder) -> None:
    folder.create("a.md", b"a")
    folder.create("b.md", b"b")
    assert refused(lambda: folder.move("a.md", "b.md")).reason == "exists"
    folder.move("a.md", "sub/c.md")
    assert all_files(place) == {"b.md": "b", "sub/c.md": "a"}


def test_a_folder_moves_with_all_that_is_in_it(place: Path, folder: EditableFolder) -> None:
    folder.create("old/a.md", b"a")
    folder.create("old/sub/b.md", b"b")
    folder.create("taken/c.md", b"c")
    assert refused(lambda: folder.move("old", "taken")).reason == "exists"
    assert refused(lambda: folder.move("old", "old/sub/old")).reason == "name"
    folder.move("old", "new/place")
    assert all_files(place) == {
        "new/place/a.md": "a",
        "new/place/sub/b.md": "b",
        "taken/c.md": "c",
    }


def test_a_move_that_fails_leaves_no_empty_note(
    place: Path, folder: EditableFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: str, **__: int) -> None:
        raise OSError(18, "Invalid cross-device link")

    folder.create("a.md", b"a")
    folder.create("sub/b.md", b"b")
    with monkeypatch.context() as disk:
        disk.setattr(os, "rename", broken)
        disk.setattr(WritableDir, "rename_no_replace", lambda *_: False)  # as FAT has it
        assert refused(lambda: folder.move("a.md", "c.md")).reason == "disk"
        assert refused(lambda: folder.move("sub", "other")).reason == "disk"
    assert all_files(place) == {"a.md": "a", "sub/b.md": "b"}
    assert not (place / "other").exists()


def test_what_is_not_there_cannot_be_moved(place: Path, folder: EditableFolder) -> None:
    folder.create("a.md", b"a")
    assert refused(lambda: folder.move("b.md", "c.md")).reason == "missing"
    assert all_files(place) == {"a.md": "a"}


# -- trash ---------------------------------------------------------------------------------------


def test_what_is_deleted_lies_in_the_trash_and_is_no_note_any_more(
    root: Path, place: Path, folder: EditableFolder
) -> None:
    for text in (b"one", b"two"):  # twice in the same second
        folder.create("sub/a.md", text)
        folder.trash("sub/a.md")
    assert all_files(place) == {
        ".trash/20261115T120000Z-1/sub/a.md": "one",
        ".trash/20261115T120000Z-2/sub/a.md": "two",
    }
    assert not Workspace.open(root).scan().notes


def test_a_folder_goes_into_the_trash_whole(place: Path, folder: EditableFolder) -> None:
    folder.create("sub/a.md", b"a")
    (place / "sub" / "picture.png").write_text("p", encoding="utf-8")
    assert folder.trash("sub") == "memory/claude/.trash/20261115T120000Z-1/sub"
    assert all_files(place) == {
        ".trash/20261115T120000Z-1/sub/a.md": "a",
        ".trash/20261115T120000Z-1/sub/picture.png": "p",
    }


def test_the_folder_itself_and_the_trash_cannot_be_trashed(folder: EditableFolder) -> None:
    folder.create("a.md", b"a")
    folder.trash("a.md")
    for path in ("", ".trash", ".trash/20261115T120000Z-1/a.md"):
        assert refused(partial(folder.trash, path)).reason == "name"


# -- no way out ----------------------------------------------------------------------------------

HOSTILE = [
    "../outside.md",
    "sub/../../outside.md",
    "./a.md",
    "sub//a.md",
    "/etc/passwd.md",
    "..",
    ".",
    ".hidden.md",
    ".git/a.md",
    "node_modules/a.md",
    "a\0.md",
    "a\n.md",
    "a\x1b[2J.md",
    "..\\outside.md",
    "a (conflicted copy 2026-11-15).md",
    "\udcff.md",
    "a.txt",
    "x" * 2000 + ".md",
    "/".join("d" * 70) + "/a.md",
]


@pytest.mark.parametrize("path", HOSTILE, ids=ascii)
def test_a_path_that_leads_elsewhere_is_refused(
    tmp_path: Path, folder: EditableFolder, path: str
) -> None:
    folder.create("a.md", b"a")
    before = all_files(tmp_path)
    assert refused(lambda: folder.create(path, b"evil")).reason == "name"
    assert refused(lambda: folder.replace(path, b"evil", expected=digest("a"))).reason == "name"
    assert refused(lambda: folder.move("a.md", path)).reason == "name"
    assert all_files(tmp_path) == before


def test_a_name_the_disk_cannot_take_is_refused(folder: EditableFolder) -> None:
    assert refused(lambda: folder.create("é" * 150 + ".md", b"")).reason == "disk"


def test_links_are_neither_followed_nor_moved(
    tmp_path: Path, place: Path, folder: EditableFolder
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    folder.create("a.md", b"a")
    (place / "file.md").symlink_to(outside / "secret.md")
    (place / "way").symlink_to(outside, target_is_directory=True)
    for work in (
        lambda: folder.read("file.md"),
        lambda: folder.read("way/secret.md"),
        lambda: folder.replace("file.md", b"evil", expected=digest("secret")),
        lambda: folder.replace("way/secret.md", b"evil", expected=digest("secret")),
        lambda: folder.create("way/new.md", b"evil"),
        lambda: folder.move("a.md", "way/a.md"),
        lambda: folder.move("way/secret.md", "b.md"),
        lambda: folder.move("way", "other"),
        lambda: folder.trash("way"),
        lambda: folder.trash("way/secret.md"),
        lambda: folder.entries("way"),
    ):
        assert refused(work).reason == "kind"
    assert all_files(outside) == {"secret.md": "secret"}
    assert (place / "a.md").exists()


@pytest.mark.parametrize("linked", ["memory", "memory/claude", "memory/claude/.trash"])
def test_a_link_on_the_way_is_refused(
    tmp_path: Path, root: Path, folder: EditableFolder, linked: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / linked).parent.mkdir(parents=True, exist_ok=True)
    (root / linked).symlink_to(outside, target_is_directory=True)

    def make_and_delete() -> None:
        folder.create("a.md", b"a")
        folder.trash("a.md")

    assert refused(make_and_delete).reason == "kind"
    assert not all_files(outside)


SWAPPER = """
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

place = Path(sys.argv[1])
sub, link = place / "sub", place / "link"
print("ready", flush=True)
for number in count():
    aside = place / f"aside-{number}"
    with suppress(OSError):  # what is written makes the folder anew now and then
        sub.rename(aside)
        link.rename(sub)
    if sub.is_symlink():
        sub.rename(link)
    with suppress(OSError):
        aside.rename(sub)
"""


def test_a_link_swapped_in_and_out_leads_nowhere(
    tmp_path: Path, place: Path, folder: EditableFolder
) -> None:
    """Another process puts a link in place of a folder as fast as it can, while we write."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (place / "sub").mkdir(parents=True)
    (place / "link").symlink_to(outside, target_is_directory=True)
    with _swapping(place):
        for number in range(300):
            path = f"sub/{number}.md"
            for work in (
                partial(folder.create, path, b"a"),
                partial(folder.replace, path, b"b", expected=digest("a")),
                partial(folder.trash, path),
            ):
                with suppress(EditRefused):
                    work()
    assert not all_files(outside)


@contextmanager
def _swapping(place: Path) -> Iterator[None]:
    command = [sys.executable, "-c", SWAPPER, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        try:
            assert swapper.stdout is not None
            swapper.stdout.readline()
            yield
            assert swapper.poll() is None
        finally:
            swapper.kill()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["..", ".", "", "a", "b.md", "/", "~", "%2e%2e", "．．", "‥", "C:", ".x"]),
        min_size=1,
        max_size=5,
    ).map("/".join)
)
def test_no_path_made_of_tricks_leaves_the_folder(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    base = tmp_path_factory.mktemp("jail").resolve()
    (base / "workspace").mkdir()
    folder = EditableFolder(base / "workspace", "memory/claude")
    with suppress(EditRefused):
        folder.create(path, b"x")
    for file in base.rglob("*"):
        assert file.is_dir() or file.is_relative_to(base / "workspace" / "memory" / "claude")
