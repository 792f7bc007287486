"""The JSON of hits, excerpts, status and sync reports: one function for each shape.

`notewell … --json`, the tools, the HTTP API and the web page all spell these values through this
module, so a field has the same name and the same meaning everywhere. A surface selects the fields
that it shows (`pick`) and replaces text that it must escape; it does not spell a field again.

This module imports nothing of ours at run time: `notewell search` loads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.engines import Answering, Probe, Status
    from notewell.notes import Excerpt
    from notewell.sync import SyncReport
    from notewell.types import Answer, Hit, Ignored, ScoreParts

JSON_VERSION = 1
"""Grows when a field changes its meaning or is removed. A new field does not change it."""


def pick(payload: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The named fields of a payload, in this order."""
    return {name: payload[name] for name in names}


def hit_json(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """One hit; with `explain`, the parts of its score as well."""
    payload: dict[str, Any] = {
        "path": hit.path,
        "startLine": hit.span.start_line,
        "endLine": hit.span.end_line,
        "score": hit.score,
        "snippet": hit.snippet,
        "source": hit.source,
        "citation": hit.citation,
        "heading": hit.heading,
        "id": hit.id,
    }
    if explain:
        payload["parts"] = score_json(hit.parts)
    return payload


def score_json(parts: ScoreParts) -> dict[str, Any]:
    return {
        "vector": parts.vector,
        "text": parts.text,
        "vectorRank": parts.vector_rank,
        "textRank": parts.text_rank,
        "decay": parts.decay,
        "recency": parts.recency,
        "rerank": parts.rerank,
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer without its hits: each surface shows those in its own selection."""
    payload: dict[str, Any] = {
        "mode": answer.mode,
        "provider": answer.provider,
        "model": answer.model,
    }
    # Left out when there is nothing to say: most answers have neither.
    if answer.reason:
        payload["reason"] = answer.reason
    if answer.notice:
        payload["notice"] = answer.notice
    return payload


def excerpt_json(excerpt: Excerpt) -> dict[str, Any]:
    """Lines of a note."""
    return {
        "path": excerpt.path,
        "text": excerpt.text,
        "startLine": excerpt.start_line,
        "endLine": excerpt.end_line,
        "totalLines": excerpt.total_lines,
        "nextFrom": excerpt.next_from,
        "cut": excerpt.cut,
    }


# -- status and sync -----------------------------------------------------------------------------


def status_json(status: Status, probe: Probe | None = None) -> dict[str, Any]:
    """Everything that `notewell status` knows."""
    counts = status.counts
    return {
        "agent": status.agent,
        **_engine_json(status.answering),
        "workspace": status.workspace,
        "extraPaths": list(status.extra_paths),
        "indexPath": status.index_path,
        "state": status.state,
        "problem": status.problem,
        "provider": status.provider,
        "model": status.model,
        "eligible": status.eligible,
        # Without a readable index there are no counts; `state` tells this apart from an empty one.
        "files": counts.files if counts else 0,
        "chunks": counts.chunks if counts else 0,
        "dirty": status.dirty,
        "sourceCounts": [
            {"source": source, "files": files, "chunks": chunks}
            for source, (files, chunks) in (counts.by_source.items() if counts else ())
        ],
        "vector": {
            "driver": status.vector_driver,
            "dims": status.dims,
            "embedded": counts.embedded if counts else 0,
        },
        "cache": {"entries": status.cache_entries},
        "indexBytes": status.index_bytes,
        "embedderMissing": status.embedder_missing,
        "embedder": status.decision.to_json() if status.decision else None,
        "probe": _probe_json(probe),
        "rebuildNeeded": status.rebuild_needed,
        "refusedKeys": list(status.refused_keys),
        "ignored": ignored_json(status.ignored),
        "unreadable": ignored_json(status.unreadable),
    }


def _engine_json(answering: Answering) -> dict[str, Any]:
    # `backend` is the engine that answers now. While it is not the configured one, `fallback` says
    # why, so that a program need not compare names.
    replaced = answering.backend != answering.wanted
    fallback = {"from": answering.wanted, "reason": answering.reason, "since": answering.since}
    return {
        "backend": answering.backend,
        "fallback": fallback if replaced else None,
        "engine": dict(answering.facts),
    }


def _probe_json(probe: Probe | None) -> dict[str, Any] | None:
    if probe is None:
        return None
    # Only the owner sees a probe (`status --deep`), so it has the full message.
    trouble = str(probe.trouble) if probe.trouble else None
    return {"ok": not trouble, "dims": probe.dims, "ms": round(probe.ms), "trouble": trouble}


def report_json(report: SyncReport) -> dict[str, Any]:
    """What a sync did, with the files that it could not use."""
    return {
        **report_figures(report),
        "ignored": ignored_json(report.ignored),
        "unreadable": ignored_json(report.unreadable),
        "repaired": ignored_json(report.repaired),
    }


def report_figures(report: SyncReport) -> dict[str, Any]:
    """What a sync did, in numbers; one line of `notewell watch --json`."""
    return {
        # The reason for a rebuild, not a flag: null means that the index was updated in place.
        "rebuilt": str(report.rebuilt) if report.rebuilt else None,
        "notes": report.notes,
        "written": report.written,
        "forgotten": report.forgotten,
        "chunks": report.chunks,
        "vectorsAdded": report.vectors_added,
        "vectorsWaiting": report.vectors_waiting,
        "trouble": str(report.trouble) if report.trouble else None,
    }


def ignored_json(files: Iterable[Ignored]) -> list[dict[str, str]]:
    return [{"path": file.path, "why": file.why} for file in files]
