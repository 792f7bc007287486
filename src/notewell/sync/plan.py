"""What must be done so that the index says what the notes say. It decides; it does nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.index import MustRebuild, UpToDate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.index import Identity, IndexedNote
    from notewell.types import NoteStat, Scan

SETTLED_NS = 2_000_000_000
"""File systems keep time in ticks of up to 2 s (FAT). Within one tick two writes look like one."""

UNSETTLED = -1


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """Which notes to look at, and which to forget."""

    read: tuple[str, ...]
    """New notes, and those whose stat changed: their content decides the rest."""
    forget: tuple[str, ...]
    unchanged: int

    @property
    def is_empty(self) -> bool:
        return not self.read and not self.forget


def plan_sync(scan: Scan, indexed: Mapping[str, IndexedNote]) -> SyncPlan:
    read, new = [], 0
    for path, found in scan.notes.items():
        known = indexed.get(path)
        if known is None or known.stat != found.stat:
            read.append(path)
            new += known is None
    forget: list[str] = []
    if len(indexed) > len(scan.notes) - new:  # Else each of them was met above.
        gone = (path for path in indexed if path not in scan.notes)
        forget = sorted(path for path in gone if not _may_still_be_there(path, scan))
    return SyncPlan(tuple(sorted(read)), tuple(forget), len(scan.notes) - len(read))


def _may_still_be_there(path: str, scan: Scan) -> bool:
    """A folder that could not be listed says nothing about what is in it."""
    return any(
        folder.path == "." or path == folder.path or path.startswith(f"{folder.path}/")
        for folder in scan.unreadable
    )


def behind(scan: Scan, indexed: Mapping[str, IndexedNote]) -> int:
    """How many notes the index has not caught up with, told from the stats alone."""
    believed = {
        path: note._replace(stat=note.stat._replace(mtime_ns=scan.notes[path].stat.mtime_ns))
        if note.stat.mtime_ns == UNSETTLED and path in scan.notes
        else note
        for path, note in indexed.items()
    }
    todo = plan_sync(scan, believed)
    return len(todo.read) + len(todo.forget)


def settled_stat(stat: NoteStat, now_ns: int) -> NoteStat:
    """The stat to remember. A note touched a moment ago may change again without its stat showing
    it, so it gets one that no file has and is read again at the next sync."""
    if now_ns - max(stat.mtime_ns, stat.ctime_ns) > SETTLED_NS:
        return stat
    return stat._replace(mtime_ns=UNSETTLED)


def compare(found: Identity, wanted: Identity, *, force: bool) -> UpToDate | MustRebuild:
    """Whether the published index can be brought up to date, or a new one must be built."""
    if force:
        return MustRebuild("requested")
    difference = found.difference(wanted)
    return MustRebuild("identity", difference) if difference else UpToDate()
