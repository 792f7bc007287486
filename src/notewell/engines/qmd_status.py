"""How QMD is, in the shape that every engine tells it in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.engines.status import Answering
from notewell.index import Counts
from notewell.qmd import documents, has_vectors

if TYPE_CHECKING:
    from notewell.engines.status import Status
    from notewell.qmd import Keeper, Qmd

SCORES = "by rank alone: 1 for the first, about half for the tenth; minScore is not applied"


def qmd_status(own: Status, driver: Qmd, keeper: Keeper, changed: int) -> Status:
    """`own` is what our engine says of the notes; what it says of its index is not meant here."""
    home = driver.home
    counts = _counts(driver)
    return replace(
        own,
        index_path=str(home.index),
        state="ready" if home.index.exists() else "missing",
        problem=None,  # Of our own index, which is not the one that answers.
        provider="qmd",
        model=driver.settings.search_mode,
        dims=0,
        embedder_missing=None,
        counts=counts,
        dirty=changed if home.index.exists() else own.eligible,
        cache_entries=0,
        index_bytes=home.index.stat().st_size if home.index.exists() else 0,
        vector_driver="qmd",
        rebuild_needed=None,
        decision=None,
        answering=Answering("qmd", "qmd", facts=tuple(_facts(driver, keeper).items())),
    )


def _counts(driver: Qmd) -> Counts | None:
    known = documents(driver.home.index)
    if not known:
        return None
    by_source: dict[str, int] = {}
    for one in driver.collections:
        by_source[one.source] = by_source.get(one.source, 0) + known.get(one.name, 0)
    # How it cuts files up, and how many pieces have a vector, is QMD's own affair.
    return Counts(
        files=sum(by_source.values()),
        chunks=0,
        embedded=0,
        waiting=0,
        by_source={source: (files, 0) for source, files in by_source.items()},
    )


def _facts(driver: Qmd, keeper: Keeper) -> dict[str, str]:
    updated_ns = driver.home.updated_ns()
    facts = {
        "command": driver.settings.command,
        "mode": driver.settings.search_mode,
        "scores": SCORES,
        "collections": ", ".join(one.name for one in driver.collections) or "none",
        "home": str(driver.home.path),
        "updated": _moment(updated_ns) if updated_ns else "never",
        "vectors": {True: "yes", False: "none", None: "not known"}[has_vectors(driver.home.index)],
        "server": _server(driver),
    }
    for job, trouble in (("update", keeper.trouble("update")), ("embed", keeper.trouble("embed"))):
        if trouble is not None:
            facts[f"last {job}"] = str(trouble)
    return facts


def _server(driver: Qmd) -> str:
    if not driver.settings.daemon:
        return "off"
    if driver.daemon_trouble is not None:
        return f"not to be had: {driver.daemon_trouble.why}"
    return f"process {driver.daemon_pid}" if driver.daemon_pid else "not started"


def _moment(ns: int) -> str:
    at = datetime.fromtimestamp(ns / 1e9, UTC).astimezone()
    return at.isoformat(timespec="seconds")
