"""The JSON that goes in and out: camelCase on the wire, nothing unknown on the way in."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from notewell.hosts import parse_time
from notewell.http_service.limits import QUERY_CHARS
from notewell.limits import MAX_RESULTS
from notewell.notes import MAX_ENTRY_BYTES
from notewell.sync import SyncReport
from notewell.tools import MAX_SECTION_CHARS, report_json, without_places
from notewell.types import Ignored

MAX_TURNS = 500
"""A conversation is sent as it goes on; so many at once are an import, which can come in parts."""
MAX_TURN_CHARS = 200_000


class Told(BaseModel):
    """What comes in."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, strict=True, populate_by_name=False
    )


class Shown(BaseModel):
    """What goes out. A field that is None is left out."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True
    )


# -- search and notes ----------------------------------------------------------------------------


class SearchBody(Told):
    query: Annotated[
        str,
        Field(min_length=1, max_length=QUERY_CHARS, description="What to look for."),
    ]
    max_results: Annotated[
        int | None, Field(ge=1, le=MAX_RESULTS, description="6 unless set otherwise.")
    ] = None
    min_score: Annotated[float | None, Field(ge=0, le=1, description="Hide weaker hits.")] = None
    mode: Annotated[
        Literal["hybrid", "keyword"], Field(description="Words and meaning, or words alone.")
    ] = "hybrid"
    explain: Annotated[bool, Field(description="With the parts of each score.")] = False


class Parts(Shown):
    """Why a hit stands where it stands; what took no part is null, or left out."""

    model_config = ConfigDict(json_schema_extra={"required": ["decay", "recency"]})

    vector: float | None
    text: float | None
    vector_rank: int | None
    text_rank: int | None
    decay: float
    recency: float
    rerank: float | None


class Hit(Shown):
    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: Literal["memory", "sessions"]
    heading: str
    citation: str
    parts: Parts | None = None


class SearchAnswer(Shown):
    results: list[Hit]
    mode: Literal["hybrid", "partial", "keyword", "vector"]
    provider: str
    model: str
    backend: str
    reason: str | None = None
    notice: str | None = None
    took_ms: float


class NoteListed(Shown):
    path: str
    source: Literal["memory", "sessions"]
    day: str | None = None
    bytes: int
    chunks: int
    modified: str


class NotesListed(Shown):
    notes: list[NoteListed]
    next: str | None = None


class NoteLines(Shown):
    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    next_from: int | None = None
    cut: bool


# -- writing -------------------------------------------------------------------------------------


class AppendBody(Told):
    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_ENTRY_BYTES,
            pattern=r"^[^\x00]*[^\s\x00][^\x00]*$",
            description="The entry, in Markdown; at most 64 KiB.",
        ),
    ]
    section: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=MAX_SECTION_CHARS,
            description="A heading of MEMORY.md; made if it is missing.",
        ),
    ] = None


class AppendAnswer(Shown):
    path: str
    start_line: int
    end_line: int
    added: bool


class SyncBody(Told):
    force: Annotated[bool, Field(description="Build a new index; needs the scope admin.")] = False


class LeftOut(Shown):
    path: str
    why: str


class SyncAnswer(Shown):
    """What `notewell index --json` tells."""

    rebuilt: str | None
    notes: int
    written: int
    forgotten: int
    chunks: int
    vectors_added: int
    vectors_waiting: int
    trouble: str | None
    ignored: list[LeftOut]
    unreadable: list[LeftOut]
    repaired: list[LeftOut]


def sync_shown(report: SyncReport, *, admin: bool) -> SyncAnswer:
    payload = report_json(report)
    if not admin and payload["trouble"] is not None:
        payload["trouble"] = without_places(payload["trouble"])
    return SyncAnswer.model_validate(payload)


def left_out(things: Iterable[Ignored]) -> list[LeftOut]:
    return [LeftOut(path=thing.path, why=thing.why) for thing in things]


class Running(Shown):
    state: Literal["running"] = "running"


def _moment(told: str) -> str:
    if parse_time(told) is None:
        raise ValueError("no time as ISO 8601 writes it")
    return told


Moment = Annotated[
    str,
    Field(max_length=64, json_schema_extra={"format": "date-time"}),
    AfterValidator(_moment),
]


class TurnBody(Told):
    role: Literal["user", "assistant"]
    content: Annotated[str, Field(min_length=1, max_length=MAX_TURN_CHARS)]
    at: Annotated[Moment | None, Field(description="When; now unless it is given.")] = None


class TurnsBody(Told):
    turns: Annotated[list[TurnBody], Field(min_length=1, max_length=MAX_TURNS)]


class TurnsAnswer(Shown):
    id: str
    turns: int


# -- how it is -----------------------------------------------------------------------------------


class Alive(Shown):
    status: Literal["ok"] = "ok"


class Ready(Shown):
    status: Literal["ready", "not ready"]
    agents: int
    ready: int


class ProblemShape(BaseModel):
    """RFC 9457."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    detail: str
    action: str
    instance: str
    errors: list[dict[str, Any]] | None = None
