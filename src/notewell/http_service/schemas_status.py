"""How a memory is, as `notewell status --json` tells it.

An admin sees all of it. Others are not told where on this machine anything lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.http_service.schemas import LeftOut, Shown, left_out
from notewell.tools import without_places

if TYPE_CHECKING:
    from notewell.engines import Status


class SourceCount(Shown):
    source: str
    files: int
    chunks: int


class VectorFacts(Shown):
    driver: str
    dims: int
    embedded: int


class CacheFacts(Shown):
    entries: int


class StatusAnswer(Shown):
    version: int
    agent: str
    backend: str
    fallback: dict[str, str | None] | None
    engine: dict[str, str]
    workspace: str | None
    extra_paths: list[str]
    index_path: str | None
    state: str
    problem: str | None
    provider: str
    model: str
    eligible: int
    files: int
    chunks: int
    dirty: int
    source_counts: list[SourceCount]
    vector: VectorFacts
    cache: CacheFacts
    index_bytes: int
    embedder_missing: str | None
    embedder: dict[str, Any] | None
    probe: None
    rebuild_needed: str | None
    ignored: list[LeftOut]
    unreadable: list[LeftOut]


JSON_VERSION = 1
"""As the command line has it; a test holds the two together."""


def status_shown(status: Status, *, admin: bool) -> StatusAnswer:
    counts = status.counts
    answering = status.answering
    replaced = answering.backend != answering.wanted
    reason = {"from": answering.wanted, "reason": answering.reason, "since": answering.since}
    return StatusAnswer(
        version=JSON_VERSION,
        agent=status.agent,
        backend=answering.backend,
        fallback={k: _told(v, admin=admin) for k, v in reason.items()} if replaced else None,
        engine=dict(answering.facts) if admin else {},
        workspace=status.workspace if admin else None,
        extra_paths=list(status.extra_paths) if admin else [],
        index_path=status.index_path if admin else None,
        state=status.state,
        problem=_told(status.problem, admin=admin),
        provider=status.provider,
        model=status.model,
        eligible=status.eligible,
        files=counts.files if counts else 0,
        chunks=counts.chunks if counts else 0,
        dirty=status.dirty,
        source_counts=[
            SourceCount(source=source, files=files, chunks=chunks)
            for source, (files, chunks) in (counts.by_source.items() if counts else ())
        ],
        vector=VectorFacts(
            driver=status.vector_driver,
            dims=status.dims,
            embedded=counts.embedded if counts else 0,
        ),
        cache=CacheFacts(entries=status.cache_entries),
        index_bytes=status.index_bytes,
        embedder_missing=_told(status.embedder_missing, admin=admin),
        embedder=status.decision.to_json() if admin and status.decision else None,
        probe=None,
        rebuild_needed=status.rebuild_needed,
        ignored=left_out(status.ignored),
        unreadable=left_out(status.unreadable),
    )


def _told(text: str | None, *, admin: bool) -> str | None:
    return text if admin or text is None else without_places(text)
