"""What hooks leave for the next hook and for `notewell doctor`.

    heartbeat.json   when hooks last ran, and when something was last captured
    pending.json     sessions whose host has not reported their end

A hook that fails says nothing, by design: the agent's work must go on. So it leaves a record, and
`notewell doctor` reads it; silence must not look like health.

A host may be killed, and Codex reports each turn and the start of a session, but not always its
end. So each turn leaves the path of its transcript, and the next session saves the ones before
it. A session that was saved at its end has no new messages by then.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.files import read_json, state_lock, write_json
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection

HEARTBEAT = "heartbeat.json"
QUIET_DAYS = 7
"""Hooks that ran for a week without a single capture point to a fault, not to a quiet week."""

HEARTBEAT_WAIT_S = 0.05
"""Not worth a longer wait: the hook that holds the lock is writing the same record."""

MAX_TROUBLE_CHARS = 500

PENDING = "pending.json"
ENTRIES_DUE = "entries-due"
"""The folder of such a list of its own: sessions whose entries are not captured up to their last
message."""
COMPACTED = "compacted"
NOTE_DUE = "note"
MAX_PENDING = 20
"""Sessions open at the same time; beyond it the ones silent for longest are dropped."""


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What a hook reports about a session that is over, or about to be compacted."""

    transcript: Path
    session: str
    """The host's id of the session; what is saved of it is remembered under this id."""
    host: str
    cwd: str | None
    reason: str
    is_compacting: bool = False
    """The session goes on without the messages that it has now, or did so before."""
    has_note: bool = True
    """Whether a session note is due. False for a session of which only the start was reported: it
    may still be running."""


@dataclass(frozen=True, slots=True)
class CaptureHealth:
    """What `notewell doctor` reports about captures."""

    message: str
    action: str | None = None
    """What the user should do; None if all is well."""


# -- heartbeat -----------------------------------------------------------------------------------


def record_hook_run(
    folder: Path,
    event: str,
    host: str,
    now: datetime,
    *,
    captured: str | None = None,
    trouble: str | None = None,
    is_on: bool = True,
    keeps: bool | None = None,
    kept: bool = False,
) -> None:
    """A hook ran: `captured` is the note it made, `trouble` the reason why it failed. `keeps` says
    whether it keeps whole conversations, None if that is not known; `kept` that it just did.

    With captures switched off (`is_on` false) the quiet period starts anew each time.
    """
    file = folder / HEARTBEAT
    with state_lock(file, wait_s=HEARTBEAT_WAIT_S):
        state = read_json(file)
        at = now.isoformat()
        if not is_on or _moment(state.get("since")) is None:
            state["since"] = at
        state["last"] = {"at": at, "event": event, "host": host}
        if captured is not None:
            state["captured"] = {"at": at, "path": captured}
            state.pop("trouble", None)
        if keeps is not None:
            state["keeps"] = keeps
        if kept:
            state["kept"] = {"at": at}
            state.pop("trouble", None)
        if _event_of(state.get("trouble")) == event:
            state.pop("trouble", None)  # What failed then works now, or fails again below.
        if trouble is not None:
            state["trouble"] = {"at": at, "event": event, "why": trouble[:MAX_TROUBLE_CHARS]}
        write_json(file, state)


def capture_health(folder: Path, now: datetime) -> CaptureHealth | None:
    """None if no hook has ever run: then captures are not set up, and nothing is wrong."""
    state = read_json(folder / HEARTBEAT)
    last, since = _at(state.get("last")), _moment(state.get("since"))
    if last is None or since is None:
        return None
    captured = _at(state.get("captured"))
    message = f"hooks ran last on {last:%Y-%m-%d %H:%M}; " + (
        f"last captured on {captured:%Y-%m-%d %H:%M}"
        if captured
        else f"nothing captured since {since:%Y-%m-%d %H:%M}"
    )
    trouble = state.get("trouble")
    if isinstance(trouble, dict):
        message += f"; {trouble.get('event')} failed: {trouble.get('why')}"
        return CaptureHealth(message, "fix that")
    # Measured up to the last hook, not to now: a host that is not used runs no hooks.
    if last - max(captured or since, since) > timedelta(days=QUIET_DAYS):
        action = "run `notewell hook install` again, and look at the host's hook log"
        return CaptureHealth(message, action)
    return CaptureHealth(message)


def capture_trouble(folder: Path, event: str) -> str | None:
    """Why the last hook that failed did so, if it was one of this event."""
    trouble = read_json(folder / HEARTBEAT).get("trouble")
    if not isinstance(trouble, dict) or _event_of(trouble) != event:
        return None
    return str(trouble.get("why"))


def _event_of(trouble: Any) -> str | None:
    return trouble.get("event") if isinstance(trouble, dict) else None


def _at(record: Any) -> datetime | None:
    return _moment(record.get("at")) if isinstance(record, dict) else None


def _moment(text: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo else None


# -- pending sessions ----------------------------------------------------------------------------


def remember_pending(folder: Path, ended: SessionEnd) -> None:
    """This session goes on; its host may never report its end."""
    file = folder / PENDING
    record = _record(ended)
    with state_lock(file):
        state = read_json(file)
        earlier = state.pop(ended.session, None)
        if ended.is_compacting or _was_compacted(earlier):
            record[COMPACTED] = True
        # A note that is due stays due when the session is resumed.
        was_due = isinstance(earlier, dict) and earlier.get(NOTE_DUE) is not False
        if not ended.has_note and not was_due:
            record[NOTE_DUE] = False
        # The only session, unchanged: the usual case in each turn, and it needs no write.
        if earlier == record and not state:
            return
        write_json(file, dict([*state.items(), (ended.session, record)][-MAX_PENDING:]))


def pending_sessions(folder: Path, session: str) -> list[SessionEnd]:
    """The sessions before this one."""
    state = read_json(folder / PENDING)
    ends = (_session_end(id_, record) for id_, record in state.items() if id_ != session)
    return [ended for ended in ends if ended is not None]


def is_compacted(folder: Path, session: str) -> bool:
    """Whether a compaction was reported of a session that goes on. If the hook was killed before
    it had saved the messages, a later one must save them all."""
    return _was_compacted(read_json(folder / PENDING).get(session))


def _was_compacted(record: Any) -> bool:
    return isinstance(record, dict) and record.get(COMPACTED) is True


def forget_pending(
    folder: Path, sessions: Collection[str], *, still: Collection[SessionEnd] = ()
) -> None:
    """These sessions are saved. Of `still`, a later start has something to keep."""
    file = folder / PENDING
    with state_lock(file):
        state = read_json(file)
        left = {id_: record for id_, record in state.items() if id_ not in sessions}
        left |= {ended.session: {**_record(ended), NOTE_DUE: False} for ended in still}
        write_json(file, left)


def _record(ended: SessionEnd) -> dict[str, Any]:
    return {"transcript": str(ended.transcript), "host": ended.host, "cwd": ended.cwd}


def _session_end(session: str, record: Any) -> SessionEnd | None:
    match record:
        # A NUL would raise in every call to the system, and no host writes one.
        case {"transcript": str(transcript), "host": str(host)} if "\0" not in transcript:
            cwd = record.get("cwd")
            cwd = cwd if isinstance(cwd, str) else None
            return SessionEnd(
                Path(transcript),
                session,
                host,
                cwd,
                "session-end",
                is_compacting=_was_compacted(record),
                has_note=record.get(NOTE_DUE) is not False,
            )
    return None
