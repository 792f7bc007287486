"""`notewell status`: what the memory holds and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.cli.output import counted, print_json, refused_key, say
from notewell.cli.place import memory_of
from notewell.tools import status_json

if TYPE_CHECKING:
    import argparse

    from notewell.engines import Answering, Probe, Status

DEGRADED = 5


def run(arguments: argparse.Namespace) -> int:
    with memory_of(arguments) as memory:
        if arguments.index:
            memory.sync()
        status = memory.status()
        # A real request, which may cost money: only on demand.
        probe = memory.inspect.probe() if arguments.deep else None
    if arguments.json:
        print_json(status_json(status, probe))
    else:
        for name, value in [*_facts(status), *probe_facts(probe)]:
            say(f"{name:<12}{value}")
    bad = status.problem or status.unreadable or status.embedder_missing
    # The second engine answers, so searches work, but not with what the user configured.
    replaced = status.answering.backend != status.answering.wanted
    return DEGRADED if bad or replaced or (probe and probe.trouble) else 0


def probe_facts(probe: Probe | None) -> list[tuple[str, str]]:
    if probe is None:
        return []
    if probe.trouble:
        return [("probe", f"failed after {probe.ms:.0f} ms: {probe.trouble}")]
    return [("probe", f"a vector of {probe.dims} dimensions in {probe.ms:.0f} ms")]


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


def _facts(status: Status) -> list[tuple[str, str]]:
    facts = [
        ("workspace", status.workspace),
        ("agent", status.agent),
        *_answering_facts(status.answering),
        ("index", f"{status.state}, {status.index_bytes / 1e6:.1f} MB in {status.index_path}"),
    ]
    if status.counts:
        counts = status.counts
        facts += [
            ("notes", f"{counts.files} indexed, {status.eligible} on disk"),
            ("chunks", f"{counts.chunks}, {counts.embedded} with a vector"),
        ]
    else:
        facts.append(("notes", f"{status.eligible} on disk, none indexed"))
    facts.append(("embedder", f"{status.provider}, {status.model}, {status.dims} dimensions"))
    if status.decision:
        facts.append(("", f"{status.decision.used}: {status.decision.why}"))
    if status.embedder_missing:
        facts.append(("", f"not available: {status.embedder_missing}"))
    facts.append(("cache", counted(status.cache_entries, "vector")))
    facts += [("extra path", path) for path in status.extra_paths]
    facts += [("ignored", refused_key(key)) for key in status.refused_keys]
    if status.problem:
        facts.append(("problem", status.problem))
    if status.rebuild_needed:
        facts.append(("next sync", f"builds a new index: {status.rebuild_needed}"))
    # A rebuild takes in every note, so the number of changed ones says nothing then.
    elif status.dirty:
        facts.append(("next sync", f"{counted(status.dirty, 'note')} to catch up with"))
    facts += [("left out", f"{file.path}: {file.why}") for file in status.ignored]
    facts += [("unreadable", f"{file.path}: {file.why}") for file in status.unreadable]
    return facts
