"""`--fix` does what is safe, tells it, and has nothing left to do the second time."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.capture import capture_dir
from notewell.doctor import Subject, examine, repair
from notewell.doctor.finding import Finding, RepairStore
from notewell.errors import EmbedderMissing
from notewell.index.sqlite import open_writer, writer_lease
from notewell.testing import BrokenEmbedder

if TYPE_CHECKING:
    from tests.doctor.conftest import Ward

NEWER = 99


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def put(file: Path, data: bytes = b"old") -> None:
    """As we write: for its owner alone."""
    file.write_bytes(data)
    file.chmod(0o600)


def everything(*folders: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file with its mode and content; side files of SQLite come and go by being read, and a
    lock has the time in it."""
    return {
        str(path): (mode(path), path.stat().st_ino, path.read_bytes() if path.is_file() else b"")
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith(("-wal", "-shm", ".lock"))
    }


def assert_nothing_is_left_to_fix(ward: Ward) -> None:
    before = everything(ward.state, ward.workspace)
    assert ward.fix() == []
    assert everything(ward.state, ward.workspace) == before


def test_a_memory_without_an_index_gets_one(ward: Ward) -> None:
    notes = everything(ward.workspace)
    (deed,) = ward.fix()
    assert (
        deed.message == "built a new one: 2 notes written, 0 forgotten, 3 vectors added, 0 waiting"
    )
    assert ward.todo() == []
    assert everything(ward.workspace) == notes
    assert_nothing_is_left_to_fix(ward)


def test_an_index_that_is_behind_is_brought_up_to_date(ward: Ward) -> None:
    ward.sync()
    (ward.workspace / "memory" / "new.md").write_text("more\n", encoding="utf-8")
    (ward.workspace / "MEMORY.md").unlink()
    (deed,) = ward.fix()
    assert deed.message.startswith("brought it up to date: 1 note written, 1 forgotten")
    assert_nothing_is_left_to_fix(ward)


def test_our_files_are_closed_to_others_and_no_other_file_is_touched(ward: Ward) -> None:
    ward.sync()
    captures = capture_dir(ward.state, "main", ward.workspace.resolve())
    captures.mkdir(parents=True)
    history, theirs = captures / "history.jsonl", captures / "mine.txt"
    for file in (history, theirs, ward.state / "redaction.key"):
        file.write_bytes(b"")
        file.chmod(0o644)
    ward.current.chmod(0o664)
    ward.index.chmod(0o775)
    ward.state.chmod(0o755)
    assert {deed.what for deed in ward.fix()} == {"permissions"}
    closed = (history, ward.current, ward.state / "redaction.key")
    assert [mode(path) for path in closed] == [0o600] * 3
    assert [mode(path) for path in (ward.index, captures)] == [0o700] * 2
    assert (mode(theirs), mode(ward.state)) == (0o644, 0o755)
    assert_nothing_is_left_to_fix(ward)


def test_a_state_folder_that_is_the_workspace_too_keeps_its_notes(ward: Ward) -> None:
    ward.state = ward.workspace
    note = ward.workspace / "memory" / "main-0123456789ab" / "index-1.sqlite.md"
    note.parent.mkdir()
    note.write_text("a note with an odd name\n", encoding="utf-8")
    note.chmod(0o644)
    ward.sync()
    before = {path: mode(path) for path in ward.workspace.rglob("*.md")}
    ward.later = timedelta(days=99)
    ward.fix()
    assert {path: mode(path) for path in ward.workspace.rglob("*.md")} == before


def test_what_belongs_to_no_index_is_swept_and_the_rest_stays(ward: Ward) -> None:
    ward.sync()
    for name in ("index-9.sqlite", "index-9.sqlite-wal", "CURRENT.tmp", "index-3.sqlite.damaged"):
        put(ward.index / name)
    put(ward.index / "SUSPECT", b"index-9.sqlite\n")
    (ward.index / "mine.txt").write_text("not yours\n", encoding="ascii")
    (deed,) = ward.fix()
    assert "index-9.sqlite-wal" in deed.message
    left = {path.name for path in ward.index.iterdir() if not path.name.endswith(("-wal", "-shm"))}
    assert left == {
        *("CURRENT", "index-1.sqlite", "index-3.sqlite.damaged", "cache.sqlite", "mine.txt"),
        *("writer.lock", "embedder.lock", "cache.lock"),
    }
    assert_nothing_is_left_to_fix(ward)
    ward.later = timedelta(days=31)
    (deed,) = ward.fix()
    assert deed.message.startswith("removed index-3.sqlite.damaged")


def test_a_generation_that_is_being_built_is_never_swept(ward: Ward) -> None:
    ward.sync()
    half = ward.index / "index-9.sqlite"
    put(half)
    with writer_lease(ward.index / "writer.lock", wait_s=0):
        assert ward.fix() == []
    assert half.exists()


def test_sweeping_waits_for_the_writer_and_then_says_who_it_is(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    ward.sync()
    put(ward.index / "index-9.sqlite")
    monkeypatch.setattr("notewell.doctor.repairs.LEASE_WAIT_S", 0.0)
    finding = Finding(
        "orphans", "seen before the writer came", None, RepairStore(ward.index, "sweep")
    )
    with writer_lease(ward.index / "writer.lock", wait_s=0):
        (deed,) = repair(ward.patient, [finding])
    assert deed.failed
    assert f"process {os.getpid()}" in deed.message


def test_the_index_of_a_newer_version_is_never_removed(ward: Ward) -> None:
    ward.sync()
    ward.close()
    newer = ward.index / "index-9.sqlite"
    put(newer, ward.current.read_bytes())
    for generation in (newer, ward.current):
        db = open_writer(generation)
        db.pragma("user_version", NEWER)
        db.close()
    before = everything(ward.state)
    assert ward.fix() == []
    assert everything(ward.state) == before


def test_an_old_schema_is_rebuilt(ward: Ward) -> None:
    ward.sync()
    ward.close()
    db = open_writer(ward.current)
    db.pragma("user_version", 1)
    db.close()
    (deed,) = ward.fix()
    assert deed.message.startswith("built a new one")
    assert ward.todo() == []
    assert_nothing_is_left_to_fix(ward)


def test_a_damaged_index_is_set_aside_and_rebuilt_and_an_earlier_one_stays(
    ward: Ward, flip: Callable[[Path, int], None]
) -> None:
    ward.sync()
    ward.close()
    earlier = ward.index / "index-0.sqlite.damaged"
    put(earlier)
    flip(ward.current, 3)
    damaged = ward.current.read_bytes()
    (deed,) = ward.fix()
    assert deed.message.startswith("set the damaged index aside as index-1.sqlite.damaged; built")
    assert (ward.index / "index-1.sqlite.damaged").read_bytes() == damaged
    assert earlier.exists()
    assert ward.todo() == []
    assert ward.verify().agrees
    assert_nothing_is_left_to_fix(ward)


def test_a_page_that_only_a_search_would_meet_is_mended_after_the_search_left_word(
    ward: Ward,
) -> None:
    ward.sync()
    put(ward.index / "SUSPECT", f"{ward.current.name}\n".encode())
    (deed,) = ward.fix()
    assert "set the damaged index aside" in deed.message
    assert ward.todo() == []


def test_a_damaged_cache_is_begun_anew(ward: Ward, flip: Callable[[Path, int], None]) -> None:
    ward.sync()
    ward.close()
    flip(ward.index / "cache.sqlite", 2)
    (deed,) = ward.fix()
    assert deed.what == "cache"
    # The index has them, so nobody computes them again.
    assert "copied 3 vectors from the index" in deed.message
    assert ward.todo() == []
    assert_nothing_is_left_to_fix(ward)


def test_hidden_copies_of_notes_are_removed_a_day_later(ward: Ward) -> None:
    ward.sync()
    copies = [
        ward.workspace / ".edit-0123456789abcdef.tmp",
        ward.workspace / "memory" / ".new-4711-0a1b2c3d.tmp",
    ]
    for copy in copies:
        copy.write_text("what the user has removed", encoding="utf-8")
    mine = ward.workspace / "memory" / ".edit-mine.tmp"
    mine.write_text("not ours", encoding="utf-8")
    assert ward.fix() == []  # A process may be writing them.
    ward.later = timedelta(days=2)
    (deed,) = ward.fix()
    assert deed.message == "removed 2 temporary files"
    assert [copy.exists() for copy in (*copies, mine)] == [False, False, True]


def test_temporary_files_of_dead_writers_are_removed(ward: Ward) -> None:
    ward.sync()
    left = ward.state / "models" / f".dims.json-{os.getpid()}-0a1b2c3d"
    fetching = ward.state / "models" / ".fetching-abc123"
    fetching.mkdir(parents=True)
    (fetching / "model.onnx").write_bytes(b"half")
    left.write_bytes(b"half")
    ward.later = timedelta(days=2)
    (deed,) = ward.fix()
    assert deed.message == "removed 2 temporary files"
    assert not left.exists()
    assert not fetching.exists()
    assert_nothing_is_left_to_fix(ward)


def test_an_embedder_that_is_down_does_not_keep_the_words_from_being_indexed(ward: Ward) -> None:
    trouble = EmbedderMissing("voyage", "no key", "set VOYAGE_API_KEY")
    ward.embedder = BrokenEmbedder(trouble)
    (deed,) = ward.fix()
    assert deed.message.endswith("3 waiting")
    assert {one.what for one in ward.todo()} == {"index", "embedder", "sync"}
    assert ward.fix() == []


def test_without_a_memory_nothing_is_set_aside(
    ward: Ward, flip: Callable[[Path, int], None]
) -> None:
    ward.sync()
    ward.close()
    flip(ward.current, 3)
    patient = Subject.without_memory("main", ward.workspace, ward.state, "bad settings")
    before = everything(ward.state)
    assert repair(patient, examine(patient)) == []
    assert everything(ward.state) == before


def test_what_somebody_else_has_mended_meanwhile_is_left_alone(
    ward: Ward, flip: Callable[[Path, int], None]
) -> None:
    ward.sync()
    ward.close()
    flip(ward.current, 3)
    patient = ward.patient
    findings = examine(patient)
    ward.fix()
    before = everything(ward.state)
    assert repair(patient, findings) == []
    assert everything(ward.state) == before
    assert json.loads((ward.index / "writer.lock").read_bytes())["pid"] == os.getpid()
