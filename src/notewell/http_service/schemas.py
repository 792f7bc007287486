"""JSON models of the API: camelCase on the wire; unknown fields of a request are refused.

An admin sees all fields. For other callers, paths of this machine are left out or removed.
"""

from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from notewell.core import MAX_FILTER_CHARS, MAX_FILTERS, Filters
from notewell.hosts import parse_time
from notewell.http_service.limits import MAX_HTTP_QUERY_CHARS
from notewell.limits import MAX_RESULTS
from notewell.notes import MAX_ENTRY_BYTES
from notewell.tools import (
    MAX_PATH_CHARS,
    MAX_SECTION_CHARS,
    MAX_SESSION_CHARS,
    MAX_TOKENS,
)

MAX_TURNS = 500
"""Per request. Clients send a conversation as it proceeds; an import can be split."""
MAX_TURN_CHARS = 200_000


class RequestModel(BaseModel):
    """Base of all request bodies."""

    model_config = ConfigDict(
        # Strict: "5" is not a number. A client's typo must fail and not be guessed.
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        strict=True,
        populate_by_name=False,
    )


def nearest_field(name: str) -> str | None:
    """The field of a request that an unknown name may mean: `maxResults` for `max_results`."""
    bodies = [RequestModel]
    for body in bodies:
        bodies += body.__subclasses__()
    known = {field.alias or name for body in bodies for name, field in body.model_fields.items()}
    camel = to_camel(name)
    return camel if camel in known else next(iter(get_close_matches(name, known, 1)), None)


class ResponseModel(BaseModel):
    """Base of all responses. The routes decide whether fields that are None are left out."""

    model_config = ConfigDict(
        # By name too, because our own code fills these models.
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
    )


FilterText = Annotated[str, Field(min_length=1, max_length=MAX_FILTER_CHARS)]

# -- search and notes ----------------------------------------------------------------------------


class SearchBody(RequestModel):
    query: Annotated[
        str,
        Field(
            max_length=MAX_HTTP_QUERY_CHARS,
            description="The question to search for. `tag:x`, `path:x`, `after:2026-03` and "
            "`before:7d` in it narrow the search, as the fields below do. With one of these, it "
            "may be left out: the newest notes that fit are listed.",
        ),
    ] = ""
    max_results: Annotated[
        int | None,
        Field(
            ge=1, le=MAX_RESULTS, description="Number of hits; the default is in the settings (6)."
        ),
    ] = None
    min_score: Annotated[
        float | None,
        Field(ge=0, le=1, description="Leave out hits below this score; 0 shows the nearest."),
    ] = None
    mode: Annotated[
        Literal["hybrid", "keyword"], Field(description="Words and meaning, or words only.")
    ] = "hybrid"
    folder: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=MAX_PATH_CHARS,
            description="Of the conversations, only those in this folder: its path or its name.",
        ),
    ] = None
    tags: Annotated[
        list[FilterText],
        Field(max_length=MAX_FILTERS, description="Notes with all of these tags, or ones below."),
    ] = []
    path: Annotated[FilterText | None, Field(description="A part of the path.")] = None
    after: Annotated[
        FilterText | None,
        Field(description="From this day on: 2026-03-04, 2026-03, 2026, or days ago (7d)."),
    ] = None
    before: Annotated[FilterText | None, Field(description="Earlier than this day.")] = None
    explain: Annotated[bool, Field(description="Add the parts of each score.")] = False

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not (self.query or self.tags or self.path or self.after or self.before):
            raise ValueError("send a query, or one of tags, path, after and before")
        return self

    def filters(self) -> Filters:
        """Raises `BadRequest`."""
        one = [[] if value is None else [value] for value in (self.path, self.after, self.before)]
        return Filters.of(self.tags, *one)


class NearestLines(ResponseModel):
    """The part of a chunk that is nearest to the question."""

    start_line: int
    end_line: int
    vector: Annotated[float, Field(description="Its vector score.")]


class ScoreBreakdown(ResponseModel):
    """The parts of a score. A part that was not used is null or left out."""

    # The routes leave out defaults, but these are always sent: without this line pydantic
    # would not list them as required.
    model_config = ConfigDict(
        json_schema_extra={"required": ["decay", "recency", "echo", "speaker"]}
    )

    vector: float | None
    text: float | None
    vector_rank: int | None
    text_rank: int | None
    decay: float
    recency: float
    rerank: float | None
    echo: float
    speaker: float
    window: NearestLines | None


class SpokenLines(ResponseModel):
    """Who said the lines of a hit in a conversation, when and where."""

    speaker: Literal["User", "Assistant"] | None
    at: str | None
    host: str | None
    folder: Annotated[str | None, Field(description="The last part of its path.")]


class ShownPassage(ResponseModel):
    """Lines of a hit that a model should read: all hits of an answer share 4000 characters."""

    start_line: int
    end_line: int
    text: str
    score: float | None = None


class SearchHit(ResponseModel):
    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: Literal["memory", "sessions"]
    heading: str
    citation: str
    shown: list[ShownPassage] = []
    said: SpokenLines | None = None
    parts: ScoreBreakdown | None = None


class FallbackFacts(ResponseModel):
    """What answered in place of what the settings name."""

    part: Literal["engine", "embedder"]
    from_: Annotated[str, Field(alias="from")]
    to: str
    reason: str | None
    since: str | None


class AnswerNearness(ResponseModel):
    """How near the memory is to the question, 0 to 1. Below the limit there are no hits; without
    one, the minimum score alone decides."""

    value: float
    limit: float | None = None


class SearchAnswer(ResponseModel):
    results: list[SearchHit]
    mode: Literal["hybrid", "partial", "keyword", "vector"]
    provider: str
    model: str
    backend: str
    fallback: FallbackFacts | None = None
    nearness: AnswerNearness | None = None
    reason: str | None = None
    notice: str | None = None
    took_ms: float


class NoteItem(ResponseModel):
    path: str
    source: Literal["memory", "sessions"]
    day: str | None = None
    bytes: int
    chunks: int
    modified: str


class NoteList(ResponseModel):
    notes: list[NoteItem]
    next: str | None = None


class NoteLines(ResponseModel):
    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    next_from: int | None = None
    next_char: int | None = None
    cut: bool


# -- writing -------------------------------------------------------------------------------------


class AppendBody(RequestModel):
    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_ENTRY_BYTES,
            # At least one character that is not white space, and no NUL.
            pattern=r"^[^\x00]*[^\s\x00][^\x00]*$",
            description="The entry in Markdown; at most 64 KiB.",
        ),
    ]
    section: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=MAX_SECTION_CHARS,
            description="A heading of MEMORY.md; it is created if it is missing.",
        ),
    ] = None


class AppendAnswer(ResponseModel):
    path: str
    start_line: int
    end_line: int
    added: bool
    notice: Annotated[
        str | None, Field(description="Why the history does not have it and cannot undo it.")
    ] = None


class SyncBody(RequestModel):
    force: Annotated[bool, Field(description="Build a new index. Needs the scope admin.")] = False


class SyncRunning(ResponseModel):
    state: Literal["running"] = "running"


def _check_time(text: str) -> str:
    if parse_time(text) is None:
        raise ValueError("not a time in ISO 8601 format")
    return text


IsoTime = Annotated[
    str,
    Field(max_length=64, json_schema_extra={"format": "date-time"}),
    # A validator and not a datetime: the text is stored as the client wrote it.
    AfterValidator(_check_time),
]


class TurnBody(RequestModel):
    role: Literal["user", "assistant"]
    content: Annotated[str, Field(min_length=1, max_length=MAX_TURN_CHARS)]
    at: Annotated[IsoTime | None, Field(description="Time of the turn; the default is now.")] = (
        None
    )


class TurnsBody(RequestModel):
    turns: Annotated[list[TurnBody], Field(min_length=1, max_length=MAX_TURNS)]


class TurnsAnswer(ResponseModel):
    id: str
    turns: int
    kept: Annotated[
        int, Field(description="How many messages were kept; 0 unless the settings keep them.")
    ]
    notice: Annotated[
        str | None,
        Field(description="Why messages are not kept; the next request keeps them too."),
    ] = None


# -- around the turns of a conversation ----------------------------------------------------------


class BootstrapAnswer(ResponseModel):
    text: str


TokenCount = Annotated[int, Field(ge=0, le=MAX_TOKENS)]


class FlushBody(RequestModel):
    used_tokens: Annotated[TokenCount, Field(description="Tokens in the conversation.")]
    context_window: Annotated[TokenCount, Field(description="Tokens that the model can read.")]
    compactions: Annotated[
        TokenCount | None, Field(description="How often it was compacted, if you know.")
    ] = None
    compacting: Annotated[
        bool, Field(description="It is compacted now, whatever the numbers.")
    ] = False
    session: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=MAX_SESSION_CHARS,
            description="The conversation; the default is that of the token.",
        ),
    ] = None
    failed: Annotated[
        bool, Field(description="The turn that was handed out before could not be run.")
    ] = False


class FlushAnswer(ResponseModel):
    flush: bool
    why: str
    path: str | None = None
    system_prompt: str | None = None
    prompt: str | None = None
    tool: str | None = None


# -- health and status ---------------------------------------------------------------------------


class Alive(ResponseModel):
    status: Literal["ok"] = "ok"


class Ready(ResponseModel):
    status: Literal["ready", "opening", "indexing", "not ready"]
    agents: int
    ready: int
    opening: int
    indexing: int
    failed: int


class ProblemModel(BaseModel):
    """RFC 9457."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    detail: str
    action: str
    instance: str
    errors: list[dict[str, Any]] | None = None
