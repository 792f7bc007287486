"""The notes: how many there are, which cannot be read or written, which have impossible dates."""

from __future__ import annotations

import os
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from notewell.doctor.finding import FIX, MOST_LISTED, Finding, RemoveFiles
from notewell.doctor.state_dir import may
from notewell.doctor.state_files import LEFT_BEHIND_S, age_s, files
from notewell.files import EDIT_COPY
from notewell.notes import is_conflict_copy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.types import Ignored, Scan

_DAY = re.compile(r"(?:^|/)(\d{4}-\d\d-\d\d)[^/]*$")
SLACK = timedelta(days=1)
"""In another time zone it is tomorrow already."""


def notes(scan: Scan, location: str, first_step: str) -> Iterator[Finding]:
    """`first_step` is for a memory without notes."""
    number = len(scan.notes)
    todo = None if number else first_step
    count = f"{number} note{'' if number == 1 else 's'}"
    yield Finding("notes", f"{count} in {location}", todo, public_message=count, public_todo=todo)
    for one in scan.unreadable[:MOST_LISTED]:
        yield Finding("notes", f"{one.path}: {one.why}", "let Notewell read it")
    # Conflict copies are ignored by the scan, so their content is invisible until merged.
    conflicts = [one for one in scan.ignored if is_conflict_copy(one.path.rsplit("/", 1)[-1])]
    todo = "merge it into its original and delete it; until then no search finds its content"
    yield from _each("conflict", [one.path for one in conflicts], "a sync-conflict copy", todo)
    yield from _left_out([one for one in scan.ignored if one not in conflicts])


def _left_out(ignored: Sequence[Ignored]) -> Iterator[Finding]:
    for one in ignored[:MOST_LISTED]:
        yield Finding("notes", f"left out: {one.path}: {one.why}")
    if ignored[MOST_LISTED:]:
        yield Finding.public("notes", f"left out: {len(ignored) - MOST_LISTED} more")


def closed_files(scan: Scan, root: Path) -> Iterator[Finding]:
    """What cannot be read, and what agents cannot append to. A workspace that is read-only as a
    whole may be intended."""
    # A scan reads names and stats only, so a note that cannot be opened is among its notes.
    unreadable = [path for path in scan.notes if not may(root / path, os.R_OK)]
    yield from _each("notes", unreadable, "permission denied", "let Notewell read it")
    if not may(root, os.W_OK):
        message = f"{root} is read-only: notes are searched; nothing is appended or captured"
        yield Finding("notes", message)
        return
    readable = (path for path in scan.notes if may(root / path, os.R_OK))
    closed = [path for path in readable if not may(root / path, os.W_OK)]
    yield from _each("notes", closed, "cannot be appended to", "make it writable, if agents write")


def copies(root: Path, now_s: float) -> Iterator[Finding]:
    """Whole copies of notes that a killed process has left. They are hidden, so no search and no
    editor shows them, and they keep what the user has removed from the note."""
    left = tuple(path for path in _hidden_copies(root) if age_s(path, now_s) > LEFT_BEHIND_S)
    if left:
        message = f"hidden copies of notes that a killed process left, first {left[0]}"
        yield Finding("orphans", message, FIX, RemoveFiles(left))


def _hidden_copies(root: Path) -> Iterator[Path]:
    yield from (path for path in files(root) if EDIT_COPY.fullmatch(path.name))
    for folder, _, names in os.walk(root / "memory"):
        yield from (root / folder / name for name in names if EDIT_COPY.fullmatch(name))


def clock(scan: Scan, now: datetime) -> Iterator[Finding]:
    """Notes and files with dates in the future: the clock is wrong, or was."""
    today = now.date()
    ahead = [path for path in scan.notes if (_day(path) or date.min) > today + SLACK]
    todo = f"today is {today} here: set the clock, or correct the name of the note"
    yield from _each("clock", ahead, "its date is in the future", todo)
    # A sync trusts an mtime only when it is some time ago: a later write could have the same one.
    late_ns = int((now + SLACK).timestamp() * 1e9)
    later = [path for path, note in scan.notes.items() if note.stat.mtime_ns > late_ns]
    todo = "set the clock, then `touch` the file; until then every sync reads it again"
    yield from _each("clock", later, "it was changed in the future", todo)


def _day(path: str) -> date | None:
    found = _DAY.search(path)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _each(what: str, paths: Sequence[str], message: str, todo: str) -> Iterator[Finding]:
    for path in paths[:MOST_LISTED]:
        # A path that begins with `/` is outside of the workspace: a folder of this machine.
        make = Finding if path.startswith("/") else Finding.public
        yield make(what, f"{path}: {message}", todo)
    if paths[MOST_LISTED:]:
        yield Finding.public(what, f"{len(paths) - MOST_LISTED} more: {message}", todo)
