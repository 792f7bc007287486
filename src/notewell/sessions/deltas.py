"""Whether enough is new in a transcript to be worth a look. Nothing here touches the disk.

A conversation grows by a few lines a minute, and each look costs a read of the whole file and
some vectors. So it waits until enough has gathered, unless something happened that makes what was
said matter now: the host compacted the conversation, or the file is not the one we knew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from notewell.types import FoundNote, NoteStat, Scan

Reason: TypeAlias = Literal["new", "replaced", "shrunk", "compacted", "bytes", "messages"]


@dataclass(frozen=True, slots=True)
class DeltaLimits:
    """How much must be new; 0 takes every change."""

    bytes: int = 100_000
    messages: int = 50
    """Counted by lines of the file, as the original does."""


def why_take(
    indexed: NoteStat | None,
    found: NoteStat,
    new_messages: int,
    limits: DeltaLimits,
    *,
    compacted: bool = False,
) -> Reason | None:
    """The reason to read a transcript now; None to let more gather.

    `new_messages` are those behind the size that was indexed; `compacted` says that the host
    compacted this conversation since.
    """
    if indexed is None:
        return "new"
    if found.inode != indexed.inode:
        return "replaced"
    if found.size < indexed.size:
        return "shrunk"
    grown = found.size - indexed.size
    if not grown:
        return None
    if compacted:
        return "compacted"
    if grown >= limits.bytes:
        return "bytes"
    return "messages" if new_messages >= limits.messages else None


def hold_back(
    scan: Scan,
    indexed: Mapping[str, NoteStat],
    new_messages: Callable[[FoundNote, int], int],
    limits: DeltaLimits,
    *,
    compacted: Collection[str] = (),
) -> Scan:
    """The scan as a sync shall see it: what grew too little looks as it was indexed.

    `new_messages(found, size)` counts the lines behind `size`. A transcript of the size we know
    is passed on as found: should its stat differ, its digest will tell.
    """
    return replace(
        scan,
        notes={
            path: _as_seen(found, indexed.get(path), new_messages, limits, path in compacted)
            for path, found in scan.notes.items()
        },
    )


def _as_seen(
    found: FoundNote,
    known: NoteStat | None,
    new_messages: Callable[[FoundNote, int], int],
    limits: DeltaLimits,
    compacted: bool,
) -> FoundNote:
    if known is None or found.stat.inode != known.inode or found.stat.size <= known.size:
        return found
    # Counting reads what is new, so it is asked for only where bytes do not decide.
    few = found.stat.size - known.size < limits.bytes and not compacted
    count = new_messages(found, known.size) if few else 0
    if why_take(known, found.stat, count, limits, compacted=compacted):
        return found
    return found._replace(stat=known)
