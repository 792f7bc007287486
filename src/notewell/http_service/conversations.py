"""Transcripts as a page shows them: which there are, and what was said, with secrets masked."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from notewell.redaction import MASK
from notewell.sessions import path_of_session, session_of_path

if TYPE_CHECKING:
    from notewell.engines import Looking
    from notewell.index import ListedNote
    from notewell.types import FoundNote

AT_ONCE = 100
TURNS_AT_ONCE = 5000
MAX_TURN_CHARS = 20_000
"""What somebody pasted in is longer; to see that he did, this is enough."""
OFF = (
    "transcripts are not searched: for that, your own file of settings needs `sessions` among "
    "memorySearch.sources, and memorySearch.experimental.sessionMemory"
)

_MASK = re.compile(MASK)


class Listed(NamedTuple):
    """One conversation."""

    id: str
    path: str
    folder: str
    """The host whose it is; empty for the agent's own."""
    day: str
    """The day it began; until it is indexed, the day it was last written to."""
    turns: int | None
    """None until it is indexed."""
    size: int


@dataclass(frozen=True, slots=True)
class Conversations:
    listed: list[Listed]
    next: str | None
    notice: str | None = None


class Turn(NamedTuple):
    role: str
    text: str
    line: int
    """Of the file."""
    redactions: list[tuple[int, int]]
    """Where a mask stands, in characters."""


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    turns: list[Turn]
    next: int | None
    """The number of the first turn that is not here."""


def list_conversations(
    looking: Looking, cursor: str | None = None, limit: int = AT_ONCE
) -> Conversations:
    """Those that were written to last come first; `cursor` is the last one seen."""
    if looking.indexer.transcripts is None:
        return Conversations([], None, OFF)
    found = looking.indexer.transcripts[0].scan().notes.values()
    indexed = {note.path: note for note in looking.notes() if note.source == "sessions"}
    ordered = sorted(found, key=_token)
    # By its place in the order, not by its name: it may be gone, or have been written to since.
    start = bisect_right([_token(one) for one in ordered], cursor) if cursor else 0
    page = ordered[start : start + limit]
    more = _token(page[-1]) if start + limit < len(ordered) else None
    return Conversations([_listed(one, indexed.get(one.path)) for one in page], more)


def _token(found: FoundNote) -> str:
    """Sorts the newest first, and says where a page ended."""
    newness = 10**20 - max(0, found.stat.mtime_ns)
    return f"{newness:020d}:{found.path}"


def _listed(found: FoundNote, note: ListedNote | None) -> Listed:
    id_ = session_of_path(found.path)
    written = datetime.fromtimestamp(found.stat.mtime_ns / 1e9, UTC).date().isoformat()
    return Listed(
        id=id_,
        path=found.path,
        folder=id_.partition("/")[0] if "/" in id_ else "",
        day=(note.day if note else None) or written,
        turns=note.last_line if note else None,
        size=found.stat.size,
    )


def read_conversation(
    looking: Looking, id_: str, first: int = 0, limit: int = TURNS_AT_ONCE
) -> Conversation | None:
    """Some turns of it; None where transcripts are not searched. Raises `NotANote`."""
    if looking.indexer.transcripts is None:
        return None
    transcript = looking.indexer.transcripts[0].open(path_of_session(id_))
    lines = transcript.text.split("\n")[:-1]
    turns = [
        _turn(line, number)
        for line, number in zip(lines[first:], transcript.line_map[first:], strict=True)
    ][:limit]
    end = first + len(turns)
    return Conversation(id_, turns, end if end < len(lines) else None)


def _turn(line: str, number: int) -> Turn:
    speaker, _, text = line.partition(": ")
    shown = text[:MAX_TURN_CHARS]
    return Turn(speaker.lower(), shown, number, [mask.span() for mask in _MASK.finditer(shown)])
