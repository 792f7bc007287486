"""Search, the list of notes, and the lines of one note."""

from datetime import UTC, datetime
from typing import Annotated, Any, cast

from fastapi import APIRouter, Path, Query

from notewell.core import note_date
from notewell.http_service.agents import SearchAnswered
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import CallerDep
from notewell.http_service.limits import search_cost
from notewell.http_service.note_listing import NoteListing
from notewell.http_service.observability import span
from notewell.http_service.schemas import (
    BootstrapAnswer,
    NoteItem,
    NoteLines,
    NoteList,
    SearchAnswer,
    SearchBody,
)
from notewell.memory import Memory
from notewell.records import replace
from notewell.tools import (
    MAX_LINE,
    MAX_PATH_CHARS,
    CallContext,
    answer_json,
    ask_memory,
    bootstrap,
    escaped,
    excerpt_json,
    hit_json,
)
from notewell.types import Answer, Hit, Source

TOOL = "http"
NOTES_PER_PAGE = 100
MAX_NOTES_PER_PAGE = 1000

router = APIRouter(prefix="/v1", tags=["agents"], route_class=GuardedRoute)


@router.post(
    "/search",
    response_model=SearchAnswer,
    response_model_exclude_defaults=True,
    **needs("read"),
)
async def search(body: SearchBody, caller: CallerDep) -> SearchAnswer:
    """Search the memory; the best hits come first. An empty result has a reason."""
    caller.charge(search_cost(body.query, body.max_results))
    key = caller.token.session_key

    def work(memory: Memory) -> SearchAnswer:
        with span("search", agent=caller.agent) as set_attribute:
            answer, took_ms = ask_memory(
                memory,
                body.query,
                max_results=body.max_results,
                min_score=body.min_score,
                mode=body.mode,
                folder=body.folder,
                filters=body.filters(),
                session_key=key,
                journal_as=TOOL,
                asked_by=caller.token.id,
            )
            set_attribute("mode", answer.mode)
            set_attribute("hits", len(answer.hits))
        caller.publish(SearchAnswered(TOOL, answer.mode, took_ms))
        return _answer_json(answer, took_ms, explain=body.explain)

    # A keyword search calls no embedder, so it does not wait behind searches that do.
    return await caller.run("quick" if body.mode == "keyword" else "search", work)


def _answer_json(answer: Answer, took_ms: float, *, explain: bool) -> SearchAnswer:
    payload = {
        **answer_json(answer, public=True),
        "results": [_hit_json(hit, explain=explain) for hit in answer.hits],
        # QMD brings its own models, so its answers name it as the provider.
        "backend": "qmd" if answer.provider == "qmd" else "builtin",
        "tookMs": round(took_ms, 1),
    }
    return SearchAnswer.model_validate(payload)


def _hit_json(hit: Hit, *, explain: bool) -> dict[str, Any]:
    # Agents paste this into prompts: a note must not be able to forge our markers.
    shown = [lines._replace(text=escaped(lines.text)) for lines in hit.shown]
    quoted = replace(
        hit,
        snippet=escaped(hit.snippet),
        heading=escaped(hit.heading),
        shown=tuple(shown),
    )
    return hit_json(quoted, explain=explain, public=True)


@router.get("/bootstrap", **needs("read"))
async def start_of_session(caller: CallerDep) -> BootstrapAnswer:
    """What a session begins with: MEMORY.md and the notes of today and yesterday, quoted. Empty
    in a group, and if there are no such notes."""
    context = CallContext(session_key=caller.token.session_key)

    def work(memory: Memory) -> BootstrapAnswer:
        return BootstrapAnswer(text=bootstrap(memory, context=context))

    return await caller.run("quick", work)


# -- notes ---------------------------------------------------------------------------------------


@router.get(
    "/notes",
    response_model=NoteList,
    response_model_exclude_defaults=True,
    **needs("read"),
)
async def notes(
    caller: CallerDep,
    cursor: Annotated[
        str | None, Query(max_length=MAX_PATH_CHARS, description="`next` of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_NOTES_PER_PAGE)] = NOTES_PER_PAGE,
) -> NoteList:
    """The notes and transcripts on disk, sorted by path. The cursor is a path, so notes that are
    added or removed meanwhile shift no others."""
    key, listings = caller.token.session_key, caller.context.note_listings

    def work(memory: Memory) -> NoteList:
        listing = listings.listing(caller.agent, memory)
        # A keyset cursor: stable, unlike an offset.
        paths = listing.after(cursor, limit, sees_private=memory.sees_private(key))
        items = [_note_item(listing, path) for path in paths[:limit]]
        return NoteList(notes=items, next=items[-1].path if len(paths) > limit else None)

    return await caller.run("quick", work)


def _note_item(listing: NoteListing, path: str) -> NoteItem:
    source, stat = listing.files[path]
    # None for a note that the index does not have yet; it is listed with 0 chunks.
    indexed = listing.indexed.get(path)
    day = note_date(path)
    return NoteItem(
        path=path,
        source=cast("Source", source),
        day=day.isoformat() if day else (indexed.day if indexed else None),
        bytes=stat.size,
        chunks=indexed.chunks if indexed else 0,
        modified=_iso_time(stat.mtime_ns),
    )


def _iso_time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat(timespec="seconds")


@router.get(
    "/notes/{path:path}",
    response_model=NoteLines,
    response_model_exclude_defaults=True,
    **needs("read", {404: None}),
)
async def note(
    path: Annotated[str, Path(description="The path of a hit or of the list of notes.")],
    caller: CallerDep,
    from_: Annotated[int, Query(alias="from", ge=1, le=MAX_LINE, description="First line.")] = 1,
    lines: Annotated[int | None, Query(ge=1, le=MAX_LINE, description="Number of lines.")] = None,
    char: Annotated[
        int, Query(ge=1, le=MAX_LINE, description="First character, to read on in a long line.")
    ] = 1,
) -> NoteLines:
    """Lines of a note as they are on disk now, 120 by default. `nextFrom` is the next line, and
    `nextChar` the next character of a line that was cut."""
    key = caller.token.session_key

    def work(memory: Memory) -> NoteLines:
        excerpt = memory.get(
            path[:MAX_PATH_CHARS], from_line=from_, from_char=char, lines=lines, session_key=key
        )
        payload = excerpt_json(excerpt) | {"text": escaped(excerpt.text)}
        return NoteLines.model_validate(payload)

    return await caller.run("quick", work)
