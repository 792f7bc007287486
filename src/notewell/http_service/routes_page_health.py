"""How the memory is, what happens to it, and who is looking."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import anyio
from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse

from notewell import __version__
from notewell.doctor import Finding
from notewell.embedders import Usage
from notewell.errors import NotewellError
from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import Caller, CallerOf
from notewell.http_service.events import Listener, Live, TooManyListeners, last_written
from notewell.http_service.health import Health, health_of
from notewell.http_service.limits import TooBusy
from notewell.http_service.schemas_page import (
    DiskShown,
    EmbedderShown,
    FindingShown,
    HealthShown,
    IndexShown,
    LeaseShown,
    Me,
)
from notewell.http_service.schemas_status import status_shown
from notewell.http_service.static_files import PageOf, shown_to
from notewell.memory import Memory
from notewell.tools import without_places

LOOK_S = 3.0
"""How often a listener looks whether other processes have written."""
QUIET_LOOKS = 5
"""After so many looks without news a comment is sent, which keeps proxies from hanging up."""

router = APIRouter(route_class=Guarded)


@router.get("/me", **needs("read"))
async def me(caller: CallerOf) -> Me:
    """Who is looking, and what he may do."""
    return Me(
        agent=caller.agent,
        agents=list(caller.agents),
        scopes=sorted(caller.scopes),
        version=__version__,
        read_only="append" not in caller.scopes,
    )


@router.get("/health", response_model_exclude_none=True, **needs("read"))
async def health(caller: CallerOf, page: PageOf) -> HealthShown:
    """Everything that the doctor would look at; his findings are up to a minute old."""
    admin = "admin" in caller.scopes

    def look(memory: Memory) -> HealthShown:
        return _health(health_of(memory, page.checkups(caller.agent)), admin=admin)

    return await shown_to(caller, "slow", look)


def _health(found: Health, *, admin: bool) -> HealthShown:
    status, used = found.status, found.usage or Usage()
    return HealthShown(
        status=status_shown(status, admin=admin),
        findings=[_finding(one, admin=admin) for one in found.findings],
        embedder=EmbedderShown(
            provider=status.provider,
            model=status.model,
            calls=used.requests,
            tokens=used.tokens,
            errors=used.failed_requests,
            cache_hits=found.cache_hits,
            cache_misses=found.cache_misses,
            cost=used.usd,
        ),
        index=IndexShown(bytes=status.index_bytes, age_s=found.age_s, generation=found.generation),
        lease=LeaseShown(holder=found.holder),
        disk=DiskShown(free_bytes=found.free_bytes),
    )


def _finding(one: Finding, *, admin: bool) -> FindingShown:
    """Folders of this machine are for an admin only."""
    todo = one.todo or ""
    return FindingShown(
        what=one.what,
        told=one.told if admin else without_places(one.told),
        todo=(todo if admin else without_places(todo)) or None,
        fixable=one.is_fixable,
        level=_level(one),
    )


def _level(one: Finding) -> Literal["ok", "warn", "error"]:
    """What only the user can mend weighs more than what `doctor --fix` does by itself."""
    if not one.todo:
        return "ok"
    return "warn" if one.is_fixable else "error"


@router.get("/events", response_class=StreamingResponse, **needs("read"))
async def events(
    caller: CallerOf,
    page: PageOf,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> StreamingResponse:
    """Server-sent events: `status` whenever something has changed, and what it is."""
    written = await shown_to(caller, "quick", last_written)
    try:
        listener = page.live.join(caller.agent)
    except TooManyListeners:
        raise TooBusy from None
    is_back = last_event_id is not None
    told = _told(caller, page.live, listener, written, is_back=is_back)
    return StreamingResponse(
        told, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _told(
    caller: Caller,
    live: Live,
    listener: Listener,
    written: dict[str, tuple[int, ...]],
    *,
    is_back: bool,
) -> AsyncIterator[bytes]:
    """Until the listener is dropped, hangs up, or the server ends.

    Who comes back may have missed something; who is new has just looked. A browser tells the two
    apart by the id that it was given.
    """
    quiet = 0
    try:
        yield b"id: 1\n\n"
        if is_back:
            yield await _event(caller, ("back",))
        while not (listener.is_dropped or caller.parts.closing.is_set()):
            news = await _next(caller, listener)
            written, others = await _looked(caller, written)
            if not _may(caller):
                return
            news = tuple(dict.fromkeys((*news, *others)))
            quiet = 0 if news else quiet + 1
            if news:
                yield await _event(caller, news)
            elif quiet >= QUIET_LOOKS:
                quiet = 0
                yield b": still here\n\n"
    finally:
        live.leave(caller.agent, listener)


def _may(caller: Caller) -> bool:
    """Whether the token that was let in is still good."""
    try:
        return caller.parts.book.holds(caller.token.id)
    except NotewellError:
        return False


async def _next(caller: Caller, listener: Listener) -> tuple[str, ...]:
    """What came, or nothing after a while; at once when the server is to end."""

    async def end() -> None:
        await caller.parts.closing.wait()
        listener.drop()

    async with anyio.create_task_group() as group:
        group.start_soon(end)
        news = await listener.next(LOOK_S)
        group.cancel_scope.cancel()
    return news


async def _looked(
    caller: Caller, before: dict[str, tuple[int, ...]]
) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """What was written since, and by that what others have done."""
    try:
        now = await caller.run("quick", last_written)
    except (NotewellError, TooBusy):
        return before, []
    return now, [name for name, times in now.items() if times != before.get(name)]


async def _event(caller: Caller, news: tuple[str, ...]) -> bytes:
    told: dict[str, Any] = {"changed": list(news)}
    try:
        with anyio.move_on_after(LOOK_S):
            told |= await caller.run("quick", _counted)
    except (NotewellError, TooBusy):
        told["problem"] = "the index cannot be read just now"
    return f"event: status\ndata: {json.dumps(told)}\n\n".encode()


def _counted(memory: Memory) -> dict[str, Any]:
    found = memory.looking().counts()
    if found is None:
        return {"notes": 0, "chunks": 0, "embedded": 0, "waiting": 0}
    generation, counts = found
    return {
        "generation": generation,
        "notes": counts.files,
        "chunks": counts.chunks,
        "embedded": counts.embedded,
        "waiting": counts.waiting,
    }
