"""Conversations of one agent in PostgreSQL: what programs sent, a row for each message.

    append   one transaction: lock the conversation ── leave out what is there ── add the rest
    scan     a row for each conversation: its size, and its revision in place of a file's times
    read     the rows as a transcript

A row has the same record as a line in a file of kept conversations, in OpenClaw's format. It is
text with ASCII escapes: the JSON types of the server refuse what Python accepts. A message that is
there already, by its id, is not added again; one that was forgotten stays as an id without text.
So a program may send its turns again.

The row of a conversation that was removed stays, without messages: the sum of the revisions tells
a search that something has changed.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NotANote, NoteNotWritable
from notewell.hosts import TRANSCRIPT_FORMATS
from notewell.postgres.sync_queue import enqueue
from notewell.sessions.folders import MAX_TRANSCRIPT_BYTES, SUFFIX
from notewell.sessions.kept import KEPT_KEY
from notewell.sessions.transcript import records_as_text
from notewell.types import FoundNote, Ignored, Note, NoteStat, Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.hosts import Record
    from notewell.postgres import Database, Scope, Transaction
    from notewell.sessions.transcript import LeavesOut, Transcript

_FORMAT = next(one for one in TRANSCRIPT_FORMATS if one.name == "openclaw")
_OWN = "WHERE tenant = %s AND agent = %s"
_ONE = f"{_OWN} AND name = %s"
_STAT = "size, (extract(epoch FROM changed_at) * 1000000)::bigint, revision"


class AddedRecords(NamedTuple):
    """What an append has changed."""

    number: int = 0
    is_first: bool = False
    """Nothing of this conversation was there before."""


class StoredConversations:
    """See `TranscriptSource`. Threads may share it; it holds no connection between calls."""

    suffixes = (SUFFIX,)
    places: tuple[Path, ...] = ()

    def __init__(
        self,
        database: Database,
        scope: Scope,
        redact: Callable[[str], str],
        folders: Sequence[str] = (),
    ) -> None:
        """`redact` gets every message that is read: rules that are newer than the message may
        know more. `folders` of transcripts are files of one machine, and are not read."""
        self.database = database
        self.scope = scope
        self._redact = redact
        self._folders = folders

    # -- reading ---------------------------------------------------------------------------------

    def scan(self) -> Scan:
        with self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                f"SELECT name, {_STAT} FROM notewell.conversations {_OWN} AND size > 0 "  # noqa: S608
                "ORDER BY name",
                self.scope,
            )
        found = (FoundNote(path_of(name), _stat(*stat)) for name, *stat in rows)
        why = "the notes are in PostgreSQL, and a folder is on one machine"
        return Scan(
            notes={one.path: one for one in found},
            ignored=tuple(Ignored(folder, why) for folder in self._folders),
        )

    def read(self, path: str) -> Note:
        stat, transcript = self._read(path)
        return Note(
            path,
            transcript.text,
            hashlib.sha256(transcript.text.encode()).hexdigest(),
            stat,
            transcript.repairs,
            transcript.session.facts(),
            transcript.said_at,
        )

    def open(self, path: str) -> Transcript:
        return self._read(path)[1]

    def has_message(self, path: str, is_wanted: LeavesOut) -> bool:
        found: list[bool] = []

        def look(text: str, at: datetime | None) -> bool:
            found.append(is_wanted(text, at))
            return True

        self._read(path, look)
        return any(found)

    def new_messages(self, found: FoundNote, size: int) -> None:
        return None  # There are no bytes of which some are new.

    def compacted_since(self, found: FoundNote, size: int) -> bool:
        return False

    def records(self, path: str) -> list[Record]:
        """All that is kept of a conversation, in order. Raises `NotANote`."""
        return self._rows(path)[1]

    def _read(self, path: str, leaves_out: LeavesOut | None = None) -> tuple[NoteStat, Transcript]:
        stat, records = self._rows(path)
        return stat, records_as_text(records, self._redact, _FORMAT, leaves_out)

    def _rows(self, path: str) -> tuple[NoteStat, list[Record]]:
        key = (*self.scope, name_of(path))
        with self.database.reading(self.scope) as transaction:
            found = transaction.rows(
                f"SELECT {_STAT} FROM notewell.conversations {_ONE} AND size > 0",  # noqa: S608
                key,
            )
            if not found:
                raise NotANote(path)
            rows = transaction.rows(
                f"SELECT record FROM notewell.conversation_records {_ONE} ORDER BY number",  # noqa: S608
                key,
            )
        return _stat(*found[0]), [json.loads(record) for (record,) in rows]

    # -- writing ---------------------------------------------------------------------------------

    def append(self, path: str, header: Record, messages: Sequence[Record]) -> AddedRecords:
        """Add the messages whose ids are not there; committed on return."""
        with self.database.writing(self.scope) as transaction:
            rows = _Rows(transaction, self.scope, name_of(path))
            size = rows.lock(make=True)
            known = rows.known([str(one["id"]) for one in messages])
            new = [one for one in messages if one["id"] not in known]
            if not new:
                return AddedRecords()
            added = rows.insert([*([] if size else [header]), *new])
            if size + added > MAX_TRANSCRIPT_BYTES:
                why = "the conversation would be larger than allowed"
                raise NoteNotWritable(path, why, "begin another one")
            rows.changed(size + added)
        return AddedRecords(len(new), is_first=not size)

    def rewrite(self, path: str, change: Callable[[Record], Record | None]) -> int:
        """Replace the records for which `change` has another one; returns how many."""
        with self.database.writing(self.scope) as transaction:
            rows = _Rows(transaction, self.scope, name_of(path))
            if not rows.lock():
                return 0
            changed = 0
            for number, text in rows.numbered():
                record = change(json.loads(text))
                if record is not None:
                    rows.replace(number, record)
                    changed += 1
            if changed:
                rows.changed(sum(len(text) for _, text in rows.numbered()))
        return changed

    def remove(self, path: str) -> None:
        """All messages of a conversation."""
        with self.database.writing(self.scope) as transaction:
            rows = _Rows(transaction, self.scope, name_of(path))
            if rows.lock():
                rows.clear()
                rows.changed(0)


class _Rows(NamedTuple):
    """The rows of one conversation, in one transaction."""

    transaction: Transaction
    scope: Scope
    name: str

    @property
    def key(self) -> tuple[str, str, str]:
        return (*self.scope, self.name)

    def lock(self, *, make: bool = False) -> int:
        """Until the end of the transaction; its size, 0 if there is nothing."""
        if make:
            self.transaction.execute(
                "INSERT INTO notewell.conversations (tenant, agent, name) VALUES (%s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                self.key,
            )
            self.transaction.execute(
                "INSERT INTO notewell.note_agents (tenant, agent) VALUES (%s, %s) "
                "ON CONFLICT DO NOTHING",
                self.scope,
            )
        rows = self.transaction.rows(
            f"SELECT size FROM notewell.conversations {_ONE} FOR UPDATE",  # noqa: S608
            self.key,
        )
        return int(rows[0][0]) if rows else 0

    def known(self, ids: Sequence[str]) -> set[str]:
        rows = self.transaction.rows(
            f"SELECT id FROM notewell.conversation_records {_ONE} AND id = ANY(%s)",  # noqa: S608
            (*self.key, list(ids)),
        )
        return {id_ for (id_,) in rows}

    def insert(self, records: Sequence[Record]) -> int:
        """At the end; returns the size of the rows."""
        texts = [json.dumps(record) for record in records]
        # The header has an id, too: that of its host.
        ids = [str(one["id"]) if one["type"] == "message" else None for one in records]
        # The conversation is locked. On its own, because an INSERT that also reads its table is
        # more than Citus can be asked for.
        ((last,),) = self.transaction.rows(
            f"SELECT coalesce(max(number), 0) FROM notewell.conversation_records {_ONE}",  # noqa: S608
            self.key,
        )
        self.transaction.execute(
            "INSERT INTO notewell.conversation_records (tenant, agent, name, number, id, record) "
            "SELECT %s, %s, %s, %s + one.number, one.id, one.record "
            "FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS one (id, record, number)",
            (*self.key, last, ids, texts),
        )
        return sum(map(len, texts))

    def numbered(self) -> list[tuple[int, str]]:
        return self.transaction.rows(
            f"SELECT number, record FROM notewell.conversation_records {_ONE} ORDER BY number",  # noqa: S608
            self.key,
        )

    def replace(self, number: int, record: Record) -> None:
        self.transaction.execute(
            f"UPDATE notewell.conversation_records SET record = %s {_ONE} AND number = %s",  # noqa: S608
            (json.dumps(record), *self.key, number),
        )

    def clear(self) -> None:
        self.transaction.execute(
            f"DELETE FROM notewell.conversation_records {_ONE}",  # noqa: S608
            self.key,
        )

    def changed(self, size: int) -> None:
        self.transaction.execute(
            "UPDATE notewell.conversations SET revision = revision + 1, size = %s, "  # noqa: S608
            f"changed_at = statement_timestamp() {_ONE}",
            (size, *self.key),
        )
        enqueue(self.transaction, self.scope)


def path_of(name: str) -> str:
    """As a search shows it."""
    return stored_path(f"{name}{SUFFIX}")


def stored_path(file_name: str) -> str:
    """By the name that a file of kept conversations would have."""
    return f"{KEPT_KEY}{file_name}"


def name_of(path: str) -> str:
    """Raises `NotANote` for a path that no conversation here can have."""
    name = path.removeprefix(KEPT_KEY).removesuffix(SUFFIX)
    if path_of(name) != path or not name or "/" in name or "\0" in name:
        raise NotANote(path)
    return name


def _stat(size: int, changed_us: int, revision: int) -> NoteStat:
    return NoteStat(size, changed_us * 1000, revision, 0)
