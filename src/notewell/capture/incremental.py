"""A growing transcript saved as session notes: every message once, however often a hook runs.

    lock ── settle an interrupted save ── read what is new ── write-ahead intent ── note ── done

Hosts fire the same hook two to four times, and a conversation is compacted, goes on and ends. So
the state file records up to which position of the transcript all messages are saved. The next call
reads from there, and does nothing if nothing was added. The intent, the name and digest of the
note that is about to be made, is written first: a process that is killed at any moment saves
nothing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.capture.flush_decision import Skip
from notewell.capture.injected import as_said
from notewell.capture.session_note import (
    MAX_COMPACTED_MESSAGES,
    MESSAGES,
    Conversation,
    Saved,
    record_session_note,
    session_note_of,
)
from notewell.files import read_json, state_lock, write_json
from notewell.sessions import read_tail

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo
    from pathlib import Path

    from notewell.capture.hook_state import SessionEnd
    from notewell.capture.session_note import SessionNote
    from notewell.capture.writer import NoteWriter
    from notewell.sessions import LeavesOut, TranscriptTail

STATE = "captured.json"
INTENT = "making"
NOTE = "note"
ORIGIN = "hook"
MAX_SESSIONS = 1000
"""Sessions whose position is kept; an older one that goes on would be saved from its start."""


def save_new_messages(
    writer: NoteWriter,
    ended: SessionEnd,
    *,
    now: datetime,
    zone: tzinfo | None,
    messages: int = MESSAGES,
    name_it: Callable[[str], str | None] | None = None,
    leaves_out: LeavesOut | None = None,
) -> Saved | Skip:
    """Save the messages since the last call; `name_it` as in `save_session`.

    Of a session that ends at the first call, the last `messages` are saved. At a compaction and
    after any save, all are: each message is in one note. `leaves_out` names messages that were
    forgotten.

    Raises `NoteUnreadable` for the transcript, `NoteNotWritable` and `StateNotWritable`.
    """
    file = writer.folder / STATE
    # Held until the note is written: a second hook of the same event finds nothing new.
    with state_lock(file):
        positions = _Positions(file)
        position = _settle(writer, positions, ended.session, now)
        wants_all = ended.is_compacting or bool(position)
        messages = MAX_COMPACTED_MESSAGES if wants_all else messages
        redact = as_said(writer.redact)
        tail = read_tail(
            ended.transcript, position, redact, messages=messages, leaves_out=leaves_out
        )
        note = session_note_of(
            _conversation(writer, ended, tail, position, wants_all=wants_all),
            now=now,
            zone=zone,
            messages=messages,
            name_it=name_it,
        )
        if isinstance(note, Skip):
            return note
        path = _written(writer, ended, note, tail, positions, position, now)
    return Saved(path, note.messages, note.unnamed_because)


def _conversation(
    writer: NoteWriter,
    ended: SessionEnd,
    tail: TranscriptTail,
    position: dict[str, Any],
    *,
    wants_all: bool,
) -> Conversation:
    return Conversation(
        tail.lines,
        session=ended.session,
        host=ended.host,
        cwd=writer.redact(ended.cwd) if ended.cwd else None,
        reason=ended.reason,
        continues=str(position.get(NOTE, "")) if position else None,
        missing=_missing(tail) if wants_all else None,
    )


def _missing(tail: TranscriptTail) -> str | None:
    """What no note has, although all was wanted."""
    more = len(tail.lines) - MAX_COMPACTED_MESSAGES
    if tail.unread_bytes:
        return f"what was said in {tail.unread_bytes / 1e6:.1f} MB of the transcript before this"
    return f"{more} messages before these" if more > 0 else None


def _written(
    writer: NoteWriter,
    ended: SessionEnd,
    note: SessionNote,
    tail: TranscriptTail,
    positions: _Positions,
    position: dict[str, Any],
    now: datetime,
) -> str:
    """Make the note, with the intent before it and the position after it; returns its path."""
    intent = {"stem": note.stem, "digest": note.digest, "until": tail.position}
    # The old position stays: if no note is made, the next call reads from there again.
    positions.write(ended.session, {**position, INTENT: intent})
    path = writer.create(note.stem, note.text)
    # Before the position: after a crash here the next call finds the note and records it.
    record_session_note(writer, path, note, origin=ORIGIN, now=now)
    positions.write(ended.session, {**tail.position, NOTE: path})
    return path


class _Positions:
    """Up to where each session is saved; the caller holds the lock of the file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._state = read_json(file)

    def entry(self, session: str) -> dict[str, Any]:
        entry = self._state.get(session)
        return entry if isinstance(entry, dict) else {}

    def write(self, session: str, entry: dict[str, Any]) -> None:
        # Removed and inserted again: the order of the dict is the order of age.
        self._state.pop(session, None)
        self._state[session] = entry
        write_json(self._file, dict(list(self._state.items())[-MAX_SESSIONS:]))


def _settle(
    writer: NoteWriter, positions: _Positions, session: str, now: datetime
) -> dict[str, Any]:
    """Where to go on, after a save that was interrupted is completed or dropped.

    Its note is there completely, under a name the intent leads to, or not at all.
    """
    entry = positions.entry(session)
    match entry.get(INTENT):
        case {"stem": str(stem), "digest": str(digest), "until": dict(until)}:
            note = writer.find_created(stem, digest)
            if note is None:
                # Interrupted before the note was made.
                return {key: value for key, value in entry.items() if key != INTENT}
            writer.record_note(note, origin=ORIGIN, now=now)
            position = {**until, NOTE: note.path}
            positions.write(session, position)
            return position
    return entry
