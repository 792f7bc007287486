"""Entries from a growing transcript: each message of the user is looked at once.

A hook calls this at the end of a turn and at the end of a session. The position up to which a
transcript was read is kept beside the other captures. It moves on only after the entries are
stored: a hook that is killed looks at the same messages again, and the store recognizes entries
that it has already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.capture import Message, without_injected
from notewell.files import read_json, state_lock, write_json
from notewell.sessions import read_tail
from notewell.tools.entry_tools import Capture, capture_turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.capture import SessionEnd
    from notewell.entries import EntriesSettings, EntryStore
    from notewell.sessions import LeavesOut

STATE = "entries.json"
MAX_SESSIONS = 1000
"""Sessions whose position is kept."""
MESSAGES = 20
"""Of a transcript that was never read: the last ones. Usually one or two are new."""
_USER = "User: "


def capture_transcript(
    entries: EntryStore,
    folder: Path,
    ended: SessionEnd,
    settings: EntriesSettings,
    leaves_out: LeavesOut | None = None,
) -> Capture:
    """Store the statements of the user since the last call; nothing unless `autoCapture` is on.

    `folder` is that of the captures (see `capture_dir`); `leaves_out` names messages that were
    forgotten. Raises `NoteUnreadable` for the
    transcript, and `StateNotWritable`.
    """
    if not settings.auto_capture:
        return Capture()
    file = folder / STATE
    # Held until the end: hosts run the same hook twice.
    with state_lock(file):
        state = read_json(file)
        tail = read_tail(
            ended.transcript,
            _position(state, ended.session),
            without_injected,
            messages=MESSAGES,
            leaves_out=leaves_out,
        )
        captured = capture_turn(entries, _said(tail.lines), settings)
        if captured.trouble is None:
            state.pop(ended.session, None)
            state[ended.session] = tail.position
            write_json(file, dict(list(state.items())[-MAX_SESSIONS:]))
    return captured


def _position(state: dict[str, Any], session: str) -> dict[str, Any]:
    position = state.get(session)
    return position if isinstance(position, dict) else {}


def _said(lines: Sequence[str]) -> list[Message]:
    """The messages of the user. Not redacted: a message with a secret is refused as a whole."""
    said = (line.removeprefix(_USER) for line in lines if line.startswith(_USER))
    return [Message("user", text) for text in said][-MESSAGES:]
