"""Conversations whose host never said that they are over: saved when the next one begins.

A host may be killed, and Codex long told of every turn and of a session's beginning, but not of
its end. So each turn leaves the name of its transcript here, and the next session saves the ones
before it; of one that was saved at its end nothing is left to save.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.capture.ended import Ended
from notewell.files import read_json, state_lock, write_json

if TYPE_CHECKING:
    from collections.abc import Collection

NAME = "pending.json"
MAX_PENDING = 20
"""Conversations open at once; of more, the ones that were silent longest go."""


def remember(folder: Path, ended: Ended) -> None:
    """This conversation goes on; nobody will say when it is over."""
    file = folder / NAME
    told = {"transcript": str(ended.transcript), "host": ended.host, "cwd": ended.cwd}
    with state_lock(file):
        state = read_json(file)
        if state.pop(ended.session, None) == told and not state:
            return
        write_json(file, dict([*state.items(), (ended.session, told)][-MAX_PENDING:]))


def earlier(folder: Path, session: str) -> list[Ended]:
    """The conversations before this one."""
    state = read_json(folder / NAME)
    found = (_ended(id_, told) for id_, told in state.items() if id_ != session)
    return [one for one in found if one is not None]


def forget(folder: Path, sessions: Collection[str]) -> None:
    file = folder / NAME
    with state_lock(file):
        state = read_json(file)
        write_json(file, {id_: told for id_, told in state.items() if id_ not in sessions})


def _ended(session: str, told: Any) -> Ended | None:
    match told:
        case {"transcript": str(transcript), "host": str(host)} if "\0" not in transcript:
            cwd = told.get("cwd")
            cwd = cwd if isinstance(cwd, str) else None
            return Ended(Path(transcript), session, host, cwd, "session-end")
    return None
