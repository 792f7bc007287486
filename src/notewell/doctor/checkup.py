"""START HERE: every check, one after another. Nothing is changed by looking.

A check that cannot look says so and the next one goes on: when a disk is full or a folder is
closed, the others are what the user needs.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from notewell.doctor import index_health, machine, notes_health, state_dir, workspaces
from notewell.doctor.finding import Finding
from notewell.doctor.leases import lease_findings
from notewell.doctor.orphans import orphans
from notewell.errors import NotewellError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from notewell.doctor.subject import Patient
    from notewell.engines import Status
    from notewell.memory import Memory
    from notewell.sync import Indexer
    from notewell.types import Scan

    Check = tuple[str, Callable[[], Iterable[Finding]]]


def examine(patient: Patient) -> list[Finding]:
    """Everything that was found, well or not. Asks the embedder for one real vector."""
    memory, indexer = patient.memory, patient.indexer
    findings = [*_looked(_around(patient))]
    if memory is None or indexer is None:
        trouble = patient.trouble or "cannot be opened"
        findings.append(Finding("memory", trouble, "mend this first"))
        return [*findings, *_looked(_state(patient, lambda: 0))]
    scan = cache(indexer.notes.scan)  # One look serves all that ask.
    findings += _looked(_notes(patient, indexer, scan))
    findings += _looked(_state(patient, lambda: _note_bytes(scan)))
    return [*findings, *_looked(_memory(patient, memory))]


def _looked(checks: Iterable[Check]) -> Iterator[Finding]:
    for what, check in checks:
        try:
            yield from list(check())
        except (NotewellError, OSError) as error:
            yield Finding(what, f"could not look: {error}", "mend that, then look again")


def _around(patient: Patient) -> list[Check]:
    settings = patient.memory.settings if patient.memory else None
    return [
        ("sqlite", machine.sqlite),
        ("python", lambda: machine.packages(settings)),
        ("settings", lambda: workspaces.settings(patient)),
    ]


def _state(patient: Patient, note_bytes: Callable[[], int]) -> list[Check]:
    state, index, now = patient.state, patient.index, patient.now()
    most = patient.memory.settings.store.cache_entries if patient.memory else None
    return [
        ("state", lambda: state_dir.file_system(index)),
        ("state", lambda: state_dir.permissions(state, index)),
        ("disk", lambda: state_dir.room(index, note_bytes())),
        ("lease", lambda: lease_findings(index, now)),
        ("orphans", lambda: orphans(state, index, now.timestamp())),
        ("orphans", lambda: workspaces.other_indexes(patient)),
        ("index", lambda: index_health.index_file(index)),
        ("cache", lambda: index_health.cache(index / "cache.sqlite", most)),
    ]


def _notes(patient: Patient, indexer: Indexer, scan: Callable[[], Scan]) -> list[Check]:
    root, now = patient.workspace, patient.now()
    return [
        ("notes", lambda: notes_health.notes(scan(), root)),
        ("notes", lambda: notes_health.writable(scan(), root)),
        ("clock", lambda: notes_health.clock(scan(), now)),
        ("watch", lambda: machine.inotify(_folders(indexer))),
    ]


def _memory(patient: Patient, memory: Memory) -> list[Check]:
    status = cache(memory.status)
    return [
        ("engine", lambda: engine(status())),
        ("index", lambda: _level(patient, memory, status())),
        ("embedder", lambda: embedder(memory, status())),
        ("capture", lambda: capture(patient)),
    ]


def _level(patient: Patient, memory: Memory, status: Status) -> Iterable[Finding]:
    wants_vectors = status.provider != "none" and not memory.settings.search.keyword_only
    return index_health.level(status, patient.index, patient.now(), wants_vectors=wants_vectors)


def _note_bytes(scan: Callable[[], Scan]) -> int:
    try:
        return sum(note.stat.size for note in scan().notes.values())
    except NotewellError:
        return 0  # The checks of the notes tell why.


def _folders(indexer: Indexer) -> int:
    from notewell.sync import WatchPaths

    transcripts = indexer.transcripts[0].places if indexer.transcripts else ()
    paths = WatchPaths(
        [*indexer.notes.local_paths(), *transcripts], ignore=indexer.store.local_paths()
    )
    return len(paths.folders())


def engine(status: Status) -> Iterator[Finding]:
    """Silence where our own engine answers as it was asked to."""
    answering = status.answering
    if answering.wanted == "builtin":
        return
    if answering.reason or status.problem:
        told = f"{answering.wanted}: {answering.reason or status.problem}"
        if answering.backend != answering.wanted:
            told += f"; {answering.backend} answers in its place"
        yield Finding("engine", told, f"mend {answering.wanted}, or set memory.backend: builtin")
        return
    facts = "; ".join(f"{name}: {value}" for name, value in answering.facts)
    yield Finding("engine", f"{answering.backend} answers. {facts}".strip())


def embedder(memory: Memory, status: Status) -> Iterator[Finding]:
    """Who makes the vectors, and whether he does: one real question."""
    used = f"{status.provider}, {status.model}"
    if status.provider == "none":
        yield Finding("embedder", "none, as the settings say: words alone answer")
        return
    probe = memory.probe()
    if probe.trouble:
        todo = "until then search goes on by keyword"
        yield Finding("embedder", f"{used}: {probe.trouble}", todo)
    else:
        yield Finding("embedder", f"{used}: {probe.dims} dimensions in {probe.ms:.0f} ms")
    decision = status.decision
    if decision is not None and decision.fell_back:
        told = f"{decision.requested} was asked for and {decision.used} is used: {decision.why}"
        yield Finding("embedder", told, "mend the first one, then run `notewell index`")


def capture(patient: Patient) -> Iterator[Finding]:
    """What the hooks of an agent's host have been doing; silence where none ever ran."""
    from notewell.capture import capture_dir, pulse

    folder = capture_dir(patient.state, patient.agent, patient.workspace)
    beat = pulse(folder, patient.now())
    if beat is not None:
        yield Finding("capture", beat.told, beat.todo)
