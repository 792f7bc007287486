"""A note that is made appears whole, also where a file can have one name only."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from notewell.capture import NoteWriter
from notewell.notes.workspace import Workspace

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_note_takes_the_next_number_and_leaves_nothing_beside_it(
    has_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not has_links:
        monkeypatch.setattr(os, "link", refused)  # as FAT says it
    (tmp_path / "ws").mkdir()
    place = NoteWriter(Workspace.open(tmp_path / "ws"), tmp_path / "state", lambda text: text)

    for text in ("first", "second"):
        place.create("2026-11-15-talk", text)

    assert {
        path.name: path.read_text(encoding="utf-8")
        for path in (tmp_path / "ws" / "memory").iterdir()
    } == {
        "2026-11-15-talk.md": "first",
        "2026-11-15-talk-2.md": "second",
    }
