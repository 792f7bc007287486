"""Conversations kept whole: what the user and the assistant said, each message exactly once.

    lock ── the end of our file ── what is new in the host's ── redact ── append, fsync

A host deletes its transcripts after a while, and a session note has only the last messages. So
each hook appends what was said since the last one. The position is in our file itself (see
`kept_file`), so there is no second file that could disagree with it. Where the position does not
tell what is new, because the host has replaced its file or keeps conversations in a database, a
message that is known is recognized by its id.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.capture.injected import as_said
from notewell.capture.kept_file import KeptEnd, encoded, open_kept, record_id
from notewell.capture.kept_folder import LOCK, LOCK_WAIT_S
from notewell.errors import StateNotWritable
from notewell.files import describe_os_error, state_lock, sync_directory, write_state
from notewell.hosts import SPEAKERS, Turn
from notewell.records import dataclass
from notewell.sessions import (
    NewMessages,
    SaidMessage,
    forgotten_file,
    kept_names,
    read_all,
    read_new,
    read_on,
    session_stem,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from notewell.capture.flush_turn import Message
    from notewell.capture.hook_state import SessionEnd
    from notewell.capture.settings import KeepSettings
    from notewell.sessions import LeavesOut, SourcePosition

POSITION_BYTES = 256 * 1024
"""After so much of the host's file without a message, the position alone is written down."""
MAX_MESSAGE_CHARS = 200_000
"""A book of 80 pages. What somebody pasted beyond that was not said."""
MAX_ID_CHARS = 80
_ROLES = {speaker: role for role, speaker in SPEAKERS.items()}


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
        end = _end_of(file)
        new = (read_on if is_import else read_new)(ended.transcript, end.position)
        if settings.leaves_out(new.cwd):
            return Kept()
        if file is None:
            file = folder / (names.part if new.begins_at else names.whole)
        known = end.ids if new.is_continued or not end.size else _ids_of(file, end)
        earliest = _earliest(settings, now, None if is_import else new)
        at = _written_at(ended, now) if is_import else now
        is_forgotten = _forgotten(folder, ended)
        lines = list(_new_lines(new, as_said(redact), known, earliest, is_forgotten, at))
        records = [*lines, *_position_line(new, end, lines, now)]
        # Without the position, an import of a file that goes on would read the same part for ever.
        if not lines and (not records or (not end.size and new.is_complete)):
            return Kept(is_complete=new.is_complete)
        header = [] if end.size else [_header(ended, new, redact, now)]
        before_s = file.stat().st_mtime if end.size else 0.0
        with open_kept(file, create=True) as opened:
            opened.append([*header, *records], end)
        if is_import:
            _date(file, lines or header, before_s, now)
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
        earliest = _earliest(settings, now, None)
        clean, is_forgotten = as_said(redact), _forgotten(folder, ended)
        at = _written_at(ended, now)
        lines = list(_new_lines(new, clean, removed, earliest, is_forgotten, at))
        again = {line["id"] for line in lines}
        # What the host has removed from its file since, and what was forgotten.
        others = [one for one in kept if record_id(one) and record_id(one) not in again]
        header = {**_header(ended, new, redact, now), **_without_time(kept[:1])}
        records = [header, *lines, *others, _position_record(new.position, now)]
        before_s = part.stat().st_mtime
        write_state(part, b"".join(map(encoded, records)))
        _rename(part, whole)
        _date(whole, lines, before_s, now)
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
    end = _end_of(file)
    is_part = file is not None and file.name == names.part
    new = read_all(ended.transcript, None if is_part else end.position)
    if settings.leaves_out(ended.cwd) or settings.leaves_out(new.cwd):
        return KeptPreview(folder / names.whole)
    known = end.ids if new.is_continued or file is None else _ids_of(file, end)
    earliest, at = _earliest(settings, now, None), _written_at(ended, now)
    is_forgotten = _forgotten(folder, ended)
    lines = list(_new_lines(new, as_said(redact), known, earliest, is_forgotten, at))
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


def _date(file: Path, lines: Sequence[dict[str, Any]], before_s: float, now: datetime) -> None:
    """Give a file the time of its last message, or the one that it had."""
    times = (datetime.fromisoformat(line["timestamp"]).timestamp() for line in lines)
    at_s = min(max(before_s, *times, 0.0), now.timestamp())
    with suppress(OSError):  # Not all file systems have times; then it is kept longer.
        os.utime(file, (at_s, at_s))


def keep_turn(
    folder: Path,
    conversation: SessionEnd,
    turn: Sequence[Message],
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
) -> Kept:
    """Append the messages of one turn, for a program that has no transcript; `conversation` names
    the file as if it had one. Raises `StateBusy` and `StateNotWritable`."""
    said = [
        SaidMessage(Turn(SPEAKERS[message.role], message.text), now, number)
        for number, message in enumerate(turn)
        if message.role in SPEAKERS
    ]
    if settings.leaves_out(conversation.cwd):
        return Kept()
    with state_lock(folder / LOCK, wait_s=LOCK_WAIT_S):
        file = folder / kept_names(conversation.host, conversation.transcript).whole
        end = _end_of(file if os.path.lexists(file) else None)
        new = NewMessages(said, session=conversation.session, cwd=conversation.cwd)
        is_forgotten = _forgotten(folder, conversation)
        lines = list(_new_lines(new, as_said(redact), end.ids, None, is_forgotten, now))
        if not lines:
            return Kept()
        header = [] if end.size else [_header(conversation, new, redact, now)]
        with open_kept(file, create=True) as opened:
            opened.append([*header, *lines], end)
    return Kept(file, len(lines), is_first=not end.size)


def keep_exported(
    folder: Path,
    conversation: SessionEnd,
    said: Sequence[SaidMessage],
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
) -> Kept:
    """Append what is new of a conversation that a data export has; `conversation` names the file
    as if it had a transcript. The file gets the time of its last message, as in any import.

    Raises `StateBusy` and `StateNotWritable`.
    """
    with state_lock(folder / LOCK, wait_s=LOCK_WAIT_S):
        file, end, lines = _exported_lines(folder, conversation, said, redact, settings, now)
        if not lines:
            return Kept()
        new = NewMessages(list(said), session=conversation.session)
        header = [] if end.size else [_header(conversation, new, redact, now)]
        before_s = file.stat().st_mtime if end.size else 0.0
        with open_kept(file, create=True) as opened:
            opened.append([*header, *lines], end)
        _date(file, lines, before_s, now)
    return Kept(file, len(lines), is_first=not end.size)


def preview_exported(
    folder: Path,
    conversation: SessionEnd,
    said: Sequence[SaidMessage],
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
) -> KeptPreview:
    """What `keep_exported` would add; it writes nothing. Raises `StateNotWritable`."""
    file, end, lines = _exported_lines(folder, conversation, said, redact, settings, now)
    return KeptPreview(file, len(lines), end.size + sum(len(encoded(line)) for line in lines))


def _exported_lines(
    folder: Path,
    conversation: SessionEnd,
    said: Sequence[SaidMessage],
    redact: Callable[[str], str],
    settings: KeepSettings,
    now: datetime,
) -> tuple[Path, KeptEnd, list[dict[str, Any]]]:
    file = folder / kept_names(conversation.host, conversation.transcript).whole
    end = _end_of(file if os.path.lexists(file) else None)
    known = _ids_of(file, end) if end.size else frozenset[str]()
    earliest = _earliest(settings, now, None)
    is_forgotten = _forgotten(folder, conversation)
    at = max((message.at for message in said if message.at), default=now)
    new = NewMessages(list(said))
    return file, end, list(_new_lines(new, as_said(redact), known, earliest, is_forgotten, at))


def _end_of(file: Path | None) -> KeptEnd:
    if file is None:
        return KeptEnd()
    with open_kept(file, create=False) as opened:
        return opened.end()


def _ids_of(file: Path, end: KeptEnd) -> frozenset[str]:
    with open_kept(file, create=False) as opened:
        return opened.ids(end)


def _forgotten(folder: Path, conversation: SessionEnd) -> LeavesOut | None:
    """Read while the lock is held: a rule is written before the messages are removed under it."""
    return forgotten_filter(forgotten_file(folder), conversation.transcript)


def forgotten_filter(file: Path, transcript: Path) -> LeavesOut | None:
    """What was forgotten of a transcript; None if nothing ever was. Raises `StateNotWritable`."""
    if not os.path.lexists(file):
        return None
    from notewell.sessions import read_forgotten

    return read_forgotten(file).of_session(session_stem(transcript.as_posix()))


def _written_at(ended: SessionEnd, now: datetime) -> datetime:
    """When the host last wrote: the time of messages that have none."""
    try:
        at_s = ended.transcript.stat().st_mtime
    except OSError:
        return now  # A conversation in a database, whose messages have times.
    return min(now, datetime.fromtimestamp(at_s, UTC))


def _earliest(settings: KeepSettings, now: datetime, new: NewMessages | None) -> datetime | None:
    """Messages before it are past their retention: a host's file that is read again has some that
    were removed. What follows the last hook is new, whatever clocks say. Otherwise it counts from
    the newest message, if that is before our clock, which may have jumped ahead. An import, which
    has no `new`, takes nothing that would be removed at once."""
    if not settings.days or (new and new.is_continued):
        return None
    said = [message.at for message in new.messages if message.at] if new else []
    return min(now, max(said, default=now)) - timedelta(days=settings.days)


# -- the lines -----------------------------------------------------------------------------------


def _new_lines(
    new: NewMessages,
    clean: Callable[[str], str],
    known: Collection[str],
    earliest: datetime | None,
    is_forgotten: LeavesOut | None,
    now: datetime,
) -> Iterator[dict[str, Any]]:
    """The messages that are not known, in the order of the host."""
    seen = set(known)
    for message in new.messages:
        id_ = _id(message)
        is_too_old = earliest is not None and message.at is not None and message.at < earliest
        if id_ in seen or is_too_old:
            continue
        seen.add(id_)
        text = clean(message.turn.text)
        if text.strip() and not (is_forgotten and is_forgotten(text, message.at)):
            yield {
                "type": "message",
                "id": id_,
                "timestamp": (message.at or now).isoformat(),
                "message": {"role": _ROLES[message.turn.speaker], "content": _cut(text)},
                **_source(message.position),
            }


def _position_line(
    new: NewMessages, end: KeptEnd, lines: list[dict[str, Any]], now: datetime
) -> Iterator[dict[str, Any]]:
    """The position alone, where the next call would otherwise read much again."""
    if new.position is None:
        return
    written = lines[-1]["source"]["end"] if lines else end.position.end if end.position else 0
    is_far = new.position.end - written > POSITION_BYTES
    # The host has replaced its file: the position in the old one would never match.
    is_other_file = not lines and not new.is_continued
    if is_far or is_other_file:
        yield _position_record(new.position, now)


def _position_record(position: SourcePosition | None, now: datetime) -> dict[str, Any]:
    at = now.isoformat()
    return {"type": "custom", "customType": "position", "timestamp": at, **_source(position)}


def _header(
    ended: SessionEnd, new: NewMessages, redact: Callable[[str], str], now: datetime
) -> dict[str, Any]:
    cwd = ended.cwd or new.cwd
    at = next((message.at for message in new.messages if message.at), None) or now
    return {
        "type": "session",
        "id": new.session or ended.session,
        "timestamp": at.isoformat(),
        "host": ended.host,
        **({"cwd": redact(cwd)} if cwd else {}),
    }


def _source(position: SourcePosition | None) -> dict[str, Any]:
    return {"source": position._asdict()} if position else {}


def _id(message: SaidMessage) -> str:
    """The host's id, or one by what was said and when; without a time, by where it is."""
    turn = message.turn
    if turn.id and len(turn.id) <= MAX_ID_CHARS:
        return turn.id
    when = message.at.isoformat() if message.at else str(message.end)
    text = "\0".join((turn.id or "", turn.speaker, when, turn.text))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _cut(text: str) -> str:
    left = len(text) - MAX_MESSAGE_CHARS
    return f"{text[:MAX_MESSAGE_CHARS]} … ({left} more characters)" if left > 0 else text
