"""Carrying out remedies: only what cannot cost the user anything.

Notes are never touched. Nothing is removed without the lease that its writers hold, and after
taking it everything is looked at once more: what the doctor saw may have changed since.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.doctor.finding import (
    BringUpToDate,
    CacheAnew,
    Rebuild,
    Remove,
    Sweep,
    Tighten,
    size_told,
)
from notewell.doctor.orphans import sweepable
from notewell.errors import NotewellError
from notewell.index.sqlite import condition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from notewell.doctor.finding import Finding, Remedy
    from notewell.doctor.subject import Patient
    from notewell.memory import Memory
    from notewell.sync import Progress

LEASE_WAIT_S = 10.0
_ORDER = (Tighten, Remove, Sweep, CacheAnew, Rebuild, BringUpToDate)
"""Room is made before anything is built; a sync comes last and sees everything else mended."""


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done about a finding, or why it was not."""

    what: str
    told: str
    failed: bool = False


def mend(
    patient: Patient,
    findings: Iterable[Finding],
    progress: Callable[[Progress], None] | None = None,
) -> list[Deed]:
    """Do what the findings' remedies say, each once. Deeds that changed nothing are left out."""
    deeds = []
    for remedy in _in_order(patient, findings):
        what = type(remedy).__name__
        try:
            told = _carried_out(remedy, patient, progress)
        except (NotewellError, OSError) as error:
            deeds.append(Deed(_WORDS[what], str(error), failed=True))
            continue
        if told:
            deeds.append(Deed(_WORDS[what], told))
    return deeds


_WORDS = {
    "Tighten": "permissions",
    "Remove": "leftovers",
    "Sweep": "orphans",
    "CacheAnew": "cache",
    "Rebuild": "index",
    "BringUpToDate": "index",
}


def _in_order(patient: Patient, findings: Iterable[Finding]) -> Sequence[Remedy]:
    remedies = dict.fromkeys(one.remedy for one in findings if one.remedy is not None)
    if any(isinstance(remedy, Rebuild) for remedy in remedies):
        remedies.pop(BringUpToDate(), None)  # A rebuild ends with everything up to date.
    if patient.memory is None:
        for remedy in [one for one in remedies if isinstance(one, Rebuild | BringUpToDate)]:
            del remedies[remedy]  # Setting aside what nobody can build again helps nobody.
    return sorted(remedies, key=lambda remedy: _ORDER.index(type(remedy)))


def _carried_out(
    remedy: Remedy, patient: Patient, progress: Callable[[Progress], None] | None
) -> str:
    """What was done, in words; empty where nothing was left to do."""
    match remedy:
        case Tighten(paths):
            return _tighten(paths)
        case Remove(paths):
            return _remove(paths)
        case Sweep(folder):
            return _sweep(folder, patient.now().timestamp())
        case CacheAnew(cache):
            return _begin_anew(cache)
        case Rebuild(generation):
            told = _set_aside(generation)
            return "; ".join(filter(None, [told, _sync(patient.memory, progress)]))
        case BringUpToDate():
            return _sync(patient.memory, progress)


def _tighten(paths: Sequence[Path]) -> str:
    done = 0
    for path in _with_side_files(paths):
        try:
            # Through a descriptor that follows no link: nobody puts another file in between.
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            continue
        try:
            os.fchmod(descriptor, os.fstat(descriptor).st_mode & 0o700)
            done += 1
        finally:
            os.close(descriptor)
    return f"closed {done} files and folders to other users" if done else ""


def _with_side_files(paths: Sequence[Path]) -> list[Path]:
    """SQLite gives what it writes beside a file the mode of the file, when it opens it: looking
    at an index that was open to others has just made two more such files."""
    beside = [path.with_name(path.name + suffix) for path in paths for suffix in ("-wal", "-shm")]
    return list(dict.fromkeys([*paths, *(path for path in beside if path.is_file())]))


def _remove(paths: Sequence[Path]) -> str:
    there = [path for path in paths if os.path.lexists(path)]
    for path in there:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return f"removed {len(there)} temporary files" if there else ""


def _sweep(folder: Path, now_s: float) -> str:
    from notewell.index.sqlite import IndexFolder, writer_lease

    with writer_lease(IndexFolder(folder).writer_lock, wait_s=LEASE_WAIT_S):
        gone, freed = [], 0
        for file in sweepable(folder, now_s):
            freed += file.lstat().st_size
            file.unlink(missing_ok=True)
            gone.append(file.name)
    return f"removed {', '.join(gone)} ({size_told(freed)})" if gone else ""


def _begin_anew(cache: Path) -> str:
    from notewell.index.sqlite import writer_lease

    with writer_lease(cache.with_suffix(".lock"), wait_s=LEASE_WAIT_S):
        if not cache.exists() or condition(cache, is_index=False).kind != "damaged":
            return ""
        for suffix in ("-wal", "-shm", ""):
            cache.with_name(cache.name + suffix).unlink(missing_ok=True)
    return "removed the damaged cache; the next sync begins a new one"


def _set_aside(generation: Path) -> str:
    """Unlike a sync, without removing what was set aside before: that is for `sweepable`."""
    from notewell.index.sqlite import IndexFolder, writer_lease

    folder = IndexFolder(generation.parent)
    with writer_lease(folder.writer_lock, wait_s=LEASE_WAIT_S):
        if folder.current() != generation or not generation.exists():
            return ""  # Somebody else has mended it.
        is_bad = condition(generation, is_index=True).kind == "damaged"
        if not is_bad and not folder.is_suspect(generation):
            return ""
        kept = generation.with_name(f"{generation.name}.damaged")
        generation.replace(kept)
        folder.remove(generation)
    return f"set the damaged index aside as {kept.name}"


def _sync(memory: Memory | None, progress: Callable[[Progress], None] | None) -> str:
    if memory is None:
        return ""
    report = memory.sync(progress=progress)
    done = (report.rebuilt, report.written, report.forgotten, report.vectors_added)
    if not any(done):
        return ""  # What keeps vectors waiting is among the findings that remain.
    built = "built a new one: " if report.rebuilt else "brought it up to date: "
    return built + (
        f"{report.written} notes written, {report.forgotten} forgotten, "
        f"{report.vectors_added} vectors added, {report.vectors_waiting} waiting"
    )
