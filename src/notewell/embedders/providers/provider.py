"""What a remote provider is: data and pure functions, without I/O.

    texts ──request──▶ HttpRequest ──(http_client.py)──▶ HttpReply ──rows──▶ one row for each text
                                                            └──error_facts──▶ ErrorFacts

    batch job:  line ──upload──▶ file id ──create──▶ job ──status──▶ JobState ──download──▶ results

A provider does no I/O, so its complete wire format can be read and tested in one file.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.embedders.vectors import NotRows
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from notewell.core import Secret
    from notewell.embedders.vectors import Rows
    from notewell.ports import Kind

Json: TypeAlias = Any
"""The result of `json.loads`: its shape is unknown until it is checked."""


@dataclass(frozen=True, slots=True)
class Model:
    """What the provider publishes about a model."""

    dims: int
    text_tokens: int
    """The longest text that it reads."""
    usd_per_million: float
    """The list price of a million tokens; used for estimates only."""
    other_dims: Container[int] = ()
    """The other vector lengths that a request may ask for."""
    request_tokens: int = 1_000_000
    """The limit for all texts of one request together."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a request goes and which model it asks for."""

    base_url: str
    model: str
    dims: int | None
    """The length to ask for; None: the default length of the model."""
    own_address: bool
    """Whether this is the provider's own address, where everything that it documents holds."""
    query_input_type: str | None = None
    document_input_type: str | None = None
    """`input_type` of a text, if the user has set one; None: as the provider documents it."""

    def input_type(self, kind: Kind) -> str | None:
        return self.query_input_type if kind == "query" else self.document_input_type


@dataclass(frozen=True, slots=True)
class HttpRequest:
    url: str
    body: Json
    """Bytes are sent unchanged, None sends no body, everything else is sent as JSON."""
    method: str = "POST"
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """What an error reply says, read from its fields and never from its prose."""

    code: str | None = None
    message: str | None = None
    """Shown to people; no decision depends on it."""
    too_large: bool = False
    out_of_quota: bool = False
    bad_key: bool = False
    retry_after_s: float | None = None


# -- batch jobs ----------------------------------------------------------------------------------

Phase: TypeAlias = Literal["waiting", "done", "failed", "expired", "cancelled"]

MAX_JOB_REQUESTS = 50_000
"""In one job. This is OpenAI's limit; OpenClaw uses it for all. Voyage and Gemini accept more."""


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a batch job, as its provider reports it."""

    job_id: str
    phase: Phase
    done: int = 0
    """Finished requests, successful or not."""
    output: str | None = None
    """The file with the results; a job that did not finish may have one too."""
    why: str | None = None
    """What the provider says about a job that failed."""


class BatchResult(NamedTuple):
    """One line of the result file."""

    custom_id: str
    row: Json
    """The numbers, not yet checked; None if this request failed."""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class BatchApi:
    """The wire format of a provider's batch jobs.

    The input line of a text and its result have the same custom id. Results come in any order and
    some may be missing, so the custom id alone connects the two. Ours is the digest of the text.
    """

    max_bytes: int
    """The largest input file."""
    price_share: float
    """The price of a token as a share of the list price."""
    line: Callable[[Endpoint, str, str], Json]
    """The input line for a custom id and a text."""
    upload: Callable[[Endpoint, bytes], HttpRequest]
    file_id: Callable[[Json], str | None]
    """Reads the reply to `upload`."""
    create: Callable[[Endpoint, str], HttpRequest]
    status: Callable[[Endpoint, str], HttpRequest]
    state: Callable[[Json], JobState | None]
    """Reads the replies to `create` and `status`; None if they name no job."""
    cancel: Callable[[Endpoint, str], HttpRequest]
    download: Callable[[Endpoint, str], HttpRequest]
    result: Callable[[Json], BatchResult | None]
    """Reads one result line; None if it has no custom id."""
    max_requests: int = MAX_JOB_REQUESTS


SELF_HOSTED_TIMEOUT_S = 15.0
"""For a query to a server of the user's: the first one often waits until the model is loaded."""


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    default_url: str | None
    """None: the user must set one."""
    default_model: str | None
    models: Mapping[str, Model]
    items: int
    """The most texts in one request."""
    needs_key: bool
    """At the provider's own address; a server at another address may need none."""
    auth: Callable[[Secret], Mapping[str, Secret]]
    """The headers that carry the key."""
    request: Callable[[Endpoint, Sequence[str], Kind], HttpRequest]
    rows: Callable[[Json, int], Rows]
    tokens: Callable[[Json], int | None]
    error_facts: Callable[[int, Json], ErrorFacts]
    batch: BatchApi | None = None
    """None: the provider has no batch jobs."""
    query_timeout_s: float = 5.0
    """For a query, unless the settings say otherwise. A hosted model answers within a second; a
    person who waits longer would rather have the keyword hits."""


# -- reading JSON of an unknown shape ------------------------------------------------------------


def field(reply: Json, *path: str) -> Json:
    """The value below nested keys, or None if any of them is missing."""
    for key in path:
        if not isinstance(reply, dict):
            return None
        reply = reply.get(key)
    return reply


def text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def count_or_none(value: Json) -> int | None:
    # `bool` is a subclass of `int`: without the second check `true` would count as 1.
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and value >= 0 else None


def count_or_zero(value: Json) -> int:
    """A count. Google writes 64-bit integers as JSON strings, so digits in a string count too."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 16:
        return int(value)
    return count_or_none(value) or 0


def list_of(value: Json, count: int) -> list[Json]:
    """The list itself if it has one item for each text; raises `NotRows`."""
    if not isinstance(value, list) or len(value) != count:
        got = len(value) if isinstance(value, list) else "no list"
        raise NotRows(f"{got} vectors for {count} texts")
    return value


def in_order(entries: Json, count: int, key: str) -> Rows:
    """Rows that carry the index of their text, sorted by it."""
    rows: dict[int, Json] = {}
    for entry in list_of(entries, count):
        number = field(entry, "index")
        if count_or_none(number) is None or number in rows or number >= count:
            raise NotRows("vectors without a usable index of their text")
        rows[number] = field(entry, key)
    return [rows[number] for number in range(count)]


# -- multipart uploads of a batch file -----------------------------------------------------------

JSON_LINES = "application/jsonl"
BATCH_FILE_NAME = "notewell.jsonl"


def multipart_boundary(file: bytes) -> str:
    """Derived from the digest of the file: the same file gives the same request, and no file can
    contain its own boundary by chance."""
    return f"notewell-{hashlib.sha256(file).hexdigest()[:32]}"


# -- prompts -------------------------------------------------------------------------------------


class Prompts(NamedTuple):
    """The texts that a model was trained to see before a query and before a passage.

    Most small open models find noticeably less without them. A hosted provider adds its own
    (`input_type`, `taskType`), so this table is for models that are known only by name.
    """

    query: str = ""
    document: str = ""

    def before(self, texts: Sequence[str], kind: Kind) -> list[str]:
        prompt = self.query if kind == "query" else self.document
        return [prompt + text for text in texts]


_PASSAGES = Prompts("Represent this sentence for searching relevant passages: ")
GEMMA = Prompts("task: search result | query: ", "title: none | text: ")
"""gemini-embedding-2 uses these too, in place of a task type."""

# Keyed by the name of the model family. The longest matching name wins: `bge-m3` needs no prompt
# although the other `bge-` models do.
_FAMILIES = {
    "nomic-embed": Prompts("search_query: ", "search_document: "),
    "embeddinggemma": GEMMA,
    "multilingual-e5": Prompts("query: ", "passage: "),
    "e5-": Prompts("query: ", "passage: "),
    "mxbai-embed": _PASSAGES,
    "snowflake-arctic-embed2": Prompts("query: "),
    "snowflake-arctic-embed": _PASSAGES,
    "bge-m3": Prompts(),
    "bge-": _PASSAGES,
    "qwen3-embedding": Prompts(
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
        "Query: "
    ),
}


def prompts_of(model: str) -> Prompts:
    """By the last part of the name: `library/nomic-embed-text:v1.5` is a `nomic-embed`."""
    name = model.lower().rsplit("/", 1)[-1]
    for family in sorted(_FAMILIES, key=len, reverse=True):
        if name.startswith(family):
            return _FAMILIES[family]
    return Prompts()
