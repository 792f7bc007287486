"""The state of a memory, computed from the files and the index, never from a stored summary."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from notewell.errors import EmbedderTrouble, IndexTrouble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.embedders import Decision
    from notewell.index import Counts, IndexedNote, StoreFacts
    from notewell.notes import ExtraPath
    from notewell.ports import Embedder, ModelFacts
    from notewell.sync import Indexer
    from notewell.types import Ignored, Scan


@dataclass(frozen=True, slots=True)
class Answering:
    """Which engine answers, and why it is not the configured one."""

    backend: str
    wanted: str
    reason: str | None = None
    since: str | None = None
    """Since when, as an ISO time."""
    facts: tuple[tuple[str, str], ...] = ()
    """Further facts about the engine, by name."""
    public_reason: str | None = None
    """The reason for remote readers; names no folder."""


@dataclass(frozen=True, slots=True)
class Status:
    """What `notewell status` shows."""

    agent: str
    workspace: str
    extra_paths: tuple[str, ...]
    index_path: str
    state: Literal["missing", "ready", "unreadable"]
    problem: str | None
    """Why the index cannot be used."""
    provider: str
    model: str
    dims: int
    embedder_missing: str | None
    """What the embedder lacks to work, and the next step."""
    counts: Counts | None
    eligible: int
    """Notes on disk that belong in the index."""
    dirty: int
    """How many of them the index does not have in their current form, plus notes to forget."""
    ignored: tuple[Ignored, ...]
    unreadable: tuple[Ignored, ...]
    cache_entries: int
    index_bytes: int
    vector_driver: str
    rebuild_needed: str | None
    """Why the next sync will build a new index."""
    decision: Decision | None
    """Which embedder was requested, which is used and why; None for one that the caller gave."""
    answering: Answering = Answering("builtin", "builtin")
    refused_keys: tuple[str, ...] = ()
    """Keys of the workspace's settings file that have no effect: it may not set them."""
    public_problem: str | None = None
    public_embedder_missing: str | None = None
    """`embedder_missing` without the names of files."""
    """The problem for remote readers; names no folder."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of asking the embedder for one vector."""

    dims: int
    ms: float
    trouble: EmbedderTrouble | None


def probe(embedder: Embedder, monotonic_s: Callable[[], float]) -> Probe:
    """One real request, so that `status --deep` and `doctor` show facts, not settings."""
    started = monotonic_s()
    dims, trouble = 0, None
    try:
        # The text does not matter; it is short because providers charge by length.
        dims = len(embedder.embed(["Is anybody there?"], "query")[0])
    except EmbedderTrouble as error:
        trouble = error
    return Probe(dims, (monotonic_s() - started) * 1000, trouble)


def status_of(
    indexer: Indexer, extra_paths: Sequence[ExtraPath], agent: str, decision: Decision | None
) -> Status:
    """Never raises for a damaged index: the status is what reports the damage."""
    facts = indexer.facts()
    store = indexer.store.describe()
    entries = 0
    with suppress(IndexTrouble):
        entries = indexer.store.cache_entries()
    indexed = _indexed(indexer, facts, store)
    missing = indexer.embedder.missing()
    scans = indexer.scans(indexed.known)
    eligible = sum(len(scan.notes) for scan in scans.values())
    # An index that cannot be read has none of the notes, so all of them wait for the next sync.
    behind = _behind(scans, indexed.known) if indexed.state == "ready" else eligible
    return Status(
        agent=agent,
        workspace=indexer.notes.location,
        extra_paths=tuple(extra.path for extra in extra_paths),
        index_path=store.place,
        state=indexed.state,
        problem=indexed.problem,
        provider=facts.provider,
        model=facts.model,
        dims=facts.dims,
        embedder_missing=str(missing) if missing else None,
        counts=indexed.counts,
        eligible=eligible,
        dirty=behind,
        ignored=tuple(file for scan in scans.values() for file in scan.ignored),
        unreadable=tuple(file for scan in scans.values() for file in scan.unreadable),
        cache_entries=entries,
        index_bytes=store.size_bytes,
        vector_driver=indexer.vector_driver,
        rebuild_needed=indexed.rebuild_needed,
        decision=decision,
        public_problem=indexed.public_problem,
        public_embedder_missing=missing.public_text() if missing else None,
    )


@dataclass(frozen=True, slots=True)
class _Indexed:
    """What the index contains."""

    state: Literal["missing", "ready", "unreadable"] = "missing"
    problem: str | None = None
    counts: Counts | None = None
    known: Mapping[str, Mapping[str, IndexedNote]] = field(default_factory=dict)
    rebuild_needed: str | None = None
    public_problem: str | None = None


def _indexed(indexer: Indexer, facts: ModelFacts, store: StoreFacts) -> _Indexed:
    try:
        with indexer.store.view() as view:
            if view is None:
                return _Indexed()
            if store.suspect:
                # Its counts lie on sound pages; the search that met the damage needed others.
                raise store.suspect
            return _Indexed(
                "ready",
                counts=view.counts(),
                known={source: view.notes(source) for source in indexer.sources},
                rebuild_needed=view.identity().difference(indexer.wanted(facts)),
            )
    # A state and not an exception: `status` and the doctor are used when the index is damaged.
    except IndexTrouble as trouble:
        return _Indexed("unreadable", str(trouble), public_problem=trouble.public_text())


def _behind(scans: Mapping[str, Scan], known: Mapping[str, Mapping[str, IndexedNote]]) -> int:
    from notewell.sync import behind

    return sum(behind(scan, known[name]) for name, scan in scans.items())
