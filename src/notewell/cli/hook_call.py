"""The call of a hook: the host's JSON as values, the answer as JSON, and the time in between.

A host ends a hook that takes too long, and then its answer is lost. So there are two limits:

    work    for the parts that can be told: an embedder, the program of the user, a sync. The hook
            then goes on without them.
    end     for everything else: a slow disk, a model that is being loaded, another program. The
            work runs in a thread, and the hook answers without it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from notewell.errors import BadSetting, NotewellError
from notewell.hosts import HOOK_CALLS, Machine, without_inserted
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.capture import CaptureSettings
    from notewell.hosts import HookFields

MAX_INPUT_BYTES = 8 * 1024 * 1024
"""Enough for a prompt with a pasted file; the rest of the JSON is short."""
END_SHARE = 0.9
"""Of the time that the host grants: the rest is for starting Python and for the output."""
WORK_SHARE = 0.8
"""Of the time that the host grants: the rest is for writing the note."""
RECALL_SHARE = 0.6
"""Of the time of a recall: a search by keywords may have to follow."""
_CONTEXT_EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
"""The events at which hosts add text to the conversation."""
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class HookCall:
    """The call of a hook: the JSON of the host as values."""

    event: str
    host: str
    session: str
    transcript: str | None
    cwd: str | None
    detail: str
    """The cause: startup, resume, compact; auto, manual; clear, logout."""
    prompt: str
    is_subagent: bool
    """The messages of a subagent are not part of the user's conversation."""


def standard_input() -> bytes:
    """The host's JSON; empty if a person typed the command, or if the pipe is broken."""
    try:
        # `sys.stdin` is None if the process was started with standard input closed.
        is_host = sys.stdin is not None and not sys.stdin.isatty()
        return sys.stdin.buffer.read(MAX_INPUT_BYTES) if is_host else b""
    except OSError:
        return b""


def calls_in(data: bytes) -> list[bytes]:
    """The calls in the host's JSON. Our plugin for OpenCode ends several sessions at once, with a
    list of calls."""
    if not data.lstrip().startswith(b"["):
        return [data]
    try:
        calls = json.loads(data)
    except (ValueError, RecursionError):
        return [data]  # `parse_call` reports it.
    return [json.dumps(call).encode() for call in calls] or [data]


def parse_call(event: str, host: str, data: bytes) -> HookCall:
    """The host's JSON as values; a value of the wrong type counts as missing."""
    try:
        payload = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise ValueError(f"{host} sent no JSON to the {event} hook") from None
    if not isinstance(payload, dict):
        raise TypeError(f"{host} sent JSON that is no object to the {event} hook")

    def text(keys: tuple[str, ...]) -> str:
        return next((payload[key] for key in keys if isinstance(payload.get(key), str)), "")

    fields = HOOK_CALLS[host].fields
    session = text(fields.session)
    # Cursor has a list of folders in place of one working folder.
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return HookCall(
        event=event,
        host=host,
        session=session,
        transcript=text(fields.transcript) or _transcript_file(fields, session),
        cwd=text(fields.cwd) or root or None,
        detail=text(fields.detail),
        # Gemini CLI puts the notes of the session's start into the first prompt.
        prompt=without_inserted(text(fields.prompt)).strip(),
        is_subagent=bool(payload.get("agent_id")),
    )


def _transcript_file(fields: HookFields, session: str) -> str | None:
    """The transcript of a session, by the host's rule; None if it has none."""
    # The id becomes the name of a folder: one with a separator would lead elsewhere.
    if fields.transcript_file is None or not session.replace("-", "").isalnum():
        return None
    machine = Machine(Path.home(), os.environ, sys.platform)
    return str(fields.transcript_file(machine, session))


def context_json(event: str, host: str, text: str) -> str | None:
    """The JSON that adds text to the conversation; None if there is no text, or if the host takes
    none at this event."""
    if not text or event not in _CONTEXT_EVENTS:
        return None
    context = HOOK_CALLS[host].context(_CONTEXT_EVENTS[event], text)
    return None if context is None else json.dumps(context)


# -- the time of a hook --------------------------------------------------------------------------


class TookTooLong(Exception):
    """The work is not finished; its thread goes on until the process ends."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not finished after {seconds:.1f} s")


class HookTime(NamedTuple):
    """The limits of a hook, in seconds after its start."""

    work: float
    end: float


def time_of(
    event: str, host: str, settings: CaptureSettings, *, indexes_first: bool = False
) -> HookTime:
    """The limits by the settings, and by what the host grants the event. `indexes_first`: there is
    no index yet, so that a prompt takes the time of any other hook, once."""
    granted = HOOK_CALLS[host].limit_s(event)
    if event == "prompt" and not indexes_first:
        end = min(settings.hook_recall_s, END_SHARE * granted)
        return HookTime(RECALL_SHARE * end, end)
    # A capture is not abandoned before it has to be.
    return HookTime(min(settings.hook_work_s, WORK_SHARE * granted), END_SHARE * granted)


def run_within(started: float, end: float, work: Callable[[], _Result]) -> _Result:
    """The result of the work, or what it raised. Both times are on the monotonic clock. Raises
    `TookTooLong`."""
    results: list[_Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - the root of a thread; raised again below
            failures.append(error)

    # A daemon: a thread is the only thing that can be abandoned.
    worker = threading.Thread(target=run, name="hook", daemon=True)
    worker.start()
    # From the start of the hook: reading the settings has taken some of the time.
    worker.join(max(0.0, end - time.monotonic()))
    if failures:
        raise failures[0]
    if not results:
        raise TookTooLong(end - started)
    return results[0]


# -- why there is no answer ----------------------------------------------------------------------


def why_not(error: Exception) -> str:
    """Why a hook could not do its work, in words for the model: they name no folder."""
    if isinstance(error, BadSetting):
        return f"{error.public_text()}: run `notewell config check`"
    if isinstance(error, NotewellError):
        return error.public_text()
    if isinstance(error, TookTooLong):
        return str(error)
    return "the memory could not do this: run `notewell doctor`"
