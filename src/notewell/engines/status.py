"""The state of a memory, computed from the files and the index, never from a stored summary."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from notewell.errors import BadSetting, EmbedderTrouble, IndexTrouble, NotewellError
from notewell.ports import PROBE_TEXT
from notewell.records import dataclass, field, replace
from notewell.types import Fallback, being_built

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.embedders import BatchFacts, Chosen, Decision
    from notewell.index import Counts, IndexedNote, IndexFacts, StoreFacts
    from notewell.notes import ExtraPath
    from notewell.ports import Embedder, ModelFacts, Vectors
    from notewell.sync import BatchFailure, Indexer, SyncFailure, SyncState
    from notewell.types import Ignored, Scan


PROBED_CHUNKS = 6
"""As many as a search shows by default."""


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


class SourceStatus(NamedTuple):
    """One source of the index: what is on disk, and what the index has of it."""

    name: str
    eligible: int
    files: int
    chunks: int


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
    workspace_errors: int = 0
    """Mistakes in that file; what they are about has no effect either."""
    public_problem: str | None = None
    """The problem for remote readers; names no folder."""
    public_embedder_missing: str | None = None
    """`embedder_missing` without the names of files."""
    sources: tuple[SourceStatus, ...] = ()
    cache_limit: int | None = None
    """0: there is no cache; None: it has no limit."""
    vectors_enabled: bool = True
    """False: the settings ask for keyword search alone."""
    vector_load_error: str | None = None
    """Why the vector driver is not the one that the settings name."""
    requested_driver: str | None = None
    """The vector driver that the settings name; None: the engine has none."""
    has_vectors: bool = False
    """Whether the index holds vectors, so that a vector search can find something."""
    index_age_s: float | None = None
    """Time since the index was last written."""
    batch: BatchFacts | None = None
    """None: the embedder uses no batch jobs."""
    last_error: SyncFailure | None = None
    """Why the last sync did not do all of its work; None after one that did."""
    batch_failure: BatchFailure | None = None
    """The last sync paid the full price because its batch jobs failed."""
    embedder_fallback: Fallback | None = None

    @property
    def vectors_available(self) -> bool:
        """Whether a question can be answered by vectors, as far as is known without a request."""
        # An error of the vector driver is no obstacle: another one takes its place.
        return self.vectors_enabled and self.has_vectors and not self.embedder_missing

    @property
    def fallback(self) -> Fallback | None:
        """The second choice that is in use; the engine first, because it decides all the rest."""
        engine = self.answering
        if engine.backend == engine.wanted:
            return self.embedder_fallback
        return Fallback(
            "engine",
            engine.wanted,
            engine.backend,
            engine.reason,
            engine.since,
            engine.public_reason,
        )

    @property
    def is_degraded(self) -> bool:
        """Whether the user has to do something before everything works as configured."""
        return bool(
            self.problem
            or self.unreadable
            or self.workspace_errors
            or self.embedder_missing
            or self.fallback
            or self.last_error
            or self.batch_failure
            or (self.decision and self.decision.broken_keys)
            or (self.vectors_enabled and self.vector_load_error)
        )


def with_record(status: Status, record: SyncState) -> Status:
    """The same status with what earlier syncs, also of other processes, have recorded."""
    fallback = embedder_fallback(status.decision) if status.decision else None
    return replace(
        status,
        last_error=record.failure,
        batch_failure=record.batch if status.batch else None,
        embedder_fallback=as_recorded(fallback, record),
    )


def as_recorded(fallback: Fallback | None, record: SyncState) -> Fallback | None:
    """A fallback with the reason and the time of the sync that began it."""
    known = record.fallback
    if fallback is None or known is None or fallback.part != "embedder":
        return fallback
    if (known.wanted, known.used) != (fallback.wanted, fallback.used):
        return fallback
    return fallback._replace(reason=known.reason, since=known.since)


def embedder_fallback(decision: Decision) -> Fallback | None:
    """The embedder that is used in place of the requested one."""
    if not decision.fell_back:
        return None
    return Fallback(
        "embedder",
        decision.requested,
        decision.used,
        decision.why,
        None,
        # The reason quotes the provider, and that text is for the user at this machine.
        f"the embedder {decision.requested} could not be used",
    )


# -- probing -------------------------------------------------------------------------------------


class VectorProbe(NamedTuple):
    """The result of one vector query to the index."""

    found: int
    """How many chunks it returned."""
    ms: float
    trouble: NotewellError | None


class EmbedderProbe(NamedTuple):
    """The result of asking an embedder for one vector."""

    provider: str
    dims: int
    ms: float
    trouble: EmbedderTrouble | None


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of asking the embedder for one vector, and the index for its neighbours."""

    dims: int
    ms: float
    trouble: EmbedderTrouble | None
    vectors: VectorProbe | None = None
    """None: there is no index, or no vector to ask with."""
    requested: EmbedderProbe | None = None
    """The embedder that the settings name, if a fallback is in use; else None."""

    @property
    def is_well(self) -> bool:
        return self.trouble is None and not (self.vectors and self.vectors.trouble)


def probe(embedder: Embedder, indexer: Indexer, requested: Chosen | None = None) -> Probe:
    """One real request and one real vector query, so that `status --deep` and `doctor` show facts,
    not settings. `requested` is asked, too: the embedder in whose place `embedder` is used."""
    asked, vector = _probe_embedder("", embedder, indexer)
    vectors = None if indexer.keyword_only else _probe_vectors(indexer, vector)
    first = None
    if requested is not None:
        name = requested.decision.requested
        first, _ = _probe_embedder(name, requested.embedder, indexer)
    return Probe(asked.dims, asked.ms, asked.trouble, vectors, first)


def _probe_embedder(
    provider: str, embedder: Embedder, indexer: Indexer
) -> tuple[EmbedderProbe, Vectors | None]:
    started = indexer.monotonic_s()
    vector, trouble = None, None
    try:
        # The text does not matter; it is short because providers charge by length. A document,
        # because then a model on this machine compares the digests of its files, too.
        vector = embedder.embed([PROBE_TEXT], "document")[0]
    except EmbedderTrouble as error:
        trouble = error
    took_ms = (indexer.monotonic_s() - started) * 1000
    dims = 0 if vector is None else len(vector)
    return EmbedderProbe(provider, dims, took_ms, trouble), vector


def _probe_vectors(indexer: Indexer, vector: Vectors | None) -> VectorProbe | None:
    """If the embedder does not answer, a stored vector is the question: the two parts can fail
    separately."""
    started = indexer.monotonic_s()
    found, trouble = 0, None
    try:
        index = indexer.index_facts()
        if index and not index.is_readable:
            text = f"the index holds vectors of {index.identity.driver}"
            raise BadSetting("store.vector.driver", f"{text}; run `notewell index`")
        with indexer.store.view() as view:
            if view is None:
                return None
            placed = view.inventory().placed()[:1] if vector is None else []
            if placed:
                vector = view.inventory().vectors([placed[0].id])[1][0]
            if vector is None:
                return None
            found = len(view.nearest(vector, indexer.sources, PROBED_CHUNKS))
    except NotewellError as error:
        trouble = error
    return VectorProbe(found, (indexer.monotonic_s() - started) * 1000, trouble)


# -- the status of the builtin engine ------------------------------------------------------------


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
    status = Status(
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
        sources=_sources(scans, indexed.counts),
    )
    return _with_parts(status, indexer, store)


def _with_parts(status: Status, indexer: Indexer, store: StoreFacts) -> Status:
    """The same status with what its parts tell: cache, vectors, batch jobs."""
    from notewell.embedders import batch_facts_of

    age_s = None
    if store.written_at_s:
        # Not below 0: the clock of a file server may be ahead of ours.
        age_s = max(0.0, indexer.now_ns() / 1e9 - store.written_at_s)
    index = _readable(indexer) if status.state == "ready" else None
    return replace(
        status,
        cache_limit=store.cache_limit,
        vectors_enabled=not indexer.keyword_only,
        vector_load_error=store.vector_load_error,
        has_vectors=bool(status.counts and status.counts.embedded) and index is not None,
        vector_driver=index.identity.driver if index else indexer.vector_driver,
        requested_driver=indexer.requested_driver or indexer.vector_driver,
        index_age_s=age_s,
        batch=batch_facts_of(indexer.embedder),
    )


def _readable(indexer: Indexer) -> IndexFacts | None:
    """The index, if this process can read its vectors."""
    index = indexer.index_facts()
    return index if index and index.is_readable else None


def _sources(scans: Mapping[str, Scan], counts: Counts | None) -> tuple[SourceStatus, ...]:
    by_source = counts.by_source if counts else {}
    return tuple(
        SourceStatus(name, len(scan.notes), *by_source.get(name, (0, 0)))
        for name, scan in scans.items()
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
            identity = view.identity()
            return _Indexed(
                "ready",
                counts=view.counts(),
                known={source: view.notes(source) for source in indexer.sources},
                rebuild_needed=_rebuild_needed(
                    view.outdated() or identity.difference(indexer.wanted(facts, identity)), store
                ),
            )
    # A state and not an exception: `status` and the doctor are used when the index is damaged.
    except IndexTrouble as trouble:
        return _Indexed("unreadable", str(trouble), public_problem=trouble.public_text())


def _rebuild_needed(reason: str | None, store: StoreFacts) -> str | None:
    if reason is None or store.notes_built is None:
        return reason
    return f"{reason}; {being_built(store.notes_built)}"


def _behind(scans: Mapping[str, Scan], known: Mapping[str, Mapping[str, IndexedNote]]) -> int:
    from notewell.sync import behind

    return sum(behind(scan, known[name]) for name, scan in scans.items())
