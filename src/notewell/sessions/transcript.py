"""Records to text: one line per message, and the record that each line came from.

    sessions/ab12.jsonl                                   text
    3  {"type":"message", … "role":"user" … }     ──▶     1  User: when do we ship?
    4  {"type":"message", … "toolResult" … }
    5  {"type":"message", … "assistant" … }       ──▶     2  Assistant: On Friday.

Two properties let a conversation grow without embedding anything twice. Each message is redacted
and folded alone, so a later message cannot change its line. And no line is blank or begins with
Markdown syntax: each begins with `User: ` or `Assistant: `. So the chunker takes exchanges from
the top, and growth only changes the last chunk.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import UTC, datetime, tzinfo
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from notewell.errors import NoteUnreadable
from notewell.hosts import TRANSCRIPT_FORMATS, folded
from notewell.records import dataclass
from notewell.sessions.records import (
    MAX_DOCUMENT_BYTES,
    ReadProblems,
    line_records,
    parse_document,
    split_lines,
)
from notewell.types import SessionFacts, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date

    from notewell.hosts import Record, RecordFacts, TranscriptFormat, Turn
    from notewell.sessions.records import RawLine

LeavesOut: TypeAlias = "Callable[[str, datetime | None], bool]"
"""Whether a message, by its text and its time, is not read: the user has had it forgotten."""

NO_KNOWN_HOST = "it is not a transcript of a host that Notewell knows"

MAX_UNOWNED_RECORDS = 1000
"""A transcript has a message, or a record of its host's own, long before. A file of something else
may be large, so its rest is not read."""


@dataclass(frozen=True, slots=True)
class Session:
    """The facts of a conversation."""

    format: str | None = None
    id: str | None = None
    cwd: str | None = None
    started_at: datetime | None = None
    last_at: datetime | None = None
    host: str | None = None
    """As the file says; None leaves it to the format."""

    def facts(self) -> SessionFacts:
        return SessionFacts(self.day(), self.cwd, self.host or self.format)

    def day(self, zone: tzinfo = UTC) -> date | None:
        """The day on which it began, in the user's time zone."""
        return self.started_at.astimezone(zone).date() if self.started_at else None


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as text."""

    text: str
    """One line per message, each ended by `\\n`."""
    line_map: tuple[int, ...]
    """For each line of the text, its record's number, ascending from 1. In a file with JSON lines
    this is the line of the file."""
    session: Session
    said_at: tuple[str, ...] = ()
    """For each line of the text, the time of its record; empty if it has none."""
    ids: tuple[str | None, ...] = ()
    """For each line of the text, the id of its message, if the host gives it one."""
    pending_bytes: int = 0
    """The size of an incomplete last line."""
    repairs: tuple[str, ...] = ()
    is_foreign: bool = False
    """The file has records, and no known host writes such records."""

    def in_file(self, span: Span) -> Span:
        """The lines of the file that lines of the text came from."""
        first, last = self.line_map[span.start_line - 1], self.line_map[span.end_line - 1]
        return Span(first, last)

    def in_text(self, span: Span) -> Span | None:
        """The lines of the text that came from lines of the file; None if no message did."""
        # The line map is ascending, but two lines may come from one line of the file.
        first = bisect_left(self.line_map, span.start_line)
        last = bisect_right(self.line_map, span.end_line)
        return Span(first + 1, last) if first < last else None


def document_formats(
    path: str, formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS
) -> list[TranscriptFormat]:
    """The formats in which a file of this name is one JSON document; none for JSON lines."""
    return [
        format_
        for format_ in formats
        if format_.is_document and format_.is_name(path.rsplit("/", 1)[-1])
    ]


def read_transcript(
    path: str,
    blocks: Iterable[bytes],
    redact: Callable[[str], str],
    formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS,
    leaves_out: LeavesOut | None = None,
) -> Transcript:
    """The transcript in a file's bytes. Raises `NoteUnreadable` for a document that is incomplete:
    with an empty text instead, a sync would remove the conversation from the index."""
    as_document = document_formats(path, formats)
    if not as_document:
        lines = split_lines(blocks)
        return as_text(
            lines, redact, formats, max_unowned=MAX_UNOWNED_RECORDS, leaves_out=leaves_out
        )
    # The size is checked while reading: the file may grow after its stat.
    data = bytearray()
    for block in blocks:
        data += block
        if len(data) > MAX_DOCUMENT_BYTES:
            raise NoteUnreadable(path, f"larger than {MAX_DOCUMENT_BYTES // 2**20} MiB")
    transcript = _document_as_text(bytes(data), redact, as_document, leaves_out)
    if transcript.pending_bytes:
        raise NoteUnreadable(path, "its JSON is not complete")
    return transcript


def as_text(
    lines: Iterable[RawLine],
    redact: Callable[[str], str],
    formats: Sequence[TranscriptFormat] = TRANSCRIPT_FORMATS,
    *,
    max_unowned: float = inf,
    leaves_out: LeavesOut | None = None,
) -> Transcript:
    """The transcript in JSON lines, with its secrets masked. After `max_unowned` records that no
    format owns, the rest is not read."""
    problems = ReadProblems()
    as_lines = [format_ for format_ in formats if not format_.is_document]
    reader = _Reader(redact, as_lines, leaves_out)
    for number, record in line_records(lines, problems, reader.passes_over):
        reader.add(number, record)
        if reader.unowned > max_unowned:
            break
    return reader.transcript(problems)


def records_as_text(
    records: Iterable[Record | None],
    redact: Callable[[str], str],
    format_: TranscriptFormat,
    leaves_out: LeavesOut | None = None,
) -> Transcript:
    """The transcript in records that are known to be of one format; None is a damaged one."""
    problems = ReadProblems()
    reader = _Reader(redact, [format_], leaves_out)
    for number, record in enumerate(records, 1):
        if record is None:
            problems.broken += 1
        else:
            reader.add(number, record)
    return reader.transcript(problems)


def _document_as_text(
    data: bytes,
    redact: Callable[[str], str],
    formats: Sequence[TranscriptFormat],
    leaves_out: LeavesOut | None,
) -> Transcript:
    problems = ReadProblems()
    document = parse_document(data, problems)
    reader = _Reader(redact, formats, leaves_out)
    if document is not None:
        reader.add_document(document)
    return reader.transcript(problems)


class _Reader:
    """Reads one transcript from its start."""

    def __init__(
        self,
        redact: Callable[[str], str],
        formats: Sequence[TranscriptFormat],
        leaves_out: LeavesOut | None,
    ) -> None:
        self._redact = redact
        self._leaves_out = leaves_out
        self._formats = formats
        self._format: TranscriptFormat | None = None
        self._seen_ids: set[str] = set()
        self._session_id: str | None = None
        self._cwd: str | None = None
        self._started_at: datetime | None = None
        self._last_at: datetime | None = None
        self._last_text: str | None = None
        self._lines: list[str] = []
        self._line_map: list[int] = []
        self._said_at: list[str] = []
        self._host: str | None = None
        self._ids: list[str | None] = []
        self._is_subagent = False
        self.unowned = 0
        """How many records were read before one that a format owns."""

    def add(self, number: int, record: Record) -> None:
        format_ = self._format or self._detect(record)
        if format_ is None:
            self.unowned += 1
            return
        facts = format_.read(record)
        self._note(facts)
        if facts.summary is not None:
            self._drop_summary(facts.summary)
        if facts.turn is not None and self._is_new(facts.turn) and not self._is_subagent:
            # Redact first: a private key is found by its lines, which folding removes.
            line = folded(self._redact(facts.turn.text))
            if line and not (self._leaves_out and self._leaves_out(line, facts.at)):
                self._lines.append(f"{facts.turn.speaker}: {line}")
                self._line_map.append(number)
                self._said_at.append(_minute(facts.at))
                self._ids.append(facts.turn.id)
                self._last_text = folded(facts.turn.text)

    def passes_over(self, line: bytes) -> bool:
        """Whether a line has no message, as far as its bytes tell."""
        return self._format is not None and self._format.has_no_message(line)

    def _drop_summary(self, summary: str) -> None:
        """Remove the last line if its text is the end of the summary."""
        is_by_assistant = bool(self._lines) and self._lines[-1].startswith("Assistant: ")
        if is_by_assistant and self._last_text and summary.endswith(self._last_text):
            self._lines.pop()
            self._line_map.pop()
            self._said_at.pop()
            self._ids.pop()
        self._last_text = None

    def add_document(self, document: Record) -> None:
        format_ = self._detect(document)
        if format_ is None:
            self.unowned += 1
        elif format_.records is not None:
            for number, record in enumerate(format_.records(document), 1):
                self.add(number, record)

    def transcript(self, problems: ReadProblems) -> Transcript:
        name = self._format.name if self._format else None
        return Transcript(
            text="".join(f"{line}\n" for line in self._lines),
            line_map=tuple(self._line_map),
            session=Session(
                name, self._session_id, self._cwd, self._started_at, self._last_at, self._host
            ),
            said_at=tuple(self._said_at),
            ids=tuple(self._ids),
            pending_bytes=problems.pending_bytes,
            repairs=problems.repairs(),
            is_foreign=self._format is None and self.unowned > 0,
        )

    def _detect(self, record: Record) -> TranscriptFormat | None:
        self._format = next((format_ for format_ in self._formats if format_.owns(record)), None)
        return self._format

    def _note(self, facts: RecordFacts) -> None:
        """Keep the first id and folder: a resumed session may continue in another folder."""
        self._session_id = self._session_id or facts.session_id
        self._cwd = self._cwd or facts.cwd
        self._host = self._host or facts.host
        self._started_at = self._started_at or facts.at
        self._last_at = facts.at or self._last_at
        self._is_subagent = self._is_subagent or facts.is_subagent

    def _is_new(self, turn: Turn) -> bool:
        # Without ids, equal messages cannot be told from repeated ones ("yes", "go on").
        if turn.id is None:
            return True
        is_new = turn.id not in self._seen_ids
        self._seen_ids.add(turn.id)
        return is_new


def _minute(at: datetime | None) -> str:
    """A time as the index has it. Without seconds: a message takes longer to write."""
    return f"{at.astimezone(UTC).isoformat()[:16]}Z" if at else ""
