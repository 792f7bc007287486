"""What lies in the state folder and belongs to nothing.

`sweepable` decides by looking; `mend` asks it again while it holds the writer's lease, because a
generation that nobody points to may be one that is being built.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from notewell.doctor.finding import FIX, Finding, Remove, Sweep, size_told
from notewell.doctor.leases import is_held
from notewell.doctor.state_files import GENERATION_FILE, files, index_folders, leftovers
from notewell.errors import IndexTrouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

DAMAGED_DAYS = 30
"""A damaged index is kept for those who want to look; after a month nobody does."""


def orphans(state: Path, index: Path, now_s: float) -> Iterator[Finding]:
    for folder in index_folders(state, index):
        yield from _in_index(folder, now_s)
    left = tuple(leftovers(state, now_s))
    if left:
        told = f"{len(left)} temporary files whose writers have ended, first {left[0]}"
        yield Finding("orphans", told, FIX, Remove(left))


def _in_index(folder: Path, now_s: float) -> Iterator[Finding]:
    try:
        found = sweepable(folder, now_s)
    except (IndexTrouble, OSError) as error:
        yield Finding("orphans", f"could not look into {folder}: {error}")
        return
    if found and is_held(folder, "writer"):
        yield Finding("orphans", f"{folder}: {_named(found)}: somebody is writing, wait")
    elif found:
        told = f"{folder}: {_named(found)} ({size_told(_bytes(found))}) belong to no index"
        yield Finding("orphans", told, FIX, Sweep(folder))
    kept = [file for file in files(folder) if _is_damaged(file) and file not in found]
    if kept:
        told = f"{folder}: {_named(kept)} ({size_told(_bytes(kept))}) was damaged and set aside"
        yield Finding("orphans", f"{told}; --fix removes it {DAMAGED_DAYS} days after that")


def sweepable(folder: Path, now_s: float) -> list[Path]:
    """The files of an index folder that no reader and no later version needs."""
    from notewell.index.sqlite import CURRENT, SUSPECT, IndexFolder

    current = IndexFolder(folder).current()
    if os.path.lexists(folder / CURRENT) and (current is None or not current.exists()):
        return []  # Nobody knows what it was to name: a sync builds anew, and sweeps then.
    there = files(folder)
    found = _old_generations(there, current)
    for file in there:
        is_stale = file.name == SUSPECT and not _names(file, current)
        is_seen = _is_damaged(file) and now_s - _kept_since(file) > DAMAGED_DAYS * 86_400
        if file.name == f"{CURRENT}.tmp" or is_stale or is_seen:
            found.append(file)
    return found


def _old_generations(there: list[Path], current: Path | None) -> list[Path]:
    from notewell.index.sqlite import SCHEMA

    by_name: dict[str, list[Path]] = {}
    for file in there:
        if shape := GENERATION_FILE.fullmatch(file.name):
            by_name.setdefault(shape[1], []).append(file)
    return [
        file
        for name, group in by_name.items()
        if current is None or name != current.name
        if schema_in(group[0].with_name(name)) <= SCHEMA
        for file in group
    ]


def schema_in(generation: Path) -> int:
    """The schema number in the header of an SQLite file; 0 for what is none."""
    try:
        with generation.open("rb") as file:
            header = file.read(64)
    except OSError:
        return 0
    return int.from_bytes(header[60:64], "big") if header.startswith(b"SQLite format 3") else 0


def _is_damaged(file: Path) -> bool:
    return file.name.endswith(".damaged")


def _kept_since(file: Path) -> float:
    """A rename leaves the time of the last write alone, but not that of the last change."""
    try:
        status = file.lstat()
    except OSError:
        return float("inf")  # It is gone already.
    return max(status.st_mtime, status.st_ctime)


def _names(file: Path, generation: Path | None) -> bool:
    try:
        told = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return True
    return generation is not None and told == generation.name


def _named(paths: Iterable[Path]) -> str:
    return ", ".join(path.name for path in paths)


def _bytes(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total
