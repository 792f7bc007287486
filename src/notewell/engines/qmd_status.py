"""The status of a memory whose engine is QMD: facts about the notes, and about QMD's own index."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.engines.status import Answering, SourceStatus
from notewell.index import Counts
from notewell.qmd import document_counts, has_vectors
from notewell.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.engines.status import Status
    from notewell.qmd import BackgroundUpdater, Job, Qmd

SCORES = "by rank alone: 1 for the first, about half for the tenth; minScore is not applied"


def qmd_status(own: Status, driver: Qmd, updater: BackgroundUpdater, changed: int) -> Status:
    """`own` is the status of the builtin engine: its facts about the notes stay, its facts about
    its index are replaced."""
    home = driver.home
    counts = _counts(driver)
    return replace(
        own,
        index_path=str(home.index),
        state="ready" if home.index.exists() else "missing",
        problem=None,  # A problem of the builtin index does not concern QMD.
        public_problem=None,
        provider="qmd",
        model=driver.settings.search_mode,
        dims=0,
        embedder_missing=None,
        counts=counts,
        # Without an index of QMD, every note waits for the first update.
        dirty=changed if home.index.exists() else own.eligible,
        cache_entries=0,
        index_bytes=home.index.stat().st_size if home.index.exists() else 0,
        vector_driver="qmd",
        rebuild_needed=None,
        decision=None,
        answering=Answering("qmd", "qmd", facts=tuple(_facts(driver, updater).items())),
        sources=tuple(_sources(own, counts)),
        cache_limit=0,
        vectors_enabled=driver.settings.search_mode != "search",
        vector_load_error=None,
        has_vectors=has_vectors(home.index) is True,
        index_age_s=_age_s(driver),
        batch=None,
    )


def _sources(own: Status, counts: Counts | None) -> Iterator[SourceStatus]:
    """Notes as they are on disk; transcripts as QMD has them, since it reads exported copies."""
    by_source = counts.by_source if counts else {}
    eligible = {source.name: source.eligible for source in own.sources}
    for name in dict.fromkeys((*eligible, *by_source)):
        files, chunks = by_source.get(name, (0, 0))
        yield SourceStatus(name, eligible.get(name, files), files, chunks)


def _age_s(driver: Qmd) -> float | None:
    updated_ns = driver.home.updated_ns()
    return max(0.0, (time.time_ns() - updated_ns) / 1e9) if updated_ns else None


def _counts(driver: Qmd) -> Counts | None:
    counts = document_counts(driver.home.index)
    if not counts:
        return None
    by_source: dict[str, int] = {}
    for collection in driver.collections:
        files = counts.get(collection.name, 0)
        by_source[collection.source] = by_source.get(collection.source, 0) + files
    # Chunks and vectors are QMD's internals; its tables for them change between versions.
    return Counts(
        files=sum(by_source.values()),
        chunks=0,
        embedded=0,
        waiting=0,
        by_source={source: (files, 0) for source, files in by_source.items()},
    )


def _facts(driver: Qmd, updater: BackgroundUpdater) -> dict[str, str]:
    updated_ns = driver.home.updated_ns()
    facts = {
        "command": driver.settings.command,
        "mode": driver.settings.search_mode,
        "scores": SCORES,
        "collections": ", ".join(each.name for each in driver.collections) or "none",
        "home": str(driver.home.path),
        "updated": _local_time(updated_ns) if updated_ns else "never",
        "vectors": {True: "yes", False: "none", None: "not known"}[has_vectors(driver.home.index)],
        "server": _server(driver),
    }
    jobs: tuple[Job, ...] = ("update", "embed")
    for job in jobs:
        failure = updater.failure(job)
        if failure is not None:
            facts[f"last {job}"] = str(failure)
    return facts


def _server(driver: Qmd) -> str:
    if not driver.settings.daemon:
        return "off"
    if driver.daemon_failure is not None:
        return f"not available: {driver.daemon_failure.why}"
    return f"process {driver.daemon_pid}" if driver.daemon_pid else "not started"


def _local_time(ns: int) -> str:
    at = datetime.fromtimestamp(ns / 1e9, UTC).astimezone()
    return at.isoformat(timespec="seconds")
