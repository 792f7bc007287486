"""JSON models of the web UI: camelCase on the wire; unknown fields of a request are refused.

Offsets into texts count characters (code points) from 0; the end is exclusive. Fields that are
None are left out.
"""

from typing import Annotated, Literal

from pydantic import Field

from notewell.http_service.limits import MAX_HTTP_QUERY_CHARS
from notewell.http_service.schemas import (
    RequestModel,
    ResponseModel,
    SearchAnswer,
    SearchHit,
)
from notewell.http_service.schemas_status import StatusAnswer, SyncActivity
from notewell.http_service.token_file import Scope, TokenKind
from notewell.http_service.tokens import MAX_DAYS
from notewell.limits import MAX_RESULTS
from notewell.tools import MAX_PATH_CHARS

Query = Annotated[str, Field(min_length=1, max_length=MAX_HTTP_QUERY_CHARS)]
Offsets = tuple[int, int]

# -- search --------------------------------------------------------------------------------------


class WeighingBody(RequestModel):
    """Fields that are left out have the value of the settings."""

    vector_weight: Annotated[float | None, Field(ge=0, le=1)] = None
    fusion: Literal["weighted", "rrf", "seed"] | None = None
    half_life_days: Annotated[float | None, Field(ge=0, le=36_500)] = None
    mmr_lambda: Annotated[float | None, Field(ge=0, le=1)] = None
    min_score: Annotated[float | None, Field(ge=0, le=1)] = None
    max_results: Annotated[int | None, Field(ge=1, le=MAX_RESULTS)] = None


class CompareBody(RequestModel):
    query: Query
    mode: Literal["hybrid", "keyword"] = "hybrid"
    """`keyword` needs no vector of the query, so its answer is there at once."""
    a: WeighingBody = WeighingBody()
    b: WeighingBody | None = None


class PlaygroundHit(SearchHit):
    highlights: list[Offsets]
    day: str | None = None
    age_days: int | None = None


class PlaygroundAnswer(SearchAnswer):
    results: list[PlaygroundHit]  # type: ignore[assignment]  # A subclass with more fields.


class CompareAnswer(ResponseModel):
    a: PlaygroundAnswer
    b: PlaygroundAnswer | None = None


class WeighingDefaults(ResponseModel):
    """What the settings say."""

    vector_weight: float | None = None
    """Left out: it is decided for each query."""
    fusion: str
    half_life_days: float
    """0: age does not matter."""
    mmr_lambda: float
    """1: similar hits are not pushed down."""
    min_score: float
    max_results: int


class AbsentBody(RequestModel):
    query: Query
    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS)]


class AbsentAnswer(ResponseModel):
    why: str


# -- notes ---------------------------------------------------------------------------------------


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
    day: str | None = None
    bytes: int


class UnrecalledNotes(ResponseModel):
    notes: list[UnrecalledNote]


# -- conversations and recalls -------------------------------------------------------------------


class SessionItem(ResponseModel):
    id: str
    path: str
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


class RecallItem(ResponseModel):
    at: str
    query: str
    tool: str
    mode: str
    took_ms: float
    hits: list[RecallHit]


class RecallList(ResponseModel):
    recalls: list[RecallItem]
    next: str | None = None
    enabled: bool


# -- health and the rest -------------------------------------------------------------------------


class FindingItem(ResponseModel):
    what: str
    # The key in the JSON is the same as in `notewell doctor --json`.
    message: str = Field(serialization_alias="told")
    todo: str | None = None
    fixable: bool
    level: Literal["ok", "warn", "error"]


class EmbedderHealth(ResponseModel):
    provider: str
    model: str
    calls: int
    tokens: int
    errors: int
    cache_hits: int
    cache_misses: int
    cost: float | None = None
    """In US dollars by list price, since the server started."""


class IndexHealth(ResponseModel):
    bytes: int
    age_s: float | None = None
    generation: str | None = None


class LeaseHealth(ResponseModel):
    holder: str | None = None


class WorkHealth(ResponseModel):
    """What is being done to the index, and what is left to do."""

    running: bool
    notes_built: int | None = None
    """Notes in the index that is being built beside the one that answers."""
    vectors: int
    vectors_waiting: int
    vectors_unread: int
    """Chunks in a script that the model does not read: words alone find them."""


class DiskHealth(ResponseModel):
    free_bytes: int


class HealthDetail(ResponseModel):
    status: StatusAnswer
    findings: list[FindingItem]
    embedder: EmbedderHealth
    index: IndexHealth
    lease: LeaseHealth
    work: WorkHealth
    disk: DiskHealth
    activity: SyncActivity | None = None
    """What the service does now."""


class Me(ResponseModel):
    agent: str
    agents: list[str]
    scopes: list[str]
    version: str
    read_only: bool


# -- access --------------------------------------------------------------------------------------


class TokenItem(ResponseModel):
    id: str
    name: str
    agents: list[str]
    """`*` stands for all agents."""
    scopes: list[Scope]
    kind: TokenKind
    created: str
    expires: str | None = None
    last_used: str | None = None
    own: bool
    """The token of this request."""


class TokenList(ResponseModel):
    tokens: list[TokenItem]
    agents: list[str]
    """The agents for which the caller can make tokens."""


class TokenBody(RequestModel):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    agents: list[str] = Field(default_factory=list, max_length=64)
    """Without any: the agent of the request."""
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)]
    days: Annotated[int | None, Field(ge=1, le=MAX_DAYS)] = None


class MadeToken(ResponseModel):
    token: TokenItem
    secret: str


class AuditItem(ResponseModel):
    at: str
    token: str
    name: str
    agent: str
    what: str
    path: str | None = None
    called: str | None = None


class AuditList(ResponseModel):
    lines: list[AuditItem]


# -- the map -------------------------------------------------------------------------------------


class MapAnswer(ResponseModel):
    points: list[tuple[float, float, int, int, int, int]]
    """x and y from -1 to 1; indexes of note, month (-1: no date) and source; the line.
    The order is x, y, note, line, month, source."""
    notes: list[str]
    months: list[str]
    sources: list[str]
    computed: int
    """Chunks on the map."""
    of: int
    """All chunks that have a vector."""


class MapPending(ResponseModel):
    state: Literal["computing"] = "computing"


class NearBody(RequestModel):
    query: Query


class NearAnswer(ResponseModel):
    points: list[int]
    scores: list[float]
    """Cosine similarities, the nearest first."""
    notice: str | None = None
