"""Conversations that a host keeps in a SQLite database, as if each were a file:

    sessions/<name>/opencode.db/<id>.jsonl
    sessions/<name>/openclaw-agent.sqlite/<id>.jsonl

`foreign_database` opens it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from notewell.errors import NoteUnreadable
from notewell.files import describe_os_error, why_not_plain
from notewell.hosts import TRANSCRIPT_DATABASES
from notewell.sessions.compressed import decompress
from notewell.sessions.folders import SUFFIX, TranscriptFolder
from notewell.sessions.foreign_database import database_rows
from notewell.types import FoundNote, Ignored, NoteStat, Scan

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from notewell.hosts import Record, TranscriptDatabase


def database_of(names: tuple[str, ...]) -> TranscriptDatabase | None:
    """The database that a transcript is in, by the names below its folder."""
    return TRANSCRIPT_DATABASES.get(names[0]) if len(names) == 2 else None


def has_database(folder: TranscriptFolder) -> bool:
    """Then the folder has no other transcripts: OpenClaw's also has the homes of programs that it
    starts, with the same conversations once more."""
    return bool(folder.name) and any(
        os.path.lexists(folder.path / file) for file in TRANSCRIPT_DATABASES
    )


def find_conversations(folders: Iterable[TranscriptFolder]) -> Scan:
    """The conversations of all databases in these folders."""
    notes: dict[str, FoundNote] = {}
    unreadable: list[Ignored] = []
    for folder in folders:
        for database in TRANSCRIPT_DATABASES.values() if folder.name else ():
            key = f"{folder.key}/{database.file}"
            try:
                notes |= _conversations(key, folder, database)
            except NoteUnreadable as error:
                unreadable.append(Ignored(key, error.why))
    return Scan(notes=notes, unreadable=tuple(unreadable))


def conversation_stat(
    path: str, folder: TranscriptFolder, database: TranscriptDatabase
) -> NoteStat:
    """Raises `NoteUnreadable` for a conversation that is gone."""
    found = _conversations(path.rsplit("/", 1)[0], folder, database).get(path)
    if found is None:
        raise NoteUnreadable(path, "not there")
    return found.stat


def conversation_records(
    path: str, folder: TranscriptFolder, database: TranscriptDatabase
) -> list[Record | None]:
    """In order; None for a record that is damaged."""
    id_ = path.rsplit("/", 1)[1].removesuffix(SUFFIX)
    rows = database_rows(path, folder.path / database.file, database.records, {"id": id_})
    return [_record(path, value, database) for (value,) in rows]


def conversation_in(path: Path, database: TranscriptDatabase) -> list[Record | None]:
    """The same by the path of the conversation, `…/opencode.db/<id>.jsonl`."""
    # Before SQLite does: an error that says "not there" ends the wait for this conversation.
    try:
        why = why_not_plain(os.lstat(path.parent))
    except OSError as error:
        raise NoteUnreadable(str(path), describe_os_error(error)) from error
    if why:
        raise NoteUnreadable(str(path), why)
    records = conversation_records(str(path), TranscriptFolder(path.parent.parent), database)
    if not records:
        raise NoteUnreadable(str(path), "the database has no such conversation")
    return records


def _record(path: str, value: str | bytes | None, database: TranscriptDatabase) -> Record | None:
    if isinstance(value, bytes):
        try:
            value = decompress(value)
        except ImportError:
            why = (
                f"it has compressed messages; to read them, install the extra `{database.extra}`:"
                f" `pip install '.[{database.extra}]'` in a checkout"
            )
            raise NoteUnreadable(path, why) from None
    try:
        record = json.loads(value) if value else None
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _conversations(
    key: str, folder: TranscriptFolder, database: TranscriptDatabase
) -> dict[str, FoundNote]:
    file = folder.path / database.file
    try:
        status = os.lstat(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise NoteUnreadable(key, describe_os_error(error)) from error
    if why := why_not_plain(status):
        raise NoteUnreadable(key, why)
    notes = {}
    for id_, updated_ms, size in database_rows(key, file, database.sessions, {}):
        path = f"{key}/{id_}{SUFFIX}"
        # An id is the host's, so it may be anything; what cannot be a path is left out.
        names = folder.locate(path) if id_ and isinstance(updated_ms, int) else None
        if names and database_of(names):
            stat = NoteStat(int(size), updated_ms * 1_000_000, 0, status.st_ino)
            notes[path] = FoundNote(path, stat)
    return notes
