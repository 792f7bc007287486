"""What a configuration comes to: plain, frozen values, one name for each key of the table.

`query.hybrid.vectorWeight` is `agent.memory_search.query.hybrid.vector_weight`, and so on; `made`
fills these types from the table's paths, so a key without a field, or a field without a key, fails
the first time anything is loaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from notewell.config.positions import Finding
    from notewell.core import Binding, Fusion, Secret
    from notewell.types import Source


class Part:
    """Some settings that belong together: frozen, and equal when they say the same.

    Not a dataclass and not a named tuple, because there are seventeen of them and every search
    waits for their definition: that costs a tenth of what named tuples would.
    """

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"settings do not change: {name!r} cannot be set")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"


class Batch(Part):
    enabled: bool
    wait: bool
    concurrency: int
    poll_interval_ms: int
    timeout_minutes: int


class Remote(Part):
    base_url: str | None
    api_key: Secret | None
    headers: Mapping[str, Secret]
    non_batch_concurrency: int
    batch: Batch


class Local(Part):
    model_path: str | None
    model_cache_dir: str | None
    context_size: int | None


class StoreVector(Part):
    enabled: bool
    extension_path: str | None
    driver: str


class Store(Part):
    driver: str
    path: str | None
    """With the agent's id filled in; None is the state folder."""
    vector: StoreVector


class Chunking(Part):
    tokens: int
    overlap: int


class SyncSessions(Part):
    delta_bytes: int
    delta_messages: int


class Sync(Part):
    on_session_start: bool
    on_search: bool
    watch: bool
    watch_debounce_ms: int
    interval_minutes: int
    sessions: SyncSessions
    embedding_batch_timeout_seconds: int | None


class Mmr(Part):
    enabled: bool
    lambda_: float


class TemporalDecay(Part):
    enabled: bool
    half_life_days: float


class Hybrid(Part):
    enabled: bool
    fusion: Fusion | None
    """None takes the preset's."""
    vector_weight: float | None
    """A share of 1; None takes what was measured for the model."""
    text_weight: float | None
    candidate_multiplier: int
    mmr: Mmr
    temporal_decay: TemporalDecay


class Query(Part):
    preset: Literal["default", "seed"]
    max_results: int
    min_score: float | None
    hybrid: Hybrid


class Cache(Part):
    enabled: bool
    max_entries: int


class Experimental(Part):
    session_memory: bool


class Sessions(Part):
    paths: tuple[tuple[str, str | None], ...]


class Redaction(Part):
    notes: bool


class MemorySearch(Part):
    enabled: bool
    sources: tuple[Source, ...]
    extra_paths: tuple[tuple[str, str | None], ...]
    """Each a path and a pattern, as `ExtraPath` takes them."""
    experimental: Experimental
    sessions: Sessions
    redaction: Redaction
    provider: str
    model: str | None
    fallback: str
    input_type: str | None
    query_input_type: str | None
    document_input_type: str | None
    output_dimensionality: int | None
    remote: Remote
    local: Local
    store: Store
    chunking: Chunking
    cache: Cache
    sync: Sync
    query: Query


class MemoryFlush(Part):
    enabled: bool
    soft_threshold_tokens: int
    prompt: str | None
    system_prompt: str | None


class Compaction(Part):
    reserve_tokens_floor: int
    memory_flush: MemoryFlush


class Provider(NamedTuple):
    """An entry of `models.providers`."""

    base_url: str | None = None
    api_key: Secret | None = None
    headers: Mapping[str, Secret] | None = None
    api: str | None = None


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Everything that holds for one agent."""

    id: str
    workspace: Path | None
    """None: the folder that is asked for."""
    off_because: str | None
    """Why this agent has no memory; None when it has one."""
    memory_search: MemorySearch
    compaction: Compaction
    values: Mapping[str, Any]
    """The same and the rest (`memory.citations`, `memory.qmd.…`) by dotted key."""
    origins: Mapping[str, str]
    """For each key of `values`, `file:line` of who said it, or `default`."""

    @property
    def enabled(self) -> bool:
        return self.off_because is None


@dataclass(frozen=True, slots=True)
class Configuration:
    """All agents and how messages find them."""

    agents: Mapping[str, AgentSettings]
    default_agent: str
    bindings: tuple[Binding, ...]
    providers: Mapping[str, Provider]
    findings: tuple[Finding, ...]
    origins: Mapping[str, str]
    """Who said what is not an agent's: `bindings[0]`, `models.providers.openai.apiKey`."""
    files: tuple[str, ...]
    """The files that were read, weakest first."""


_PARTS = {
    part.__name__: part
    for part in (
        Batch, Remote, Local, StoreVector, Store, Chunking, SyncSessions, Sync, Mmr,
        TemporalDecay, Hybrid, Query, Cache, Experimental, MemoryFlush,
        Redaction, Sessions,
    )
}  # fmt: skip


def made(kind: Any, above: str, values: Mapping[str, Any]) -> Any:
    """A `kind` filled from the values below `above`; nested parts are filled likewise."""
    fields = {}
    for name, annotated in kind.__annotations__.items():
        path = f"{above}.{_camel(name)}"
        part = _PARTS.get(annotated)  # Annotations are kept as text.
        fields[name] = made(part, path, values) if part else values[path]
    return kind(**fields)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name).rstrip("_")
