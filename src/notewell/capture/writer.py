"""START HERE: how a capture writes notes, each write recorded so that it can be undone."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.capture.history import Write, confirm, has_note, record
from notewell.errors import NoteUnreadable, StateNotWritable
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date, datetime
    from pathlib import Path

    from notewell.capture.logs import Logs
    from notewell.notes import Appended, Entry, NoteStore, Section

_EMPTY = hashlib.sha256(b"").hexdigest()


def capture_dir(state_dir: Path, agent: str, location: str | Path) -> Path:
    """The state folder of one agent's captures; not the folder of the index, which is rebuilt.

    `location` is that of the notes (see `NoteStore.location`).
    """
    # An agent may be used with several workspaces, and their histories must not mix.
    place = hashlib.sha256(str(location).encode(errors="surrogatepass")).hexdigest()[:12]
    return state_dir / "capture" / f"{agent}-{place}"


@dataclass(frozen=True, slots=True)
class NoteWriter:
    """The notes that are written to, and the folder that remembers what was written."""

    notes: NoteStore
    folder: Path
    """See `capture_dir`."""
    redact: Callable[[str], str]
    """Sees every text before it is written."""
    logs: Logs | None = None
    """The history, if it is not in `folder`."""

    @property
    def _history(self) -> Path | Logs:
        return self.logs or self.folder

    def append(self, entry: Entry, to: date | Section, *, now: datetime) -> Appended:
        """Append one entry and record it in the history. The entry stays if that is not possible,
        and the result says why."""
        intent = _Intent(self._history, entry.origin, now)
        return intent.settle(self.notes.append(entry, to, intend=intent.declare))

    def create(self, stem: str, text: str) -> str:
        """Make `memory/<stem>.md`, or the next free number; returns its path.

        It is not recorded yet: see `record_note`. Raises `NoteNotWritable`.
        """
        return self.notes.create(stem, encode_note(text))

    def find_created(self, stem: str, digest: str) -> CreatedNote | None:
        """A note that `create` made before, recognized by the sha256 of its bytes."""
        from notewell.notes import numbered_paths

        for path in numbered_paths(stem):
            try:
                data = self.notes.read_bytes(path)
            except NoteUnreadable:
                continue  # Something else has the name, for example a link: `create` skips it too.
            # `create` takes the first free name: if this one is free, no later one was used.
            if data is None:
                return None
            if hashlib.sha256(data).hexdigest() == digest:
                return CreatedNote(path, digest, len(data))
        return None

    def record_note(self, note: CreatedNote, *, origin: str, now: datetime) -> None:
        """Into the history, once. Raises `StateNotWritable`."""
        # A save that is resumed after a crash may have recorded it before the crash.
        if has_note(self._history, note.path, note.digest):
            return
        write = Write(note.path, 0, note.size, note.digest, _EMPTY, note.digest, origin, "note")
        record(self._history, write, now)


@dataclass(frozen=True, slots=True)
class CreatedNote:
    """A whole note that we made."""

    path: str
    digest: str
    """sha256 of its bytes."""
    size: int


def encode_note(text: str) -> bytes:
    """The bytes of a note; half a surrogate pair, which UTF-8 cannot hold, becomes `?`."""
    return text.encode("utf-8", "replace")


class _Intent:
    """The line of one append in the history; see `history`. Its errors are kept: what is appended
    counts more than its line."""

    def __init__(self, history: Path | Logs, origin: str, now: datetime) -> None:
        self._history = history
        self._origin = origin
        self._now = now
        self._id = ""
        self._declared: Write | None = None

    def declare(self, planned: Appended) -> None:
        """Before the note is written; once more if an editor has replaced the note meanwhile."""
        write = self._write(planned)
        with suppress(StateNotWritable):  # It is tried again when the note is written.
            self._id = record(self._history, write, self._now, id_=self._id, is_intended=True)
            self._declared = write

    def settle(self, done: Appended) -> Appended:
        """After the note was written."""
        if not done.added:
            return done
        write = self._write(done)
        if write == self._declared:
            with suppress(StateNotWritable):  # Without it the note decides.
                confirm(self._history, self._id, self._now)
            return done
        try:
            record(self._history, write, self._now, id_=self._id)
        except StateNotWritable as error:
            return replace(done, unrecorded=error)
        return done

    def _write(self, done: Appended) -> Write:
        return Write(
            path=done.path,
            start_byte=done.start_byte,
            end_byte=done.end_byte,
            digest=done.digest,
            digest_before=done.digest_before,
            digest_after=done.digest_after,
            origin=self._origin,
            kind="entry",
        )
