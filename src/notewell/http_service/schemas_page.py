"""The JSON of the page: camelCase on the wire, nothing unknown on the way in.

Offsets into texts count characters (code points), from 0, and the end is not included. A field
that is None is left out.
"""

from typing import Annotated, Literal

from pydantic import Field

from notewell.http_service.limits import QUERY_CHARS
from notewell.http_service.schemas import Hit, NoteListed, SearchAnswer, Shown, Told
from notewell.http_service.schemas_status import StatusAnswer
from notewell.limits import MAX_RESULTS
from notewell.tools import MAX_PATH_CHARS

Query = Annotated[str, Field(min_length=1, max_length=QUERY_CHARS)]
Offsets = tuple[int, int]

# -- search --------------------------------------------------------------------------------------


class WeighingBody(Told):
    """What is left out is as the settings say."""

    vector_weight: Annotated[float | None, Field(ge=0, le=1)] = None
    fusion: Literal["weighted", "rrf", "seed"] | None = None
    half_life_days: Annotated[float | None, Field(ge=0, le=36_500)] = None
    mmr_lambda: Annotated[float | None, Field(ge=0, le=1)] = None
    min_score: Annotated[float | None, Field(ge=0, le=1)] = None
    max_results: Annotated[int | None, Field(ge=1, le=MAX_RESULTS)] = None


class CompareBody(Told):
    query: Query
    a: WeighingBody = WeighingBody()
    b: WeighingBody | None = None


class PageHit(Hit):
    highlights: list[Offsets]
    day: str | None = None
    age_days: int | None = None


class PageAnswer(SearchAnswer):
    results: list[PageHit]  # type: ignore[assignment]  # A hit with more to it.


class Compared(Shown):
    a: PageAnswer
    b: PageAnswer | None = None


class AbsentBody(Told):
    query: Query
    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS)]


class Absent(Shown):
    why: str


# -- notes ---------------------------------------------------------------------------------------


class AllNotes(Shown):
    notes: list[NoteListed]


class DayShown(Shown):
    day: str
    notes: int
    entries: int
    chars: int


class DaysShown(Shown):
    days: list[DayShown]


class ChunkShown(Shown):
    start_line: int
    end_line: int
    heading: str
    embedded: bool


class OriginShown(Shown):
    start_line: int
    end_line: int
    origin: str
    at: str | None = None
    id: str | None = None


class WriteShown(Shown):
    id: str
    at: str
    origin: str
    kind: Literal["entry", "note"]
    undone: bool
    can_undo: bool


class NoteShown(Shown):
    path: str
    text: str
    cut: bool
    chunks: list[ChunkShown]
    origins: list[OriginShown]
    history: list[WriteShown]


class Undone(Shown):
    undone: str
    path: str
    bytes: int


class NeverRecalled(Shown):
    path: str
    day: str | None = None
    bytes: int


class NeverShown(Shown):
    notes: list[NeverRecalled]


# -- conversations and recalls -------------------------------------------------------------------


class SessionListed(Shown):
    id: str
    path: str
    folder: str
    day: str
    turns: int | None = None
    bytes: int


class SessionsShown(Shown):
    sessions: list[SessionListed]
    next: str | None = None
    notice: str | None = None


class TurnShown(Shown):
    role: str
    text: str
    line: int
    redactions: list[Offsets]


class SessionShown(Shown):
    id: str
    turns: list[TurnShown]
    next: int | None = None


class PlaceShown(Shown):
    path: str
    start_line: int
    end_line: int
    score: float


class RecallShown(Shown):
    at: str
    query: str
    tool: str
    mode: str
    took_ms: float
    hits: list[PlaceShown]


class RecallsShown(Shown):
    recalls: list[RecallShown]
    next: str | None = None
    enabled: bool


# -- health and the rest -------------------------------------------------------------------------


class FindingShown(Shown):
    what: str
    told: str
    todo: str | None = None
    fixable: bool
    level: Literal["ok", "warn", "error"]


class EmbedderShown(Shown):
    provider: str
    model: str
    calls: int
    tokens: int
    errors: int
    cache_hits: int
    cache_misses: int
    cost: float | None = None
    """In US dollars, by the list price, since the server started."""


class IndexShown(Shown):
    bytes: int
    age_s: float | None = None
    generation: str | None = None


class LeaseShown(Shown):
    holder: str | None = None


class DiskShown(Shown):
    free_bytes: int


class HealthShown(Shown):
    status: StatusAnswer
    findings: list[FindingShown]
    embedder: EmbedderShown
    index: IndexShown
    lease: LeaseShown
    disk: DiskShown


class Me(Shown):
    agent: str
    agents: list[str]
    scopes: list[str]
    version: str
    read_only: bool


# -- the map -------------------------------------------------------------------------------------


class MapShown(Shown):
    points: list[tuple[float, float, int, int, int, int]]
    """x and y from -1 to 1, the note, its line, the month (-1: no date), the source."""
    notes: list[str]
    months: list[str]
    sources: list[str]
    computed: int
    """Chunks on the map."""
    of: int
    """Chunks with a vector."""


class Computing(Shown):
    state: Literal["computing"] = "computing"


class NearBody(Told):
    query: Query


class NearShown(Shown):
    points: list[int]
    scores: list[float]
    """The cosine of each, nearest first."""
    notice: str | None = None
