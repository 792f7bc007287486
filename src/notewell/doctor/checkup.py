"""Every check, one after another. START HERE.

The checks of the machine and of the state need no memory; those of the notes and of the engine do.
A check that fails is itself a finding, and the next check goes on.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.doctor import machine, notes_health, state_dir
from notewell.doctor.finding import (
    FIX,
    MOST_LISTED,
    SYNC,
    Finding,
    SetEntriesAside,
    SyncIndex,
    of_store,
)
from notewell.doctor.state_files import index_folders, leftover_findings
from notewell.errors import NotewellError
from notewell.index import size_text
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from notewell.doctor.finding import Subject
    from notewell.engines import Status
    from notewell.index import StorePart
    from notewell.memory import Memory
    from notewell.sync import Indexer
    from notewell.types import Scan

    Check = tuple[str, Callable[[], Iterable[Finding]]]

START_FOLDER = "`notewell init` makes a start"
START_DATABASE = "`notewell append` writes the first one, `notewell push` copies a folder"


def examine(subject: Subject) -> list[Finding]:
    """All findings, problems or not. Asks the embedder for one real vector."""
    findings: dict[tuple[str, str | None], Finding] = {}
    for one in _all_findings(subject):
        # A server that does not answer fails many checks; it is reported once.
        findings.setdefault((one.message, one.todo), one)
    return list(findings.values())


def _all_findings(subject: Subject) -> list[Finding]:
    memory, indexer = subject.memory, subject.indexer
    findings = [*_run(_machine_checks(subject))]
    if memory is None or indexer is None:
        # Without a memory the state is still examined: it is often the reason.
        trouble = subject.trouble or "cannot be opened"
        findings.append(Finding("memory", trouble, "repair this first"))
        return [*findings, *_run(_state_checks(subject, lambda: 0))]
    scan = cache(indexer.notes.scan)  # One scan serves all checks.
    findings += _run(_notes_checks(subject, memory, scan))
    findings += _run(_state_checks(subject, lambda: _note_bytes(scan)))
    return [*findings, *_run(_memory_checks(subject, memory))]


def _run(checks: Iterable[Check]) -> Iterator[Finding]:
    for what, check in checks:
        try:
            # As a list: a check that fails half-way reports its error only, not half of its
            # findings.
            yield from list(check())
        except (NotewellError, OSError) as error:
            todo = "repair that, then look again"
            yield Finding(what, f"could not look: {error}", todo, public_todo=todo)


def _machine_checks(subject: Subject) -> list[Check]:
    settings = subject.memory.settings if subject.memory else None
    engine = settings.store.driver if settings else "sqlite"
    return [
        (engine, lambda: _store_findings(engine, subject, "engine")),
        ("python", lambda: machine.packages(settings)),
        ("settings", lambda: settings_findings(subject)),
        ("hosts", lambda: machine.hosts(subject.environment)),
    ]


def _state_checks(subject: Subject, note_bytes: Callable[[], int]) -> list[Check]:
    state, index, now = subject.state, subject.index, subject.now()
    return [
        ("state", lambda: state_dir.file_system(index)),
        ("state", lambda: state_dir.permissions(state, index)),
        # A generation is built beside the one that answers, so the disk needs room for both.
        ("disk", lambda: state_dir.room(subject.store, index, note_bytes())),
        ("lease", lambda: _store_findings("lease", subject, "lease")),
        ("orphans", lambda: _leftovers(subject)),
        ("orphans", lambda: leftover_findings(state, now.timestamp())),
        ("orphans", lambda: other_indexes(subject)),
        ("index", lambda: _store_findings("index", subject, "index")),
        ("cache", lambda: _store_findings("cache", subject, "cache")),
    ]


def _notes_checks(subject: Subject, memory: Memory, scan: Callable[[], Scan]) -> list[Check]:
    root, now = subject.workspace, subject.now()
    first_step = START_DATABASE if root is None else START_FOLDER
    always: list[Check] = [
        ("notes", lambda: notes_health.notes(scan(), subject.location, first_step)),
        ("clock", lambda: notes_health.clock(scan(), now)),
    ]
    if root is None:
        return [("postgres", lambda: _notes_server(subject, memory)), *always]
    return [
        *always,
        ("notes", lambda: notes_health.closed_files(scan(), root)),
        ("orphans", lambda: notes_health.copies(root, now.timestamp())),
        ("watch", lambda: machine.inotify(_watched_folders(memory.indexer))),
    ]


def _memory_checks(subject: Subject, memory: Memory) -> list[Check]:
    # One status for all checks; it scans the notes.
    status = cache(memory.status)
    return [
        ("engine", lambda: engine(status())),
        ("index", lambda: _level(subject, memory, status())),
        ("embedder", lambda: embedder(memory, status())),
        ("sync", lambda: last_sync(status())),
        ("capture", lambda: capture(subject)),
        ("entries", lambda: entries(subject.state, memory)),
        ("kept", lambda: kept(subject, memory)),
    ]


def _note_bytes(scan: Callable[[], Scan]) -> int:
    try:
        return sum(note.stat.size for note in scan().notes.values())
    except NotewellError:
        return 0  # The checks of the notes report why.


def _watched_folders(indexer: Indexer) -> int:
    from notewell.sync import WatchPaths

    transcripts = indexer.transcripts.places if indexer.transcripts else ()
    paths = WatchPaths(
        [*indexer.notes.local_paths(), *transcripts], ignore=indexer.store.local_paths()
    )
    return len(paths.folders())


# -- stores --------------------------------------------------------------------------------------


def _store_findings(what: str, subject: Subject, part: StorePart) -> Iterator[Finding]:
    for found in subject.store.check(part, subject.now()):
        yield of_store(what, found, subject.index)


def _notes_server(subject: Subject, memory: Memory) -> Iterator[Finding]:
    """The database of the notes, unless it has the index, too: then the store has said it."""
    from notewell.postgres import configured_address, inspect_server, shared_database

    if subject.store.local_paths():
        address = configured_address(memory.settings.store.url, subject.environment)
        for found in inspect_server(shared_database(address)):
            yield Finding("postgres", found.message, found.action)


def _leftovers(subject: Subject) -> Iterator[Finding]:
    """Of every agent: an agent that is no longer configured leaves its index behind."""
    from notewell.stores import store_at

    if not subject.store.local_paths():
        yield from _store_findings("orphans", subject, "leftovers")
    # Stores of other agents are examined by file only; nothing of them is opened.
    for folder in index_folders(subject.state, subject.index):
        for found in store_at(folder).check("leftovers", subject.now()):
            # With the folder: a repair must open the store that the finding is about.
            yield of_store("orphans", found, folder)


def other_indexes(subject: Subject) -> Iterator[Finding]:
    """Indexes whose workspace is gone, and how many belong to unknown workspaces.

    An index does not record its workspace: its folder is named by a digest of it. So only the
    workspaces of the settings and the one that is examined can be recognized.
    """
    from notewell.stores import store_at

    known = dict(_known_indexes(subject))
    for folder, workspace in known.items():
        if workspace is not None and os.path.isdir(folder) and not os.path.isdir(workspace):  # noqa: PTH112
            size = size_text(store_at(folder).describe().size_bytes)
            message = f"the workspace {workspace} is gone, its index ({size}) is still there"
            yield Finding("orphans", message, f"if it does not come back: `rm -r {folder}`")
    others = [one for one in index_folders(subject.state, subject.index) if one not in known]
    if others:
        size = size_text(sum(store_at(folder).describe().size_bytes for folder in others))
        number = f"{len(others)} index{'es' if others[1:] else ''}"
        message = f"{number} ({size}) of workspaces that the settings do not name"
        yield Finding("indexes", f"{message}, below {subject.state}")


def _known_indexes(subject: Subject) -> Iterator[tuple[Path, Path | None]]:
    """Index folders with their workspaces; None for notes in a database."""
    from notewell.config import ConfigScope, read_configuration
    from notewell.stores import index_dir

    for agent, values in read_configuration(ConfigScope(), subject.environment).agents.items():
        if values.workspace is not None:
            # The digest in the name of an index folder is that of the real path.
            root = Path(os.path.realpath(values.workspace))
            yield index_dir(subject.state, agent, root), root
    # Last, so that it wins: the workspace of the examined index is certain.
    yield subject.index, subject.workspace


def settings_findings(subject: Subject) -> Iterator[Finding]:
    from notewell.config import ConfigScope, read_configuration

    scope = ConfigScope(subject.workspace, subject.agent.lower())
    configuration = read_configuration(scope, subject.environment, on_this_machine=True)
    files = ", ".join(configuration.files)
    yield Finding("settings", files or "no file: the defaults apply")
    for found in configuration.findings:
        # A refused key changes nothing, but the user believes that it does.
        bad = found.kind in ("error", "refused")
        todo = "correct it; `notewell config check` lists all" if bad else None
        yield Finding("settings", str(found), todo)


# -- the memory ----------------------------------------------------------------------------------


def _level(subject: Subject, memory: Memory, status: Status) -> Iterator[Finding]:
    """How far the index is behind the notes; without an embedder nothing waits for vectors."""
    if status.state == "unreadable":
        return  # The check of the index has said why.
    if status.counts is None:
        yield Finding.public("index", "there is none yet", SYNC, SyncIndex())
        return
    counts = status.counts
    # A user who chose keywords only would be sent to a repair that cannot add vectors.
    wants_vectors = status.provider != "none" and not memory.settings.search.keyword_only
    behind = [
        f"{status.dirty} to catch up with" if status.dirty else "",
        f"{counts.waiting} wait for a vector" if counts.waiting and wants_vectors else "",
        f"a new one is needed: {status.rebuild_needed}" if status.rebuild_needed else "",
    ]
    sizes = f"{counted(counts.files, 'note')}, {counted(counts.chunks, 'chunk')}"
    message = f"{sizes}, {counts.embedded} with a vector"
    message = ", ".join([message, *filter(None, behind)]) + _age(subject)
    if any(behind):
        yield Finding.public("index", message, SYNC, SyncIndex())
    else:
        yield Finding.public("index", message)


def _age(subject: Subject) -> str:
    written_at_s = subject.store.describe().written_at_s
    if written_at_s is None:
        return ""
    at = datetime.fromtimestamp(written_at_s, UTC).astimezone()
    days = (subject.now() - at).days
    return f"; last written on {at:%Y-%m-%d %H:%M}" + (f", {days} days ago" if days > 1 else "")


def engine(status: Status) -> Iterator[Finding]:
    """No finding if the built-in engine answers, as the settings ask."""
    answering = status.answering
    if answering.wanted == "builtin":
        return
    # A fallback hides the failure of the engine from every search, so it is reported here.
    if answering.reason or status.problem:
        message = f"{answering.wanted}: {answering.reason or status.problem}"
        if answering.backend != answering.wanted:
            message += f"; {answering.backend} answers in its place"
        todo = f"repair {answering.wanted}, or set memory.backend: builtin"
        yield Finding("engine", message, todo)
        return
    facts = "; ".join(f"{name}: {value}" for name, value in answering.facts)
    yield Finding("engine", f"{answering.backend} answers. {facts}".strip())


def embedder(memory: Memory, status: Status) -> Iterator[Finding]:
    """Which embedder is used, and whether it answers one real call."""
    used = f"{status.provider}, {status.model}"
    if status.provider == "none":
        yield Finding.public("embedder", "none, as the settings say: search uses keywords only")
        return
    # A real call: a key can be present and revoked, a model file present and damaged.
    probe = memory.inspect.probe()
    if probe.trouble:
        todo = "until then search uses keywords only"
        public = f"{used}: {probe.trouble.public_text()}"
        message = f"{used}: {probe.trouble}"
        yield Finding("embedder", message, todo, public_message=public, public_todo=todo)
    else:
        message = f"{used}: {probe.dims} dimensions in {probe.ms:.0f} ms"
        yield Finding.public("embedder", message)
    if probe.vectors and probe.vectors.trouble:
        trouble = probe.vectors.trouble
        public = f"the vector search failed: {trouble.public_text()}"
        todo = "until then search uses keywords only"
        message = f"the vector search failed: {trouble}"
        yield Finding("vectors", message, todo, public_message=public, public_todo=todo)
    decision = status.decision
    if decision is not None and decision.fell_back:
        message = f"{decision.requested} was asked for and {decision.used} is used: {decision.why}"
        todo = "repair the first one, then run `notewell index`"
        first = probe.requested
        if first and first.trouble:
            message += f". {decision.requested} now: {first.trouble}"
        elif first:
            todo = f"{decision.requested} answers again: run `notewell index`"
        yield Finding("embedder", message, todo)


def last_sync(status: Status) -> Iterator[Finding]:
    """Why the last sync did not finish, in whichever process; no finding if it did."""
    todo = "correct that, then run `notewell index`"
    if status.last_error:
        error = status.last_error
        message, public = f"failed at {error.at}: {error.text}", f"failed: {error.public}"
        yield Finding("sync", message, todo, public_message=public, public_todo=todo)
    if status.batch_failure:
        failure = status.batch_failure
        message = f"batch jobs failed at {failure.at}, and plain requests were paid in full: "
        yield Finding("sync", message + (failure.off_because or failure.text), todo)


def capture(subject: Subject) -> Iterator[Finding]:
    """What the hooks of the agent's host have done; no finding if none ever ran."""
    from notewell.capture import capture_dir, capture_health

    folder = capture_dir(subject.state, subject.agent, subject.location)
    health = capture_health(folder, subject.now())
    if health is not None:
        yield Finding("capture", health.message, health.action)


def entries(state: Path, memory: Memory) -> Iterator[Finding]:
    """Whether each entry is as it was written; no finding if nothing was ever stored."""
    from notewell.entries import EntriesSettings, audit_entries, has_entries

    folder = (memory.settings.entries or EntriesSettings()).folder(state)
    if not has_entries(folder):
        return
    audit = audit_entries(folder)
    for message in audit.damaged[:MOST_LISTED]:
        todo = f"go on with the others: {FIX}; `notewell entries import` restores an export"
        yield Finding("entries", message, todo, SetEntriesAside(folder))
    message = f"{audit.entries} as they were written"
    yield Finding("entries", f"{message}, in {folder}", public_message=message)


def kept(subject: Subject, memory: Memory) -> Iterator[Finding]:
    """What is kept of conversations; no finding if no hook ever ran."""
    from notewell.capture import capture_dir, read_keep_status
    from notewell.sessions import kept_dir

    place = (subject.state, subject.agent, subject.location)
    sessions, settings = memory.settings.sessions, memory.settings.capture
    status = read_keep_status(
        capture_dir(*place), kept_dir(*place), settings, is_searched=sessions.search_kept
    )
    if status is not None:
        # Not a fault: the user may have declined it.
        action = f" ({status.action})" if status.action else ""
        todo = "make that folder writable, or choose another --state-dir"
        yield Finding("kept", f"{status.message}{action}", todo if status.problem else None)
