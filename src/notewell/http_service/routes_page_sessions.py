"""Conversations, and what agents asked."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query

from notewell.capture import Asked, asked_before, moment
from notewell.errors import BadRequest, NotANote
from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import CallerOf
from notewell.http_service.conversations import list_conversations, read_conversation
from notewell.http_service.schemas_page import (
    PlaceShown,
    RecallShown,
    RecallsShown,
    SessionListed,
    SessionShown,
    SessionsShown,
    TurnShown,
)
from notewell.http_service.static_files import shown_to
from notewell.memory import Memory
from notewell.sessions import path_of_session
from notewell.tools import MAX_PATH_CHARS

RECALLS_AT_ONCE = 100

router = APIRouter(route_class=Guarded)
Cursor = Annotated[str | None, Query(max_length=MAX_PATH_CHARS + 32)]
Place = Annotated[int | None, Query(ge=0, le=10**9)]
SessionId = Annotated[str, Path(min_length=1, max_length=MAX_PATH_CHARS)]


@router.get("/sessions", response_model_exclude_none=True, **needs("read"))
async def sessions(caller: CallerOf, cursor: Cursor = None) -> SessionsShown:
    """Conversations, those that were written to last first."""

    def look(memory: Memory) -> SessionsShown:
        found = list_conversations(memory.looking(), cursor)
        listed = [
            SessionListed(
                id=one.id,
                path=one.path,
                folder=one.folder,
                day=one.day,
                turns=one.turns,
                bytes=one.size,
            )
            for one in found.listed
        ]
        return SessionsShown(sessions=listed, next=found.next, notice=found.notice)

    return await shown_to(caller, "quick", look)


@router.get("/session/{id:path}", response_model_exclude_none=True, **needs("read"))
async def session(
    id: SessionId,  # noqa: A002 - the contract's word
    caller: CallerOf,
    cursor: Place = None,
) -> SessionShown:
    """What was said, its secrets masked before it leaves the disk's room."""

    def look(memory: Memory) -> SessionShown:
        found = read_conversation(memory.looking(), id, cursor or 0)
        if found is None:
            raise NotANote(path_of_session(id))
        turns = [TurnShown.model_validate(turn._asdict()) for turn in found.turns]
        return SessionShown(id=found.id, turns=turns, next=found.next)

    return await shown_to(caller, "quick", look)


@router.get("/recalls", response_model_exclude_none=True, **needs("read"))
async def recalls(caller: CallerOf, cursor: Cursor = None) -> RecallsShown:
    """What agents asked and got, the newest first."""

    def look(memory: Memory) -> RecallsShown:
        known = asked_before(memory.captures)
        before = _moment(cursor) if cursor else None
        older = [one for one in known if before is None or one.at < before]
        page = older[:RECALLS_AT_ONCE]
        more = page[-1].at.isoformat() if len(older) > len(page) else None
        enabled = memory.settings.capture.recall_log
        return RecallsShown(recalls=[_recall(one) for one in page], next=more, enabled=enabled)

    return await shown_to(caller, "quick", look)


def _moment(cursor: str) -> datetime:
    try:
        return moment(cursor)
    except ValueError:
        raise BadRequest("the cursor is none that this list has given") from None


def _recall(one: Asked) -> RecallShown:
    return RecallShown(
        at=one.at.isoformat(),
        query=one.query,
        tool=one.tool,
        mode=one.mode,
        took_ms=one.took_ms,
        hits=[PlaceShown.model_validate(place._asdict()) for place in one.places],
    )
