"""What writes: entries, turns of a conversation, and a sync that is asked for.

Each write can carry an `Idempotency-Key`: made again, it is answered again and not done again.
"""

import hashlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from notewell.http_service import problems
from notewell.http_service.agents import Wrote
from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import Caller, CallerOf
from notewell.http_service.idempotency import Begun, Finished, Request
from notewell.http_service.schemas import (
    AppendAnswer,
    AppendBody,
    Running,
    SyncAnswer,
    SyncBody,
    TurnsAnswer,
    TurnsBody,
    sync_shown,
)
from notewell.http_service.transcripts import SESSION_ID, Turn, add_turns, transcript_of
from notewell.memory import Memory
from notewell.notes import Appended, Entry

ORIGIN = "http"
"""What an entry from here is marked with."""
MOST_WAIT_S = 300
REPLAYED = "Idempotent-Replayed"

router = APIRouter(prefix="/v1", tags=["agents"], route_class=Guarded)

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="Made again with the same key within 24 hours, it is not done again.",
    ),
]


@router.post(
    "/append",
    status_code=201,
    response_model=AppendAnswer,
    **needs("append", {200: AppendAnswer, 409: None}),
)
async def append(asked: AppendBody, caller: CallerOf, key: Key = None) -> JSONResponse:
    """One entry more, in today's note or under a heading of MEMORY.md; the next search has it."""

    def carry_out(memory: Memory, at: datetime) -> Finished:
        done = _appended(memory, asked, at)
        lines = {"startLine": done.span.start_line, "endLine": done.span.end_line}
        if done.added:
            caller.parts.audit.note(caller, "append", path=done.path, **lines)
            caller.tell(Wrote("append", done.path))
        body = {"path": done.path, **lines, "added": done.added}
        return Finished(201 if done.added else 200, body)

    return await _once(caller, "append", key, asked, carry_out)


def _appended(memory: Memory, asked: AppendBody, at: datetime) -> Appended:
    """What was begun yesterday and made again after midnight goes where it was to go."""
    now = memory.now()
    day = at.astimezone().date()
    if asked.section is not None or day == now.date():
        return memory.append(asked.text, section=asked.section, origin=ORIGIN)
    done = memory.place().append(Entry(asked.text, ORIGIN), day, now=now)
    memory.look_again()
    return done


@router.post(
    "/sessions/{id}/turns",
    status_code=201,
    response_model=TurnsAnswer,
    **needs("append", {409: None}),
)
async def add_to_session(
    id: Annotated[str, Path(pattern=SESSION_ID, description="Letters, digits, `-` and `_`.")],  # noqa: A002 - the contract's word
    asked: TurnsBody,
    caller: CallerOf,
    key: Key = None,
) -> JSONResponse:
    """What was said, written down in a transcript of this agent; found where sessions are."""
    name = key or secrets.token_hex(16)

    def carry_out(memory: Memory, at: datetime) -> Finished:
        file = transcript_of(caller.parts.agents.state, caller.agent, id)
        turns = [Turn(one.role, one.content, one.at) for one in asked.turns]
        added = add_turns(file, turns, f"{caller.token.id}\0{name}", at)
        memory.look_again()
        if added:
            caller.parts.audit.note(caller, "turns", path=f"sessions/{id}.jsonl", turns=added)
            caller.tell(Wrote("turns", f"sessions/{id}.jsonl"))
        return Finished(201, {"id": id, "turns": len(turns)})

    return await _once(caller, f"turns/{id}", key, asked, carry_out)


async def _once(
    caller: Caller,
    route: str,
    key: str | None,
    asked: BaseModel,
    carry_out: Callable[[Memory, datetime], Finished],
) -> JSONResponse:
    if key is None:
        answer = await caller.run("write", lambda memory: carry_out(memory, datetime.now(UTC)))
        return JSONResponse(answer.body, answer.status)
    digest = hashlib.sha256(asked.model_dump_json().encode()).hexdigest()
    request = Request(caller.token.id, caller.agent, route, key, digest)
    answer, is_new = await caller.run(
        "write", lambda memory: _kept(caller, request, memory, carry_out)
    )
    return JSONResponse(answer.body, answer.status, {} if is_new else {REPLAYED: "true"})


def _kept(
    caller: Caller,
    request: Request,
    memory: Memory,
    carry_out: Callable[[Memory, datetime], Finished],
) -> tuple[Finished, bool]:
    remembered = caller.parts.remembered
    found = remembered.begin(request)
    if isinstance(found, Finished):
        return found, False
    try:
        answer = carry_out(memory, found.at)
    except BaseException:
        remembered.drop(request)
        raise
    remembered.finish(request, Begun(found.at), answer)
    return answer, True


@router.post("/sync", response_model=SyncAnswer, **needs("append", {202: Running}))
async def sync(
    caller: CallerOf,
    asked: SyncBody | None = None,
    wait: Annotated[
        float, Query(ge=0, le=MOST_WAIT_S, description="So many seconds at most.")
    ] = 30,
) -> SyncAnswer | JSONResponse:
    """Bring the index up to date; who does not want to wait that long is told that it goes on."""
    force = asked is not None and asked.force
    if force and "admin" not in caller.scopes:
        raise problems.not_allowed(
            "a forced sync needs the scope 'admin'", "leave out force, or use an admin's token"
        )
    if force:
        await caller.run("write", lambda _: caller.parts.audit.note(caller, "rebuild"))
    report = await caller.parts.syncs.run(caller.agent, force=force, wait_s=wait)
    if report is None:
        return JSONResponse(Running().model_dump(), 202)
    return sync_shown(report, admin="admin" in caller.scopes)
