"""Whether enough is new in a transcript to read it again: a debounce by size. No I/O here.

A conversation grows by a few lines per minute, and each read costs the whole file and some
vectors. So a sync waits until enough is new. It does not wait if the host compacted the
conversation, since the agent may search for what was cut, or if the file is another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from notewell.types import FoundNote, NoteStat, Scan

Reason: TypeAlias = Literal[
    "new", "replaced", "shrunk", "compacted", "rewritten", "bytes", "messages"
]


@dataclass(frozen=True, slots=True)
class DeltaLimits:
    """How much must be new; with 0, every change counts."""

    bytes: int = 100_000
    messages: int = 50
    """Counted by lines of the file, as OpenClaw does."""


def why_take(
    indexed: NoteStat | None,
    found: NoteStat,
    new_messages: int | None,
    limits: DeltaLimits,
    *,
    compacted: bool = False,
) -> Reason | None:
    """The reason to read a transcript now; None to wait for more.

    `new_messages` counts the messages after the size that was indexed, None if they cannot be
    counted; `compacted` says that the host compacted the conversation since.
    """
    if indexed is None:
        return "new"
    # Sizes of two different files cannot be compared, so the inode comes first.
    if found.inode != indexed.inode:
        return "replaced"
    if found.size < indexed.size:
        return "shrunk"
    grown = found.size - indexed.size
    # Before `compacted`: without new bytes there is nothing to read.
    if not grown:
        return None
    if compacted:
        return "compacted"
    if new_messages is None:
        return "rewritten"
    if grown >= limits.bytes:
        return "bytes"
    return "messages" if new_messages >= limits.messages else None


def hold_back(
    scan: Scan,
    indexed: Mapping[str, NoteStat],
    new_messages: Callable[[FoundNote, int], int | None],
    limits: DeltaLimits,
    *,
    compacted: Collection[str] = (),
) -> Scan:
    """The scan for a sync: a transcript that grew too little has the stat that was indexed.

    `new_messages(found, size)` counts the lines after `size`. A transcript of the indexed size is
    passed on as found: if its stat differs, the sync compares its digest.
    """
    return replace(
        scan,
        notes={
            path: _with_wait(found, indexed.get(path), new_messages, limits, path in compacted)
            for path, found in scan.notes.items()
        },
    )


def _with_wait(
    found: FoundNote,
    indexed: NoteStat | None,
    new_messages: Callable[[FoundNote, int], int | None],
    limits: DeltaLimits,
    compacted: bool,
) -> FoundNote:
    if indexed is None or found.stat.inode != indexed.inode or found.stat.size <= indexed.size:
        return found
    # To count messages, the new bytes must be read: only if their number does not decide.
    few = found.stat.size - indexed.size < limits.bytes and not compacted
    count = new_messages(found, indexed.size) if few else 0
    if why_take(indexed, found.stat, count, limits, compacted=compacted):
        return found
    return found._replace(stat=indexed)
