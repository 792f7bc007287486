"""The index and its cache: are they whole, of this version, and level with the notes."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.doctor.finding import (
    FIX,
    BringUpToDate,
    CacheAnew,
    Finding,
    Rebuild,
    size_told,
)
from notewell.errors import IndexTrouble
from notewell.index.sqlite import CURRENT, IndexFolder, condition, count_entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notewell.engines import Status
    from notewell.index.sqlite import Condition

SYNC = f"run `notewell index`; {FIX}"


def index_file(index: Path) -> Iterator[Finding]:
    """The generation that answers, as a file; this much can be told without a memory."""
    folder = IndexFolder(index)
    try:
        current = folder.current()
    except IndexTrouble as trouble:
        yield Finding("index", str(trouble), "let Notewell read it")
        return
    if current is None:
        if os.path.lexists(index / CURRENT):
            yield Finding("index", f"{CURRENT} names no generation", SYNC, BringUpToDate())
    elif not os.path.lexists(current):
        told = f"{CURRENT} names {current.name}, which is not there"
        yield Finding("index", told, SYNC, BringUpToDate())
    elif folder.is_suspect(current):
        told = f"{current.name} is damaged (a search met a bad page); your notes are untouched"
        yield Finding("index", told, SYNC, Rebuild(current))
    else:
        yield from _as_found(current, condition(current, is_index=True))


def _as_found(generation: Path, found: Condition) -> Iterator[Finding]:
    name = generation.name
    if found.kind == "damaged":
        told = f"{name} is damaged ({found.told}); your notes are untouched"
        yield Finding(
            "index", told, f"set it aside and build a new one: {FIX}", Rebuild(generation)
        )
    elif found.kind == "newer":
        told = f"{name} was written by a newer Notewell ({found.told})"
        todo = "upgrade Notewell, or rebuild it here with `notewell index --force`"
        yield Finding("index", told, todo)
    elif found.kind == "old":
        yield Finding("index", f"{name}: {found.told}", SYNC, BringUpToDate())
    elif found.kind == "closed":
        told = f"{name} cannot be opened: {found.told}"
        yield Finding("index", told, "let Notewell read it, and make room where it lies")
    else:
        yield Finding("index", f"{name}: {found.pages} pages, all match their checksums")


def level(status: Status, index: Path, now: datetime, *, wants_vectors: bool) -> Iterator[Finding]:
    """How far the index is behind the notes; without an embedder nothing waits for vectors."""
    if status.state == "unreadable":
        return  # `index_file` has told why, or the next lines would be about a file that moved.
    if status.counts is None:
        yield Finding("index", "there is none yet", SYNC, BringUpToDate())
        return
    counts = status.counts
    told = f"{counts.files} notes, {counts.chunks} chunks, {counts.embedded} with a vector"
    behind = [
        f"{status.dirty} to catch up with" if status.dirty else "",
        f"{counts.waiting} wait for a vector" if counts.waiting and wants_vectors else "",
        f"a new one is needed: {status.rebuild_needed}" if status.rebuild_needed else "",
    ]
    told = ", ".join([told, *filter(None, behind)]) + _age(index, now)
    if any(behind):
        yield Finding("index", told, SYNC, BringUpToDate())
    else:
        yield Finding("index", told)


def _age(index: Path, now: datetime) -> str:
    current = IndexFolder(index).current()
    if current is None:
        return ""
    beside = (current, current.with_name(f"{current.name}-wal"))
    written = max((file.stat().st_mtime for file in beside if file.exists()), default=0.0)
    at = datetime.fromtimestamp(written, UTC).astimezone()
    days = (now - at).days
    return f"; last written on {at:%Y-%m-%d %H:%M}" + (f", {days} days ago" if days > 1 else "")


def cache(file: Path, most: int | None) -> Iterator[Finding]:
    """The vectors that were paid for."""
    if not os.path.lexists(file):
        return
    found = condition(file, is_index=False)
    if found.kind == "damaged":
        told = f"{file.name} is damaged ({found.told}): what it held is computed again"
        yield Finding("cache", told, f"begin it anew: {FIX}", CacheAnew(file))
        return
    if found.kind == "closed":
        yield Finding("cache", f"{file.name} cannot be opened: {found.told}", "let us read it")
        return
    try:
        entries = count_entries(file)
    except IndexTrouble as trouble:
        yield Finding("cache", f"{trouble}", f"begin it anew: {FIX}", CacheAnew(file))
        return
    told = f"{entries} vectors, {size_told(file.stat().st_size)}"
    if most is not None and entries >= most:
        told += f"; it is full ({most}), the oldest go"
    yield Finding("cache", told)
