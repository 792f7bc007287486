"""Transcripts as Markdown files that QMD can index: one per session, redacted by the caller.

    sessions/<name>-<digest of its key>.md      # Session <id>
                                                <!-- notewell: sessions/ab12.jsonl -->

                                                User: when do we ship?

Only files with that second line are ours; other files in the folder are never touched. A file
whose content would not change is not written, so that QMD does not index it again.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from notewell.files import replace_file
from notewell.qmd.failures import not_writable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

MARK = "<!-- notewell: "
NAME_CHARS = 60
LINE_CHARS = 10_000
"""More than the longest path of a transcript."""
DAY_S = 86_400.0
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class SessionText(NamedTuple):
    """The text of a session; its secrets are masked."""

    key: str
    """The path of the transcript: `sessions/ab12.jsonl`."""
    id: str
    text: str | None
    """One line per message; None if the exported file is up to date."""
    last_at: datetime
    """The time of the last message, or the file's mtime if messages have no time."""


class ExportCounts(NamedTuple):
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
) -> ExportCounts:
    """Make the folder contain these sessions, except those past the retention time.

    `are_all` is False if some transcripts could not be read: then only sessions that are known to
    be too old are removed, because a missing one may only be unreadable at the moment.
    """
    kept, outdated, written = set[str](), set[str](), 0
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for session in sessions:
            name = export_name(session.key)
            text = session.text
            if _is_too_old(session.last_at, now, retention_days) or text == "":
                outdated.add(name)
                continue
            kept.add(name)
            if text is not None:
                written += _write(folder / name, _markdown(session, text))
        removed = _remove(folder, kept, None if are_all else outdated)
        return ExportCounts(written, len(kept) - written, removed)
    except OSError as error:
        raise not_writable(folder, error) from error


def export_name(key: str) -> str:
    """Readable, and unique for each key: the digest separates keys with the same stem."""
    stem = key.rsplit("/", 1)[-1].rpartition(".")[0]
    plain = _NOT_IN_A_NAME.sub("-", stem).strip("-.")[:NAME_CHARS] or "session"
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}.md"


def _is_too_old(last_at: datetime, now: datetime, retention_days: int | None) -> bool:
    if retention_days is None:
        return False
    return (now - last_at).total_seconds() > retention_days * DAY_S


def _markdown(session: SessionText, text: str) -> str:
    # Without blank lines between them Markdown would join all messages into one paragraph.
    lines = "\n\n".join(text.rstrip("\n").split("\n"))
    return f"# Session {session.id}\n{MARK}{session.key} -->\n\n{lines}\n"


def _write(path: Path, text: str) -> bool:
    data = text.encode("utf-8", "replace")
    with suppress(FileNotFoundError):
        if not path.is_symlink() and path.read_bytes() == data:
            return False
    # A rename replaces a link itself, so nothing outside the folder can be overwritten.
    # Not durable: the next export writes the file again.
    replace_file(path, data, durable=False)
    return True


def _remove(folder: Path, kept: set[str], only: set[str] | None) -> int:
    """Remove our files except those in `kept`; with `only`, no others than those."""
    removed = 0
    with os.scandir(folder) as listing:
        entries = [entry for entry in listing if entry.is_file(follow_symlinks=False)]
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
