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

    from notewell.embedders import BatchFacts
    from notewell.engines import EmbedderProbe, Probe, Status, VectorProbe
    from notewell.notes import Excerpt
    from notewell.sync import BatchFailure, SyncFailure, SyncReport
    from notewell.types import (
        Answer,
        Fallback,
        Hit,
        Ignored,
        QuotedLines,
        ScoreParts,
        WindowScore,
    )

JSON_VERSION = 1
"""Grows when a field changes its meaning or is removed. A new field does not change it."""


def pick(payload: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The named fields of a payload, in this order."""
    return {name: payload[name] for name in names}


def hit_json(hit: Hit, *, explain: bool = False, public: bool = False) -> dict[str, Any]:
    """One hit; with `explain`, the parts of its score as well. `public`: for remote readers."""
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
        "shown": [_shown_json(lines, explain=explain) for lines in hit.shown],
    }
    # Left out for notes: most hits are from notes.
    if said := hit.said:
        folder = said.folder_name if public else said.folder
        payload["said"] = {
            "speaker": said.speaker,
            "at": said.at or None,
            "host": said.host,
            "folder": folder,
        }
    if explain:
        payload["parts"] = score_json(hit.parts)
    return payload


def _shown_json(lines: QuotedLines, *, explain: bool) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "startLine": lines.span.start_line,
        "endLine": lines.span.end_line,
        "text": lines.text,
    }
    if explain:
        payload["score"] = round(lines.score, 4)
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
        "echo": parts.echo,
        "speaker": parts.speaker,
        "window": _window_json(parts.window) if parts.window else None,
    }


def _window_json(window: WindowScore) -> dict[str, Any]:
    return {
        "startLine": window.span.start_line,
        "endLine": window.span.end_line,
        "vector": round(window.vector, 4),
    }


def answer_json(answer: Answer, *, public: bool = False) -> dict[str, Any]:
    """An answer without its hits: each surface shows those in its own selection.

    `public`: for remote readers, who see no folders of this machine.
    """
    payload: dict[str, Any] = {
        "mode": answer.mode,
        "provider": answer.provider,
        "model": answer.model,
        "fallback": fallback_json(answer.fallback, public=public),
    }
    # Left out when there is nothing to say: most answers have neither.
    if answer.nearness:
        payload["nearness"] = answer.nearness._asdict()
    if answer.reason:
        payload["reason"] = answer.reason
    notice = answer.public_notice if public else answer.notice
    if notice:
        payload["notice"] = notice
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
        "nextChar": excerpt.next_char,
        "cut": excerpt.cut,
    }


# -- status and sync -----------------------------------------------------------------------------


def status_json(status: Status, probe: Probe | None = None) -> dict[str, Any]:
    """Everything that `notewell status` knows."""
    counts = status.counts
    return {
        "agent": status.agent,
        # `backend` is the engine that answers now. While a second choice is in use, `fallback`
        # says why, so that a program need not compare names.
        "backend": status.answering.backend,
        "fallback": fallback_json(status.fallback),
        "engine": dict(status.answering.facts),
        "workspace": status.workspace,
        "extraPaths": list(status.extra_paths),
        "indexPath": status.index_path,
        "state": status.state,
        "problem": status.problem,
        "lastError": _error_json(status.last_error),
        "provider": status.provider,
        "model": status.model,
        "eligible": status.eligible,
        # Without a readable index there are no counts; `state` tells this apart from an empty one.
        "files": counts.files if counts else 0,
        "chunks": counts.chunks if counts else 0,
        "dirty": status.dirty,
        "sources": [source.name for source in status.sources],
        "sourceCounts": [
            {"source": name, "eligible": eligible, "files": files, "chunks": chunks}
            for name, eligible, files, chunks in status.sources
        ],
        **_parts_json(status),
        "indexBytes": status.index_bytes,
        "indexAge": None if status.index_age_s is None else round(status.index_age_s),
        "embedderMissing": status.embedder_missing,
        "embedder": status.decision.to_json() if status.decision else None,
        "probe": _probe_json(probe),
        "rebuildNeeded": status.rebuild_needed,
        "refusedKeys": list(status.refused_keys),
        "workspaceErrors": status.workspace_errors,
        "ignored": ignored_json(status.ignored),
        "unreadable": ignored_json(status.unreadable),
    }


def public_status_json(status: Status) -> dict[str, Any]:
    """The same for remote readers: no folder of this machine, no text that could quote one."""
    payload = status_json(status)
    # Emptied and not removed: the shape of the JSON is the same for everybody.
    payload |= {"engine": {}, "workspace": None, "extraPaths": [], "indexPath": None}
    payload |= {"embedder": None, "problem": status.public_problem}
    payload["embedderMissing"] = status.public_embedder_missing
    if status.fallback:
        payload["fallback"] |= {"reason": status.fallback.public_reason}
    if status.last_error:
        payload["lastError"] |= {"message": status.last_error.public}
    if payload["fts"]["error"]:
        payload["fts"] |= {"error": status.public_problem}
    if status.vector_load_error:
        payload["vector"] |= {"loadError": "sqlite-vec is not used; `notewell status` says why"}
    # A provider's message may quote anything; that jobs failed is seen from the number.
    payload["batch"] |= {"offBecause": None, "lastError": None, "jobs": []}
    return payload


def _parts_json(status: Status) -> dict[str, Any]:
    """What a search uses: words, vectors, the cache, batch jobs."""
    is_readable = status.state != "unreadable"
    return {
        # Words are indexed with every embedder and without one, so only damage stops them.
        "fts": {
            "enabled": True,
            "available": is_readable,
            "error": None if is_readable else status.problem,
        },
        "vector": {
            "enabled": status.vectors_enabled,
            "available": status.vectors_available,
            "driver": status.vector_driver,
            "loadError": status.vector_load_error,
            "dims": status.dims,
            "embedded": status.counts.embedded if status.counts else 0,
        },
        "cache": {
            "enabled": status.cache_limit != 0,
            "maxEntries": status.cache_limit,
            "entries": status.cache_entries,
        },
        "batch": _batch_json(status.batch, status.batch_failure),
    }


def _batch_json(facts: BatchFacts | None, failure: BatchFailure | None) -> dict[str, Any]:
    """`failure` is what the last sync recorded, perhaps in another process."""
    payload: dict[str, Any] = {
        "enabled": facts is not None,
        "failures": failure.failures if failure else 0,
        "offBecause": failure.off_because if failure else None,
        "lastError": failure.text if failure else None,
        "jobs": [],
        "concurrency": None,
        "pollIntervalMs": None,
        "timeoutMinutes": None,
    }
    if facts is None:
        return payload
    if facts.failures:
        payload |= {"failures": facts.failures, "lastError": facts.last_failure}
        payload["offBecause"] = facts.off_because
    return payload | {
        "jobs": list(facts.jobs),
        "concurrency": facts.concurrency,
        "pollIntervalMs": round(facts.poll_interval_s * 1000),
        "timeoutMinutes": facts.timeout_minutes,
    }


def fallback_json(fallback: Fallback | None, *, public: bool = False) -> dict[str, Any] | None:
    """The second choice in use; null if the first one is."""
    if fallback is None:
        return None
    return {
        "part": fallback.part,
        "from": fallback.wanted,
        "to": fallback.used,
        "reason": fallback.public_reason if public else fallback.reason,
        "since": fallback.since,
    }


def _error_json(failure: SyncFailure | None) -> dict[str, Any] | None:
    if failure is None:
        return None
    return {"kind": failure.kind, "message": failure.text, "at": failure.at}


def _probe_json(probe: Probe | None) -> dict[str, Any] | None:
    if probe is None:
        return None
    first = probe.requested
    return {
        **_embedder_probe_json(probe),
        "vectors": _vector_probe_json(probe.vectors),
        "requested": {"provider": first.provider, **_embedder_probe_json(first)}
        if first
        else None,
    }


def _embedder_probe_json(probe: Probe | EmbedderProbe) -> dict[str, Any]:
    # Only the owner sees a probe (`status --deep`), so it has the full message.
    trouble = str(probe.trouble) if probe.trouble else None
    return {
        "ok": not trouble,
        "dims": probe.dims,
        "ms": round(probe.ms),
        "trouble": trouble,
    }


def _vector_probe_json(probe: VectorProbe | None) -> dict[str, Any] | None:
    if probe is None:
        return None
    trouble = str(probe.trouble) if probe.trouble else None
    return {
        "ok": not trouble,
        "found": probe.found,
        "ms": round(probe.ms),
        "trouble": trouble,
    }


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
        "batchFailure": report.batch_failure,
        "fallback": fallback_json(report.fallback),
    }


_FILES = ("ignored", "unreadable", "repaired")
_FIGURES = frozenset(
    {
        *("eligible", "files", "chunks", "dirty", "indexBytes", "indexAge"),
        *("notes", "written", "forgotten", "vectorsAdded", "vectorsWaiting"),
    }
)
"""Numbers that count MEMORY.md and transcripts, too, or tell when one was written."""


def without_private(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A status or a report as a group may see it: without names of transcripts, and without
    numbers, which count what a group does not see."""
    from notewell.core import is_private_path

    visible = {name: None if name in _FIGURES else value for name, value in payload.items()}
    for name in _FILES:
        if name in payload:
            visible[name] = [file for file in payload[name] if not is_private_path(file["path"])]
    # Below one name of a status each.
    for part, inner in (("vector", "embedded"), ("cache", "entries")):
        if part in payload:
            visible[part] = {**payload[part], inner: None}
    if "sourceCounts" in payload:
        sources = [source for source in payload["sources"] if source != "sessions"]
        visible |= {"sources": sources, "sourceCounts": []}
    return visible


def ignored_json(files: Iterable[Ignored]) -> list[dict[str, str]]:
    return [{"path": file.path, "why": file.why} for file in files]
