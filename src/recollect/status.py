"""How a memory is, computed from what is there, not from what was once noted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from recollect.core.errors import EmbedderTrouble, IndexTrouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.config import Settings
    from recollect.core.ports import Embedder, ModelFacts
    from recollect.core.types import Ignored
    from recollect.embedders.decision import Decision
    from recollect.index import Counts, Snapshot
    from recollect.sync.keeping import Keeping


@dataclass(frozen=True, slots=True)
class Status:
    """What `recollect status` tells."""

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
    """Of these, how many the index has not caught up with, and notes it should forget."""
    ignored: tuple[Ignored, ...]
    unreadable: tuple[Ignored, ...]
    cache_entries: int
    index_bytes: int
    vector_driver: str
    rebuild_needed: str | None
    """Why the next sync will build a new index."""
    decision: Decision | None
    """Which embedder was asked for, which is used and why; None for one that was handed in."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of asking the embedder for one vector."""

    dims: int
    ms: float
    trouble: EmbedderTrouble | None


def probe(embedder: Embedder, monotonic_s: Callable[[], float]) -> Probe:
    """One real question, so that `status --deep` and `doctor` tell what is, not what is set."""
    started = monotonic_s()
    dims, trouble = 0, None
    try:
        dims = len(embedder.embed(["Is anybody there?"], "query")[0])
    except EmbedderTrouble as error:
        trouble = error
    return Probe(dims, (monotonic_s() - started) * 1000, trouble)


def status_of(
    keeping: Keeping, settings: Settings, agent: str, decision: Decision | None
) -> Status:
    """Never raises for a bad index: it is what tells you that the index is bad."""
    scans = keeping.scans({})
    facts = keeping.facts()
    index = keeping.index
    status = Status(
        agent=agent,
        workspace=str(keeping.notes.root),
        extra_paths=tuple(extra.path for extra in settings.extra_paths),
        index_path=str(index.folder.path),
        state="missing",
        problem=None,
        provider=facts.provider,
        model=facts.model,
        dims=facts.dims,
        embedder_missing=keeping.embedder.missing(),
        counts=None,
        eligible=sum(len(scan.notes) for scan in scans.values()),
        dirty=sum(len(scan.notes) for scan in scans.values()),
        ignored=tuple(one for scan in scans.values() for one in scan.ignored),
        unreadable=tuple(one for scan in scans.values() for one in scan.unreadable),
        cache_entries=0,
        index_bytes=index.folder.size(),
        vector_driver=settings.vector_driver,
        rebuild_needed=None,
        decision=decision,
    )
    with suppress(IndexTrouble):
        status = replace(status, cache_entries=index.cache_entries())
    try:
        with keeping.reader.snapshot() as snapshot:
            if snapshot is None:
                return status
            return _with_index(status, snapshot, keeping, facts)
    except IndexTrouble as trouble:
        return replace(status, state="unreadable", problem=str(trouble))


def _with_index(status: Status, snapshot: Snapshot, keeping: Keeping, facts: ModelFacts) -> Status:
    from recollect.sync.plan import behind

    known = {source: snapshot.notes(source) for source in keeping.sources}
    return replace(
        status,
        state="ready",
        counts=snapshot.counts(),
        dirty=sum(behind(scan, known[name]) for name, scan in keeping.scans(known).items()),
        rebuild_needed=snapshot.identity().difference(keeping.wanted(facts)),
    )
