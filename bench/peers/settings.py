"""What the programs have in common: their environment, and notes cut into passages."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import stop_words
from notewell.evals.baseline import windows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.peers.peer import PeerHome

PASSED_ON = ("LANG", "TMPDIR", "TZ")
NO_TELEMETRY = {
    "DO_NOT_TRACK": "1",
    "MEM0_TELEMETRY": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "BASIC_MEMORY_NO_PROMOS": "1",
}
"""A benchmark of ours must not report to others about the machine it runs on."""


class Passage(NamedTuple):
    """A piece of a note."""

    path: str
    start_line: int
    end_line: int
    text: str


def environ(home: PeerHome, *programs: Path) -> dict[str, str]:
    """A fresh home, and no key, proxy or setting of the user."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    return {**kept, **NO_TELEMETRY, "PATH": path, "HOME": str(home.state), "NO_COLOR": "1"}


def passages(notes: Path) -> Iterator[Passage]:
    """For a program that stores texts and reads no files: 1600 characters with 320 of overlap,
    as the full-text search that `notewell eval` compares with cuts them."""
    for file in sorted(notes.rglob("*.md")):
        path = file.relative_to(notes).as_posix()
        for start, end, text in windows(file.read_text(encoding="utf-8")):
            if text.strip():
                yield Passage(path, start, end, text)


def all_words(question: str) -> list[str]:
    """Each once, in lower case, without marks that a query language may read as operators."""
    return list(dict.fromkeys(re.findall(r"\w+", question.lower())))


def content_words(question: str) -> list[str]:
    """Without those that every note has."""
    words = all_words(question)
    return [word for word in words if word not in stop_words()] or words


class NotesUnchanged:
    """For most peers: they are given the notes under their own names."""

    def note_path(self, path: str) -> str:
        return path
