"""What a sync has to do, and what it reports. Decides; reads and writes nothing."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.errors import BackendFailed, EmbedderTrouble, NotewellError
from notewell.index import MustRebuild, UpToDate
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from notewell.index import Identity, IndexedNote
    from notewell.types import Fallback, Ignored, Note, NoteStat, Scan

SETTLED_NS = 2_000_000_000
"""File systems store times in ticks of up to 2 s (FAT); two writes in one tick look like one."""

UNSETTLED = -1


# -- deciding ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextSource:
    """One source of an index: how to list it and how to read it."""

    name: Literal["memory", "sessions"]
    scan: Callable[[Mapping[str, NoteStat]], Scan]
    """Takes the indexed stats, so that a source may hold back what has hardly changed."""
    read: Callable[[str], Note]


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """Which notes to read, and which to forget."""

    read: tuple[str, ...]
    """New notes, and those whose stat changed: their content decides the rest."""
    forget: tuple[str, ...]
    unchanged: int

    @property
    def is_empty(self) -> bool:
        return not self.read and not self.forget


def plan_sync(scan: Scan, indexed: Mapping[str, IndexedNote]) -> SyncPlan:
    read, new = [], 0
    for path, note in scan.notes.items():
        before = indexed.get(path)
        if before is None or before.stat != note.stat:
            read.append(path)
            new += before is None
    forget: list[str] = []
    if len(indexed) > len(scan.notes) - new:  # Otherwise the loop above has met all of them.
        gone = (path for path in indexed if path not in scan.notes)
        # Sorted, so that two runs over the same notes write in the same order.
        forget = sorted(path for path in gone if not _may_still_be_there(path, scan))
    return SyncPlan(tuple(sorted(read)), tuple(forget), len(scan.notes) - len(read))


def _may_still_be_there(path: str, scan: Scan) -> bool:
    """A folder that cannot be listed says nothing about the notes in it: they are kept."""
    return any(
        folder.path == "." or path == folder.path or path.startswith(f"{folder.path}/")
        for folder in scan.unreadable
    )


def behind(scan: Scan, indexed: Mapping[str, IndexedNote]) -> int:
    """How many notes differ from the index, judged by their stats alone."""
    # An unsettled stat means "read again to be sure", not "changed": it counts as equal here, or
    # every search within two seconds of a save would start a sync.
    assumed = {
        path: note._replace(stat=note.stat._replace(mtime_ns=scan.notes[path].stat.mtime_ns))
        for path, note in indexed.items()
        if note.stat.mtime_ns == UNSETTLED and path in scan.notes
    }
    plan = plan_sync(scan, {**indexed, **assumed} if assumed else indexed)
    return len(plan.read) + len(plan.forget)


def settled_stat(stat: NoteStat, now_ns: int) -> NoteStat:
    """The stat to store. A note that was written a moment ago may change again with an equal stat.
    So it gets one that no file has, and the next sync reads it again."""
    if now_ns - max(stat.mtime_ns, stat.ctime_ns) > SETTLED_NS:
        return stat
    return stat._replace(mtime_ns=UNSETTLED)


def compare(found: Identity, wanted: Identity, *, force: bool) -> UpToDate | MustRebuild:
    """Whether the published index can be brought up to date, or a new one must be built."""
    # Before the comparison: `--force` rebuilds an index that looks right, too.
    if force:
        return MustRebuild("requested")
    difference = found.difference(wanted)
    return MustRebuild("identity", difference) if difference else UpToDate()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector while stats of many notes are built.

    With 100 000 notes a third of a sync that found nothing to do was spent on collecting, and its
    cost grew faster than the number of notes. None of these tuples is part of a cycle; cycles of
    other threads are collected afterwards.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# -- reporting -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync is."""

    completed: int
    total: int
    label: str

    @property
    def so_far(self) -> str:
        """For the end of a sentence; empty before it is known how much there is."""
        return f" ({self.completed} of {self.total} {self.label})" if self.total else ""


ProgressCallback: TypeAlias = "Callable[[Progress], None]"
"""Called after each step; it may raise `SyncInterrupted`."""


class SyncInterrupted(Exception):
    """Raise a subclass from a progress callback to end a sync. What is written by then is kept,
    also of a first index; a rebuild of an index that answers is given up."""


@dataclass(slots=True)
class SyncReport:
    """What a sync did, and what it could not do."""

    rebuilt: MustRebuild | None = None
    """Why a new index was built; None if none was."""
    written: int = 0
    """Notes that were new or had changed."""
    forgotten: int = 0
    unchanged: int = 0
    ignored: tuple[Ignored, ...] = ()
    unreadable: list[Ignored] = field(default_factory=list)
    """Folders and notes that could not be read; the index keeps what it has of them."""
    repaired: list[Ignored] = field(default_factory=list)
    """What had to be removed from notes to read them; the files are not changed."""
    chunks: int = 0
    vectors_added: int = 0
    vectors_waiting: int = 0
    trouble: NotewellError | None = None
    """Why chunks still wait for vectors, or why an engine is not up to date."""
    batch_failure: str | None = None
    """Why batch jobs did not compute vectors, which were then paid for at the full price."""
    fallback: Fallback | None = None
    """The embedder that computed the vectors in place of the configured one."""

    def after(self, earlier: SyncReport) -> SyncReport:
        """This report together with that of an earlier run, which this one has continued."""
        # A new index has everything that the earlier run wrote, and reports it once more.
        if self.rebuilt is None:
            self.rebuilt = earlier.rebuilt
            self.written += earlier.written
            self.unchanged = max(0, self.unchanged - earlier.written)
            self.forgotten += earlier.forgotten
            # A note that was written a moment ago is read, and repaired, by both runs.
            self.repaired = list(dict.fromkeys((*earlier.repaired, *self.repaired)))
            self.vectors_added += earlier.vectors_added
        return self

    @property
    def notes(self) -> int:
        return self.written + self.unchanged

    @property
    def changed_anything(self) -> bool:
        return bool(self.rebuilt or self.written or self.forgotten or self.vectors_added)

    @property
    def is_degraded(self) -> bool:
        failed = isinstance(self.trouble, EmbedderTrouble | BackendFailed)
        return bool(self.unreadable or self.batch_failure or self.fallback or failed)
