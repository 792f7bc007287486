"""`notewell hook`: the commands that Claude Code, Codex and Cursor call while they work.

    session-start   print notes for the new session         stop          never print anything
    prompt          with --recall, print what notes say     session-end   save the messages
    pre-compact     save the messages

The host writes JSON to standard input. The exit code is always 0: a failure of the memory must not
stop the host. Failures go into the heartbeat file, which `notewell doctor` reads.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import say, tell
from notewell.cli.place import add_place, location_of, workspace_of
from notewell.errors import MemoryOff, NoteUnreadable
from notewell.hosts import HOOK_FILES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from datetime import tzinfo

    from notewell.capture import NoteWriter, SessionEnd
    from notewell.memory import Memory

GUARD = "NOTEWELL_HOOK"
"""Set in the environment of an agent that a hook or a flush starts. Its own hooks then do nothing,
so that a conversation about a conversation is not captured."""

MAX_INPUT_BYTES = 8 * 1024 * 1024
"""Enough for a prompt with a pasted file; the rest of the JSON is short."""
CONTEXT_CHARS = 3000
"""Per note. Codex accepts 10 000 characters from a hook, others more; there are three notes."""
MAX_RECALLED = 3
MAX_QUESTION_CHARS = 2000


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


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for event, summary in _EVENTS.items():
        command = actions.add_parser(event, help=summary)
        command.set_defaults(action=event)
        command.add_argument(
            "--host", choices=tuple(HOOK_FILES), default="claude", help="the host that calls"
        )
        add_place(command, json=False)
        if event == "prompt":
            command.add_argument(
                "--recall", action="store_true", help="print what notes say about the prompt"
            )
    install = actions.add_parser("install", help="add these hooks to a host's file")
    install.set_defaults(action="install")
    install.add_argument("host", choices=tuple(HOOK_FILES))
    install.add_argument("--print", action="store_true", help="print the entry and change nothing")
    install.add_argument(
        "--project", metavar="DIR", help="edit the file of this project (default: the user's file)"
    )
    add_place(install)


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "install":
        from notewell.cli.clients import run_hook_install

        return run_hook_install(arguments)
    # Checked before anything is imported or written: a guarded agent must leave no trace.
    if not os.environ.get(GUARD):
        now = datetime.now(UTC)
        handle(arguments, _standard_input(), now, now.astimezone().tzinfo or UTC)
    return 0


def _standard_input() -> bytes:
    """The host's JSON; empty if a person typed the command, or if the pipe is broken."""
    try:
        # `sys.stdin` is None if the process was started with standard input closed.
        is_host = sys.stdin is not None and not sys.stdin.isatty()
        return sys.stdin.buffer.read(MAX_INPUT_BYTES) if is_host else b""
    except OSError:
        return b""


def handle(arguments: argparse.Namespace, data: bytes, now: datetime, zone: tzinfo) -> None:
    """Handle one call; a failure goes into the heartbeat file."""
    from notewell.capture import record_hook_run

    event, host = arguments.action, arguments.host
    captured = trouble = None
    try:
        call = parse_call(event, host, data)
        if call.is_subagent:
            return
        captured = _HANDLERS[event](_Hook(arguments, call, now, zone))
    except MemoryOff:
        return  # The user switched the memory off: not a failure.
    except Exception as error:  # noqa: BLE001 - a surface, whose failure must not stop the host
        trouble = str(error) or type(error).__name__
    # The heartbeat is written for every event, also after a failure: `doctor` then can say when
    # hooks ran last. Its own failure is reported only if there was no other.
    try:
        is_on = bool(_messages(arguments))
        folder = _folder(arguments)
        record_hook_run(folder, event, host, now, captured=captured, trouble=trouble, is_on=is_on)
    except Exception as error:  # noqa: BLE001 - likewise
        trouble = trouble or str(error)
    # The output of a stop hook can keep a host from stopping, so this event is always silent.
    if trouble and event != "stop":
        tell(f"notewell: {trouble}")


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

    fields = HOOK_FILES[host].fields
    # Cursor has a list of folders in place of one working folder.
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return HookCall(
        event=event,
        host=host,
        session=text(fields.session),
        transcript=text(fields.transcript) or None,
        cwd=text(fields.cwd) or root or None,
        detail=text(fields.detail),
        prompt=text(fields.prompt),
        is_subagent=bool(payload.get("agent_id")),
    )


@dataclass(frozen=True, slots=True)
class _Hook:
    arguments: argparse.Namespace
    call: HookCall
    now: datetime
    zone: tzinfo

    @property
    def folder(self) -> Path:
        return _folder(self.arguments)

    def place(self) -> NoteWriter:
        from notewell.assembly import open_notes
        from notewell.capture import NoteWriter
        from notewell.redaction import Redactor, load_mask_key

        key = load_mask_key(_state_dir(self.arguments))
        return NoteWriter(open_notes(_root(self.arguments)), self.folder, Redactor(key))

    def memory(self) -> Memory:
        from notewell.cli.place import memory_of

        return memory_of(self.arguments, by_host=True)

    def ended(self) -> SessionEnd:
        from notewell.capture import SessionEnd

        call = self.call
        if not call.transcript:
            raise ValueError(f"{call.host} named no transcript")
        path = Path(call.transcript).expanduser()
        reason = f"{call.event} ({call.detail})" if call.detail else call.event
        return SessionEnd(path, call.session or path.stem, call.host, call.cwd, reason)


# -- one function for each event; it returns the path of the note it made ------------------------


def _session_start(hook: _Hook) -> str | None:
    from notewell.tools import bootstrap

    try:
        return _save_earlier(hook)
    finally:  # A failure with an earlier conversation must not affect the new one.
        with hook.memory() as memory:
            today = hook.now.astimezone(hook.zone).date()
            _inject(hook, "SessionStart", bootstrap(memory, today, max_chars=CONTEXT_CHARS))


def _save_earlier(hook: _Hook) -> str | None:
    """Save the earlier conversations whose end the host did not report."""
    from notewell.capture import forget_pending, pending_sessions

    waiting = pending_sessions(hook.folder, hook.call.session)
    saved_path, unreadable = None, None
    for ended in waiting:
        try:
            path = _save_ended(hook, ended)
            saved_path = saved_path or path
        except NoteUnreadable as error:
            if not _is_gone(error):
                raise
            unreadable = error
    if waiting:
        forget_pending(hook.folder, [ended.session for ended in waiting])
    if unreadable:
        raise unreadable  # Reported once: the conversation is no longer waited for.
    return saved_path


def _is_gone(error: NoteUnreadable) -> bool:
    """No file, or no known format. A file that may not be read now may be readable later."""
    cause = error.__cause__
    return cause is None or isinstance(
        cause, (FileNotFoundError, IsADirectoryError, NotADirectoryError)
    )


def _prompt(hook: _Hook) -> str | None:
    # A long prompt is mostly pasted text; its beginning has the question.
    question = hook.call.prompt[:MAX_QUESTION_CHARS].strip()
    if not getattr(hook.arguments, "recall", False) or not question:
        return None
    from notewell.tools import REMINDER, fenced

    # Keywords only: to load the model would take longer than a prompt may wait.
    with hook.memory() as memory:
        hits = memory.search(question, max_results=MAX_RECALLED, mode="keyword").hits
    quoted = [fenced(hit.snippet, path=hit.path, lines=str(hit.span)) for hit in hits]
    _inject(hook, "UserPromptSubmit", "\n\n".join((REMINDER, *quoted)) if quoted else "")
    return None


def _stop(hook: _Hook) -> str | None:
    # A host that has this event may not report the end of a session.
    if "stop" in HOOK_FILES[hook.call.host].events.values() and hook.call.transcript:
        from notewell.capture import remember_pending

        remember_pending(hook.folder, hook.ended())
    return None


def _save(hook: _Hook) -> str | None:
    return _save_ended(hook, hook.ended())


def _save_ended(hook: _Hook, ended: SessionEnd) -> str | None:
    from notewell.capture import Saved, save_new_messages

    messages = _messages(hook.arguments)
    if not messages:
        return None
    saved = save_new_messages(hook.place(), ended, now=hook.now, zone=hook.zone, messages=messages)
    return saved.path if isinstance(saved, Saved) else None


def _inject(hook: _Hook, event: str, text: str) -> None:
    """Add text to the conversation, in the form that the host accepts."""
    context = HOOK_FILES[hook.call.host].context(event, text) if text else None
    if context is not None:
        say(json.dumps(context))


_EVENTS = {
    "session-start": "print notes for a new session",
    "prompt": "a prompt was sent",
    "pre-compact": "save the last messages before they are compacted",
    "stop": "a turn is over; prints nothing",
    "session-end": "save the last messages of a session",
}
_HANDLERS: dict[str, Callable[[_Hook], str | None]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "pre-compact": _save,
    "stop": _stop,
    "session-end": _save,
}


# -- where ---------------------------------------------------------------------------------------


def _root(arguments: argparse.Namespace) -> Path:
    return Path(os.path.realpath(workspace_of(arguments)))


def _state_dir(arguments: argparse.Namespace) -> Path:
    from notewell.config import default_state_dir

    folder = arguments.state_dir
    return Path(folder).expanduser() if folder else default_state_dir()


def _folder(arguments: argparse.Namespace) -> Path:
    from notewell.capture import capture_dir

    return capture_dir(_state_dir(arguments), location_of(arguments).agent, _root(arguments))


def _messages(arguments: argparse.Namespace) -> int:
    """How many messages to save; 0 if the settings switch it off."""
    from notewell.config import load_settings

    settings = load_settings(_root(arguments), location_of(arguments).agent)
    return 0 if settings.off_because else settings.capture.session_messages
