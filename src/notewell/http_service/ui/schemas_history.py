"""JSON models of what was said, asked and written: sessions and the timeline."""

from typing import Literal

from notewell.http_service.schemas import ResponseModel
from notewell.http_service.ui.schemas_search import Offsets


class SessionItem(ResponseModel):
    id: str
    path: str
    title: str | None = None
    """The beginning of what was said first; left out until it is indexed."""
    folder: str
    day: str
    turns: int | None = None
    bytes: int


class SessionList(ResponseModel):
    sessions: list[SessionItem]
    next: str | None = None
    notice: str | None = None


class TurnItem(ResponseModel):
    role: str
    text: str
    line: int
    redactions: list[Offsets]


class SessionDetail(ResponseModel):
    id: str
    turns: list[TurnItem]
    next: int | None = None


class RecallHit(ResponseModel):
    path: str
    start_line: int
    end_line: int
    score: float
    title: str | None = None


class TimelineEvent(ResponseModel):
    at: str
    kind: Literal["captured", "recalled", "changed"]
    who: str | None = None
    """What wrote or asked: the name of a tool, a flush, a hook."""
    by: str | None = None
    """The name of the token, if it is known and the caller is an admin."""
    path: str | None = None
    title: str | None = None
    text: str | None = None
    """What was added, if it is still there; of a changed note, its first lines."""
    id: str | None = None
    whole: bool | None = None
    """A whole note, not an entry."""
    undone: bool | None = None
    can_undo: bool | None = None
    query: str | None = None
    mode: str | None = None
    took_ms: float | None = None
    hits: list[RecallHit] | None = None


class TimelineList(ResponseModel):
    events: list[TimelineEvent]
    next: str | None = None
    """`before` of the next page."""
    recording: bool
    """Whether searches are recorded."""
