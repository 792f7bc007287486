"""What a place that keeps notes does. `Workspace`, a folder of Markdown files, is the first one.

Every package above takes a `NoteStore`; none of them knows that a note is a file. A store that
keeps the notes of many agents in a database implements this protocol for one agent:

    scan         one consistent look at what is there
    read         SELECT by path
    append       one transaction: look for the entry, add it at the end
    create       INSERT under the first name that is free
    rewrite      SELECT … FOR UPDATE, decide, UPDATE or DELETE

`tests/contracts/test_note_store.py` runs one suite on every implementation. The text rules (how
an entry looks, when it is there already) are functions of this package, the same for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from notewell.errors import NotesNotInFolder
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime, tzinfo
    from pathlib import Path

    from notewell.errors import StateNotWritable
    from notewell.notes.entry import Entry
    from notewell.notes.section import Section
    from notewell.types import Note, Scan, Span


IN_DATABASE = "postgres:"
"""As a workspace: the notes of the agent in the database that the user's settings name."""

NOT_RECORDED = "it is saved, but the history does not have it and cannot undo it"


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an entry is now, and what is needed to take it out again."""

    path: str
    span: Span
    """The lines of the entry itself."""
    added: bool
    """False if it was there before, or an editor saved it while we wrote."""
    start_byte: int
    end_byte: int
    """The range that was added, without `end_byte`: the entry with the line breaks and headings
    it needed. Empty if nothing was added."""
    digest: str
    """sha256 of the added bytes: finds them again after the user has edited above them."""
    digest_before: str
    digest_after: str
    """sha256 of the note up to `start_byte`, and up to `end_byte`."""
    unrecorded: StateNotWritable | None = None
    """Why the history does not have it, and cannot undo it; None: it has."""

    @property
    def notice(self) -> str | None:
        """The same for whoever asked for the append; it names no folder."""
        if self.unrecorded is None:
            return None
        return f"{NOT_RECORDED}: {self.unrecorded.public_text()}"


class NoteStore(Protocol):
    """The notes of one memory. A path is a note's key: `memory/2026-11-15.md`."""

    @property
    def location(self) -> str:
        """Where the notes are, as the user knows it: the path of a workspace, for example."""
        ...

    @property
    def folder(self) -> Path | None:
        """The folder whose files are the notes; None if they are kept in anything else."""
        ...

    def local_paths(self) -> Sequence[Path]:
        """Files and folders a watcher observes; empty for notes that are not on this disk."""
        ...

    def change_mark(self) -> int | None:
        """A value that changes with every change of a note, if that is cheaper to know than by a
        scan; None if it is not."""
        ...

    def scan(self) -> Scan:
        """Which notes there are now. An unreachable store is an error, never an empty scan.

        A `NoteStat` that is equal to an earlier one means equal content; a sync relies on that.
        """
        ...

    def read(self, path: str) -> Note:
        """The clean text of a note; no scan is needed before.

        Raises `NotANote` for a path that is not part of this memory, otherwise `NoteUnreadable`.
        """
        ...

    def read_bytes(self, path: str) -> bytes | None:
        """A note exactly as it is kept; None if it is not there. Raises `NoteUnreadable`."""
        ...

    def append(
        self,
        entry: Entry,
        to: date | Section,
        *,
        wait_s: float = ...,
        intend: Callable[[Appended], None] | None = None,
    ) -> Appended:
        """Add one entry to the note of a day, or under a heading of MEMORY.md; durable on return.

        `intend` is called with the result right before the note is written, so that it can be
        recorded first; not for an entry that is there already.

        The day is the user's (see `user_day`). Existing text is never changed, and an entry that
        is there already is not added again. Raises `BadEntry`, `NoteBusy` and `NoteNotWritable`.
        """
        ...

    def create(self, stem: str, data: bytes) -> str:
        """Make `memory/<stem>.md`, or `<stem>-2.md` and so on; durable on return. `/` in the stem
        separates folders, which are made if they are missing.

        An existing note is never touched. Returns the path. Raises `NoteNotWritable`.
        """
        ...

    def rewrite(
        self,
        path: str,
        change: Callable[[bytes], bytes | None],
        *,
        wait_s: float = ...,
    ) -> None:
        """Replace a note by what `change` makes of it, or remove it where that is None.

        For an undo, which takes back bytes of our own. Fails if another program changes the note
        meanwhile. What `change` raises is passed on. Raises `NoteBusy` and `NoteNotWritable`.
        """
        ...


def folder_of(notes: NoteStore) -> Path:
    """For what needs the files themselves. Raises `NotesNotInFolder`."""
    if notes.folder is None:
        raise NotesNotInFolder(notes.location)
    return notes.folder


def user_day(moment: datetime, zone: tzinfo | None) -> date:
    """The calendar day of a moment for a user in `zone`; the day in UTC may be another one.

    Call it once, when the work begins: an entry begun before midnight belongs to that day.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone: it could be either of two days")
    return moment.astimezone(zone).date()
