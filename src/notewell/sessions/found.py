"""Transcripts that are on this machine: where they are, how much, since when.

A folder of a host is a tree of files, or it has a database; a single file may be named, too.
Nothing is opened but databases: a host's folder may have gigabytes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NoteUnreadable
from notewell.files import describe_os_error, why_not_plain
from notewell.hosts import TRANSCRIPT_DATABASES
from notewell.records import dataclass
from notewell.sessions.databases import find_conversations, has_database
from notewell.sessions.folders import TranscriptFolder, find_transcripts
from notewell.types import Ignored

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.types import Scan

NAME = "found"
"""Any name: the agent's own folder has none, and then subfolders are not searched."""


class FoundTranscript(NamedTuple):
    path: Path
    """Of the file; of a conversation in a database, `…/opencode.db/<id>.jsonl`."""
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class FoundTranscripts:
    """What one place has."""

    transcripts: tuple[FoundTranscript, ...] = ()
    bytes: int = 0
    unreadable: tuple[Ignored, ...] = ()


def transcripts_at(path: Path) -> FoundTranscripts:
    """The transcripts in a folder, or in one file. Raises `NoteUnreadable` if it is not there."""
    try:
        status = os.stat(path)  # noqa: PTH116 - links to the place are followed, none below it
    except OSError as error:
        raise NoteUnreadable(str(path), describe_os_error(error)) from error
    if path.is_dir():
        return _in_folder(path)
    if path.name in TRANSCRIPT_DATABASES:
        return _in_folder(path.parent)
    if why := why_not_plain(os.lstat(path)):
        raise NoteUnreadable(str(path), why)
    return FoundTranscripts((FoundTranscript(path, status.st_mtime_ns),), status.st_size)


def _in_folder(path: Path) -> FoundTranscripts:
    folder = TranscriptFolder(path, NAME)
    if not has_database(folder):
        scan = find_transcripts([folder])
        size = sum(note.stat.size for note in scan.notes.values())
        return FoundTranscripts(_found(scan, folder), size, _problems(scan, folder))
    scan = find_conversations([folder])
    files = (path / name for name in TRANSCRIPT_DATABASES)
    size = sum(file.stat().st_size for file in files if file.is_file())
    return FoundTranscripts(_found(scan, folder), size, _problems(scan, folder))


def _found(scan: Scan, folder: TranscriptFolder) -> tuple[FoundTranscript, ...]:
    return tuple(
        FoundTranscript(_place(folder, note.path), note.stat.mtime_ns)
        for note in scan.notes.values()
    )


def _problems(scan: Scan, folder: TranscriptFolder) -> tuple[Ignored, ...]:
    both = (*scan.ignored, *scan.unreadable)
    return tuple(Ignored(str(_place(folder, one.path)), one.why) for one in both)


def _place(folder: TranscriptFolder, path: str) -> Path:
    return folder.path / path.removeprefix(folder.key).lstrip("/")
