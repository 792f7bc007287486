"""A workspace and a state folder of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from notewell.capture import NoteWriter
from notewell.notes.workspace import Workspace
from notewell.redaction import Redactor


@pytest.fixture
def place(tmp_path: Path) -> NoteWriter:
    root = tmp_path / "workspace"
    root.mkdir()
    return NoteWriter(Workspace.open(root), tmp_path / "state", Redactor())
