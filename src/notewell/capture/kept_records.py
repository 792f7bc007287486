"""The records of a kept conversation: its header, its messages, and a position in the host's file.

Pure: what is new goes in, JSON objects come out. `kept_file` writes them, one a line.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from notewell.hosts import SPEAKERS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from datetime import datetime

    from notewell.capture.hook_state import SessionEnd
    from notewell.capture.kept_file import KeptEnd
    from notewell.capture.settings import KeepSettings
    from notewell.sessions import LeavesOut, NewMessages, SaidMessage, SourcePosition

    Record = dict[str, Any]

POSITION_BYTES = 256 * 1024
"""After so much of the host's file without a message, the position alone is written down."""
MAX_MESSAGE_CHARS = 200_000
"""A book of 80 pages. What somebody pasted beyond that was not said."""
MAX_ID_CHARS = 80
_ROLES = {speaker: role for role, speaker in SPEAKERS.items()}


def earliest_kept(
    settings: KeepSettings, now: datetime, new: NewMessages | None
) -> datetime | None:
    """Messages before it are past their retention: a host's file that is read again has some that
    were removed. What follows the last hook is new, whatever clocks say. Otherwise it counts from
    the newest message, if that is before our clock, which may have jumped ahead. An import, which
    has no `new`, takes nothing that would be removed at once."""
    if not settings.days or (new and new.is_continued):
        return None
    said = [message.at for message in new.messages if message.at] if new else []
    return min(now, max(said, default=now)) - timedelta(days=settings.days)


def new_records(
    new: NewMessages,
    clean: Callable[[str], str],
    known: Collection[str],
    earliest: datetime | None,
    is_forgotten: LeavesOut | None,
    now: datetime,
) -> Iterator[Record]:
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


def position_records(
    new: NewMessages, end: KeptEnd, records: list[Record], now: datetime
) -> Iterator[Record]:
    """The position alone, where the next call would otherwise read much again."""
    if new.position is None:
        return
    written = records[-1]["source"]["end"] if records else end.position.end if end.position else 0
    is_far = new.position.end - written > POSITION_BYTES
    # The host has replaced its file: the position in the old one would never match.
    is_other_file = not records and not new.is_continued
    if is_far or is_other_file:
        yield position_record(new.position, now)


def position_record(position: SourcePosition | None, now: datetime) -> Record:
    at = now.isoformat()
    return {"type": "custom", "customType": "position", "timestamp": at, **_source(position)}


def header_record(
    ended: SessionEnd, new: NewMessages, redact: Callable[[str], str], now: datetime
) -> Record:
    cwd = ended.cwd or new.cwd
    at = next((message.at for message in new.messages if message.at), None) or now
    return {
        "type": "session",
        "id": new.session or ended.session,
        "timestamp": at.isoformat(),
        "host": ended.host,
        **({"cwd": redact(cwd)} if cwd else {}),
    }


def _source(position: SourcePosition | None) -> Record:
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
