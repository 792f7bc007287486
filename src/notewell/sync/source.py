"""Where text comes from: the notes of a workspace, or transcripts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.notes import NoteStore
    from notewell.sessions import DeltaLimits, Transcripts
    from notewell.types import Note, NoteStat, Scan


@dataclass(frozen=True, slots=True)
class TextSource:
    """One of the sources of an index: what is there, and what it says."""

    name: Literal["memory", "sessions"]
    scan: Callable[[Mapping[str, NoteStat]], Scan]
    """Given what is known of it, so that a source may hold back what has hardly changed."""
    read: Callable[[str], Note]


BEING_WRITTEN_NS = 1_000_000_000
"""A program that saves in place empties the file first; it has filled it long before this."""


def notes_source(
    notes: NoteStore, redact: Callable[[str], str] | None, *, everything: bool, now_ns: int
) -> TextSource:
    """A note that was emptied a moment ago is being saved: unless everything is wanted, it stays
    as it was known."""

    def scan(known: Mapping[str, NoteStat]) -> Scan:
        found = notes.scan()
        if everything:
            return found
        return replace(
            found,
            notes={
                path: note._replace(stat=known[path])
                if not note.stat.size
                and now_ns - note.stat.mtime_ns < BEING_WRITTEN_NS
                and path in known
                else note
                for path, note in found.notes.items()
            },
        )

    def read(path: str) -> Note:
        note = notes.read(path)
        return replace(note, text=redact(note.text)) if redact else note

    return TextSource("memory", scan, read)


def sessions_source(
    transcripts: Transcripts, limits: DeltaLimits, *, everything: bool
) -> TextSource:
    """A transcript that is being written waits until enough is new, or everything is wanted."""

    def scan(known: Mapping[str, NoteStat]) -> Scan:
        found = transcripts.scan()
        if everything:
            return found
        from notewell.sessions import hold_back

        # What a compaction has just cut away from the agent's sight, it may look for next.
        compacted = {
            path
            for path, one in found.notes.items()
            if path in known
            and 0 < one.stat.size - known[path].size < limits.bytes
            and transcripts.compacted_since(one, known[path].size)
        }
        return hold_back(found, known, transcripts.new_messages, limits, compacted=compacted)

    return TextSource("sessions", scan, transcripts.read)
