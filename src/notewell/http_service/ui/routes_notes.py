"""The notes: a summary per day, one note with its history, and undo."""

from typing import Annotated

from fastapi import APIRouter, Path

from notewell.capture import (
    CannotUndo,
    paths_shown,
    recall_days,
    recorded_searches,
    undo_write,
    writes,
)
from notewell.http_service.agents import ContentWritten
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import CallerDep
from notewell.http_service.problems import Problem
from notewell.http_service.ui.note_card import note_card
from notewell.http_service.ui.note_view import (
    LineOrigin,
    NoteWrite,
    day_of,
    summarize_days,
    view_note,
)
from notewell.http_service.ui.schemas_notes import (
    ChunkItem,
    DayItem,
    DayList,
    NoteDetail,
    OriginItem,
    UndoAnswer,
    UnrecalledNote,
    UnrecalledNotes,
    WriteItem,
)
from notewell.http_service.ui.state import UiStateDep, run_visible
from notewell.memory import Memory
from notewell.tools import MAX_PATH_CHARS

router = APIRouter(route_class=GuardedRoute)
NotePath = Annotated[str, Path(min_length=1, max_length=MAX_PATH_CHARS)]
WriteId = Annotated[str, Path(pattern=r"^[0-9a-f]{8}$")]


@router.get("/days", **needs("read"))
async def all_days(caller: CallerDep) -> DayList:
    """All days that have notes or entries."""

    def read(memory: Memory) -> DayList:
        inspector = memory.inspect
        days = summarize_days(
            inspector.notes(), inspector.chars(), writes(memory.journal.logs, memory.notes)
        )
        return DayList(days=[DayItem.model_validate(day._asdict()) for day in days])

    return await run_visible(caller, "quick", read)


@router.get("/note/{path:path}", response_model_exclude_none=True, **needs("read"))
async def one_note(path: NotePath, caller: CallerDep) -> NoteDetail:
    """A note as it is on disk now, with its chunks, origins and history."""

    def read(memory: Memory) -> NoteDetail:
        view = view_note(memory, path)
        card = note_card(path, view.text)
        return NoteDetail(
            path=view.path,
            title=card.title,
            tags=list(card.tags),
            front_lines=card.front_lines,
            text=view.text,
            cut=view.cut,
            chunks=[
                ChunkItem(
                    start_line=chunk.span.start_line,
                    end_line=chunk.span.end_line,
                    heading=chunk.heading,
                    embedded=chunk.is_embedded,
                )
                for chunk in view.chunks
            ],
            origins=[_origin_json(origin) for origin in view.origins],
            history=[_write_json(write) for write in view.history],
        )

    return await run_visible(caller, "quick", read)


def _origin_json(origin: LineOrigin) -> OriginItem:
    return OriginItem(
        start_line=origin.span.start_line,
        end_line=origin.span.end_line,
        origin=origin.origin,
        at=origin.at.isoformat() if origin.at else None,
        id=origin.id,
    )


def _write_json(write: NoteWrite) -> WriteItem:
    recorded = write.recorded
    return WriteItem(
        id=recorded.id,
        at=recorded.at.isoformat(),
        origin=recorded.write.origin,
        kind=recorded.write.kind,
        undone=recorded.undone,
        can_undo=write.can_undo,
    )


# Undo deletes text, so it needs more than the scope to append.
@router.post(
    "/undo/{id}", response_model_exclude_none=True, **needs("admin", {404: None, 409: None})
)
async def take_back(
    id: WriteId,  # noqa: A002 - the name in the API
    caller: CallerDep,
) -> UndoAnswer:
    """Undo one write byte for byte, if its text has not changed since."""

    def write(memory: Memory) -> UndoAnswer:
        try:
            done = undo_write(memory.notes, memory.journal.logs, id, now=memory.now())
        except CannotUndo as error:
            raise _cannot_undo(error) from error
        undone = done.recorded
        # The removed lines must not be found by the next search.
        memory.mark_changed()
        caller.context.audit.record(caller, "undo", path=undone.write.path, id=undone.id)
        caller.publish(ContentWritten("undo", undone.write.path))
        size = undone.write.end_byte - undone.write.start_byte
        return UndoAnswer(undone=undone.id, path=undone.write.path, bytes=size, notice=done.notice)

    return await run_visible(caller, "write", write)


def _cannot_undo(error: CannotUndo) -> Problem:
    return Problem(
        409,
        "cannot-undo",
        "The write cannot be undone",
        f"{error.path}: {error.why}",
        "nothing was changed; edit the note yourself",
    )


@router.get("/never", response_model_exclude_none=True, **needs("read"))
async def never_recalled(caller: CallerDep, state: UiStateDep) -> UnrecalledNotes:
    """Notes that were never a hit of an agent's search, as far back as the logs go."""

    def read(memory: Memory) -> UnrecalledNotes:
        # Two logs: days on which a note was recalled, and the searches themselves.
        recalled = {path for path, _ in recall_days(memory.journal.logs)}
        recalled |= paths_shown(recorded_searches(memory.journal.logs))
        card_of = state.note_cards(caller.agent).card
        unrecalled = [
            UnrecalledNote(
                path=note.path,
                title=card_of(memory, note).title,
                day=day_of(note),
                bytes=note.size,
            )
            for note in memory.inspect.notes()
            if note.source == "memory" and note.path not in recalled
        ]
        return UnrecalledNotes(notes=unrecalled)

    return await run_visible(caller, "quick", read)
