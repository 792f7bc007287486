"""When hooks last ran, and when anything was last captured: silence must not look like health.

A hook that fails says nothing to anybody, by design: the agent's work goes on. So it leaves a
mark, and `notewell doctor` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from notewell.files import read_json, state_lock, write_json

if TYPE_CHECKING:
    from pathlib import Path

NAME = "heartbeat.json"
QUIET_DAYS = 7
"""Hooks that ran all week without a single capture are not merely a quiet week."""

BEAT_WAIT_S = 0.05
"""A mark is not worth waiting for: another hook has just left one."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """What `notewell doctor` says about capture."""

    told: str
    todo: str | None = None


def beat(
    folder: Path,
    event: str,
    host: str,
    now: datetime,
    *,
    captured: str | None = None,
    trouble: str | None = None,
    is_on: bool = True,
) -> None:
    """A hook ran; `captured` is the note it made, `trouble` why it made none.

    Where capture is switched off (`is_on` false), nobody waits for one.
    """
    file = folder / NAME
    with state_lock(file, wait_s=BEAT_WAIT_S):
        state = read_json(file)
        at = now.isoformat()
        if not is_on or _moment(state.get("since")) is None:
            state["since"] = at
        state["last"] = {"at": at, "event": event, "host": host}
        if captured is not None:
            state["captured"] = {"at": at, "path": captured}
            state.pop("trouble", None)
        if trouble is not None:
            state["trouble"] = {"at": at, "event": event, "why": trouble[:500]}
        write_json(file, state)


def pulse(folder: Path, now: datetime) -> Pulse | None:
    """None where no hook has ever run: then there is nothing to say."""
    state = read_json(folder / NAME)
    last, since = _at(state.get("last")), _moment(state.get("since"))
    if last is None or since is None:
        return None
    captured = _at(state.get("captured"))
    told = f"hooks ran last on {last:%Y-%m-%d %H:%M}; " + (
        f"last captured on {captured:%Y-%m-%d %H:%M}"
        if captured
        else f"nothing captured since {since:%Y-%m-%d %H:%M}"
    )
    trouble = state.get("trouble")
    if isinstance(trouble, dict):
        return Pulse(f"{told}; {trouble.get('event')} failed: {trouble.get('why')}", "mend that")
    if last - max(captured or since, since) > timedelta(days=QUIET_DAYS):
        return Pulse(told, "run `notewell hook install` again, and look at the host's hook log")
    return Pulse(told)


def _at(told: Any) -> datetime | None:
    return _moment(told.get("at")) if isinstance(told, dict) else None


def _moment(told: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(told)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo else None
