"""Carry an import out: look which texts the notes have, decide, make the notes that are new.

One import of a memory at a time. A note is on disk before the next one is made, so an import that
is killed is repeated and finds what it has done.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from notewell.capture import CreatedNote, encode_note, import_origin
from notewell.errors import NoteUnreadable, NotewellError, StateNotWritable
from notewell.files import state_lock
from notewell.imports.plan import FOLDER, ImportPlan, KnownImports, known_imports, plan_import
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime, tzinfo

    from notewell.capture import NoteWriter
    from notewell.imports.plan import PlannedNote
    from notewell.imports.records import MemoryProgram, Reading
    from notewell.notes import NoteStore

LOCK = "import"


@dataclass(slots=True)
class Imported:
    """What an import has done."""

    plan: ImportPlan
    origin: str
    """Under which the history has all of it; `notewell undo` takes it."""
    paths: list[str] = field(default_factory=list)
    entries: int = 0
    unrecorded: StateNotWritable | None = None
    """Why the history does not have a note, and cannot undo it."""
    trouble: NotewellError | None = None
    """Why it has stopped early."""


def preview_reading(
    writer: NoteWriter, program: MemoryProgram, reading: Reading, *, zone: tzinfo | None
) -> ImportPlan:
    """What an import would do; nothing is written. Raises `NoteUnreadable`."""
    known = _known(writer.notes, program.id)
    return plan_import(program.id, program.title, reading, known, redact=writer.redact, zone=zone)


def import_reading(
    writer: NoteWriter,
    program: MemoryProgram,
    reading: Reading,
    *,
    now: datetime,
    zone: tzinfo | None,
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> Imported:
    """Raises `StateBusy`, `StateNotWritable` and `NoteUnreadable`; nothing was written then. It
    stops at a note that cannot be written; what is done then is on disk."""
    with state_lock(writer.folder / LOCK):
        plan = preview_reading(writer, program, reading, zone=zone)
        done = Imported(plan, import_origin(program.id, now))
        for note in plan.notes:
            try:
                done.paths.append(_create(writer, note, done, now))
            except NotewellError as error:
                done.trouble = error
                break
            done.entries += note.entries
            on_progress(len(done.paths), len(plan.notes))
    return done


def _create(writer: NoteWriter, note: PlannedNote, done: Imported, now: datetime) -> str:
    path = writer.create(note.stem, note.text)
    data = encode_note(note.text)
    created = CreatedNote(path, hashlib.sha256(data).hexdigest(), len(data))
    try:
        writer.record_note(created, origin=done.origin, now=now)
    except StateNotWritable as error:
        done.unrecorded = error
    return path


def _known(notes: NoteStore, program: str) -> KnownImports:
    return known_imports(program, _texts(notes, program))


def _texts(notes: NoteStore, program: str) -> Iterator[tuple[str, str]]:
    # Without these, what they have would be imported a second time.
    ours = f"memory/{FOLDER}/{program}/"
    found = notes.scan()
    for one in found.unreadable:
        if one.path.startswith(ours) or ours.startswith(f"{one.path}/"):
            raise NoteUnreadable(one.path, one.why)
    for path in found.notes:
        try:
            yield path, notes.read(path).text
        except NoteUnreadable:
            if path.startswith(ours):
                raise
