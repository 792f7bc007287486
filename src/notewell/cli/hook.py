"""`notewell hook`: the commands that Claude Code, Codex and Cursor call while they work.

    session-start   print notes for the new session         stop          never print anything
    prompt          with --recall, print what notes say     session-end   save the messages
    pre-compact     save the messages                       (entries: see `hook_turns`)

The host writes JSON to standard input. The exit code is always 0: a failure of the memory must not
stop the host. Failures go into the heartbeat file, which `notewell doctor` reads.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.cli.output import say, tell
from notewell.cli.place import add_pins, add_place, apply_pins, location_of, workspace_of
from notewell.errors import MemoryOff, NoteUnreadable, WorkspaceMissing, WorkspaceNotSet
from notewell.hosts import HOOK_FILES, HOOK_GUARD
from notewell.records import dataclass

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from datetime import tzinfo

    from notewell.capture import NoteWriter, SessionEnd
    from notewell.config import Settings
    from notewell.memory import Memory

MAX_INPUT_BYTES = 8 * 1024 * 1024
"""Enough for a prompt with a pasted file; the rest of the JSON is short."""
CONTEXT_CHARS = 3000
"""Per note. Codex accepts 10 000 characters from a hook, others more; there are three notes."""
LEASE_WAIT_S = 1.0
"""Another process is writing the index: it does the work of the hook, too."""
MAX_QUESTION_CHARS = 2000
WORK_S = 8.0
"""For all that a hook does: a host ends it after ten seconds (`HOOK_TIMEOUT_S`), and its answer is
lost then. The program of the user and the index get what is left of this time."""


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
        command.set_defaults(action=event, wait=LEASE_WAIT_S)
        command.add_argument(
            "--host", choices=tuple(HOOK_FILES), default="claude", help="the host that calls"
        )
        add_place(command, json=False)
        add_pins(command)
        if event == "prompt":
            command.add_argument(
                "--recall", action="store_true", help="print what notes say about the prompt"
            )
    install = actions.add_parser("install", help="add these hooks to a host's file")
    install.set_defaults(action="install")
    install.add_argument("host", choices=tuple(HOOK_FILES))
    install.add_argument(
        "--recall", action="store_true", help="also print what notes say about each prompt"
    )
    install.add_argument("--print", action="store_true", help="print the entry and change nothing")
    install.add_argument(
        "--project", metavar="DIR", help="edit the file of this project (default: the user's file)"
    )
    add_place(install)
    uninstall = actions.add_parser("uninstall", help="take these hooks out again")
    uninstall.set_defaults(action="uninstall")
    uninstall.add_argument("host", choices=tuple(HOOK_FILES))
    uninstall.add_argument(
        "--project", metavar="DIR", help="edit the file of this project (default: the user's file)"
    )
    uninstall.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "uninstall":
        from notewell.cli.clients import run_hook_uninstall

        return run_hook_uninstall(arguments)
    if arguments.action == "install":
        from notewell.cli.clients import run_hook_install

        return run_hook_install(arguments)
    # Checked before anything is imported or written: a guarded agent must leave no trace.
    if not os.environ.get(HOOK_GUARD):
        apply_pins(arguments)
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
    from notewell.capture import record_hook_run, user_zone

    event, host = arguments.action, arguments.host
    settings = captured = trouble = None
    try:
        call = parse_call(event, host, data)
        if call.is_subagent:
            return
        settings = _settings(arguments)
        user = user_zone(settings.capture) or zone
        hook = _Hook(arguments, call, now, user, settings, time.monotonic() + WORK_S)
        captured, trouble = _HANDLERS[event](hook)
    except MemoryOff:
        return  # The user switched the memory off: not a failure.
    except WorkspaceNotSet as error:
        _notify(event, host, str(error))
        return  # Without a folder of notes there is no heartbeat file either.
    except WorkspaceMissing as error:
        trouble = str(error)
        _notify(event, host, trouble)
    except Exception as error:  # noqa: BLE001 - a surface, whose failure must not stop the host
        trouble = str(error) or type(error).__name__
    # The heartbeat is written for every event, also after a failure: `doctor` then can say when
    # hooks ran last. Its own failure is reported only if there was no other.
    try:
        is_on = settings is None or bool(_messages(settings))
        folder = _folder(arguments)
        record_hook_run(folder, event, host, now, captured=captured, trouble=trouble, is_on=is_on)
    except Exception as error:  # noqa: BLE001 - likewise
        trouble = trouble or str(error)
    # The output of a stop hook can keep a host from stopping, so this event is always silent.
    if trouble and event != "stop":
        tell(f"notewell: {trouble}")


def _notify(event: str, host: str, text: str) -> None:
    """Say it to the user and to the model, once in a session: standard error is seen by nobody."""
    if event == "session-start":
        notice = f"Notewell: {text}"
        context = HOOK_FILES[host].context("SessionStart", notice) or {}
        say(json.dumps({"systemMessage": notice, **context}))


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
    """The user's: it decides the day of a note."""
    settings: Settings
    deadline: float
    """On the monotonic clock."""

    @property
    def left_s(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

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
        return SessionEnd(
            path,
            call.session or path.stem,
            call.host,
            call.cwd,
            reason,
            is_compacting=call.event == "pre-compact",
        )


# -- one function for each event -----------------------------------------------------------------


class HookResult(NamedTuple):
    """For the heartbeat; the answer to the host is on standard output."""

    captured: str | None = None
    """The path of the note that was made."""
    trouble: str | None = None
    """What did not work, although the hook did its work."""


def _session_start(hook: _Hook) -> HookResult:
    left = None
    try:
        saved = _save_earlier(hook)
    finally:  # A failure with an earlier conversation must not affect the new one.
        with hook.memory() as memory:
            left = _begin(hook, memory)
    return saved._replace(trouble=saved.trouble or left)


def _begin(hook: _Hook, memory: Memory) -> str | None:
    """Print the notes of a new session, then bring the index up to date; what is left to do."""
    from notewell.cli.hook_turns import SYNC_S
    from notewell.tools import bootstrap, refresh_words

    today = hook.now.astimezone(hook.zone).date()
    limit = min(CONTEXT_CHARS, hook.settings.capture.bootstrap_chars)
    _inject(hook, "SessionStart", bootstrap(memory, today, max_chars=limit))
    return refresh_words(memory, within_s=min(SYNC_S, hook.left_s))


def _save_earlier(hook: _Hook) -> HookResult:
    """Save the earlier conversations whose end the host did not report."""
    from notewell.capture import forget_pending, pending_sessions

    waiting = pending_sessions(hook.folder, hook.call.session)
    first, unreadable = HookResult(), None
    for ended in waiting:
        try:
            result = _save_ended(hook, ended)
            first = first if first.captured else result
        except NoteUnreadable as error:
            if not _is_gone(error):
                raise
            unreadable = error
    if waiting:
        forget_pending(hook.folder, [ended.session for ended in waiting])
    if unreadable:
        raise unreadable  # Reported once: the conversation is no longer waited for.
    return first


def _is_gone(error: NoteUnreadable) -> bool:
    """No file, or no known format. A file that may not be read now may be readable later."""
    cause = error.__cause__
    return cause is None or isinstance(
        cause, (FileNotFoundError, IsADirectoryError, NotADirectoryError)
    )


def _prompt(hook: _Hook) -> HookResult:
    # A long prompt is mostly pasted text; its beginning has the question.
    question = hook.call.prompt[:MAX_QUESTION_CHARS].strip()
    if hook.settings.off_because or not question:
        return HookResult()
    from notewell.cli.hook_turns import RecalledText, recalled_entries, recalled_notes

    notes = RecalledText()
    if getattr(hook.arguments, "recall", False):
        with hook.memory() as memory:
            notes = recalled_notes(memory, question)
    entries = recalled_entries(hook.arguments, hook.settings, question)
    _inject(hook, "UserPromptSubmit", "\n\n".join(filter(None, (notes.text, entries.text))))
    return HookResult(trouble=notes.trouble or entries.trouble)


def _stop(hook: _Hook) -> HookResult:
    # A host that has this event may not report the end of a session.
    if "stop" in HOOK_FILES[hook.call.host].events.values() and hook.call.transcript:
        from notewell.capture import remember_pending

        remember_pending(hook.folder, hook.ended())
    return HookResult(trouble=_entries_trouble(hook))


def _entries_trouble(hook: _Hook) -> str | None:
    """Capture entries, if the settings say so and the host has named its transcript."""
    if hook.settings.entries is None or not hook.call.transcript:
        return None
    from notewell.cli.hook_turns import capture_entries

    return capture_entries(hook.arguments, hook.settings, hook.folder, hook.ended())


def _pre_compact(hook: _Hook) -> HookResult:
    """The flush that a hook can do: it cannot insert a turn, but it can save the messages."""
    from notewell.capture import FlushFacts, flush_due, remember_pending

    if hook.settings.off_because:
        return HookResult()
    settings = hook.settings.capture.flush
    # Asked although no turn can follow: the log of decisions then has every compaction.
    facts = FlushFacts(0, 0, provider="cli", compacting=True)
    session = hook.call.session or "unknown"
    flush_due(
        hook.folder, session, facts, settings=settings, zone=hook.zone, clock=lambda: hook.now
    )
    if settings.enabled:
        # The session goes on, and its host may be killed before it reports the end.
        remember_pending(hook.folder, hook.ended())
        return _save(hook)
    return HookResult(trouble=_entries_trouble(hook))


def _session_end(hook: _Hook) -> HookResult:
    from notewell.capture import forget_pending

    result = _save(hook)
    forget_pending(hook.folder, [hook.ended().session])
    return result


def _save(hook: _Hook) -> HookResult:
    try:
        saved = _save_ended(hook, hook.ended())
    finally:  # The two captures are independent of each other.
        trouble = _entries_trouble(hook)
    return saved._replace(trouble=saved.trouble or trouble)


def _save_ended(hook: _Hook, ended: SessionEnd) -> HookResult:
    from notewell.capture import SLUG_TIMEOUT_S, Saved, save_new_messages, slug_namer

    messages, command = _messages(hook.settings), hook.settings.capture.slug_command
    if not messages:
        return HookResult()
    saved = save_new_messages(
        hook.place(),
        ended,
        now=hook.now,
        zone=hook.zone,
        messages=messages,
        name_it=slug_namer(command, min(SLUG_TIMEOUT_S, hook.left_s)),
    )
    if not isinstance(saved, Saved):
        return HookResult()
    why = saved.unnamed_because
    return HookResult(saved.path, f"{saved.path} is named by its time: {why}" if why else None)


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
_HANDLERS: dict[str, Callable[[_Hook], HookResult]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "pre-compact": _pre_compact,
    "stop": _stop,
    "session-end": _session_end,
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


def _settings(arguments: argparse.Namespace) -> Settings:
    from notewell.config import load_settings

    location = location_of(arguments)
    # Those of an OpenClaw are translated already.
    return location.settings or load_settings(_root(arguments), location.agent)


def _messages(settings: Settings) -> int:
    """How many messages to save; 0 if the settings switch it off."""
    return 0 if settings.off_because else settings.capture.session_messages
