"""The health of a memory, the stream of events, and the current caller."""

import json
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import anyio
import anyio.to_thread
from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse

from notewell import __version__
from notewell.doctor import Finding, nearest
from notewell.embedders import Usage
from notewell.engines import Status
from notewell.errors import NotewellError
from notewell.http_service.activity import Activity, activity_of, one_truth
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import Caller, CallerDep
from notewell.http_service.limits import TooBusy
from notewell.http_service.schemas_status import activity_answer, status_answer
from notewell.http_service.ui.events import (
    EventBroadcaster,
    Subscriber,
    TooManySubscribers,
    last_modified,
)
from notewell.http_service.ui.schemas_health import (
    DiskHealth,
    EmbedderHealth,
    FindingItem,
    HealthDetail,
    IndexHealth,
    LeaseHealth,
    Me,
    WorkHealth,
)
from notewell.http_service.ui.state import FindingsCache, UiStateDep, run_visible
from notewell.memory import Memory

POLL_S = 3.0
"""How often a stream checks whether other processes have written."""
POLLS_PER_KEEPALIVE = 5
"""After so many polls without news, a comment line is sent. It keeps proxies from closing the
connection."""

router = APIRouter(route_class=GuardedRoute)


@router.get("/me", **needs("read"))
async def me(caller: CallerDep) -> Me:
    """The agent and the scopes of the caller."""
    return Me(
        agent=caller.agent,
        agents=list(caller.agents),
        scopes=sorted(caller.scopes),
        version=__version__,
        # The UI hides its buttons for this; the server checks the scopes in any case.
        read_only="append" not in caller.scopes,
    )


# -- health --------------------------------------------------------------------------------------


class HealthReport(NamedTuple):
    status: Status
    findings: Sequence[Finding]
    usage: Usage | None
    """None for a local model."""
    cache_hits: int
    cache_misses: int
    generation: str | None
    age_s: float | None
    """Time since the index was last written."""
    holder: str | None
    """The process that holds the write lease."""
    notes_built: int | None
    """Notes in the index that is being built."""
    free_bytes: int
    activity: Activity | None


@router.get("/health", **needs("read"))
async def health(caller: CallerDep, state: UiStateDep) -> HealthDetail:
    """Status, embedder usage, and the doctor's findings, which are up to a minute old."""
    admin = caller.is_admin

    def read(memory: Memory) -> HealthDetail:
        return _health_json(health_report(memory, state.findings_cache(caller.agent)), admin=admin)

    return await run_visible(caller, "slow", read)


def health_report(memory: Memory, findings: FindingsCache) -> HealthReport:
    inspector = memory.inspect
    store, tally = inspector.store.describe(), inspector.tally()
    # First: what has ended by the time the status is read is not said to run.
    activity = activity_of(memory)
    status = memory.status()
    return HealthReport(
        status=status,
        findings=one_truth(findings.findings(memory), activity),
        usage=inspector.usage(),
        cache_hits=tally.hits,
        cache_misses=tally.misses,
        generation=store.generation,
        age_s=status.index_age_s,
        holder=store.holder,
        notes_built=store.notes_built,
        free_bytes=shutil.disk_usage(nearest(Path(store.place))).free,
        activity=activity,
    )


def _health_json(report: HealthReport, *, admin: bool) -> HealthDetail:
    status, usage = report.status, report.usage or Usage()
    return HealthDetail(
        # The page is for private conversations only; see `run_visible`.
        status=status_answer(status, admin=admin, sees_private=True, activity=report.activity),
        activity=activity_answer(report.activity),
        findings=[_finding_json(finding, admin=admin) for finding in report.findings],
        embedder=EmbedderHealth(
            provider=status.provider,
            model=status.model,
            calls=usage.requests,
            tokens=usage.tokens,
            errors=usage.failed_requests,
            cache_hits=report.cache_hits,
            cache_misses=report.cache_misses,
            cost=usage.usd,
        ),
        index=IndexHealth(
            bytes=status.index_bytes, age_s=report.age_s, generation=report.generation
        ),
        lease=LeaseHealth(holder=report.holder),
        work=_work_json(report),
        disk=DiskHealth(free_bytes=report.free_bytes),
    )


def _work_json(report: HealthReport) -> WorkHealth:
    counts = report.status.counts
    chunks, vectors, waiting = (
        (counts.chunks, counts.embedded, counts.waiting) if counts else (0, 0, 0)
    )
    return WorkHealth(
        running=report.holder is not None,
        notes_built=report.notes_built,
        vectors=vectors,
        vectors_waiting=waiting,
        # Without an embedder no chunk waits and none is unread: words alone are searched.
        vectors_unread=chunks - vectors - waiting if vectors else 0,
    )


def _finding_json(finding: Finding, *, admin: bool) -> FindingItem:
    """Only an admin sees paths of this machine."""
    return FindingItem(
        what=finding.what,
        message=finding.message if admin else finding.public_message,
        # An empty text and None both mean that there is nothing to do.
        todo=(finding.todo if admin else finding.public_todo) or None,
        fixable=finding.is_fixable,
        level=_level(finding),
    )


def _level(finding: Finding) -> Literal["ok", "warn", "error"]:
    """A problem that only the user can solve is worse than one that `doctor --fix` solves."""
    if not finding.todo:
        return "ok"
    return "warn" if finding.is_fixable else "error"


# -- server-sent events --------------------------------------------------------------------------


@router.get("/events", response_class=StreamingResponse, **needs("read"))
async def events(
    caller: CallerDep,
    state: UiStateDep,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> StreamingResponse:
    """Server-sent events: a `status` event after each change, with the kinds of change."""
    # Before the response starts: an error can still be sent as a problem.
    modified = await run_visible(caller, "quick", last_modified)
    try:
        subscriber = state.broadcaster.join(caller.agent)
    except TooManySubscribers:
        # A browser retries an EventSource after an error, so 503 is right.
        raise TooBusy from None
    is_reconnect = last_event_id is not None
    stream = _stream(caller, state.broadcaster, subscriber, modified, is_reconnect=is_reconnect)
    return StreamingResponse(
        stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _stream(
    caller: Caller,
    broadcaster: EventBroadcaster,
    subscriber: Subscriber,
    modified: dict[str, tuple[int, ...]],
    *,
    is_reconnect: bool,
) -> AsyncIterator[bytes]:
    """Ends when the subscriber is dropped, the client disconnects, or the server shuts down.

    A client that reconnects may have missed events; a new one has just loaded its data. The
    browser sends the id of the first line again when it reconnects.
    """
    quiet_polls = 0
    try:
        yield b"id: 1\n\n"
        if is_reconnect:
            yield await _status_event(caller, ("back",))
        while not (subscriber.is_dropped or caller.context.closing.is_set()):
            topics = await _next_topics(caller, subscriber)
            modified, changed = await _poll_changes(caller, modified)
            # A stream outlives many requests: a revoked token must end it.
            if not await anyio.to_thread.run_sync(caller.has_valid_token):
                return
            # A write through this server appears in both lists; the page must load once.
            topics = tuple(dict.fromkeys((*topics, *changed)))
            quiet_polls = 0 if topics else quiet_polls + 1
            if topics:
                yield await _status_event(caller, topics)
            elif quiet_polls >= POLLS_PER_KEEPALIVE:
                quiet_polls = 0
                yield b": still here\n\n"
    finally:
        # Also when the client disconnects: Starlette then closes this generator.
        broadcaster.leave(caller.agent, subscriber)


async def _next_topics(caller: Caller, subscriber: Subscriber) -> tuple[str, ...]:
    """New topics, or nothing after a while. A shutdown ends the wait at once."""

    async def drop_at_shutdown() -> None:
        await caller.context.closing.wait()
        subscriber.drop()

    async with anyio.create_task_group() as group:
        group.start_soon(drop_at_shutdown)
        topics = await subscriber.next(POLL_S)
        group.cancel_scope.cancel()
    return topics


async def _poll_changes(
    caller: Caller, before: dict[str, tuple[int, ...]]
) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """The current modification times, and the topics whose files other processes changed."""
    try:
        now = await caller.run("quick", last_modified)
    except (NotewellError, TooBusy):
        # The next poll tries again; an index that is being replaced is not an error here.
        return before, []
    return now, [topic for topic, times in now.items() if times != before.get(topic)]


async def _status_event(caller: Caller, topics: tuple[str, ...]) -> bytes:
    data: dict[str, Any] = {"changed": list(topics)}
    try:
        # Without the counts the event is still useful: the page then loads its data again.
        with anyio.move_on_after(POLL_S):
            data |= await caller.run("quick", _index_counts)
    except (NotewellError, TooBusy):
        data["problem"] = "the index cannot be read at the moment"
    return f"event: status\ndata: {json.dumps(data)}\n\n".encode()


def _index_counts(memory: Memory) -> dict[str, Any]:
    current = memory.inspect.counts()
    if current is None:
        return {"notes": 0, "chunks": 0, "embedded": 0, "waiting": 0}
    generation, counts = current
    return {
        "generation": generation,
        "notes": counts.files,
        "chunks": counts.chunks,
        "embedded": counts.embedded,
        "waiting": counts.waiting,
    }
