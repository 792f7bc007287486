"""`notewell status`: what the memory holds and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.cli.output import ignored_settings, print_json, say
from notewell.cli.place import memory_of
from notewell.files import why_not_writable
from notewell.tools import status_json
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.capture import KeepStatus
    from notewell.engines import Answering, EmbedderProbe, Probe, Status
    from notewell.memory import Memory
    from notewell.types import Fallback

DEGRADED = 5


def run(arguments: argparse.Namespace) -> int:
    with memory_of(arguments) as memory:
        if arguments.index:
            # What went wrong is recorded, and the status below shows it.
            memory.sync(ask_embedder=True)
        status = memory.status()
        # A real request, which may cost money: only on demand.
        probe = memory.inspect.probe() if arguments.deep else None
        kept = kept_of(memory)
        closed = why_not_writable(memory.state_dir)
    if arguments.json:
        more = {"kept": kept.to_json() if kept else None, "stateNotWritable": closed}
        print_json({**status_json(status, probe), **more})
    else:
        state = [("state", f"cannot be written: {closed}")] if closed else []
        for name, value in [*_facts(status), *state, *_kept_facts(kept), *probe_facts(probe)]:
            say(f"{name:<12}{value}")
    # A second choice counts as degraded: searches work, but not with what the user configured.
    is_degraded = status.is_degraded or closed is not None
    return DEGRADED if is_degraded or not (probe is None or probe.is_well) else 0


def kept_of(memory: Memory) -> KeepStatus | None:
    """What is kept of conversations; None if no hook has ever run."""
    from notewell.capture import capture_dir, read_keep_status
    from notewell.sessions import kept_dir

    # The index folder and both of these are named by the same real path.
    place = (memory.state_dir, memory.agent, memory.notes.location)
    sessions, capture = memory.settings.sessions, memory.settings.capture
    return read_keep_status(
        capture_dir(*place), kept_dir(*place), capture, is_searched=sessions.search_kept
    )


def _kept_facts(kept: KeepStatus | None) -> list[tuple[str, str]]:
    if kept is None:
        return []
    return [("kept", kept.message), *([("", kept.action)] if kept.action else [])]


def probe_facts(probe: Probe | None) -> list[tuple[str, str]]:
    if probe is None:
        return []
    facts = [("probe", _probe_text(probe))]
    if first := probe.requested:
        action = "" if first.trouble else "; `notewell index` goes back to it"
        facts.append(("", f"{first.provider}: {_probe_text(first)}{action}"))
    vectors = probe.vectors
    if vectors is None:
        return facts
    if vectors.trouble:
        return [*facts, ("", f"the vector search failed: {vectors.trouble}")]
    found = counted(vectors.found, "chunk")
    return [*facts, ("", f"a vector search found {found} in {vectors.ms:.0f} ms")]


def _probe_text(probe: Probe | EmbedderProbe) -> str:
    if probe.trouble:
        return f"failed after {probe.ms:.0f} ms: {probe.trouble}"
    return f"a vector of {probe.dims} dimensions in {probe.ms:.0f} ms"


def _answering_facts(answering: Answering) -> list[tuple[str, str]]:
    """Nothing if the built-in engine is configured and answers."""
    # The built-in engine has no fallback, and its facts are the rest of the status.
    if answering.wanted == "builtin":
        return []
    facts = [("engine", answering.backend), *(("", f"{a}: {b}") for a, b in answering.facts)]
    if answering.reason:
        since = f"since {answering.since}, " if answering.since else ""
        facts.append(("", f"not {answering.wanted}: {since}{answering.reason}"))
    return facts


def _index_facts(status: Status) -> list[tuple[str, str]]:
    facts = []
    if status.index_age_s is not None:
        facts.append(("", f"last written {_age_text(status.index_age_s)} ago"))
    counts = status.counts
    if counts is None:
        return [*facts, ("notes", f"{status.eligible} on disk, none indexed")]
    facts.append(("notes", f"{counts.files} indexed, {status.eligible} on disk"))
    # With one source the line above says it all.
    if len(status.sources) > 1:
        facts += [
            ("", f"{source.name}: {source.files} indexed, {source.eligible} on disk")
            for source in status.sources
        ]
    facts.append(("chunks", f"{counts.chunks}, {counts.embedded} with a vector"))
    if status.vector_load_error:
        driver = status.vector_driver
        facts.append(
            ("vectors", f"sqlite-vec is not used, {driver} is: {status.vector_load_error}")
        )
    elif status.requested_driver not in (None, status.vector_driver):
        action = f"`notewell index --force` stores them with {status.requested_driver}"
        why = f"in an index of a process without {status.requested_driver}"
        facts.append(("vectors", f"stored by {status.vector_driver}, {why}; {action}"))
    return facts


def _age_text(seconds: float) -> str:
    """In the largest unit that gives a whole number above 1."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return counted(int(seconds // length), unit)
    return counted(int(seconds), "second")


def _fallback_text(fallback: Fallback) -> str:
    since = f" since {fallback.since}" if fallback.since else ""
    return f"in place of {fallback.wanted}{since}: {fallback.reason}"


def _cache_text(status: Status) -> str:
    if status.cache_limit == 0:
        return "off"
    limit = f", at most {status.cache_limit}" if status.cache_limit else ""
    return f"{counted(status.cache_entries, 'vector')}{limit}"


def _batch_facts(status: Status) -> list[tuple[str, str]]:
    """Nothing if the embedder has no batch jobs."""
    if status.batch is None:
        return []
    facts = [("batch", f"on, {counted(len(status.batch.jobs), 'job')} at the provider")]
    if status.batch_failure:
        failure = status.batch_failure
        facts.append(("", f"failed at {failure.at}: {failure.off_because or failure.text}"))
    return facts


def _facts(status: Status) -> list[tuple[str, str]]:
    facts = [
        ("workspace", status.workspace),
        ("agent", status.agent),
        *_answering_facts(status.answering),
        ("index", f"{status.state}, {status.index_bytes / 1e6:.1f} MB in {status.index_path}"),
        *_index_facts(status),
    ]
    facts.append(("embedder", f"{status.provider}, {status.model}, {status.dims} dimensions"))
    if status.decision:
        facts.append(("", f"{status.decision.used}: {status.decision.why}"))
        facts += [("", notice) for notice in status.decision.notices]
    if status.embedder_missing:
        facts.append(("", f"not available: {status.embedder_missing}"))
    if status.embedder_fallback:
        facts.append(("", _fallback_text(status.embedder_fallback)))
    facts += [("cache", _cache_text(status)), *_batch_facts(status)]
    facts += [("extra path", path) for path in status.extra_paths]
    ignored = ignored_settings(status.refused_keys, status.workspace_errors)
    facts += [("ignored", notice) for notice in ignored]
    if status.problem:
        facts.append(("problem", status.problem))
    if status.last_error:
        facts.append(("last sync", f"failed at {status.last_error.at}: {status.last_error.text}"))
    if status.rebuild_needed:
        facts.append(("next sync", f"builds a new index: {status.rebuild_needed}"))
    # A rebuild takes in every note, so the number of changed ones says nothing then.
    elif status.dirty:
        facts.append(("next sync", f"{counted(status.dirty, 'note')} to catch up with"))
    facts += [("left out", f"{file.path}: {file.why}") for file in status.ignored]
    facts += [("unreadable", f"{file.path}: {file.why}") for file in status.unreadable]
    return facts
