"""The list of notes for the page: title, text, tags and date of each note, page by page."""

from collections import Counter
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import CallerDep
from notewell.http_service.ui.note_card import NoteCard
from notewell.http_service.ui.note_view import day_of, modified_times
from notewell.http_service.ui.schemas_notes import CardItem, CardList, FolderItem, FolderList
from notewell.http_service.ui.state import UiStateDep, run_visible
from notewell.index import ListedNote
from notewell.memory import Memory
from notewell.tools import MAX_PATH_CHARS

CARDS_PER_PAGE = 60
"""Three screens of a desktop: the next page is there before somebody has scrolled so far."""
PINNED = ("MEMORY.md", "USER.md")
"""The curated notes: what lasts is read first."""

router = APIRouter(route_class=GuardedRoute)
Text = Annotated[str, Query(max_length=200)]
Folder = Annotated[str, Query(max_length=MAX_PATH_CHARS)]
Day = Annotated[str, Query(pattern=r"^(\d{4}-\d\d-\d\d)?$")]
Offset = Annotated[int, Query(ge=0, le=10**7)]


@router.get("/cards", response_model_exclude_none=True, **needs("read"))
async def cards(
    caller: CallerDep,
    state: UiStateDep,
    filter: Text = "",  # noqa: A002 - the name in the API
    folder: Folder = "",
    day: Day = "",
    offset: Offset = 0,
) -> CardList:
    """The indexed notes, the newest first; MEMORY.md stays on top. `filter`: words that the path,
    the title, the tags or the first lines must have."""

    def read(memory: Memory) -> CardList:
        card_of = state.note_cards(caller.agent).card
        notes = [
            note
            for note in memory.inspect.notes()
            if note.source == "memory"
            and note.path.startswith(folder)
            and (not day or day_of(note) == day)
        ]
        if wanted := filter.casefold().split():
            notes = [note for note in notes if _fits(note, card_of(memory, note), wanted)]
        times = modified_times(memory, notes)
        # Twice: `sorted` is stable, so pinned notes come first and the rest stays by date.
        notes.sort(key=lambda note: _newness(note, times[note.path]), reverse=True)
        notes.sort(
            key=lambda note: PINNED.index(note.path) if note.path in PINNED else len(PINNED)
        )
        page = notes[offset : offset + CARDS_PER_PAGE]
        end = offset + len(page)
        return CardList(
            cards=[_card_json(note, card_of(memory, note), times[note.path]) for note in page],
            total=len(notes),
            next=end if end < len(notes) else None,
        )

    return await run_visible(caller, "quick", read)


@router.get("/folders", **needs("read"))
async def folders(caller: CallerDep) -> FolderList:
    """All folders with notes, each with the number of notes in it and below it."""

    def read(memory: Memory) -> FolderList:
        counts: Counter[str] = Counter()
        for note in memory.inspect.notes():
            if note.source == "memory":
                parts = note.path.split("/")[:-1]
                counts.update("/".join(parts[:depth]) for depth in range(len(parts) + 1))
        return FolderList(
            folders=[
                FolderItem(folder=f"{name}/" if name else "", notes=count)
                for name, count in sorted(counts.items())
            ]
        )

    return await run_visible(caller, "quick", read)


def _newness(note: ListedNote, modified: datetime) -> tuple[str, datetime]:
    """A dated note belongs to its day, although it may have been touched since."""
    return day_of(note) or modified.date().isoformat(), modified


def _fits(note: ListedNote, card: NoteCard, wanted: list[str]) -> bool:
    text = " ".join((note.path, card.title, card.text, *card.tags)).casefold()
    return all(word in text for word in wanted)


def _card_json(note: ListedNote, card: NoteCard, modified: datetime) -> CardItem:
    return CardItem(
        path=note.path,
        title=card.title,
        text=card.text,
        tags=list(card.tags),
        day=day_of(note),
        modified=modified.isoformat(timespec="seconds"),
        pinned=note.path in PINNED,
    )
