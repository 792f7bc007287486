"""A growing transcript saved as notes: every message once, however often we are asked.

Hosts fire the same hook two to four times, and a conversation is compacted, goes on and ends. So
it is remembered up to which byte of the transcript everything is saved, under a lock that is held
while saving: the next call takes what came after, and if nothing did, it does nothing. Which note
is about to be made is written down before, so that a kill at any moment saves nothing twice.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from notewell.capture.flush_decision import Skip
from notewell.capture.injected import as_said
from notewell.capture.new_note import find_made, record_made, write_new
from notewell.capture.session_note import (
    MESSAGES,
    Conversation,
    Saved,
    page_of,
    record_page,
)
from notewell.errors import NoteUnreadable
from notewell.files import read_json, state_lock, write_json
from notewell.sessions import (
    TranscriptFolder,
    as_text,
    in_words,
    open_transcript,
    read_blocks,
    split_lines,
)

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

    from notewell.capture.ended import Ended
    from notewell.capture.writer import Place
    from notewell.sessions import Transcript

STATE = "captured.json"
INTENT = "making"
ORIGIN = "hook"
MAX_SESSIONS = 1000

TAILS_BYTES = (512 * 1024, 2 * 1024 * 1024, 8 * 1024 * 1024)
"""How much of a transcript's end is read: more when the last messages are not in it, because of
what tools printed between them. All of 100 MB would take seconds, and a hook is waited for."""


def save_new_messages(
    place: Place, ended: Ended, *, now: datetime, zone: tzinfo, messages: int = MESSAGES
) -> Saved | Skip:
    """Save what was said since the last time.

    Raises `NoteUnreadable` for the transcript, `NoteNotWritable` and `StateNotWritable`.
    """
    file = place.folder / STATE
    with state_lock(file):
        book = _Book(file)
        known = _settled(place, book, ended.session, now)
        found = _new_part(place, ended.transcript, known, messages)
        talk = Conversation(
            found.transcript.text.splitlines(),
            session=ended.session,
            host=ended.host,
            cwd=place.redact(ended.cwd) if ended.cwd else None,
            reason=ended.reason,
        )
        page = page_of(talk, now=now, zone=zone, messages=messages)
        if isinstance(page, Skip):
            return page
        until = {"inode": found.inode, "bytes": found.end_byte}
        intent = {"stem": page.stem, "digest": page.digest, "until": until}
        book.write(ended.session, {**known, INTENT: intent})
        path = write_new(place, page.stem, page.text)
        record_page(place, path, page, origin=ORIGIN, now=now)
        book.write(ended.session, until)
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


def _settled(place: Place, book: _Book, session: str, now: datetime) -> dict[str, Any]:
    """Where to go on, once it is clear what became of a save that was cut short: its note is
    there whole, under the name that was written down before it was made, or it is not there."""
    entry = book.entry(session)
    match entry.get(INTENT):
        case {"stem": str(stem), "digest": str(digest), "until": dict(until)}:
            path = find_made(place, stem, digest)
            if path is None:
                return {key: value for key, value in entry.items() if key != INTENT}
            size = place.notes.root.joinpath(path).stat().st_size
            record_made(place, path, digest, size, origin=ORIGIN, now=now)
            book.write(session, until)
            return until
    return entry


@dataclass(frozen=True, slots=True)
class _Part:
    transcript: Transcript
    inode: int
    start_byte: int
    end_byte: int
    """Everything before it has been read; a last line that is not all there yet has not."""


def _new_part(place: Place, path: Path, known: Any, messages: int) -> _Part:
    try:
        fd = open_transcript(TranscriptFolder(path.parent), (path.name,))
        try:
            found = os.fstat(fd)
            taken = _taken(known, found)
            for tail in TAILS_BYTES:
                part = _read_part(place, fd, max(taken, found.st_size - tail), found)
                if part.start_byte == taken or len(part.transcript.line_map) >= messages:
                    break
        finally:
            os.close(fd)
    except OSError as error:
        raise NoteUnreadable(str(path), in_words(error)) from error
    if not part.start_byte and part.end_byte and part.transcript.session.format is None:
        raise NoteUnreadable(str(path), "it is a transcript of no kind that we know")
    return part


def _read_part(place: Place, fd: int, start: int, found: os.stat_result) -> _Part:
    lines = split_lines(read_blocks(fd, start, found.st_size))
    transcript = as_text(lines, as_said(place.redact))
    return _Part(transcript, found.st_ino, start, found.st_size - transcript.pending_bytes)


def _taken(known: Any, found: os.stat_result) -> int:
    """Where to go on; a file that was replaced or cut is another one, read from its start."""
    if not isinstance(known, dict) or known.get("inode") != found.st_ino:
        return 0
    taken = known.get("bytes")
    return taken if isinstance(taken, int) and 0 <= taken <= found.st_size else 0
