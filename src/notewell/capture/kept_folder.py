"""The folder of kept conversations: how much is in it, and what is removed after a while."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.files import state_lock
from notewell.sessions import forgotten_file, session_stem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from notewell.capture.hook_state import SessionEnd
    from notewell.capture.settings import KeepSettings
    from notewell.sessions import LeavesOut, StoredConversations

LOCK = "kept"
"""One lock for the folder: an append takes milliseconds."""
LOCK_WAIT_S = 2.0
"""A hook that waits longer leaves the messages to the next one."""


class KeptFiles(NamedTuple):
    """How much is kept."""

    conversations: int
    bytes: int
    since: float | None
    """When the oldest file was last written, in seconds."""


def kept_files(folder: Path) -> KeptFiles:
    found = [status for _, status in _files(folder)]
    times = [status.st_mtime for status in found]
    return KeptFiles(len(found), sum(one.st_size for one in found), min(times, default=None))


def kept_sizes(folder: Path) -> dict[Path, tuple[float, int]]:
    """When each file was last written, in seconds, and its bytes."""
    return {file: (status.st_mtime, status.st_size) for file, status in _files(folder)}


def drop_expired(folder: Path, settings: KeepSettings, now: datetime) -> int:
    """Remove what is older or more than the settings allow, the oldest first; returns how many."""
    if settings.days is None and settings.megabytes is None:
        return 0
    if not folder.is_dir():
        return 0
    with state_lock(folder / LOCK, wait_s=LOCK_WAIT_S):
        files = [
            _Kept(str(file), status.st_mtime, status.st_size) for file, status in _files(folder)
        ]
        expired = _expired(files, settings, now.timestamp())
        for file in expired:
            with suppress(FileNotFoundError):
                Path(file).unlink()
    return len(expired)


def drop_expired_rows(stored: StoredConversations, settings: KeepSettings, now: datetime) -> int:
    """The same for conversations in a database."""
    if settings.days is None and settings.megabytes is None:
        return 0
    kept = [
        _Kept(path, found.stat.mtime_ns / 1e9, found.stat.size)
        for path, found in stored.scan().notes.items()
    ]
    expired = _expired(kept, settings, now.timestamp())
    for path in expired:
        stored.remove(path)
    return len(expired)


def forgotten_of(folder: Path, conversation: SessionEnd) -> LeavesOut | None:
    """Read while the lock is held: a rule is written before the messages are removed under it."""
    return forgotten_filter(forgotten_file(folder), conversation.transcript)


def forgotten_filter(file: Path, transcript: Path) -> LeavesOut | None:
    """What was forgotten of a transcript; None if nothing ever was. Raises `StateNotWritable`."""
    if not os.path.lexists(file):
        return None
    from notewell.sessions import read_forgotten

    return read_forgotten(file).of_session(session_stem(transcript.as_posix()))


class _Kept(NamedTuple):
    """One conversation."""

    place: str
    written_s: float
    size: int


def _expired(kept: list[_Kept], settings: KeepSettings, now_s: float) -> list[str]:
    newest_first = sorted(kept, key=lambda one: one.written_s, reverse=True)
    # From the newest one: a clock that is wrong by a year must not remove everything.
    latest_s = min([now_s, *(one.written_s for one in newest_first[:1])])
    earliest_s = latest_s - settings.days * 86_400 if settings.days else None
    limit = settings.megabytes * 1_000_000 if settings.megabytes else None
    expired, size = list[str](), 0
    for one in newest_first:
        size += one.size
        is_old = earliest_s is not None and one.written_s < earliest_s
        if is_old or (limit is not None and size > limit):
            expired.append(one.place)
    return expired


def _files(folder: Path) -> Iterable[tuple[Path, os.stat_result]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)
    except OSError:
        return  # Not there, or closed to us: then nothing can be kept either, and a hook says so.
