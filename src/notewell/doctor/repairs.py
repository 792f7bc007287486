"""Carrying out remedies: only what cannot cost the user anything.

Notes are never touched. A store takes the lease of its writers before it removes anything, and
looks again then: the state may have changed since the check.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from notewell.doctor.finding import (
    RemoveFiles,
    RepairStore,
    RestrictAccess,
    SetEntriesAside,
    SyncIndex,
)
from notewell.doctor.state_files import own_files
from notewell.errors import IndexTrouble, NotewellError
from notewell.records import dataclass
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from notewell.doctor.finding import Finding, Remedy, Subject
    from notewell.memory import Memory
    from notewell.sync import Progress

LEASE_WAIT_S = 10.0

# Free disk space before anything is built; a sync comes last and finds everything else repaired.
_ORDER = ("permissions", "leftovers", "orphans", "entries", "cache", "set-aside", "index")
_STORE_REPAIRS = {"sweep": "orphans", "reset-cache": "cache", "set-aside": "set-aside"}


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was done about a finding, or why it was not."""

    what: str
    message: str
    failed: bool = False


def repair(
    subject: Subject,
    findings: Iterable[Finding],
    on_progress: Callable[[Progress], None] | None = None,
) -> list[RepairResult]:
    """Carry out the remedies of the findings, each once. A remedy that changed nothing is not in
    the result."""
    results = []
    for remedy in _in_order(subject, findings):
        kind = _kind(remedy)
        what = "index" if kind == "set-aside" else kind
        try:
            message = _carry_out(remedy, subject, on_progress)
        except (NotewellError, OSError) as error:
            # The other repairs go on: each of them is useful alone.
            results.append(RepairResult(what, str(error), failed=True))
            continue
        if message:
            results.append(RepairResult(what, message))
    return results


def _kind(remedy: Remedy) -> str:
    match remedy:
        case RestrictAccess():
            return "permissions"
        case RemoveFiles():
            return "leftovers"
        case RepairStore(repair=kind):
            return _STORE_REPAIRS[kind]
        case SetEntriesAside():
            return "entries"
        case SyncIndex():
            return "index"


def _in_order(subject: Subject, findings: Iterable[Finding]) -> Sequence[Remedy]:
    remedies = dict.fromkeys(finding.remedy for finding in findings if finding.remedy is not None)
    if any(_kind(remedy) == "set-aside" for remedy in remedies):
        remedies.pop(SyncIndex(), None)  # `set-aside` ends with a sync.
    if subject.memory is None:
        # Nothing could build the index again, so a damaged one stays where it is.
        for remedy in [one for one in remedies if _kind(one) in ("set-aside", "index")]:
            del remedies[remedy]
    return sorted(remedies, key=lambda remedy: _ORDER.index(_kind(remedy)))


def _carry_out(
    remedy: Remedy, subject: Subject, on_progress: Callable[[Progress], None] | None
) -> str:
    """What was done, in words; empty if nothing was left to do."""
    match remedy:
        case RestrictAccess(paths):
            return _restrict_access(paths, subject)
        case RemoveFiles(paths):
            return _remove(paths)
        case RepairStore():
            done = _repair_store(remedy, subject)
            if remedy.repair == "reset-cache" and done and remedy.folder == subject.index:
                return "; ".join(filter(None, [done, _refill_cache(subject.memory)]))
            if remedy.repair != "set-aside":
                return done
            return "; ".join(filter(None, [done, _sync(subject.memory, on_progress)]))
        case SetEntriesAside(folder):
            return _set_entries_aside(folder)
        case SyncIndex():
            return _sync(subject.memory, on_progress)


def _set_entries_aside(folder: Path) -> str:
    from notewell.entries import set_damaged_aside

    copies = [str(path) for path in set_damaged_aside(folder, wait_s=LEASE_WAIT_S)]
    return f"went on with the others; a copy of before is {', '.join(copies)}" if copies else ""


def _repair_store(remedy: RepairStore, subject: Subject) -> str:
    from notewell.stores import store_at

    store = subject.store if remedy.folder == subject.index else store_at(remedy.folder)
    return store.repair(remedy.repair, wait_s=LEASE_WAIT_S, now=subject.now())


def _refill_cache(memory: Memory | None) -> str:
    """The index has the vectors of its chunks: a provider is not paid for them again."""
    from notewell.engines import maker_of
    from notewell.sync import keep_vectors, why_not_kept

    if memory is None:
        return ""
    store = memory.indexer.store
    try:
        index = memory.indexer.index_facts()
        if index is None or not index.has_vectors or why_not_kept(store):
            return ""
        keep_vectors(store, maker_of(index.identity))
        return f"copied {counted(store.cache_entries(), 'vector')} from the index"
    except IndexTrouble as trouble:
        return f"nothing was copied from the index: {trouble}"


def _restrict_access(paths: Sequence[Path], subject: Subject) -> str:
    done = 0
    if sys.platform == "win32":  # No finding asks for it there.
        return ""
    for path in _with_side_files(paths, subject):
        try:
            # By a descriptor that follows no link: nobody can put another file in between.
            fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            continue
        try:
            # Only takes rights away; those of the owner stay as they are.
            os.fchmod(fd, os.fstat(fd).st_mode & 0o700)
            done += 1
        finally:
            os.close(fd)
    return f"closed {counted(done, 'path')} to other users" if done else ""


def _with_side_files(paths: Sequence[Path], subject: Subject) -> list[Path]:
    """A database creates files beside its own with the same mode when it is opened. So the checks
    that ran after the permission check may have made new files that others can read."""
    beside = [
        file
        for file in own_files(subject.state, subject.index)
        if any(file.parent == path.parent and file.name.startswith(path.name) for path in paths)
    ]
    return list(dict.fromkeys([*paths, *beside]))


def _remove(paths: Sequence[Path]) -> str:
    there = [path for path in paths if os.path.lexists(path)]
    for path in there:
        # A link to a folder is removed as a link; what it points to is not ours.
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return f"removed {len(there)} temporary files" if there else ""


def _sync(memory: Memory | None, on_progress: Callable[[Progress], None] | None) -> str:
    if memory is None:
        return ""
    report = memory.sync(progress=on_progress)
    if not report.changed_anything:
        return ""  # Why vectors wait is among the findings that remain.
    built = "built a new one: " if report.rebuilt else "brought it up to date: "
    return built + (
        f"{counted(report.written, 'note')} written, {report.forgotten} forgotten, "
        f"{counted(report.vectors_added, 'vector')} added, {report.vectors_waiting} waiting"
    )
