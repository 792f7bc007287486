"""Undo one write of ours: remove exactly the bytes it added, and nothing else.

    find our bytes ── unchanged, and only once? ── is the rest still correct Markdown? ── rewrite

The bytes are recognized by their digest. If the user has edited above them, they are looked for at
the beginning of every line. Text that is there twice, or was changed, is left for the user to
remove: a wrong guess would delete words of the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.capture.history import record_undo, starts_of, writes
from notewell.capture.import_record import recorded_imports, remove_begun
from notewell.errors import BadRequest, NoteBusy, NoteNotWritable, NotewellError, StateNotWritable
from notewell.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.history import Recorded, Write
    from notewell.capture.logs import Logs
    from notewell.notes import NoteStore

WAIT_S = 10.0
"""An undo takes milliseconds: a process that holds the note's lock for this long is stuck."""

NOT_SAID = "it is undone, but the history does not say so"


class UnknownWrite(BadRequest):
    """No write has this id, or several have an id that begins so."""


class CannotUndo(NotewellError):
    """The note is unchanged."""

    def __init__(self, id_: str, path: str, why: str) -> None:
        super().__init__(f"cannot undo {id_!r} in {path!r}: {why}; nothing was changed")
        self.id = id_
        self.path = path
        self.why = why

    def public_text(self) -> str:
        # A note of an extra path goes by its absolute path.
        return f"cannot undo {self.id!r}: {self.why}; nothing was changed"


@dataclass(frozen=True, slots=True)
class Cut:
    """The bytes to remove."""

    start_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True)
class NoCut:
    """Nothing can be removed, and why."""

    why: str


def decide_cut(data: bytes, write: Write) -> Cut | NoCut:
    """Where our bytes are now, if the rest of the note keeps its meaning without them."""
    starts = starts_of(data, write)
    if not starts:
        return NoCut("what was added is no longer there, or was changed since; edit the note")
    if len(starts) > 1:
        return NoCut("what was added is there more than once now; edit the note")
    start = starts[0]
    end = start + write.end_byte - write.start_byte
    why = _why_not(data[:start], data[start:end], data[end:])
    return NoCut(why) if why else Cut(start, end)


def _why_not(before: bytes, ours: bytes, after: bytes) -> str | None:
    # Nothing is behind our bytes that could change its meaning.
    if not after.strip():
        return None
    if before and not before.endswith(b"\n"):
        return "the line before it would run into the line behind it; edit the note"
    has_heading = any(line.startswith(b"#") for line in ours.split(b"\n"))
    if has_heading and not after.lstrip().startswith(b"#"):
        return "its heading has later entries below it; undo those first"
    return None


class Undone(NamedTuple):
    """A write that was taken back."""

    recorded: Recorded
    unrecorded: StateNotWritable | None = None
    """Why the history does not say so; None: it does."""

    @property
    def notice(self) -> str | None:
        """The same for a remote reader; it names no folder."""
        return f"{NOT_SAID}: {self.unrecorded.public_text()}" if self.unrecorded else None


def undo_write(
    notes: NoteStore, place: Path | Logs, id_: str, *, now: datetime, wait_s: float = WAIT_S
) -> Undone:
    """Undo the write with this id, or with the only id that begins so.

    Raises `UnknownWrite`, `BadRequest` if it is undone already, `CannotUndo`, and `NoteBusy`.
    """
    return _undo(notes, place, _only(notes, place, id_), now, wait_s)


def _undo(
    notes: NoteStore, place: Path | Logs, recorded: Recorded, now: datetime, wait_s: float
) -> Undone:
    path = recorded.write.path
    try:
        notes.rewrite(path, lambda data: _without(data, recorded), wait_s=wait_s)
    except NoteBusy:
        raise
    except NoteNotWritable as error:
        raise CannotUndo(recorded.id, path, error.why) from error
    try:
        record_undo(place, recorded.id, now)
    except StateNotWritable as error:
        # The bytes are removed: an error must not say that they are not. A second undo finds
        # that they are gone.
        return Undone(recorded, error)
    return Undone(recorded)


class UndoneImport(NamedTuple):
    """What became of an import that was taken back."""

    undone: list[Undone]
    left: list[CannotUndo]
    """Notes that have changed since."""
    conversations: list[str]
    """The files that were removed."""
    continued: list[str]
    """Those that stay, because more was said since."""


def undo_import(
    notes: NoteStore,
    place: Path | Logs,
    origin: str,
    *,
    state: Path,
    kept: Path,
    now: datetime,
) -> UndoneImport:
    """Take back the notes and the conversations that one import has made. The history is at
    `place`; `state` is the folder of `capture_dir`, `kept` that of kept conversations.

    Raises `BadRequest` for an unknown one, `NoteBusy`, `StateBusy` and `StateNotWritable`.
    """
    ours = [one for one in writes(place, notes) if one.write.origin == origin]
    recorded = recorded_imports(state).get(origin)
    if not ours and recorded is None:
        raise BadRequest(f"no import is called {origin!r}: `notewell history` lists them")
    done = UndoneImport([], [], [], [])
    if recorded and not recorded.undone:
        removed, continued = remove_begun(state, kept, recorded, now)
        done = done._replace(conversations=removed, continued=continued)
    for one in ours:
        if not one.undone:
            try:
                done.undone.append(_undo(notes, place, one, now, WAIT_S))
            except CannotUndo as error:
                done.left.append(error)
    return done


def _without(data: bytes, recorded: Recorded) -> bytes | None:
    """The note without our bytes; None for a note that we made and that has nothing else."""
    cut = decide_cut(data, recorded.write)
    if isinstance(cut, NoCut):
        raise CannotUndo(recorded.id, recorded.write.path, cut.why)
    rest = data[: cut.start_byte] + data[cut.end_byte :]
    # An empty daily note stays: we remove only notes that we made as a whole.
    return rest or (None if recorded.write.kind == "note" else b"")


def _only(notes: NoteStore, place: Path | Logs, id_: str) -> Recorded:
    found = writes(place, notes)
    matching = [recorded for recorded in found if id_ and recorded.id.startswith(id_)]
    if len(matching) != 1:
        many = "more than one write has" if matching else "no write has"
        raise UnknownWrite(f"{many} the id {id_!r}: `notewell history` lists them")
    if matching[0].undone:
        raise BadRequest(f"{matching[0].id!r} has been undone already")
    return matching[0]
