"""Writes: entries, conversation turns, and syncs on request.

Each write accepts an `Idempotency-Key`: a repeated request gets the first response and is not
executed again.
"""

import hashlib
import logging
import math
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio
from anyio.abc import TaskGroup
from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from notewell.capture import FlushFacts
from notewell.databases import stored_conversations
from notewell.errors import BadRequest
from notewell.http_service import problems
from notewell.http_service.agents import Agents, ContentWritten
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import Caller, CallerDep
from notewell.http_service.idempotency import Completed, IdempotentRequest
from notewell.http_service.limits import WorkerPools
from notewell.http_service.schemas import (
    AppendAnswer,
    AppendBody,
    FlushAnswer,
    FlushBody,
    SyncBody,
    SyncRunning,
    TurnsAnswer,
    TurnsBody,
)
from notewell.http_service.schemas_status import SyncAnswer, sync_answer
from notewell.http_service.transcripts import (
    SESSION_ID,
    NewTurn,
    add_turns,
    said_turns,
    transcript_file,
)
from notewell.memory import Memory
from notewell.notes import Appended, Entry
from notewell.sync import SyncReport
from notewell.tools import (
    CallContext,
    FlushInput,
    flush_decision,
    keep_transcript,
    store_turns,
)

ORIGIN = "http"
"""The origin that entries from here are marked with."""
MAX_WAIT_S = 300
REPLAYED_HEADER = "Idempotent-Replayed"

_log = logging.getLogger(__name__)

router = APIRouter(prefix="/v1", tags=["agents"], route_class=GuardedRoute)

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="A request with the same key within 24 hours is not executed again.",
    ),
]


@router.post(
    "/append",
    status_code=201,
    response_model=AppendAnswer,
    **needs("append", {200: AppendAnswer, 409: None}),
)
async def append(body: AppendBody, caller: CallerDep, key: IdempotencyKey = None) -> JSONResponse:
    """Append an entry to today's note or below a heading of MEMORY.md."""

    def write(memory: Memory, at: datetime) -> Completed:
        appended = _append_entry(memory, body, at, caller.token.session_key)
        lines = {"startLine": appended.span.start_line, "endLine": appended.span.end_line}
        if appended.added:
            caller.context.audit.record(caller, "append", path=appended.path, **lines)
            caller.publish(ContentWritten("append", appended.path))
        notice = {"notice": appended.notice} if appended.notice else {}
        answer = {"path": appended.path, **lines, "added": appended.added, **notice}
        return Completed(201 if appended.added else 200, answer)

    return await _run_once(caller, "append", key, body, write)


def _append_entry(
    memory: Memory, body: AppendBody, at: datetime, session_key: str | None
) -> Appended:
    now = memory.now()
    # Notes are named by the calendar of the user.
    day = at.astimezone(memory.zone).date()
    if body.section is not None or day == now.date():
        return memory.append(
            body.text, section=body.section, origin=ORIGIN, session_key=session_key
        )
    # A request that began before midnight and is repeated after it: the entry may already be in
    # yesterday's note, and only there can the duplicate be seen.
    appended = memory.journal.writer().append(Entry(body.text, ORIGIN), day, now=now)
    memory.mark_changed()
    return appended


@router.post(
    "/sessions/{id}/turns",
    status_code=201,
    response_model=TurnsAnswer,
    **needs("append", {409: None}),
)
async def add_to_session(
    id: Annotated[str, Path(pattern=SESSION_ID, description="Letters, digits, `-` and `_`.")],  # noqa: A002 - the name in the API
    body: TurnsBody,
    caller: CallerDep,
    key: IdempotencyKey = None,
) -> JSONResponse:
    """Append turns to a transcript of this agent. Searches of sessions find them; with
    `sessions.keep.enabled`, the conversation is kept, and every search finds it. A service on a
    database keeps every conversation there, with its secrets masked, unless that setting is
    false."""
    # Without a key, a random one: the ids of turns must still be unique.
    # With the token's id: the keys of two tokens must not collide.
    name = f"{caller.token.id}\0{key or secrets.token_hex(16)}"
    turns = [NewTurn(turn.role, turn.content, turn.at) for turn in body.turns]

    def write(memory: Memory, at: datetime) -> Completed:
        if stored := stored_conversations(memory.notes, memory.state_dir):
            if memory.settings.capture.keep.enabled is False:
                raise _keeps_nothing()
            added = store_turns(memory, stored, ORIGIN, id, said_turns(turns, name, at))
            _tell_of_turns(caller, memory, id, added)
            return Completed(201, {"id": id, "turns": len(turns), "kept": added})
        file = transcript_file(caller.context.agents.state, caller.agent, id)
        added = add_turns(file, turns, name, at)
        # Also if none was added: what a failure has left is kept now.
        kept = keep_transcript(memory, ORIGIN, id, file)
        _tell_of_turns(caller, memory, id, added)
        if kept.trouble:
            _log.warning("turns are not kept: %s", kept.trouble)
        why = {"notice": f"not kept: {kept.trouble.public_text()}"} if kept.trouble else {}
        return Completed(201, {"id": id, "turns": len(turns), "kept": kept.messages, **why})

    return await _run_once(caller, f"turns/{id}", key, body, write)


def _tell_of_turns(caller: Caller, memory: Memory, id_: str, added: int) -> None:
    memory.mark_changed()
    if added:
        path = f"sessions/{id_}.jsonl"
        caller.context.audit.record(caller, "turns", path=path, turns=added)
        caller.publish(ContentWritten("turns", path))


def _keeps_nothing() -> problems.Problem:
    """A service on one machine has a transcript all the same; here nothing else would have it."""
    return problems.Problem(
        409,
        "no-transcripts",
        "This service keeps no conversations",
        "its settings say so: `sessions.keep.enabled` is false",
        "append what matters with /v1/append, or ask whoever runs the service",
    )


async def _run_once(
    caller: Caller,
    route: str,
    key: str | None,
    body: BaseModel,
    write: Callable[[Memory, datetime], Completed],
) -> JSONResponse:
    if key is None:
        answer = await caller.run("write", lambda memory: write(memory, datetime.now(UTC)))
        return JSONResponse(answer.body, answer.status)
    # Of the parsed body: a repeated request may order its JSON keys differently.
    digest = hashlib.sha256(body.model_dump_json().encode()).hexdigest()
    request = IdempotentRequest(caller.token.id, caller.agent, route, key, digest)
    answer, is_new = await caller.run(
        "write", lambda memory: _run_recorded(caller, request, memory, write)
    )
    return JSONResponse(answer.body, answer.status, {} if is_new else {REPLAYED_HEADER: "true"})


def _run_recorded(
    caller: Caller,
    request: IdempotentRequest,
    memory: Memory,
    write: Callable[[Memory, datetime], Completed],
) -> tuple[Completed, bool]:
    """The response, and whether the write was executed now."""
    store = caller.context.idempotency
    state = store.begin(request)
    if isinstance(state, Completed):
        return state, False
    try:
        answer = write(memory, state.at)
    except BaseException:
        store.discard(request)
        raise
    store.complete(request, state, answer)
    return answer, True


@router.post("/flush", response_model_exclude_none=True, **needs("append"))
async def flush(body: FlushBody, caller: CallerDep) -> FlushAnswer:
    """Ask after each turn whether to write notes before a compaction. With `flush: true`, run one
    turn that the user does not see, with the two prompts and a tool that appends."""
    facts = FlushFacts(
        body.used_tokens,
        body.context_window,
        compactions=body.compactions,
        compacting=body.compacting,
    )
    request = FlushInput(facts, body.session, body.failed)
    context = CallContext(session_key=caller.token.session_key)

    def work(memory: Memory) -> FlushAnswer:
        return FlushAnswer.model_validate(flush_decision(memory, request, context).to_json())

    # A write: the prompts are handed out once, so the response must not be abandoned halfway.
    return await caller.run("write", work)


# -- sync on request -----------------------------------------------------------------------------


@router.post("/sync", response_model=SyncAnswer, **needs("append", {202: SyncRunning}))
async def sync(
    caller: CallerDep,
    body: SyncBody | None = None,
    wait: Annotated[
        float, Query(ge=0, le=MAX_WAIT_S, description="How many seconds to wait for the result.")
    ] = 30,
) -> SyncAnswer | JSONResponse:
    """Bring the index up to date. If that takes longer than `wait`, the sync continues and the
    response is 202."""
    force = body is not None and body.force
    if force and not caller.is_admin:
        raise problems.not_allowed(
            "a forced sync needs the scope 'admin'", "leave out force, or use a token of an admin"
        )
    # Recorded before it starts: a rebuild can take long and may be interrupted.
    if force:
        await caller.run("write", lambda _: caller.context.audit.record(caller, "rebuild"))
    key = caller.token.session_key
    # A job has no caller, so the conversation is checked here.
    sees_private = await caller.run("quick", lambda memory: memory.sees_private(key))
    report = await caller.context.sync_jobs.run(caller.agent, force=force, wait_s=wait)
    if report is None:
        return JSONResponse(SyncRunning().model_dump(), 202)
    return sync_answer(report, admin=caller.is_admin, sees_private=sees_private)


class _SyncJob:
    def __init__(self) -> None:
        self.finished = anyio.Event()
        self.report: SyncReport | None = None
        self.error: Exception | None = None


class SyncJobs:
    """One running sync per agent, shared by all requests that arrive meanwhile. Jobs belong to the
    server: a client that disconnects does not cancel one."""

    def __init__(self, agents: Agents, pools: WorkerPools) -> None:
        self._agents = agents
        self._pools = pools
        self._running: dict[tuple[str, bool], _SyncJob] = {}
        self._group: TaskGroup | None = None

    def start(self, group: TaskGroup) -> None:
        """Called at the start of the application."""
        self._group = group

    async def run(self, agent: str, *, force: bool, wait_s: float) -> SyncReport | None:
        """The report; None if the sync still runs after `wait_s` seconds."""
        if self._group is None:
            raise BadRequest("the server is not running yet")
        # A forced sync is a job of its own: an ordinary one does not do its work.
        key = (agent, force)
        job = self._running.get(key)
        if job is None:
            job = self._running[key] = _SyncJob()
            self._group.start_soon(self._execute, key, job)
        with anyio.move_on_after(wait_s):
            await job.finished.wait()
        if not job.finished.is_set():
            return None
        if job.error is not None:
            # The same exception object for all waiters; each gets its own problem response.
            raise job.error
        return job.report

    async def _execute(self, key: tuple[str, bool], job: _SyncJob) -> None:
        agent, force = key
        try:
            work = partial(self._agents.sync, agent, force=force)
            # Without a limit: the requests that wait for the job have limits of their own.
            job.report = await self._pools.run("slow", agent, work, wait_s=math.inf)
        except Exception as error:  # noqa: BLE001 - raised again in every waiting request
            job.error = error
        finally:
            # Before the event: a request that wakes up and asks again must start a new sync.
            del self._running[key]
            job.finished.set()
