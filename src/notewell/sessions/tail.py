"""The new messages of one transcript: what its host added since the last call.

A hook calls this while its host waits, so only the end of a large file is read. The caller stores
the returned position and passes it to the next call.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from notewell.errors import NoteUnreadable
from notewell.files import describe_os_error
from notewell.hosts import TRANSCRIPT_DATABASES, TRANSCRIPT_FORMATS
from notewell.records import dataclass
from notewell.sessions.databases import conversation_in
from notewell.sessions.folders import (
    TranscriptFolder,
    next_line,
    open_transcript,
    read_blocks,
)
from notewell.sessions.records import ReadProblems, records_of_line, split_lines
from notewell.sessions.transcript import (
    NO_KNOWN_HOST,
    document_formats,
    read_transcript,
    records_as_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from notewell.hosts import Record, TranscriptDatabase, TranscriptFormat
    from notewell.sessions.records import RawLine
    from notewell.sessions.transcript import LeavesOut, Transcript

TAILS_BYTES = tuple(512 * 1024 << step for step in range(7))
"""How much of a file's end is read: twice as much if the wanted messages are not in it, since tool
output may be between them, up to 32 MB. A host waits meanwhile."""
LONG_TAIL_BYTES = 4 * 1024 * 1024
FEW_MESSAGES = 15
"""With so many messages, no more than a long tail is read of a file that was never read, whatever
is wanted: a host that has written 100 MB waits."""
POSITION_IDS = 8
"""How many of the last messages a position names: one of them is still there after an undo."""


@dataclass(frozen=True, slots=True)
class TranscriptTail:
    """The messages after a position."""

    lines: list[str]
    position: dict[str, Any]
    """Where the next call continues; plain values, to be stored as JSON."""
    unread_bytes: int = 0
    """What is between the earlier position and these messages, and no call reads."""


def read_tail(
    path: Path,
    position: Mapping[str, Any],
    redact: Callable[[str], str],
    *,
    messages: int,
    formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS,
    leaves_out: LeavesOut | None = None,
) -> TranscriptTail:
    """The messages after `position`, at least the last `messages` of them that are near the end,
    without those that `leaves_out` names.

    A conversation in a database has a path too, `opencode.db/<id>.jsonl`. Raises `NoteUnreadable`,
    also for a file in no known format.
    """
    if database := TRANSCRIPT_DATABASES.get(path.parent.name):
        conversation = _conversation(path, database, redact, leaves_out)
        return _after_record(conversation, position)
    fd = open_transcript(str(path), TranscriptFolder(path.parent), (path.name,))
    try:
        if document_formats(path.name, formats):
            blocks = read_blocks(fd)
            transcript = read_transcript(str(path), blocks, redact, formats, leaves_out)
            tail, is_known = _after_record(transcript, position), _has_format(transcript)
        else:
            tail, is_known = _after_byte(fd, position, redact, messages, formats, leaves_out)
    except OSError as error:
        raise NoteUnreadable(str(path), describe_os_error(error)) from error
    finally:
        os.close(fd)
    if not is_known:
        raise NoteUnreadable(str(path), NO_KNOWN_HOST)
    return tail


def was_compacted(path: Path, formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS) -> bool:
    """Whether a file has a mark of a compaction; False for one that cannot be read."""
    marks = [mark for format_ in formats for mark in format_.compaction_marks]
    kept = max(map(len, marks), default=1) - 1
    end = b""
    try:
        fd = open_transcript(str(path), TranscriptFolder(path.parent), (path.name,))
    except NoteUnreadable:
        return False  # Whoever reads its messages reports it.
    try:
        for block in read_blocks(fd):
            # With the end of the block before it, which may have the beginning of a mark.
            text = end + block
            if any(mark in text for mark in marks):
                return True
            end = text[-kept:]
    except OSError:
        return False
    finally:
        os.close(fd)
    return False


def _conversation(
    path: Path,
    database: TranscriptDatabase,
    redact: Callable[[str], str],
    leaves_out: LeavesOut | None,
) -> Transcript:
    return records_as_text(conversation_in(path, database), redact, database.format, leaves_out)


def _has_format(transcript: Transcript) -> bool:
    return transcript.session.format is not None


def _after_record(transcript: Transcript, position: Mapping[str, Any]) -> TranscriptTail:
    """The host may remove messages, for example to undo a turn, and insert others. So the position
    names the last messages; where messages have no ids, it counts records. Not bytes: a document
    is rewritten with every message."""
    last = transcript.line_map[-1] if transcript.line_map else 0
    taken = {one for one in _listed(position.get("ids")) if one in transcript.ids}
    if taken:
        start = transcript.line_map[min(map(transcript.ids.index, taken))]
    else:
        start = _number(position.get("records"), last)
    lines = zip(transcript.text.splitlines(), transcript.line_map, transcript.ids, strict=True)
    added = [line for line, number, id_ in lines if number > start and id_ not in taken]
    ids = [one for one in transcript.ids if one is not None][-POSITION_IDS:]
    return TranscriptTail(added, {"records": last, "ids": ids} if ids else {"records": last})


def _listed(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _after_byte(
    fd: int,
    position: Mapping[str, Any],
    redact: Callable[[str], str],
    messages: int,
    formats: Sequence[TranscriptFormat],
    leaves_out: LeavesOut | None,
) -> tuple[TranscriptTail, bool]:
    status = os.fstat(fd)
    # Another inode is another file, even if it is larger: read it from its start.
    is_same_file = position.get("inode") == status.st_ino
    taken = _number(position.get("bytes"), status.st_size) if is_same_file else 0
    records = _LastRecords(fd, status.st_size, formats)
    for tail_bytes in TAILS_BYTES:
        records.read_from(max(taken, status.st_size - tail_bytes), taken)
        is_long = not taken and tail_bytes >= LONG_TAIL_BYTES
        enough = min(messages, FEW_MESSAGES) if is_long else messages
        if records.start == taken or records.messages >= enough:
            break
    # An incomplete last line is read by the next call.
    end = status.st_size - records.pending_bytes
    # Without the start of the file, or with an empty one, nothing can be said about its format.
    is_known = bool(records.start) or not end or records.format is not None
    position = {"inode": status.st_ino, "bytes": end}
    lines = records.text_lines(redact, leaves_out)
    return TranscriptTail(lines, position, records.start - taken), is_known


class _LastRecords:
    """The records at the end of a file with JSON lines. It is read backwards in steps, each line
    once, until there are enough messages; then their secrets are masked, which takes longer."""

    def __init__(self, fd: int, size: int, formats: Sequence[TranscriptFormat]) -> None:
        self._fd = fd
        self._formats = [format_ for format_ in formats if not format_.is_document]
        self._records: list[Record] = []
        self._ids: set[str] = set()
        self._size = size
        self.start = size
        """The first byte that was read."""
        self.format: TranscriptFormat | None = None
        self.messages = 0
        self.pending_bytes = 0

    def read_from(self, start: int, taken: int) -> None:
        """Read the lines from `start` up to those that were read; `taken` begins a line."""
        begin = start if start == taken else next_line(self._fd, start, self.start)
        problems = ReadProblems()
        records: list[Record] = []
        for line in split_lines(read_blocks(self._fd, begin, self.start)):
            if not self._passes_over(line):
                records += self._counted(records_of_line(line, problems))
        if self.start == self._size:
            self.pending_bytes = problems.pending_bytes
        self._records[:0] = records
        self.start = begin

    def text_lines(self, redact: Callable[[str], str], leaves_out: LeavesOut | None) -> list[str]:
        if self.format is None:
            return []
        transcript = records_as_text(self._records, redact, self.format, leaves_out)
        return transcript.text.splitlines()

    def _passes_over(self, line: RawLine) -> bool:
        format_ = self.format
        return bool(format_ and line.ended and line.data and format_.has_no_message(line.data))

    def _counted(self, records: list[Record]) -> list[Record]:
        for record in records:
            if self.format is None:
                self.format = next((one for one in self._formats if one.owns(record)), None)
            turn = self.format.read(record).turn if self.format else None
            if turn and turn.id not in self._ids:
                self.messages += 1
                # A host may write a message twice.
                self._ids.update(filter(None, [turn.id]))
        return records


def _number(value: Any, limit: int) -> int:
    """A stored position; 0 if it is beyond the limit, because the file was cut or replaced."""
    return value if isinstance(value, int) and 0 <= value <= limit else 0
