"""Search, and the notes themselves."""

from datetime import UTC, datetime
from typing import Annotated, Any, cast

from fastapi import APIRouter, Path, Query

from notewell.core import note_date
from notewell.http_service.agents import Recalled
from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import CallerOf
from notewell.http_service.schemas import (
    NoteLines,
    NoteListed,
    NotesListed,
    SearchAnswer,
    SearchBody,
)
from notewell.http_service.traces import span
from notewell.memory import Memory
from notewell.tools import (
    MAX_LINE,
    MAX_PATH_CHARS,
    answer_json,
    ask_memory,
    escaped,
    excerpt_json,
    hit_json,
    without_places,
)
from notewell.types import Answer, Hit, Source

TOOL = "http"
NOTES_A_PAGE = 100
MOST_NOTES = 1000

router = APIRouter(prefix="/v1", tags=["agents"], route_class=Guarded)


@router.post(
    "/search",
    response_model=SearchAnswer,
    response_model_exclude_defaults=True,
    **needs("read"),
)
async def search(asked: SearchBody, caller: CallerOf) -> SearchAnswer:
    """The lines that answer a question, best first; an empty answer says why it is empty."""
    key = caller.token.session_key

    def work(memory: Memory) -> SearchAnswer:
        with span("search", agent=caller.agent) as note:
            answer, took_ms = ask_memory(
                memory,
                asked.query,
                max_results=asked.max_results,
                min_score=asked.min_score,
                mode=asked.mode,
                session_key=key,
                journal_as=TOOL,
            )
            note("mode", answer.mode)
            note("hits", len(answer.hits))
        caller.tell(Recalled(TOOL, answer.mode, took_ms))
        return _search_answer(answer, took_ms, explain=asked.explain)

    return await caller.run("quick" if asked.mode == "keyword" else "search", work)


def _search_answer(answer: Answer, took_ms: float, *, explain: bool) -> SearchAnswer:
    payload = {
        **answer_json(answer),
        "results": [_hit(hit, explain=explain) for hit in answer.hits],
        "backend": "qmd" if answer.provider == "qmd" else "builtin",
        "notice": without_places(answer.notice or "") or None,
        "tookMs": round(took_ms, 1),
    }
    return SearchAnswer.model_validate(payload)


def _hit(hit: Hit, *, explain: bool) -> dict[str, Any]:
    # Notes are data: nobody who pastes an answer into a prompt may be led by a forged mark.
    text = {"snippet": escaped(hit.snippet), "heading": escaped(hit.heading)}
    return hit_json(hit, explain=explain) | text


# -- notes ---------------------------------------------------------------------------------------


@router.get(
    "/notes",
    response_model=NotesListed,
    response_model_exclude_defaults=True,
    **needs("read"),
)
async def notes(
    caller: CallerOf,
    cursor: Annotated[
        str | None, Query(max_length=MAX_PATH_CHARS, description="The last answer's `next`.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_NOTES)] = NOTES_A_PAGE,
) -> NotesListed:
    """The notes and transcripts that are there now, by path. A note that comes or goes while they
    are listed moves no other."""
    return await caller.run("quick", lambda memory: _listed(memory, cursor, limit))


def _listed(memory: Memory, cursor: str | None, limit: int) -> NotesListed:
    scans = memory.parts.builtin.indexer.scans({})
    found = {
        path: (source, note.stat)
        for source, scan in scans.items()
        for path, note in scan.notes.items()
    }
    after = sorted(path for path in found if cursor is None or path > cursor)
    looking = memory.looking()
    indexed = {note.path: note for note in looking.notes()}
    some = []
    for path in after[:limit]:
        source, stat = found[path]
        known = indexed.get(path)
        day = note_date(path)
        some.append(
            NoteListed(
                path=path,
                source=cast("Source", source),
                day=day.isoformat() if day else (known.day if known else None),
                bytes=stat.size,
                chunks=known.chunks if known else 0,
                modified=_written(stat.mtime_ns),
            )
        )
    return NotesListed(notes=some, next=some[-1].path if len(after) > limit else None)


def _written(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat(timespec="seconds")


@router.get(
    "/notes/{path:path}",
    response_model=NoteLines,
    response_model_exclude_defaults=True,
    **needs("read", {404: None}),
)
async def note(
    path: Annotated[str, Path(description="As a hit or the list of notes names it.")],
    caller: CallerOf,
    from_: Annotated[int, Query(alias="from", ge=1, le=MAX_LINE, description="First line.")] = 1,
    lines: Annotated[int | None, Query(ge=1, le=MAX_LINE, description="How many.")] = None,
) -> NoteLines:
    """Lines of a note as they are now, 120 unless told otherwise; `nextFrom` says where to read
    on."""
    key = caller.token.session_key

    def work(memory: Memory) -> NoteLines:
        excerpt = memory.get(path[:MAX_PATH_CHARS], from_line=from_, lines=lines, session_key=key)
        payload = excerpt_json(excerpt) | {"text": escaped(excerpt.text)}
        return NoteLines.model_validate(payload)

    return await caller.run("quick", work)
