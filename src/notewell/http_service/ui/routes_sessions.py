"""Sessions: transcripts with secrets masked."""

import re
from bisect import bisect_right
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Path, Query

from notewell.engines import IndexInspector
from notewell.errors import NotANote
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import CallerDep
from notewell.http_service.ui.note_card import note_card
from notewell.http_service.ui.schemas_history import (
    SessionDetail,
    SessionItem,
    SessionList,
    TurnItem,
)
from notewell.http_service.ui.state import run_visible
from notewell.index import ListedNote
from notewell.memory import Memory
from notewell.records import dataclass
from notewell.redaction import MASK
from notewell.sessions import path_of_session, session_of_path
from notewell.tools import MAX_PATH_CHARS
from notewell.types import FoundNote

SESSIONS_PER_PAGE = 100
TURNS_PER_PAGE = 5000
MAX_TITLE_CHARS = 160
"""Two lines of the list."""
MAX_TURN_CHARS = 20_000
"""Longer turns are pasted text; the beginning is enough to see that."""
SPEAKER_CHARS = 20
"""`Assistant: ` and the like, before the text of a turn."""
SESSIONS_OFF = (
    "transcripts are not searched: add `sessions` to memorySearch.sources and set "
    "memorySearch.experimental.sessionMemory in your own settings file"
)

_MASK = re.compile(MASK)

router = APIRouter(route_class=GuardedRoute)
Cursor = Annotated[str | None, Query(max_length=MAX_PATH_CHARS + 32)]
TurnOffset = Annotated[int | None, Query(ge=0, le=10**9)]
SessionId = Annotated[str, Path(min_length=1, max_length=MAX_PATH_CHARS)]


class SessionSummary(NamedTuple):
    id: str
    path: str
    title: str | None
    """The beginning of what was said first; None until it is indexed."""
    folder: str
    """The host that wrote it; empty for the agent's own sessions."""
    day: str
    """The day on which it began; until it is indexed, the day of its last change."""
    turns: int | None
    """None until it is indexed."""
    size: int


@dataclass(frozen=True, slots=True)
class SessionPage:
    sessions: list[SessionSummary]
    next: str | None
    notice: str | None = None


class TurnView(NamedTuple):
    role: str
    text: str
    line: int
    """In the transcript file."""
    redactions: list[tuple[int, int]]
    """The positions of masked secrets, in characters."""


@dataclass(frozen=True, slots=True)
class SessionView:
    id: str
    turns: list[TurnView]
    next: int | None
    """The number of the first turn on the next page."""


# -- routes --------------------------------------------------------------------------------------


@router.get("/sessions", response_model_exclude_none=True, **needs("read"))
async def sessions(caller: CallerDep, cursor: Cursor = None) -> SessionList:
    """All sessions; the most recently changed come first."""

    def read(memory: Memory) -> SessionList:
        page = list_sessions(memory.inspect, cursor)
        items = [
            SessionItem(
                id=session.id,
                path=session.path,
                title=session.title,
                folder=session.folder,
                day=session.day,
                turns=session.turns,
                bytes=session.size,
            )
            for session in page.sessions
        ]
        return SessionList(sessions=items, next=page.next, notice=page.notice)

    return await run_visible(caller, "quick", read)


@router.get("/session/{id:path}", response_model_exclude_none=True, **needs("read"))
async def session(
    id: SessionId,  # noqa: A002 - the name in the API
    caller: CallerDep,
    cursor: TurnOffset = None,
) -> SessionDetail:
    """The turns of one session. Secrets are masked when the file is read."""

    def read(memory: Memory) -> SessionDetail:
        view = read_session(memory.inspect, id, cursor or 0)
        if view is None:
            raise NotANote(path_of_session(id))
        turns = [TurnItem.model_validate(turn._asdict()) for turn in view.turns]
        return SessionDetail(id=view.id, turns=turns, next=view.next)

    return await run_visible(caller, "quick", read)


# -- reading transcripts -------------------------------------------------------------------------


def list_sessions(
    inspector: IndexInspector, cursor: str | None = None, limit: int = SESSIONS_PER_PAGE
) -> SessionPage:
    """The most recently changed first. `cursor` is the sort key of the last one seen."""
    if inspector.transcripts is None:
        return SessionPage([], None, SESSIONS_OFF)
    files = inspector.transcripts.scan().notes.values()
    indexed = {note.path: note for note in inspector.notes() if note.source == "sessions"}
    ordered = sorted(files, key=_sort_key)
    # The cursor is a position in the order and not a name: the session may have been removed or
    # changed since the last page.
    start = bisect_right([_sort_key(file) for file in ordered], cursor) if cursor else 0
    page = ordered[start : start + limit]
    following = _sort_key(page[-1]) if start + limit < len(ordered) else None
    openings = inspector.openings((file.path for file in page), MAX_TITLE_CHARS + SPEAKER_CHARS)
    sessions = [
        _summary(file, indexed.get(file.path), _title(openings[file.path])) for file in page
    ]
    return SessionPage(sessions, following)


def _title(opening: str) -> str | None:
    """The first turn without its speaker."""
    _, _, said = opening.partition("\n")[0].partition(": ")
    return note_card("", said[:MAX_TITLE_CHARS]).title or None


def _sort_key(file: FoundNote) -> str:
    """Sorts the newest first as text, so that it can serve as a cursor."""
    newness = 10**20 - max(0, file.stat.mtime_ns)
    return f"{newness:020d}:{file.path}"


def _summary(file: FoundNote, indexed: ListedNote | None, title: str | None) -> SessionSummary:
    # Sessions of other hosts are in a folder with the host's name: `claude/<id>`.
    id_ = session_of_path(file.path)
    modified = datetime.fromtimestamp(file.stat.mtime_ns / 1e9, UTC).date().isoformat()
    return SessionSummary(
        id=id_,
        path=file.path,
        title=title,
        folder=id_.partition("/")[0] if "/" in id_ else "",
        day=(indexed.day if indexed else None) or modified,
        # The readable text of a transcript has one line per turn.
        turns=indexed.last_line if indexed else None,
        size=file.stat.size,
    )


def read_session(
    inspector: IndexInspector, id_: str, first: int = 0, limit: int = TURNS_PER_PAGE
) -> SessionView | None:
    """One page of turns; None if transcripts are not searched. Raises `NotANote`."""
    if inspector.transcripts is None:
        return None
    transcript = inspector.transcripts.open(path_of_session(id_))
    # The readable text ends with a newline, so the last part is empty.
    lines = transcript.text.split("\n")[:-1]
    turns = [
        _turn(line, number)
        for line, number in zip(lines[first:], transcript.line_map[first:], strict=True)
    ][:limit]
    end = first + len(turns)
    return SessionView(id_, turns, end if end < len(lines) else None)


def _turn(line: str, number: int) -> TurnView:
    # The readable text is our own format: `User: …`.
    speaker, _, text = line.partition(": ")
    text = text[:MAX_TURN_CHARS]
    return TurnView(speaker.lower(), text, number, [mask.span() for mask in _MASK.finditer(text)])
