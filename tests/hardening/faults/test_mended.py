"""What the faults have brought to light, each by itself and without the library."""

from __future__ import annotations

import hashlib
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from notewell.capture import NoteWriter, writes
from notewell.capture.undo import undo_write
from notewell.errors import EditRefused, StateNotWritable
from notewell.files import append_json_line, read_json, read_json_lines, writable_dir, write_json
from notewell.index.sqlite import IndexFolder
from notewell.notes import EditableFolder, Entry
from notewell.notes.workspace import Workspace

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = date(2026, 11, 15)


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """A write that goes beyond is cut short, as on a disk that is nearly full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_line_that_fits_only_in_part_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    append_json_line(log, {"number": 1})
    whole = log.read_bytes()
    with files_up_to(len(whole) + 5), pytest.raises(StateNotWritable):
        append_json_line(log, {"number": 2})
    assert log.read_bytes() == whole
    append_json_line(log, {"number": 3})
    assert list(read_json_lines(log)) == [{"number": 1}, {"number": 3}]


def test_what_a_kill_left_of_a_state_file_goes_with_the_next_write(tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere"
    secret.write_text("not ours", encoding="utf-8")
    (tmp_path / ".flush.json.tmp").symlink_to(secret)
    write_json(tmp_path / "flush.json", {"a": 1})
    assert names(tmp_path) == ["elsewhere", "flush.json"]
    assert read_json(tmp_path / "flush.json") == {"a": 1}
    assert secret.read_text(encoding="utf-8") == "not ours"


def test_what_a_kill_left_of_an_undo_goes_with_the_next_one(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    place = NoteWriter(Workspace.open(root), tmp_path / "state", str)
    place.append(Entry("one", "test"), DAY, now=NOW)
    place.append(Entry("two", "test"), DAY, now=NOW)
    left = f".edit-{hashlib.sha256(b'2026-11-15.md').hexdigest()[:16]}.tmp"
    (root / "memory" / left).write_text("half", encoding="utf-8")
    undo_write(place.notes, place.folder, writes(place.folder, place.notes)[0].id, now=NOW)
    assert names(root / "memory") == ["2026-11-15.md"]


@pytest.mark.parametrize("unnamed", [True, False])
def test_an_agents_note_is_whole_with_and_without_files_that_have_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, unnamed: bool
) -> None:
    if not unnamed:
        monkeypatch.setattr(writable_dir, "_UNNAMED", 0)
    own = EditableFolder(tmp_path.resolve(), "memory/claude", now=lambda: NOW)
    own.create("plan.md", b"old")
    with pytest.raises(EditRefused, match="something of that name is there"):
        own.create("plan.md", b"other")
    left = f".edit-{hashlib.sha256(b'plan.md').hexdigest()[:16]}.tmp"
    (tmp_path / "memory" / "claude" / left).write_text("half", encoding="utf-8")
    own.replace("plan.md", b"new", expected=own.read("plan.md").digest)
    with files_up_to(100), pytest.raises(EditRefused):
        own.create("large.md", b"x" * 1000)
    assert names(tmp_path / "memory" / "claude") == ["plan.md"]
    assert own.read("plan.md").data == b"new"


def test_a_file_system_that_knows_no_unnamed_files_gets_named_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writable_dir, "_UNNAMED", os.O_DIRECTORY)  # EISDIR, as old systems say it
    own = EditableFolder(tmp_path.resolve(), "memory/claude", now=lambda: NOW)
    own.create("plan.md", b"old")
    assert own.read("plan.md").data == b"old"


def test_what_cannot_be_swept_is_left_for_the_next_time(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    (tmp_path / "index-1.sqlite").mkdir()
    (tmp_path / "CURRENT.tmp").mkdir()
    (tmp_path / "index-2.sqlite").write_bytes(b"old")
    folder.sweep()
    assert names(tmp_path) == ["CURRENT.tmp", "index-1.sqlite"]
