"""Conversations kept whole: what the user and the assistant said, each message exactly once.

    lock ── the end of our file ── what is new in the host's ── redact ── append, fsync

A host deletes its transcripts after a while, and a session note has only the last messages. So
each hook appends what was said since the last one. The position is in our file itself (see
`kept_file`), so there is no second file that could disagree with it. Where the position does not
tell what is new, because the host has replaced its file or keeps conversations in a database, a
message that is known is recognized by its id.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.capture.injected import as_said
from notewell.capture.kept_file import (
    date_by_messages,
    encoded,
    kept_end,
    kept_ids,
    open_kept,
    record_id,
)
from notewell.capture.kept_folder import LOCK, LOCK_WAIT_S, forgotten_of
from notewell.capture.kept_records import (
    earliest_kept,
    header_record,
    new_records,
    position_record,
    position_records,
)
from notewell.errors import StateNotWritable
from notewell.files import describe_os_error, state_lock, sync_directory, write_state
from notewell.records import dataclass
from notewell.sessions import (
    kept_names,
    read_all,
    read_new,
    read_on,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell.capture.hook_state import SessionEnd
    from notewell.capture.settings import KeepSettings


@dataclass(frozen=True, slots=True)
class Kept:
    """What one call has kept."""

    file: Path | None = None
    """None: nothing was new."""
    messages: int = 0
    is_complete: bool = True
    """False: the host's file has more; the next call goes on."""
    is_first: bool = False
    """Nothing of this conversation was kept before."""


class KeptPreview(NamedTuple):
    """What a call would keep."""

    file: Path
    messages: int = 0
    size: int = 0
    """The bytes of the file afterwards."""


def keep_messages(
    folder: Path,
    ended: SessionEnd,
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
    is_import: bool = False,
) -> Kept:
    """Append the messages since the last call to the file of this conversation.

    An import has time: it reads a file that was never read from its start. The kept file gets the
    time of its last message, since the retention counts from there.

    Raises `NoteUnreadable` for the transcript, `StateBusy` and `StateNotWritable`.
    """
    if settings.leaves_out(ended.cwd):
        return Kept()
    with state_lock(folder / LOCK, wait_s=LOCK_WAIT_S):
        names = kept_names(ended.host, ended.transcript)
        file = next((folder / name for name in names if os.path.lexists(folder / name)), None)
        end = kept_end(file)
        new = (read_on if is_import else read_new)(ended.transcript, end.position)
        if settings.leaves_out(new.cwd):
            return Kept()
        if file is None:
            file = folder / (names.part if new.begins_at else names.whole)
        known = end.ids if new.is_continued or not end.size else kept_ids(file, end)
        earliest = earliest_kept(settings, now, None if is_import else new)
        at = _written_at(ended, now) if is_import else now
        is_forgotten = forgotten_of(folder, ended)
        lines = list(new_records(new, as_said(redact), known, earliest, is_forgotten, at))
        records = [*lines, *position_records(new, end, lines, now)]
        # Without the position, an import of a file that goes on would read the same part for ever.
        if not lines and (not records or (not end.size and new.is_complete)):
            return Kept(is_complete=new.is_complete)
        header = [] if end.size else [header_record(ended, new, redact, now)]
        before_s = file.stat().st_mtime if end.size else 0.0
        with open_kept(file, create=True) as opened:
            opened.append([*header, *records], end)
        if is_import:
            date_by_messages(file, lines or header, before_s, now)
    return Kept(file if lines else None, len(lines), new.is_complete, not end.size)


def complete_part(
    folder: Path,
    ended: SessionEnd,
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
) -> Kept:
    """Add the beginning to a conversation of which hooks have kept the end only; nothing if there
    is no such one. Raises as `keep_messages`.

    The file is replaced and then gets its other name: in between, and after a kill, there is one
    file of this conversation.
    """
    with state_lock(folder / LOCK, wait_s=LOCK_WAIT_S):
        names = kept_names(ended.host, ended.transcript)
        part, whole = folder / names.part, folder / names.whole
        if not os.path.lexists(part) or os.path.lexists(whole):
            return Kept()
        new = read_all(ended.transcript, None)
        if settings.leaves_out(ended.cwd) or settings.leaves_out(new.cwd):
            return Kept()
        with open_kept(part, create=False) as opened:
            kept = opened.records()
        known = frozenset(map(record_id, kept))
        removed = frozenset(record_id(one) for one in kept if one["type"] == "custom")
        earliest = earliest_kept(settings, now, None)
        clean, is_forgotten = as_said(redact), forgotten_of(folder, ended)
        at = _written_at(ended, now)
        lines = list(new_records(new, clean, removed, earliest, is_forgotten, at))
        again = {line["id"] for line in lines}
        # What the host has removed from its file since, and what was forgotten.
        others = [one for one in kept if record_id(one) and record_id(one) not in again]
        header = {**header_record(ended, new, redact, now), **_without_time(kept[:1])}
        records = [header, *lines, *others, position_record(new.position, now)]
        before_s = part.stat().st_mtime
        write_state(part, b"".join(map(encoded, records)))
        _rename(part, whole)
        date_by_messages(whole, lines, before_s, now)
    return Kept(whole, len(again - known))


def preview_import(
    folder: Path,
    ended: SessionEnd,
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
) -> KeptPreview:
    """What an import would add to the file of this conversation. It writes nothing, not even the
    file of the lock. Raises `NoteUnreadable` and `StateNotWritable`."""
    names = kept_names(ended.host, ended.transcript)
    file = next((folder / name for name in names if os.path.lexists(folder / name)), None)
    end = kept_end(file)
    is_part = file is not None and file.name == names.part
    new = read_all(ended.transcript, None if is_part else end.position)
    if settings.leaves_out(ended.cwd) or settings.leaves_out(new.cwd):
        return KeptPreview(folder / names.whole)
    known = end.ids if new.is_continued or file is None else kept_ids(file, end)
    earliest, at = earliest_kept(settings, now, None), _written_at(ended, now)
    is_forgotten = forgotten_of(folder, ended)
    lines = list(new_records(new, as_said(redact), known, earliest, is_forgotten, at))
    size = sum(len(encoded(line)) for line in lines)
    return KeptPreview(file or folder / names.whole, len(lines), end.size + size)


def _without_time(head: list[dict[str, Any]]) -> dict[str, Any]:
    """The first record of a kept file, which begins later than the conversation."""
    facts = head[0] if head and head[0]["type"] == "session" else {}
    return {name: value for name, value in facts.items() if name != "timestamp"}


def _rename(file: Path, target: Path) -> None:
    try:
        file.rename(target)
        sync_directory(target.parent)
    except OSError as error:
        raise StateNotWritable(str(target), describe_os_error(error)) from error


def _written_at(ended: SessionEnd, now: datetime) -> datetime:
    """When the host last wrote: the time of messages that have none."""
    try:
        at_s = ended.transcript.stat().st_mtime
    except OSError:
        return now  # A conversation in a database, whose messages have times.
    return min(now, datetime.fromtimestamp(at_s, UTC))
