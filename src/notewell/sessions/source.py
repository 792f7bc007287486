"""The messages that a host added to a transcript, each with the position behind it.

    ├── kept ──┤ position ├──── new: read up to LIMIT_BYTES ────┤ the rest: the next call

A position is the number of bytes that were read, and a digest of the last of them. The digest
shows whether the file still is the one that was read: a host may rotate it, rewrite it or copy it
to another folder, and then neither its size nor its inode tells what is new. If it differs, all
messages are returned, and the caller compares their ids.

A document and a database have no position: all messages are returned.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NoteUnreadable
from notewell.files import describe_os_error
from notewell.hosts import TRANSCRIPT_DATABASES, TRANSCRIPT_FORMATS, folded
from notewell.records import dataclass, field
from notewell.sessions.databases import conversation_in
from notewell.sessions.folders import (
    MAX_TRANSCRIPT_BYTES,
    TranscriptFolder,
    next_line,
    open_transcript,
    read_blocks,
)
from notewell.sessions.records import (
    MAX_DOCUMENT_BYTES,
    ReadProblems,
    parse_document,
    records_of_line,
    split_lines,
)
from notewell.sessions.transcript import NO_KNOWN_HOST, document_formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.hosts import Record, RecordFacts, TranscriptFormat, Turn
    from notewell.sessions.records import RawLine

FIRST_BYTES = 4 * 1024 * 1024
"""How much is read of a file that was never read before: its end. A host waits for the hook, and
`notewell sessions import` adds the beginning."""
LIMIT_BYTES = 32 * 1024 * 1024
"""How much one call reads. A turn writes less; the next call goes on."""
HEAD_BYTES = 64 * 1024
"""The first records, which say what kind of file it is."""
_NO_LIMIT = MAX_TRANSCRIPT_BYTES + 1
CHECKED_BYTES = 256
"""How many bytes before a position are compared. A record has an id or a time, so they differ."""


class SourcePosition(NamedTuple):
    """Up to where a file was read."""

    end: int
    check: str
    """A digest of the bytes before `end`."""


class SaidMessage(NamedTuple):
    """What the user or the assistant said, as the host stored it: not redacted."""

    turn: Turn
    at: datetime | None
    end: int
    """Where its record ends, in bytes; 0 in a document and a database."""
    position: SourcePosition | None = None
    """The same as a position."""


@dataclass(frozen=True, slots=True)
class NewMessages:
    """What a transcript has after a position."""

    messages: list[SaidMessage] = field(default_factory=list)
    position: SourcePosition | None = None
    """Behind all that was read, also behind records without a message."""
    begins_at: int = 0
    """The first byte that was read."""
    is_continued: bool = False
    """The messages follow the given position. Otherwise some of them may be known."""
    is_complete: bool = True
    """False: the next call has more."""
    session: str | None = None
    cwd: str | None = None


def read_new(
    path: Path,
    after: SourcePosition | None,
    *,
    formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS,
    first_bytes: int = FIRST_BYTES,
    limit_bytes: int = LIMIT_BYTES,
) -> NewMessages:
    """The messages after a position. Raises `NoteUnreadable`, also for a file in no known format.

    A conversation in a database has a path too, `opencode.db/<id>.jsonl`.
    """
    if database := TRANSCRIPT_DATABASES.get(path.parent.name):
        records = conversation_in(path, database)
        return _of_records((record for record in records if record), [database.format])
    fd = open_transcript(str(path), TranscriptFolder(path.parent), (path.name,))
    try:
        if as_document := document_formats(path.name, formats):
            return _of_document(fd, as_document, str(path))
        as_lines = [format_ for format_ in formats if not format_.is_document]
        return _Lines(fd, as_lines, str(path)).read(after, first_bytes, limit_bytes)
    except OSError as error:
        raise NoteUnreadable(str(path), describe_os_error(error)) from error
    finally:
        os.close(fd)


def read_all(path: Path, after: SourcePosition | None) -> NewMessages:
    """The same for an import: from the start of a file that was never read, and without limits."""
    return read_new(path, after, first_bytes=_NO_LIMIT, limit_bytes=_NO_LIMIT)


def read_on(path: Path, after: SourcePosition | None) -> NewMessages:
    """The same in parts, so that the caller need not hold its lock for long. A file that is read
    again, although the position is not in it, is read at once: its messages may be known, and the
    caller can compare all their ids only then."""
    new = read_new(path, after, first_bytes=_NO_LIMIT)
    is_new = new.is_continued or after is None
    return new if new.is_complete or (new.messages and is_new) else read_all(path, after)


class TranscriptFacts(NamedTuple):
    """What the beginning of a transcript says; None where it does not."""

    format: str | None = None
    session: str | None = None
    cwd: str | None = None


def read_facts(
    path: Path, formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS
) -> TranscriptFacts:
    """The facts of a transcript, from its first records. Raises `NoteUnreadable`."""
    if database := TRANSCRIPT_DATABASES.get(path.parent.name):
        new = read_new(path, None)
        return TranscriptFacts(database.format.name, new.session, new.cwd)
    if as_document := document_formats(path.name, formats):
        new = read_new(path, None)
        return TranscriptFacts(as_document[0].name, new.session, new.cwd)
    fd = open_transcript(str(path), TranscriptFolder(path.parent), (path.name,))
    try:
        as_lines = [format_ for format_ in formats if not format_.is_document]
        return _Lines(fd, as_lines, str(path)).facts()
    except OSError as error:
        raise NoteUnreadable(str(path), describe_os_error(error)) from error
    finally:
        os.close(fd)


def _of_records(records: Iterable[Record], formats: Sequence[TranscriptFormat]) -> NewMessages:
    reader = _Reader(formats)
    for record in records:
        reader.add(record, 0)
    return NewMessages(reader.said(), session=reader.session, cwd=reader.cwd)


def _of_document(fd: int, formats: Sequence[TranscriptFormat], name: str) -> NewMessages:
    if os.fstat(fd).st_size > MAX_DOCUMENT_BYTES:
        raise NoteUnreadable(name, f"larger than {MAX_DOCUMENT_BYTES // 2**20} MiB")
    problems = ReadProblems()
    document = parse_document(b"".join(read_blocks(fd)), problems)
    if problems.pending_bytes:
        raise NoteUnreadable(name, "its JSON is not complete")
    owner = next((one for one in formats if document is not None and one.owns(document)), None)
    if document is None or owner is None or owner.records is None:
        raise NoteUnreadable(name, NO_KNOWN_HOST)
    return _of_records(owner.records(document), [owner])


class _Reader:
    """Collects the messages of records in order."""

    def __init__(self, formats: Sequence[TranscriptFormat]) -> None:
        self._formats = formats
        self.format: TranscriptFormat | None = formats[0] if len(formats) == 1 else None
        self.session: str | None = None
        self.cwd: str | None = None
        self._is_subagent = False
        self._messages: list[SaidMessage] = []
        self._ids: set[str] = set()

    def said(self) -> list[SaidMessage]:
        return [] if self._is_subagent else self._messages

    def facts_of(self, record: Record) -> RecordFacts | None:
        """What the record says; None as long as no format owns one."""
        if self.format is None:
            self.format = next((one for one in self._formats if one.owns(record)), None)
        if self.format is None:
            return None
        facts = self.format.read(record)
        self.session = self.session or facts.session_id
        self.cwd = self.cwd or facts.cwd
        self._is_subagent = self._is_subagent or facts.is_subagent
        return facts

    def add(self, record: Record, end: int) -> None:
        facts = self.facts_of(record)
        if facts is None:
            return
        if facts.summary is not None:
            self._drop_summary(facts.summary)
        if facts.turn is not None and self._is_new(facts.turn):
            self._messages.append(SaidMessage(facts.turn, facts.at, end))

    def _drop_summary(self, summary: str) -> None:
        """Remove the last message if its text is the end of the summary: nobody said it."""
        last = self._messages[-1].turn if self._messages else None
        if last and last.speaker == "Assistant" and summary.endswith(folded(last.text)):
            self._messages.pop()

    def _is_new(self, turn: Turn) -> bool:
        # Without ids, equal messages cannot be told from repeated ones ("yes", "go on").
        if turn.id is None:
            return True
        is_new = turn.id not in self._ids
        self._ids.add(turn.id)
        return is_new


class _Lines:
    """One reading of an open file with JSON lines."""

    def __init__(self, fd: int, formats: Sequence[TranscriptFormat], name: str) -> None:
        self._fd = fd
        self._reader = _Reader(formats)
        self._name = name
        self._size = os.fstat(fd).st_size

    def read(
        self, after: SourcePosition | None, first_bytes: int, limit_bytes: int
    ) -> NewMessages:
        is_continued = after is not None and self._has(after)
        start = after.end if after and is_continued else self._first_line(first_bytes)
        if start:
            self._read_head(min(start, HEAD_BYTES))
        end = self._read_lines(start, limit_bytes)
        if self._reader.format is None and end > start:
            raise NoteUnreadable(self._name, NO_KNOWN_HOST)
        return NewMessages(
            [one._replace(position=self._position(one.end)) for one in self._reader.said()],
            self._position(end),
            begins_at=start,
            is_continued=is_continued,
            # An incomplete last line is no reason to come back at once.
            is_complete=end - start < limit_bytes,
            session=self._reader.session,
            cwd=self._reader.cwd,
        )

    def facts(self) -> TranscriptFacts:
        # A first message with a picture is larger than a head, and it says where the session is.
        reader, problems = self._reader, ReadProblems()
        end = min(self._size, FIRST_BYTES)
        for line in split_lines(read_blocks(self._fd, 0, end, HEAD_BYTES)):
            passes_over = not line.ended or self._passes_over(line)
            for record in () if passes_over else records_of_line(line, problems):
                reader.facts_of(record)
            if reader.format and reader.session and reader.cwd:
                break
        name = reader.format.name if reader.format else None
        return TranscriptFacts(name, reader.session, reader.cwd)

    def _has(self, position: SourcePosition) -> bool:
        """Whether the file is the one to which the position belongs."""
        return 0 < position.end <= self._size and self._position(position.end) == position

    def _position(self, end: int) -> SourcePosition:
        start = max(0, end - CHECKED_BYTES)
        data = b"".join(read_blocks(self._fd, start, end))
        return SourcePosition(end, hashlib.sha256(data).hexdigest()[:16])

    def _first_line(self, first_bytes: int) -> int:
        """Where to begin with a file that was never read. The size: it has one line there, which
        is too long for a message or not yet complete."""
        return next_line(self._fd, max(0, self._size - first_bytes), self._size)

    def _read_head(self, size: int) -> None:
        problems = ReadProblems()
        for line in split_lines(read_blocks(self._fd, 0, size)):
            for record in records_of_line(line, problems) if line.ended else ():
                self._reader.facts_of(record)

    def _passes_over(self, line: RawLine) -> bool:
        format_ = self._reader.format
        return bool(format_ and line.ended and line.data and format_.has_no_message(line.data))

    def _read_lines(self, start: int, limit_bytes: int) -> int:
        """Where the last complete record ends."""
        problems, at = ReadProblems(), start
        for line in split_lines(read_blocks(self._fd, start, self._size)):
            # A line that is being written, and is too long already.
            if not line.ended and line.data is None:
                break
            records = () if self._passes_over(line) else records_of_line(line, problems)
            at += line.size - problems.pending_bytes
            for record in records:
                self._reader.add(record, at)
            if at - start >= limit_bytes:
                break
        return at
