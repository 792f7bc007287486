"""Conversations that a host keeps in a SQLite database, as if each were a file:

    sessions/<name>/opencode.db/<id>.jsonl
    sessions/<name>/openclaw-agent.sqlite/<id>.jsonl

The database belongs to the host, which may be writing. It is opened read-only for one query at a
time, so that the host never waits for us.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from notewell.errors import NoteUnreadable
from notewell.files import describe_os_error, why_not_plain
from notewell.hosts import TRANSCRIPT_DATABASES
from notewell.sessions.compressed import decompress
from notewell.sessions.folders import SUFFIX, TranscriptFolder
from notewell.types import FoundNote, Ignored, NoteStat, Scan

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from notewell.hosts import Record, TranscriptDatabase

BUSY_MS = 200
"""A host that does not use a write-ahead log locks readers out while it commits."""


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
    rows = _rows(path, folder.path / database.file, database.records, {"id": id_})
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
    for id_, updated_ms, size in _rows(key, file, database.sessions, {}):
        path = f"{key}/{id_}{SUFFIX}"
        # An id is the host's, so it may be anything; what cannot be a path is left out.
        names = folder.locate(path) if id_ and isinstance(updated_ms, int) else None
        if names and database_of(names):
            stat = NoteStat(int(size), updated_ms * 1_000_000, 0, status.st_ino)
            notes[path] = FoundNote(path, stat)
    return notes


def _is_in_use(file: Path) -> bool:
    """Whether a program has the database open, or left changes in the log. Programs share an index
    of the log, `-shm`; an empty log without it is from a program that has ended."""
    try:
        has_changes = os.lstat(f"{file}-wal").st_size > 0
    except OSError:
        return False
    return has_changes or os.path.lexists(f"{file}-shm")


def _rows(key: str, file: Path, query: str, values: dict[str, str]) -> list[tuple[Any, ...]]:
    from urllib.parse import quote

    import apsw

    # Where nobody is writing, SQLite would still create files beside the host's database.
    options = "mode=ro" if _is_in_use(file) else "mode=ro&immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(f"file:{quote(str(file))}?{options}", flags=flags)
        try:
            connection.set_busy_timeout(BUSY_MS)
            return list(connection.execute(query, values))
        finally:
            connection.close()
    except apsw.Error as error:
        # Damaged, locked, or of a version with other tables.
        raise NoteUnreadable(key, f"its database cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        # SQLite stores any bytes as a text.
        raise NoteUnreadable(key, "its database has a text that is not UTF-8") from error
