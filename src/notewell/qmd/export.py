"""Transcripts as Markdown files that QMD can index: one a session, redacted before it comes here.

    sessions/<name>-<digest of its key>.md      # Session <id>
                                                <!-- notewell: sessions/ab12.jsonl -->

                                                User: when do we ship?

Only files with that second line are ours: whatever else lies in the folder is left alone. A file
that would say the same is not written, so that QMD does not read it again.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from notewell.qmd.failures import not_writable
from notewell.qmd.home import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

MARK = "<!-- notewell: "
NAME_CHARS = 60
LINE_CHARS = 10_000
"""More than the longest name of a transcript has."""
DAY_S = 86_400.0
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class SessionText(NamedTuple):
    """A conversation that may leave the transcript: its secrets are masked."""

    key: str
    """What the transcript is called: `sessions/ab12.jsonl`."""
    id: str
    text: str | None
    """A line a message; None where the page of the last time still says it."""
    last_at: datetime
    """When something was last said; the file's own time where nothing tells."""


class Exported(NamedTuple):
    written: int
    unchanged: int
    removed: int


def export_sessions(
    folder: Path,
    sessions: Iterable[SessionText],
    *,
    now: datetime,
    retention_days: int | None,
    are_all: bool = True,
) -> Exported:
    """Make the folder say what these sessions say, those that are too old left out.

    `are_all` is False where some transcripts could not be read just now: then only what is known
    to be too old is removed.
    """
    kept, outdated, written = set[str](), set[str](), 0
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for session in sessions:
            name = export_name(session.key)
            said = session.text
            if _is_too_old(session.last_at, now, retention_days) or said == "":
                outdated.add(name)
                continue
            kept.add(name)
            if said is not None:
                written += _write(folder / name, _markdown(session, said))
        removed = _remove(folder, kept, None if are_all else outdated)
        return Exported(written, len(kept) - written, removed)
    except OSError as error:
        raise not_writable(folder, error) from error


def export_name(key: str) -> str:
    """A name that says which session it is, and is another one for every other key."""
    stem = key.rsplit("/", 1)[-1].rpartition(".")[0]
    plain = _NOT_IN_A_NAME.sub("-", stem).strip("-.")[:NAME_CHARS] or "session"
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}.md"


def _is_too_old(last_at: datetime, now: datetime, retention_days: int | None) -> bool:
    if retention_days is None:
        return False
    return (now - last_at).total_seconds() > retention_days * DAY_S


def _markdown(session: SessionText, said: str) -> str:
    """A blank line between messages: else Markdown makes one paragraph of them all."""
    lines = "\n\n".join(said.rstrip("\n").split("\n"))
    return f"# Session {session.id}\n{MARK}{session.key} -->\n\n{lines}\n"


def _write(path: Path, text: str) -> bool:
    with suppress(FileNotFoundError):
        if not path.is_symlink() and path.read_bytes() == text.encode("utf-8", "replace"):
            return False
    write_whole(path, text)  # Puts a file in the place of whatever bears the name, link or not.
    return True


def _remove(folder: Path, kept: set[str], only: set[str] | None) -> int:
    """Our own files that are not to be kept; with `only`, none but those."""
    removed = 0
    with os.scandir(folder) as found:
        entries = [entry for entry in found if entry.is_file(follow_symlinks=False)]
    for entry in entries:
        if entry.name in kept or (only is not None and entry.name not in only):
            continue
        if _is_ours(folder / entry.name):
            (folder / entry.name).unlink(missing_ok=True)
            removed += 1
    return removed


def _is_ours(path: Path) -> bool:
    if path.suffix != ".md":
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head, mark = file.readline(LINE_CHARS), file.readline(LINE_CHARS)
    except OSError:
        return False
    if not head.startswith("# Session ") or not mark.startswith(MARK):
        return False
    return path.name == export_name(mark.removeprefix(MARK).rstrip("\n").removesuffix(" -->"))
