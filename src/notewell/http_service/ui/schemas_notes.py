"""JSON models of the notes: their list, their days, and one of them with its history."""

from typing import Literal

from notewell.http_service.schemas import ResponseModel


class FolderItem(ResponseModel):
    folder: str
    """Ends with a slash; empty for all notes."""
    notes: int


class FolderList(ResponseModel):
    folders: list[FolderItem]


class CardItem(ResponseModel):
    """What a list shows of a note."""

    path: str
    title: str
    text: str
    """The first lines without their markup, or the summary of the front matter."""
    tags: list[str]
    day: str | None = None
    modified: str
    pinned: bool


class CardList(ResponseModel):
    cards: list[CardItem]
    total: int
    next: int | None = None
    """The offset of the next page."""


class DayItem(ResponseModel):
    day: str
    notes: int
    entries: int
    chars: int


class DayList(ResponseModel):
    days: list[DayItem]


class ChunkItem(ResponseModel):
    start_line: int
    end_line: int
    heading: str
    embedded: bool


class OriginItem(ResponseModel):
    start_line: int
    end_line: int
    origin: str
    at: str | None = None
    id: str | None = None


class WriteItem(ResponseModel):
    id: str
    at: str
    origin: str
    kind: Literal["entry", "note"]
    undone: bool
    can_undo: bool


class NoteDetail(ResponseModel):
    path: str
    title: str
    tags: list[str]
    front_lines: int
    """The first lines that are front matter."""
    text: str
    cut: bool
    chunks: list[ChunkItem]
    origins: list[OriginItem]
    history: list[WriteItem]


class UndoAnswer(ResponseModel):
    undone: str
    path: str
    bytes: int
    notice: str | None = None
    """What could not be recorded."""


class UnrecalledNote(ResponseModel):
    path: str
    title: str
    day: str | None = None
    bytes: int


class UnrecalledNotes(ResponseModel):
    notes: list[UnrecalledNote]
