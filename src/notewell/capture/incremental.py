"""A growing transcript saved as notes: every message once, however often we are asked.

Hosts fire the same hook two to four times, and a conversation is compacted, goes on and ends. So
it is remembered up to which byte of the transcript everything is saved, under a lock that is held
while saving: the next call takes what came after, and if nothing did, it does nothing. Which note
is about to be made is written down before, so that a kill at any moment saves nothing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.capture.flush_decision import Skip
from notewell.capture.injected import as_said
from notewell.capture.session_note import (
    MESSAGES,
    Conversation,
    Saved,
    page_of,
    record_page,
)
from notewell.files import read_json, state_lock, write_json
from notewell.sessions import read_tail

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

    from notewell.capture.ended import Ended
    from notewell.capture.writer import NoteWriter

STATE = "captured.json"
INTENT = "making"
ORIGIN = "hook"
MAX_SESSIONS = 1000


def save_new_messages(
    place: NoteWriter, ended: Ended, *, now: datetime, zone: tzinfo, messages: int = MESSAGES
) -> Saved | Skip:
    """Save what was said since the last time.

    Raises `NoteUnreadable` for the transcript, `NoteNotWritable` and `StateNotWritable`.
    """
    file = place.folder / STATE
    with state_lock(file):
        book = _Book(file)
        known = _settled(place, book, ended.session, now)
        tail = read_tail(ended.transcript, known, as_said(place.redact), messages=messages)
        talk = Conversation(
            tail.lines,
            session=ended.session,
            host=ended.host,
            cwd=place.redact(ended.cwd) if ended.cwd else None,
            reason=ended.reason,
        )
        page = page_of(talk, now=now, zone=zone, messages=messages)
        if isinstance(page, Skip):
            return page
        intent = {"stem": page.stem, "digest": page.digest, "until": tail.position}
        book.write(ended.session, {**known, INTENT: intent})
        path = place.create(page.stem, page.text)
        record_page(place, path, page, origin=ORIGIN, now=now)
        book.write(ended.session, tail.position)
    return Saved(path, page.messages)


class _Book:
    """Up to where each conversation is saved; whoever has one holds the lock of its file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._state = read_json(file)

    def entry(self, session: str) -> dict[str, Any]:
        found = self._state.get(session)
        return found if isinstance(found, dict) else {}

    def write(self, session: str, entry: dict[str, Any]) -> None:
        self._state.pop(session, None)
        self._state[session] = entry
        write_json(self._file, dict(list(self._state.items())[-MAX_SESSIONS:]))


def _settled(place: NoteWriter, book: _Book, session: str, now: datetime) -> dict[str, Any]:
    """Where to go on, once it is clear what became of a save that was cut short: its note is
    there whole, under the name that was written down before it was made, or it is not there."""
    entry = book.entry(session)
    match entry.get(INTENT):
        case {"stem": str(stem), "digest": str(digest), "until": dict(until)}:
            note = place.find_created(stem, digest)
            if note is None:
                return {key: value for key, value in entry.items() if key != INTENT}
            place.record_note(note, origin=ORIGIN, now=now)
            book.write(session, until)
            return until
    return entry
