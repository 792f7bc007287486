"""A note that is empty for a moment is being saved in place; one that was replaced is empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from notewell.notes import open_notes
from notewell.sync.text_sources import BEING_WRITTEN_NS, notes_source


@pytest.fixture
def note(tmp_path: Path) -> Path:
    note = tmp_path / "memory" / "a.md"
    note.parent.mkdir()
    note.write_text("the zebra runs\n", encoding="utf-8")
    return note


def shown_size(note: Path, empty: Path, *, after_ns: int = 0) -> int:
    """The size that a sync sees after the note is empty: the old one while it is being saved."""
    notes = open_notes(note.parent.parent)
    indexed = {path: found.stat for path, found in notes.scan().notes.items()}
    empty.write_bytes(b"")
    if empty != note:
        empty.replace(note)
    now_ns = note.stat().st_mtime_ns + after_ns
    scan = notes_source(notes, None, everything=False, now_ns=now_ns).scan(indexed)
    return scan.notes["memory/a.md"].stat.size


def test_a_note_that_was_cut_in_place_a_moment_ago_is_being_saved(note: Path) -> None:
    assert shown_size(note, note) > 0


def test_a_note_that_stays_empty_is_empty(note: Path) -> None:
    assert shown_size(note, note, after_ns=BEING_WRITTEN_NS) == 0


def test_a_note_that_was_replaced_by_an_empty_one_is_empty_at_once(note: Path) -> None:
    assert shown_size(note, note.with_name("new.tmp")) == 0
