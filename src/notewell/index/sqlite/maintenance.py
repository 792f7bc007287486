"""Checks and repairs of an index folder, for `notewell doctor`.

Checks only read. A repair takes the lease of the writers first and then looks again, because the
state may have changed since the check: a file that no index points to may be one that another
process is building.
"""

from __future__ import annotations

import os
import re
import stat
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import apsw

from notewell.errors import IndexTrouble
from notewell.files import is_alive
from notewell.index.findings import StoreFinding, size_text
from notewell.index.sqlite.cache import count_entries
from notewell.index.sqlite.connect import OLDEST_SOUND_SQLITE, extensions_dir
from notewell.index.sqlite.folder import CURRENT, GENERATION_FILE, SUSPECT
from notewell.index.sqlite.integrity import condition
from notewell.index.sqlite.lease import is_held, leases_in, writer_lease
from notewell.index.sqlite.schema import SCHEMA
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from notewell.index.findings import StorePart, StoreRepair
    from notewell.index.sqlite.folder import IndexFolder
    from notewell.index.sqlite.integrity import Condition
    from notewell.index.sqlite.lease import Lease

DAMAGED_DAYS = 30
"""A damaged index is kept for those who want to look; after a month nobody does."""

LONG = {
    "writer": timedelta(minutes=10),
    "embedder": timedelta(days=2),
    "cache": timedelta(hours=1),
}
"""Writing takes seconds, many thousand notes minutes; a batch job for vectors up to a day."""

_OWN_FILE = re.compile(
    r"CURRENT(?:\.tmp|\.damaged)?|SUSPECT|LOOKED|(?:writer|embedder|cache)\.lock"
    r"|(?:index-\d{1,18}|cache)\.sqlite(?:-wal|-shm|-journal|\.damaged)?"
    r"|index-\d{1,18}\.sqlite-map(?:\.tmp)?"
)


def own_files(folder: Path) -> list[Path]:
    """The files in a folder that this package would have named so. The user may have chosen a
    folder that holds other files, so being in the folder proves nothing."""
    return [file for file in _files(folder) if _OWN_FILE.fullmatch(file.name)]


def check(
    folder: IndexFolder, part: StorePart, now: datetime, cache_entries: int | None
) -> Iterator[StoreFinding]:
    if part == "engine":
        yield sqlite_finding(apsw.sqlite_lib_version(), extensions_dir())
    elif part == "lease":
        yield from lease_findings(folder.path, now)
    elif part == "leftovers":
        yield from _leftover_findings(folder, now.timestamp())
    elif part == "index":
        yield from _index_findings(folder)
    else:
        yield from _cache_findings(folder.cache, cache_entries)


# -- the software --------------------------------------------------------------------------------


def sqlite_finding(version: str, extensions: Path) -> StoreFinding:
    """Whether this SQLite keeps commits, and can verify page checksums."""
    if tuple(int(part) for part in version.split(".")) < OLDEST_SOUND_SQLITE:
        oldest = ".".join(map(str, OLDEST_SOUND_SQLITE))
        message = f"{version} can lose a commit when its write-ahead log is reset"
        action = f"upgrade apsw, so that SQLite is {oldest} or later"
        return StoreFinding(message, action, is_public=True)
    if not any(extensions.glob("cksumvfs.*")):
        message = f"{version} without page checksums: an index can be neither built nor read"
        action = "install apsw from its wheel, which contains cksumvfs"
        return StoreFinding(message, action, is_public=True)
    return StoreFinding(f"{version}, sound, with page checksums", is_public=True)


# -- leases --------------------------------------------------------------------------------------


def lease_findings(folder: Path, now: datetime) -> Iterator[StoreFinding]:
    leases = leases_in(folder)
    for lease in leases:
        if lease.is_held:
            yield _held_lease(lease, folder, now)
    free = [lease for lease in leases if lease.is_held is False]
    if free:
        # The newest holder: older names say nothing about the last crash.
        newest = max(free, key=lambda lease: lease.last.since.timestamp() if lease.last else 0)
        message = f"free: {', '.join(lease.name for lease in free)}; last held by {newest.holder}"
        if newest.last is not None and is_alive(newest.last.pid) is False:
            message += ", which has ended: the file it left is harmless"
        yield StoreFinding(message, is_public=True)


def _held_lease(lease: Lease, folder: Path, now: datetime) -> StoreFinding:
    message = f"the {lease.name} lease is held by {lease.holder}"
    last = lease.last
    if last is not None and is_alive(last.pid) is False:
        # A forked child inherits the lock, and a process in a container has another id here.
        message += "; that process is not visible: a child of it, or one in a container, holds it"
    if last is None or now - last.since <= LONG[lease.name]:
        return StoreFinding(message, is_public=True)
    who = f"`fuser {folder / f'{lease.name}.lock'}` shows the process"
    return StoreFinding(message, f"if it is stuck, end it, and the lease is free; {who}")


# -- files that belong to no index ----------------------------------------------------------------


def _leftover_findings(folder: IndexFolder, now_s: float) -> Iterator[StoreFinding]:
    path = folder.path
    try:
        leftovers = sweepable(folder, now_s)
    except (IndexTrouble, OSError) as error:
        yield StoreFinding(f"cannot look into {path}: {error}")
        return
    if leftovers and is_held(path, "writer"):
        yield StoreFinding(f"{path}: {_names(leftovers)}: another process is writing, wait")
    elif leftovers:
        size = size_text(_size(leftovers))
        yield StoreFinding(
            f"{path}: {_names(leftovers)} ({size}) belong to no index", repair="sweep"
        )
    kept = [file for file in _files(path) if _is_damaged(file) and file not in leftovers]
    if kept:
        message = f"{path}: {_names(kept)} ({size_text(_size(kept))}) was damaged and set aside"
        yield StoreFinding(f"{message}; --fix removes it {DAMAGED_DAYS} days after that")


def sweepable(folder: IndexFolder, now_s: float) -> list[Path]:
    """The files that no reader and no later version of Notewell needs."""
    current = folder.current()
    if os.path.lexists(folder.pointer) and (current is None or not current.exists()):
        return []  # It is unknown what CURRENT should name; the next sync rebuilds and sweeps.
    there = _files(folder.path)
    leftovers = _old_generations(there, current)
    for file in there:
        is_stale = file.name == SUSPECT and not _is_about(file, current)
        is_expired = _is_damaged(file) and now_s - _kept_since(file) > DAMAGED_DAYS * 86_400
        if file.name == f"{CURRENT}.tmp" or is_stale or is_expired:
            leftovers.append(file)
    return leftovers


def _old_generations(there: list[Path], current: Path | None) -> list[Path]:
    by_name: dict[str, list[Path]] = {}
    for file in there:
        if shape := GENERATION_FILE.fullmatch(file.name):
            by_name.setdefault(shape[1], []).append(file)
    return [
        file
        for name, group in by_name.items()
        if current is None or name != current.name
        # The index of a newer version is left to that version.
        if schema_in(group[0].with_name(name)) <= SCHEMA
        for file in group
    ]


def schema_in(generation: Path) -> int:
    """The schema number in the header of an SQLite file; 0 if it is none. The file is not opened
    with SQLite, because that would create files beside it."""
    try:
        with generation.open("rb") as file:
            header = file.read(64)
    except OSError:
        return 0
    return int.from_bytes(header[60:64], "big") if header.startswith(b"SQLite format 3") else 0


def _is_damaged(file: Path) -> bool:
    return file.name.endswith(".damaged")


def _kept_since(file: Path) -> float:
    """A rename keeps the mtime and sets the ctime."""
    try:
        status = file.lstat()
    except OSError:
        return float("inf")  # It is gone already.
    return max(status.st_mtime, status.st_ctime)


def _is_about(file: Path, generation: Path | None) -> bool:
    try:
        name = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return True
    return generation is not None and name == generation.name


# -- index and cache -----------------------------------------------------------------------------


def _index_findings(folder: IndexFolder) -> Iterator[StoreFinding]:
    try:
        current = folder.current()
    except IndexTrouble as trouble:
        yield StoreFinding(str(trouble), "let Notewell read it")
        return
    if current is None:
        if os.path.lexists(folder.pointer):
            yield StoreFinding(f"{CURRENT} names no generation", repair="sync", is_public=True)
    elif not os.path.lexists(current):
        message = f"{CURRENT} names {current.name}, which is missing"
        yield StoreFinding(message, repair="sync", is_public=True)
    elif folder.is_suspect(current):
        message = f"{current.name} is damaged (a search met a bad page); your notes are untouched"
        yield StoreFinding(message, repair="set-aside", is_public=True)
    else:
        yield _of_condition(current.name, condition(current, is_index=True))


def _of_condition(name: str, found: Condition) -> StoreFinding:
    match found.kind:
        case "damaged":
            message = f"{name} is damaged ({found.detail}); your notes are untouched"
            return StoreFinding(message, repair="set-aside", is_public=True)
        case "newer":
            message = f"{name} was written by a newer Notewell ({found.detail})"
            action = "upgrade Notewell, or rebuild it here with `notewell index --force`"
            return StoreFinding(message, action, is_public=True)
        case "old":
            return StoreFinding(f"{name}: {found.detail}", repair="sync", is_public=True)
        case "closed":
            message = f"{name} cannot be opened: {found.detail}"
            return StoreFinding(message, "let Notewell read it, and make room on its disk")
        case "sound":
            message = f"{name}: {found.pages} pages, all match their checksums"
            return StoreFinding(message, is_public=True)


def _cache_findings(file: Path, most: int | None) -> Iterator[StoreFinding]:
    if not os.path.lexists(file):
        return
    found = condition(file, is_index=False)
    # A cache holds only copies; of earlier texts and models the vectors are computed again.
    if found.kind == "damaged":
        message = (
            f"{file.name} is damaged ({found.detail}): the repair takes its vectors from the index"
        )
        yield StoreFinding(message, repair="reset-cache", is_public=True)
        return
    if found.kind == "closed":
        yield StoreFinding(f"{file.name} cannot be opened: {found.detail}", "let Notewell read it")
        return
    try:
        entries = count_entries(file)
    except IndexTrouble as trouble:
        yield StoreFinding(str(trouble), repair="reset-cache")
        return
    message = f"{counted(entries, 'vector')}, {size_text(file.stat().st_size)}"
    if most is not None and entries >= most:
        message += f"; it is full ({most}), the oldest entries are evicted"
    yield StoreFinding(message, is_public=True)


# -- repairs -------------------------------------------------------------------------------------


def repair(folder: IndexFolder, kind: StoreRepair, *, wait_s: float, now_s: float) -> str:
    if kind == "sweep":
        return _sweep(folder, wait_s, now_s)
    if kind == "reset-cache":
        return _reset_cache(folder.cache, wait_s)
    if kind == "set-aside":
        return _set_aside(folder, wait_s)
    return ""


def _sweep(folder: IndexFolder, wait_s: float, now_s: float) -> str:
    with writer_lease(folder.writer_lock, wait_s=wait_s):
        removed, freed = [], 0
        for file in sweepable(folder, now_s):
            freed += file.lstat().st_size
            file.unlink(missing_ok=True)
            removed.append(file.name)
    return f"removed {', '.join(removed)} ({size_text(freed)})" if removed else ""


def _reset_cache(cache: Path, wait_s: float) -> str:
    with writer_lease(cache.with_suffix(".lock"), wait_s=wait_s):
        if not cache.exists() or condition(cache, is_index=False).kind != "damaged":
            return ""  # Another process has repaired it.
        # The file last: a log that was left behind would be applied to the next file of its name.
        for suffix in ("-wal", "-shm", ""):
            cache.with_name(cache.name + suffix).unlink(missing_ok=True)
    return "removed the damaged cache; the next sync starts a new one"


def _set_aside(folder: IndexFolder, wait_s: float) -> str:
    """Unlike a sync, it keeps what was set aside before; `sweepable` decides about that."""
    with writer_lease(folder.writer_lock, wait_s=wait_s):
        generation = folder.current()
        if generation is None or not generation.exists():
            return ""
        is_bad = condition(generation, is_index=True).kind == "damaged"
        if not is_bad and not folder.is_suspect(generation):
            return ""  # Another process has repaired it.
        kept = generation.with_name(f"{generation.name}.damaged")
        # Renamed before its logs are removed, so that no reader opens it without them.
        generation.replace(kept)
        folder.remove(generation)
    return f"set the damaged index aside as {kept.name}"


# -- files ---------------------------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    """The plain files in a folder, without links; empty if we may not look."""
    found = []
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - only names are wanted
    except OSError:
        return []
    for name in names:
        try:
            if stat.S_ISREG(os.lstat(folder / name).st_mode):
                found.append(folder / name)
        except OSError:
            continue  # It was removed while we looked.
    return found


def _names(paths: Iterable[Path]) -> str:
    return ", ".join(path.name for path in paths)


def _size(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total
