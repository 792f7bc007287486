"""Conversations that programs keep: a turn of a framework, and turns that were sent over HTTP.

Hooks keep what hosts write (`cli.hook_keep`). A program without hooks keeps its conversations if
`sessions.keep.enabled` is true. Nothing is raised: a conversation goes on without its memory, and
the result says why. Beside notes in a database they are rows there, for every replica.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.databases import stored_conversations
from notewell.errors import NotewellError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.capture import Kept, Message
    from notewell.memory import Memory
    from notewell.sessions import SaidMessage, StoredConversations


class KeptSaid(NamedTuple):
    """What was kept of a conversation."""

    messages: int = 0
    trouble: NotewellError | None = None
    """Why not all of it is kept."""


def keep_said(
    memory: Memory, host: str, session: str, messages: Sequence[Message], *, cwd: str | None
) -> KeptSaid:
    """Keep the messages of a turn; the caller sends each message once."""
    from notewell.capture import SessionEnd, keep_turn, said_now

    if not memory.settings.capture.keep.enabled:
        return KeptSaid()
    if stored := stored_conversations(memory.notes, memory.state_dir):
        try:
            said = said_now(messages, datetime.now(UTC))
            return KeptSaid(_stored(memory, stored, host, session, said, cwd))
        except NotewellError as error:
            return KeptSaid(trouble=error)

    # The name decides the file; there is no transcript of a host.
    conversation = SessionEnd(Path(f"{session}.jsonl"), session, host, cwd, "turn")

    def keep(folder: Path, redact: Callable[[str], str]) -> Kept:
        settings, now = memory.settings.capture.keep, datetime.now(UTC)
        return keep_turn(folder, conversation, messages, redact, settings=settings, now=now)

    return _kept(memory, keep)


def store_turns(
    memory: Memory,
    stored: StoredConversations,
    host: str,
    session: str,
    said: Sequence[SaidMessage],
) -> int:
    """Keep what was sent to a service whose notes are in a database; returns how many messages
    are new. It is committed then: there is no transcript that has it otherwise.

    Raises `DatabaseTrouble` and `NoteNotWritable`.
    """
    return _stored(memory, stored, host, session, said, None)


def _stored(
    memory: Memory,
    stored: StoredConversations,
    host: str,
    session: str,
    said: Sequence[SaidMessage],
    cwd: str | None,
) -> int:
    from notewell.capture import SessionEnd, keep_stored
    from notewell.redaction import DeferredRedactor

    conversation = SessionEnd(Path(f"{session}.jsonl"), session, host, cwd, "turn")
    redact, settings = DeferredRedactor(memory.state_dir), memory.settings.capture.keep
    now = datetime.now(UTC)
    kept = keep_stored(stored, conversation, said, redact, settings=settings, now=now)
    return kept.messages


def keep_transcript(memory: Memory, host: str, session: str, file: Path) -> KeptSaid:
    """Keep what is new in a transcript that a surface of ours has written."""
    from notewell.capture import SessionEnd, keep_messages

    conversation = SessionEnd(file, session, host, None, "turn")

    def keep(folder: Path, redact: Callable[[str], str]) -> Kept:
        settings, now = memory.settings.capture.keep, datetime.now(UTC)
        # As an import: a program may send what was said long ago, and much of it.
        return keep_messages(
            folder, conversation, redact, settings=settings, now=now, is_import=True
        )

    return _kept(memory, keep)


def _kept(memory: Memory, keep: Callable[[Path, Callable[[str], str]], Kept]) -> KeptSaid:
    settings, messages = memory.settings.capture.keep, 0
    if not settings.enabled:
        return KeptSaid()
    from notewell.capture import drop_expired
    from notewell.redaction import DeferredRedactor
    from notewell.sessions import kept_dir

    folder = kept_dir(memory.state_dir, memory.agent, memory.notes.location)
    redact = DeferredRedactor(memory.state_dir)
    try:
        while True:
            kept = keep(folder, redact)
            messages += kept.messages
            if kept.is_first:
                # No hook does it here. Once for each conversation: it lists all of them.
                drop_expired(folder, settings, datetime.now(UTC))
            if kept.is_complete:
                return KeptSaid(messages)
    except NotewellError as error:
        return KeptSaid(messages, error)
