"""No text makes a regular expression of ours run away; a new one is tried without being asked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.hardening.attacks.patterns import Found, patterns, why_slow

from notewell.capture.review import MAX_CHARS
from notewell.capture.review_said import MAX_SENTENCE_CHARS
from notewell.core import MARKER_NAME

KNOWN: dict[str, Callable[[], Any]] = {
    "clients/merge_yaml.py: pattern": lambda: re.compile(
        r"^mcpServers:[ \t]*(?:#.*)?\r?$\n?", re.MULTILINE
    ),
    "core/times/english_phrases.py: shape": lambda: re.compile(
        r"(\d{4})([-/])(\d\d?)(?:\2(\d\d?)(?:t\d\d)?)?"
    ),
    "core/times/spans.py: pattern": lambda: re.compile(""),  # Every caller of it is found itself.
    "redaction/compiled.py: self._pattern": lambda: re.compile(""),  # So is every one of this.
    "imports/plan.py: mark": lambda: re.compile(
        rf"<!-- @mem0 #({MARKER_NAME}) -->[ \t]*$", re.MULTILINE
    ),
    "notes/entry.py: mark": lambda: re.compile(
        rf"<!-- @{MARKER_NAME} #7f3a -->(?=\n|\Z)".encode()
    ),
}
"""Patterns that are put together from what only a call knows."""

BOUNDS: dict[str, tuple[int, str]] = {
    "capture/review.py": (MAX_CHARS, "a statement that is longer is none"),
    "capture/review_said.py": (MAX_SENTENCE_CHARS, "a longer sentence is left out"),
    "doctor/state_files.py": (255, "it reads the names of files"),
    "entries/auto_capture.py": (
        500,
        "no more are captured, and of a longer text no more are looked at",
    ),
    "redaction/around.py": (900, "it reads the line of a topic, no further"),
    "redaction/asked.py": (600, "it reads a line near a topic, no further"),
    "redaction/beside.py": (320, "it reads what is behind a name, no further"),
    "redaction/chosen.py": (4096, "a longer value is no secret"),
    "redaction/codes.py": (100, "it reads what is around a name, no further"),
    "redaction/dialogs.py": (320, "it reads what is around a name, no further"),
    "redaction/label_proof.py": (320, "it reads what is around a name, no further"),
    "redaction/labelled.py": (160, "it reads a line up to a name, no further"),
    "redaction/message_lines.py": (600, "it reads a line near a topic, no further"),
    "redaction/neighbours.py": (600, "it reads the lines around a topic, no further"),
    "redaction/prefixed.py": (100, "it reads what is before a token, no further"),
    "redaction/sentences.py": (600, "it reads the line of a topic, no further"),
    "redaction/typed.py": (300, "it reads what is around a match, no further"),
    "redaction/weak_values.py": (200, "a longer value is no password"),
    "redaction/context.py": (1500, "a longer line is not looked at"),
    "qmd/failures.py": (1024, "lines of an error, their white space already gone"),
}
"""What is only ever asked about short texts."""

BUDGET_S = 0.3
"""Nearly all need less; tests/hardening/torture/attacks.py tries every text with the rest."""

FOUND = list(patterns(KNOWN))
DISTINCT = {(one.where, one.anchored): one for one in FOUND if one.pattern is not None}


def bound(found: Found) -> int:
    return BOUNDS.get(found.where.partition(":")[0], (sys.maxsize, ""))[0]


def test_every_pattern_in_the_source_is_known() -> None:
    unknown = [f"{found.where} (line {found.line})" for found in FOUND if found.pattern is None]
    assert unknown == []  # Say in KNOWN how it is put together.
    assert len(FOUND) > 60


@pytest.mark.parametrize(
    "found", DISTINCT.values(), ids=lambda one: f"{one.where.partition(':')[0]}, line {one.line}"
)
def test_no_text_makes_a_pattern_run_away(found: Found) -> None:
    assert why_slow(found, bound(found), BUDGET_S) is None


@pytest.mark.parametrize(
    ("pattern", "anchored"),
    [
        (r"(a+)+b", True),
        (r"[ \t]*x$", False),
        (r"<!--.*?-->", False),
        (r"(?:a|a)*c", True),
        (r"\s*,\s*;", False),
    ],
)
def test_a_pattern_that_runs_away_is_caught(pattern: str, *, anchored: bool) -> None:
    assert why_slow(Found("here", 1, re.compile(pattern), anchored), sys.maxsize)
