"""Records to text: one line a message, and where each line came from.

    sessions/ab12.jsonl                                   text
    3  {"type":"message", … "role":"user" … }     ──▶     1  User: when do we ship?
    4  {"type":"message", … "toolResult" … }
    5  {"type":"message", … "assistant" … }       ──▶     2  Assistant: On Friday.

Two properties let a conversation grow without anything being embedded twice. A message is
redacted and folded by itself, so what comes later cannot change its line. And no line is blank or
begins with anything Markdown knows (each begins with `User: ` or `Assistant: `), so the whole text
is one paragraph, and the chunker, which fills paragraphs line by line from the top, only ever
changes the last chunk.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.sessions.claude_code import CLAUDE_CODE
from notewell.sessions.codex import CODEX
from notewell.sessions.lines import Trouble, records
from notewell.sessions.openclaw import OPENCLAW
from notewell.sessions.turns import Session, folded
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from notewell.sessions.lines import Line
    from notewell.sessions.turns import Format, Record, Told, Turn

FORMATS = (OPENCLAW, CLAUDE_CODE, CODEX)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as text."""

    text: str
    """A line a message, each ended by `\\n`."""
    line_map: tuple[int, ...]
    """Of each line of the text, the line of the file, both counted from 1; ascending."""
    session: Session
    compactions: int = 0
    pending_bytes: int = 0
    """Of a last line that is not all there yet."""
    repairs: tuple[str, ...] = ()

    def in_file(self, span: Span) -> Span:
        """The lines of the file that lines of the text came from."""
        first, last = self.line_map[span.start_line - 1], self.line_map[span.end_line - 1]
        return Span(first, last)

    def in_text(self, span: Span) -> Span | None:
        """The lines of the text that come from lines of the file; None where nothing was said."""
        first = bisect_left(self.line_map, span.start_line)
        last = bisect_right(self.line_map, span.end_line)
        return Span(first + 1, last) if first < last else None


def as_text(lines: Iterable[Line], redact: Callable[[str], str]) -> Transcript:
    """The transcript in these lines, its secrets masked."""
    trouble = Trouble()
    reading = _Reading(redact)
    for number, record in records(lines, trouble):
        reading.take(number, record)
    return Transcript(
        text="".join(f"{line}\n" for line in reading.said),
        line_map=tuple(reading.line_map),
        session=reading.session(),
        compactions=reading.compactions,
        pending_bytes=trouble.pending_bytes,
        repairs=trouble.repairs(),
    )


class _Reading:
    """One transcript while it is read, from the top."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._format: Format | None = None
        self._seen: set[str] = set()
        self._session_id: str | None = None
        self._cwd: str | None = None
        self._first: datetime | None = None
        self._last: datetime | None = None
        self.said: list[str] = []
        self.line_map: list[int] = []
        self.compactions = 0

    def take(self, number: int, record: Record) -> None:
        if self._format is None:
            self._format = next((one for one in FORMATS if one.owns(record)), None)
        if self._format is None:
            return
        told = self._format.told(record)
        self._note(told)
        if told.turn is not None and self._is_new(told.turn):
            line = folded(self._redact(told.turn.text))
            if line:
                self.said.append(f"{told.turn.speaker}: {line}")
                self.line_map.append(number)

    def session(self) -> Session:
        name = self._format.name if self._format else None
        return Session(name, self._session_id, self._cwd, self._first, self._last)

    def _note(self, told: Told) -> None:
        """The first that is told counts: a session may be resumed elsewhere, it began there."""
        self._session_id = self._session_id or told.session_id
        self._cwd = self._cwd or told.cwd
        self._first = self._first or told.at
        self._last = told.at or self._last
        self.compactions += told.compacted

    def _is_new(self, turn: Turn) -> bool:
        if turn.id is None:
            return True
        is_new = turn.id not in self._seen
        self._seen.add(turn.id)
        return is_new
