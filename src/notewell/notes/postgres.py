"""Notes in PostgreSQL: the text of each note of one agent, byte for byte, with its revisions.

    append     one transaction: lock the row ── is it there already? ── write, keep the old bytes
    create     the first name whose row has no text
    rewrite    lock the row ── decide ── write or remove, keep the old bytes
    put        the same for a note that comes from a folder, if nobody has changed it meanwhile

A row lock orders the writers of a note, on any number of machines. What a call returns is
committed: nothing here weakens the `synchronous_commit` of the server. If a commit was sent and
the answer was lost, the call raises; an append may then be repeated, and what is there already is
not doubled.

Each write keeps what it replaces, in `note_revisions`. Of an append that is a number of bytes: the
next revision begins with them. So a note that grows does not grow by its own size each time.

A server that cannot be reached raises `DatabaseTrouble`, as a missing folder does
`WorkspaceMissing`: it must not look like a note that is not there.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.errors import DatabaseLocked, NotANote, NoteBusy, NoteNotWritable, NoteUnreadable
from notewell.limits import MAX_NOTE_BYTES
from notewell.notes.append import append_result, find_entry, plan_addition, planned_append
from notewell.notes.entry import Block
from notewell.notes.note_file import note_of
from notewell.notes.rewrite import numbered_paths
from notewell.notes.scope import TOO_LARGE, scope_of
from notewell.notes.section import Section
from notewell.postgres.sync_queue import enqueue
from notewell.records import NamedTuple
from notewell.types import FoundNote, Ignored, NoteStat, Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from notewell.notes.entry import Entry
    from notewell.notes.ports import Appended
    from notewell.notes.scope import ExtraPath
    from notewell.postgres import Database, Scope, Transaction
    from notewell.types import Note

WAIT_S = 10.0
"""A write takes milliseconds: a transaction that holds a row for this long is stuck."""

_ROOT = Path("/notes")
_KEYS = scope_of(_ROOT, _ROOT, ())
"""The rules of a folder decide which paths are notes; the folder itself is never opened."""

_OWN = "WHERE tenant = %s AND agent = %s"
_STAT = "octet_length(data), (extract(epoch FROM changed_at) * 1000000)::bigint, revision"


class StoredNote(NamedTuple):
    """What is there now, without its bytes."""

    revision: int
    digest: str
    """sha256 of the bytes."""


class PostgresNotes:
    """See `NoteStore`. Threads may share it; it holds no connection between calls."""

    def __init__(
        self, database: Database, scope: Scope, extra_paths: Sequence[ExtraPath] = ()
    ) -> None:
        self.database = database
        self.scope = scope
        self._extra_paths = extra_paths

    @property
    def location(self) -> str:
        return f"{self.database.address}, tenant {self.scope.tenant}, agent {self.scope.agent}"

    @property
    def folder(self) -> None:
        return None

    def local_paths(self) -> tuple[Path, ...]:
        return ()

    # -- reading ---------------------------------------------------------------------------------

    def change_mark(self) -> int:
        # Each write adds one to a revision, and no row is ever removed. Conversations are counted
        # in the same statement: a search must not pay for a second look.
        with self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                f"SELECT coalesce(sum(revision), 0)::bigint FROM notewell.notes {_OWN} "  # noqa: S608
                "UNION ALL SELECT coalesce(sum(revision), 0)::bigint "
                f"FROM notewell.conversations {_OWN}",
                (*self.scope, *self.scope),
            )
        return sum(int(revisions) for (revisions,) in rows)

    def scan(self) -> Scan:
        with self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                f"SELECT path, {_STAT} FROM notewell.notes {_OWN} AND data IS NOT NULL "  # noqa: S608
                "ORDER BY path",
                self.scope,
            )
        why = "notes in PostgreSQL have no extra paths"
        return Scan(
            notes={path: FoundNote(path, _stat(*stat)) for path, *stat in rows},
            ignored=tuple(Ignored(extra.path, why) for extra in self._extra_paths),
        )

    def read(self, path: str) -> Note:
        _require_note(path)
        with self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                f"SELECT data, {_STAT} FROM notewell.notes {_OWN} AND path = %s "  # noqa: S608
                "AND data IS NOT NULL",
                (*self.scope, path),
            )
        if not rows:
            raise NoteUnreadable(path, "not there")
        data, *stat = rows[0]
        return note_of(path, data, _stat(*stat))

    def read_bytes(self, path: str) -> bytes | None:
        if _KEYS.locate(path) is None:
            return None
        with self.database.reading(self.scope) as transaction:
            return _Rows(transaction, self.scope, path).read().data

    def stored(self) -> dict[str, StoredNote]:
        """Every note with its revision and digest."""
        with self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                f"SELECT path, revision, digest FROM notewell.notes {_OWN} "  # noqa: S608
                "AND data IS NOT NULL ORDER BY path",
                self.scope,
            )
        return {path: StoredNote(*note) for path, *note in rows}

    # -- writing ---------------------------------------------------------------------------------

    def append(
        self,
        entry: Entry,
        to: date | Section,
        *,
        wait_s: float = WAIT_S,
        intend: Callable[[Appended], None] | None = None,
    ) -> Appended:
        block = Block(entry)
        if isinstance(to, Section):
            to.new_headings()  # Raises before anything is written.
        with self._busy(_day_path(to) or "MEMORY.md", wait_s) as transaction:
            path = _day_path(to) or self._curated(transaction)
            note = _Rows(transaction, self.scope, path)
            before = note.lock(make=True)
            data = before.data or b""
            span = find_entry(data, block, to)
            if span is not None:
                return append_result(path, data, span, len(data), len(data))
            addition = plan_addition(path, data, block, to)
            done = planned_append(path, data, addition, block, to)
            if intend:
                intend(done)
            note.write(before, data + addition.lead + addition.body)
        return done

    def create(self, stem: str, data: bytes) -> str:
        for path in numbered_paths(stem):
            if self.put(path, data, expected=None):
                return path
        why = "every number of this name is in use"
        raise NoteNotWritable(f"memory/{stem}.md", why, "choose another name")

    def put(self, path: str, data: bytes, *, expected: str | None, wait_s: float = WAIT_S) -> bool:
        """Write a whole note if it still has the digest `expected`; None: if it is not there.

        False if it has not; it then stays as it is.
        """
        _require_note(path)
        _require_size(path, data)
        with self._busy(path, wait_s) as transaction:
            note = _Rows(transaction, self.scope, path)
            before = note.lock(make=True)
            if before.digest != expected:
                return False
            note.write(before, data)
        return True

    def rewrite(
        self, path: str, change: Callable[[bytes], bytes | None], *, wait_s: float = WAIT_S
    ) -> None:
        with self._busy(path, wait_s) as transaction:
            note = _Rows(transaction, self.scope, path)
            before = note.lock()
            if before.data is None:
                raise NoteNotWritable(path, "not there", "look what is there")
            after = change(before.data)
            if after is not None:
                _require_size(path, after)
            note.write(before, after)

    @contextmanager
    def _busy(self, path: str, wait_s: float) -> Iterator[Transaction]:
        try:
            with self.database.writing(self.scope, lock_s=wait_s) as transaction:
                yield transaction
        except DatabaseLocked:
            raise NoteBusy(path, wait_s) from None

    def _curated(self, transaction: Transaction) -> str:
        """`MEMORY.md`, unless the user has chosen `memory.md`."""
        rows = transaction.rows(
            f"SELECT path FROM notewell.notes {_OWN} "  # noqa: S608
            "AND path IN ('MEMORY.md', 'memory.md') AND data IS NOT NULL",
            self.scope,
        )
        return "memory.md" if rows == [("memory.md",)] else "MEMORY.md"

    # -- revisions -------------------------------------------------------------------------------

    def revisions(self, path: str) -> dict[int, str]:
        """The digests of what the note was before, by revision, the oldest first."""
        with self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                f"SELECT revision, digest FROM notewell.note_revisions {_OWN} "  # noqa: S608
                "AND path = %s ORDER BY revision",
                (*self.scope, path),
            )
        return dict(rows)

    def read_revision(self, path: str, revision: int) -> bytes | None:
        """The bytes that the note had; None if it has no such earlier revision."""
        with self.database.reading(self.scope) as transaction:
            rows = transaction.rows(
                "SELECT size, (SELECT data FROM (SELECT revision, data FROM "  # noqa: S608
                f"notewell.note_revisions {_OWN} AND path = %s UNION ALL "
                f"SELECT revision, data FROM notewell.notes {_OWN} AND path = %s) AS later "
                "WHERE later.revision >= earlier.revision AND data IS NOT NULL "
                "ORDER BY later.revision LIMIT 1) "
                f"FROM notewell.note_revisions AS earlier {_OWN} AND path = %s AND revision = %s",
                (*(*self.scope, path) * 3, revision),
            )
        return bytes(rows[0][1][: rows[0][0]]) if rows else None


def agents_with_notes(database: Database, scope: Scope) -> list[str]:
    """The agents of the tenant that have or had notes."""
    with database.reading(scope) as transaction:
        rows = transaction.rows(
            "SELECT agent FROM notewell.note_agents WHERE tenant = %s ORDER BY agent",
            (scope.tenant,),
        )
    return [agent for (agent,) in rows]


class _Row(NamedTuple):
    """A note as it is stored: no data if it is not there, or not any more."""

    revision: int = 0
    data: bytes | None = None
    digest: str | None = None


class _Rows(NamedTuple):
    """The rows of one note, in one transaction."""

    transaction: Transaction
    scope: Scope
    path: str

    @property
    def key(self) -> tuple[str, str, str]:
        return (*self.scope, self.path)

    def read(self, lock: str = "") -> _Row:
        rows = self.transaction.rows(
            f"SELECT revision, data, digest FROM notewell.notes {_OWN} AND path = %s {lock}",  # noqa: S608
            self.key,
        )
        return _Row(*rows[0]) if rows else _Row()

    def lock(self, *, make: bool = False) -> _Row:
        """Until the end of the transaction. `make`: a note without a row gets one to lock."""
        if make:
            known = self.transaction.execute(
                "INSERT INTO notewell.notes (tenant, agent, path) VALUES (%s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                self.key,
            )
            if known:
                self.transaction.execute(
                    "INSERT INTO notewell.note_agents (tenant, agent) VALUES (%s, %s) "
                    "ON CONFLICT DO NOTHING",
                    self.scope,
                )
        return self.read("FOR UPDATE")

    def write(self, before: _Row, data: bytes | None) -> None:
        """The caller has the lock. Equal bytes are no new revision."""
        if data == before.data:
            return
        if before.data is not None:
            is_beginning = data is not None and data.startswith(before.data)
            self.transaction.execute(
                "INSERT INTO notewell.note_revisions (tenant, agent, path, revision, size, "  # noqa: S608
                "digest, changed_at, data) SELECT tenant, agent, path, revision, "
                "octet_length(data), digest, changed_at, CASE WHEN %s THEN NULL ELSE data END "
                f"FROM notewell.notes {_OWN} AND path = %s",
                (is_beginning, *self.key),
            )
        digest = None if data is None else hashlib.sha256(data).hexdigest()
        # Not `clock_timestamp`: Citus refuses an UPDATE with a function that is volatile.
        self.transaction.execute(
            "UPDATE notewell.notes SET revision = revision + 1, data = %s, digest = %s, "  # noqa: S608
            f"changed_at = statement_timestamp() {_OWN} AND path = %s",
            (data, digest, *self.key),
        )
        enqueue(self.transaction, self.scope)


def _stat(size: int, changed_us: int, revision: int) -> NoteStat:
    """The revision stands for the time of the last change of a file: no two contents share it."""
    return NoteStat(size, changed_us * 1000, revision, 0)


def _day_path(to: date | Section) -> str | None:
    if isinstance(to, Section):
        return None
    # A datetime is a date too, and prints its time.
    return f"memory/{date(to.year, to.month, to.day).isoformat()}.md"


def _require_note(path: str) -> None:
    if _KEYS.locate(path) is None:
        raise NotANote(path)


def _require_size(path: str, data: bytes) -> None:
    if len(data) > MAX_NOTE_BYTES:
        raise NoteNotWritable(path, f"it would be {TOO_LARGE}", "split it into several notes")
