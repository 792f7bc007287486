"""What is indexed: the notes and the transcripts, each listed and read in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import NotANote
from notewell.records import replace
from notewell.sync.plan import TextSource
from notewell.types import Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.notes import NoteStore
    from notewell.sessions import DeltaLimits, TranscriptSource
    from notewell.types import Note, NoteStat

BEING_WRITTEN_NS = 1_000_000_000
"""A program that saves in place truncates the file first, and writes it well within this time."""


def notes_source(
    notes: NoteStore, redact: Callable[[str], str] | None, *, everything: bool, now_ns: int
) -> TextSource:
    """The notes. One that became empty in place a moment ago is being saved, so it is treated as
    unchanged, unless `everything` is wanted."""

    def scan(indexed: Mapping[str, NoteStat]) -> Scan:
        listed = notes.scan()
        if everything:
            return listed
        unchanged = {
            path: note._replace(stat=indexed[path])
            for path, note in listed.notes.items()
            if not note.stat.size
            and now_ns - note.stat.mtime_ns < BEING_WRITTEN_NS
            and path in indexed
            # A file that was put in place of it, as `undo` does, is complete.
            and note.stat.inode == indexed[path].inode
        }
        # Hardly ever; a copy of a list of 100 000 notes takes its time.
        return replace(listed, notes={**listed.notes, **unchanged}) if unchanged else listed

    def read(path: str) -> Note:
        note = notes.read(path)
        return replace(note, text=redact(note.text)) if redact else note

    return TextSource("memory", scan, read)


def no_sessions() -> TextSource:
    def read(path: str) -> Note:
        raise NotANote(path)

    return TextSource("sessions", lambda _: Scan(notes={}), read)


def sessions_source(transcripts: TranscriptSource, limits: DeltaLimits | None) -> TextSource:
    """The transcripts. With `limits`, one that is being written waits until enough of it is
    new."""

    def scan(indexed: Mapping[str, NoteStat]) -> Scan:
        listed = transcripts.scan()
        if limits is None:
            return listed
        from notewell.sessions import hold_back, is_kept

        # A compaction removes text from the agent's context. The agent may search for exactly
        # that text next, so such a transcript does not wait.
        compacted = {
            path
            for path, transcript in listed.notes.items()
            if path in indexed
            and 0 < transcript.stat.size - indexed[path].size < limits.bytes
            and transcripts.compacted_since(transcript, indexed[path].size)
        }
        held = hold_back(listed, indexed, transcripts.new_messages, limits, compacted=compacted)
        # A kept one grows by whole turns, and has nothing but messages: it does not wait.
        kept = {path: found for path, found in listed.notes.items() if is_kept(path)}
        return replace(held, notes={**held.notes, **kept})

    return TextSource("sessions", scan, transcripts.read)
