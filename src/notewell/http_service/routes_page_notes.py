"""The notes: all of them, by day, one of them with its history, and a write taken back."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path

from notewell.capture import (
    CannotUndo,
    asked_before,
    paths_shown,
    recall_days,
    undo_write,
    writes,
)
from notewell.http_service.agents import Wrote
from notewell.http_service.auth import Guarded, needs
from notewell.http_service.context import CallerOf
from notewell.http_service.days import day_of, days
from notewell.http_service.note_view import Origin, Written, view_note
from notewell.http_service.problems import Problem
from notewell.http_service.schemas import NoteListed
from notewell.http_service.schemas_page import (
    AllNotes,
    ChunkShown,
    DayShown,
    DaysShown,
    NeverRecalled,
    NeverShown,
    NoteShown,
    OriginShown,
    Undone,
    WriteShown,
)
from notewell.http_service.static_files import shown_to
from notewell.index import ListedNote
from notewell.memory import Memory
from notewell.tools import MAX_PATH_CHARS

router = APIRouter(route_class=Guarded)
NotePath = Annotated[str, Path(min_length=1, max_length=MAX_PATH_CHARS)]
WriteId = Annotated[str, Path(pattern=r"^[0-9a-f]{8}$")]


@router.get("/notes", response_model_exclude_none=True, **needs("read"))
async def all_notes(caller: CallerOf) -> AllNotes:
    """Every note that is indexed, as it was then."""

    def look(memory: Memory) -> AllNotes:
        found = memory.looking().notes()
        return AllNotes(notes=[_listed(note) for note in found if note.source == "memory"])

    return await shown_to(caller, "quick", look)


def _listed(note: ListedNote) -> NoteListed:
    modified = datetime.fromtimestamp(note.mtime_ns / 1e9, UTC)
    return NoteListed(
        path=note.path,
        source=note.source,
        day=day_of(note),
        bytes=note.size,
        chunks=note.chunks,
        modified=modified.isoformat(timespec="seconds"),
    )


@router.get("/days", **needs("read"))
async def all_days(caller: CallerOf) -> DaysShown:
    """Every day of which there is something."""

    def look(memory: Memory) -> DaysShown:
        looking = memory.looking()
        found = days(looking.notes(), looking.chars(), writes(memory.captures))
        return DaysShown(days=[DayShown.model_validate(day._asdict()) for day in found])

    return await shown_to(caller, "quick", look)


@router.get("/note/{path:path}", response_model_exclude_none=True, **needs("read"))
async def one_note(path: NotePath, caller: CallerOf) -> NoteShown:
    """A note as it is on disk now, with what is known of it."""

    def look(memory: Memory) -> NoteShown:
        view = view_note(memory, path)
        return NoteShown(
            path=view.path,
            text=view.text,
            cut=view.cut,
            chunks=[
                ChunkShown(
                    start_line=one.span.start_line,
                    end_line=one.span.end_line,
                    heading=one.heading,
                    embedded=one.is_embedded,
                )
                for one in view.chunks
            ],
            origins=[_origin(one) for one in view.origins],
            history=[_write(one) for one in view.history],
        )

    return await shown_to(caller, "quick", look)


def _origin(one: Origin) -> OriginShown:
    return OriginShown(
        start_line=one.span.start_line,
        end_line=one.span.end_line,
        origin=one.origin,
        at=one.at.isoformat() if one.at else None,
        id=one.id,
    )


def _write(one: Written) -> WriteShown:
    recorded = one.recorded
    return WriteShown(
        id=recorded.id,
        at=recorded.at.isoformat(),
        origin=recorded.write.origin,
        kind=recorded.write.kind,
        undone=recorded.undone,
        can_undo=one.can_undo,
    )


@router.post("/undo/{id}", **needs("admin", {409: None}))
async def take_back(
    id: WriteId,  # noqa: A002 - the contract's word
    caller: CallerOf,
) -> Undone:
    """Take back one write, byte for byte, if it is still as it was written."""

    def carry_out(memory: Memory) -> Undone:
        try:
            done = undo_write(memory.notes, memory.captures, id, now=memory.now())
        except CannotUndo as error:
            raise _cannot_undo(error) from error
        memory.look_again()
        caller.parts.audit.note(caller, "undo", path=done.write.path, id=done.id)
        caller.tell(Wrote("undo", done.write.path))
        size = done.write.end_byte - done.write.start_byte
        return Undone(undone=done.id, path=done.write.path, bytes=size)

    return await shown_to(caller, "write", carry_out)


def _cannot_undo(error: CannotUndo) -> Problem:
    return Problem(
        409,
        "cannot-undo",
        "It cannot be taken back",
        f"{error.path}: {error.why}",
        "nothing was changed; remove it in the note yourself",
    )


@router.get("/never", response_model_exclude_none=True, **needs("read"))
async def never_recalled(caller: CallerOf) -> NeverShown:
    """Notes that no answer to an agent has shown, as far back as is remembered."""

    def look(memory: Memory) -> NeverShown:
        recalled = {path for path, _ in recall_days(memory.captures)}
        recalled |= paths_shown(asked_before(memory.captures))
        left = [
            NeverRecalled(path=note.path, day=day_of(note), bytes=note.size)
            for note in memory.looking().notes()
            if note.source == "memory" and note.path not in recalled
        ]
        return NeverShown(notes=left)

    return await shown_to(caller, "quick", look)
