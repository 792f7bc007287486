"""Conversations without a transcript: a program sends their turns, or a data export has them.

The messages are handed over instead of read from a host's file, so there is no position: one that
is known is recognized by its id. Beside notes in a database they are rows and not a file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from notewell.capture.injected import as_said
from notewell.capture.keeping import Kept, KeptPreview
from notewell.capture.kept_file import date_by_messages, encoded, kept_end, kept_ids, open_kept
from notewell.capture.kept_folder import LOCK, LOCK_WAIT_S, drop_expired_rows, forgotten_of
from notewell.capture.kept_records import earliest_kept, header_record, new_records
from notewell.files import state_lock
from notewell.hosts import SPEAKERS, Turn
from notewell.records import dataclass
from notewell.sessions import NewMessages, SaidMessage, kept_names, stored_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.capture.flush_turn import Message
    from notewell.capture.hook_state import SessionEnd
    from notewell.capture.kept_file import KeptEnd
    from notewell.capture.kept_records import Record
    from notewell.capture.settings import KeepSettings
    from notewell.sessions import StoredConversations


@dataclass(frozen=True, slots=True)
class _Addition:
    """What is to be appended to the file of a conversation."""

    file: Path
    end: KeptEnd
    header: list[Record]
    """Empty if the file has one."""
    messages: list[Record]

    def append(self) -> Kept:
        if not self.messages:
            return Kept()
        with open_kept(self.file, create=True) as opened:
            opened.append([*self.header, *self.messages], self.end)
        return Kept(self.file, len(self.messages), is_first=not self.end.size)


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
    if settings.leaves_out(conversation.cwd):
        return Kept()
    said = said_now(turn, now)
    new = NewMessages(said, session=conversation.session, cwd=conversation.cwd)
    with state_lock(folder / LOCK, wait_s=LOCK_WAIT_S):
        return _addition(folder, conversation, new, redact, None, now).append()


def said_now(turn: Sequence[Message], now: datetime) -> list[SaidMessage]:
    """The messages of a turn in the form of a transcript's."""
    return [
        SaidMessage(Turn(SPEAKERS[message.role], message.text), now, number)
        for number, message in enumerate(turn)
        if message.role in SPEAKERS
    ]


def keep_stored(
    stored: StoredConversations,
    conversation: SessionEnd,
    said: Sequence[SaidMessage],
    redact: Callable[[str], str],
    *,
    settings: KeepSettings,
    now: datetime,
) -> Kept:
    """The same for conversations in a database, and remove what is too old whenever one begins.
    Raises `DatabaseTrouble` and `NoteNotWritable`."""
    if settings.leaves_out(conversation.cwd):
        return Kept()
    new = NewMessages(list(said), session=conversation.session, cwd=conversation.cwd)
    # What is there already, and what was forgotten, is recognized by its id where the rows are.
    messages = list(new_records(new, as_said(redact), (), None, None, now))
    header = header_record(conversation, new, redact, now)
    path = stored_path(kept_names(conversation.host, conversation.transcript).whole)
    added = stored.append(path, header, messages)
    if added.is_first:
        drop_expired_rows(stored, settings, now)
    return Kept(messages=added.number, is_first=added.is_first)


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
    new = NewMessages(list(said), session=conversation.session)
    with state_lock(folder / LOCK, wait_s=LOCK_WAIT_S):
        addition = _addition(folder, conversation, new, redact, settings, now)
        before_s = addition.file.stat().st_mtime if addition.end.size else 0.0
        kept = addition.append()
        if kept.file:
            date_by_messages(kept.file, addition.messages, before_s, now)
    return kept


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
    addition = _addition(folder, conversation, NewMessages(list(said)), redact, settings, now)
    size = addition.end.size + sum(map(len, map(encoded, addition.messages)))
    return KeptPreview(addition.file, len(addition.messages), size)


def _addition(
    folder: Path,
    conversation: SessionEnd,
    new: NewMessages,
    redact: Callable[[str], str],
    exported: KeepSettings | None,
    now: datetime,
) -> _Addition:
    """`exported`: the settings, for an export, which repeats the whole conversation each time. A
    turn is new: only the last messages can be the same ones, sent again."""
    file = folder / kept_names(conversation.host, conversation.transcript).whole
    end = kept_end(file if os.path.lexists(file) else None)
    known, earliest, at = end.ids, None, now
    if exported:
        known = kept_ids(file, end) if end.size else known
        earliest = earliest_kept(exported, now, None)
        at = max((message.at for message in new.messages if message.at), default=now)
    is_forgotten = forgotten_of(folder, conversation)
    messages = list(new_records(new, as_said(redact), known, earliest, is_forgotten, at))
    header = [] if end.size else [header_record(conversation, new, redact, now)]
    return _Addition(file, end, header, messages)
