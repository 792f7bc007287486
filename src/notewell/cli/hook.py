"""`notewell hook`: what Claude Code, Codex and Cursor call while they work.

    session-start   print what the session begins with      stop          print nothing, ever
    prompt          print what memory has, with --recall    session-end   save what was said
    pre-compact     save what was said

The host's JSON comes in on standard input. Whatever happens the exit code is 0: a memory that
fails must not stop the work. Failures are left in the heartbeat, which `notewell doctor` reads.
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
from notewell.cli.place import add_place, meant, workspace_of
from notewell.errors import MemoryOff, NoteUnreadable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from datetime import tzinfo

    from notewell.capture import Ended, Place
    from notewell.memory import Memory

GUARD = "NOTEWELL_HOOK"
"""Set in the environment of an agent that is started by a hook or by a flush: its own hooks then
do nothing, and no conversation about a conversation is ever captured."""

HOSTS = ("claude", "codex", "cursor")
MAX_INPUT_BYTES = 8 * 1024 * 1024
"""A prompt with a whole file pasted in; the rest of the JSON is a few lines."""
CONTEXT_CHARS = 3000
"""Of each note. Codex takes 10 000 characters from a hook, others more; there are three notes."""
RECALLED = 3
MAX_QUESTION_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Called:
    """What a host says when it calls."""

    event: str
    host: str
    session: str
    transcript: str | None
    cwd: str | None
    detail: str
    """Why: startup, resume, compact; auto, manual; clear, logout."""
    prompt: str
    is_helper: bool
    """A subagent: what it says is not the user's conversation."""


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for event, summary in _EVENTS.items():
        command = actions.add_parser(event, help=summary)
        command.set_defaults(action=event)
        command.add_argument("--host", choices=HOSTS, default="claude", help="who calls")
        add_place(command, json=False)
        if event == "prompt":
            command.add_argument(
                "--recall", action="store_true", help="print what notes have on the prompt"
            )
    install = actions.add_parser("install", help="let a host call these")
    install.set_defaults(action="install")
    install.add_argument("host", choices=HOSTS)
    install.add_argument("--print", action="store_true", help="print the entry, change nothing")
    install.add_argument(
        "--project", metavar="DIR", help="into this project's file (default: the user's)"
    )
    add_place(install)


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "install":
        from notewell.cli.hook_install import run_install

        return run_install(arguments)
    if not os.environ.get(GUARD):
        now = datetime.now(UTC)
        answer(arguments, _told(), now, now.astimezone().tzinfo or UTC)
    return 0


def _told() -> bytes:
    """What the host says; nothing where nobody is there to say it, or its pipe is broken."""
    try:
        # Standard input may be closed: then there is none.
        is_host = sys.stdin is not None and not sys.stdin.isatty()
        return sys.stdin.buffer.read(MAX_INPUT_BYTES) if is_host else b""
    except OSError:
        return b""


def answer(arguments: argparse.Namespace, data: bytes, now: datetime, zone: tzinfo) -> None:
    """Do what the event asks for; a failure is left in the heartbeat."""
    from notewell.capture import beat

    event, host = arguments.action, arguments.host
    captured = trouble = None
    try:
        called = heard(event, host, data)
        if called.is_helper:
            return
        captured = _HANDLERS[event](_Hook(arguments, called, now, zone))
    except MemoryOff:
        return  # The user wants none: that is no trouble.
    except Exception as error:  # noqa: BLE001 - a surface, and one whose failure nobody must feel
        trouble = str(error) or type(error).__name__
    try:
        is_on = bool(_messages(arguments))
        folder = _folder(arguments)
        beat(folder, event, host, now, captured=captured, trouble=trouble, is_on=is_on)
    except Exception as error:  # noqa: BLE001 - likewise
        trouble = trouble or str(error)
    if trouble and event != "stop":
        tell(f"notewell: {trouble}")


def heard(event: str, host: str, data: bytes) -> Called:
    """The host's JSON as values; what is missing or of another kind counts as not said."""
    try:
        told = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise ValueError(f"{host} sent no JSON to the {event} hook") from None
    if not isinstance(told, dict):
        raise TypeError(f"{host} sent JSON that is no object to the {event} hook")

    def text(*names: str) -> str:
        return next((told[name] for name in names if isinstance(told.get(name), str)), "")

    roots = told.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return Called(
        event=event,
        host=host,
        session=text("session_id", "conversation_id"),
        transcript=text("transcript_path") or None,
        cwd=text("cwd") or root or None,
        detail=text("source", "trigger", "reason"),
        prompt=text("prompt"),
        is_helper=bool(told.get("agent_id")),
    )


@dataclass(frozen=True, slots=True)
class _Hook:
    arguments: argparse.Namespace
    called: Called
    now: datetime
    zone: tzinfo

    @property
    def folder(self) -> Path:
        return _folder(self.arguments)

    def place(self) -> Place:
        from notewell.capture import Place
        from notewell.notes import Workspace
        from notewell.redaction import Redactor, load_mask_key

        key = load_mask_key(_state_dir(self.arguments))
        return Place(Workspace.open(_root(self.arguments)), self.folder, Redactor(key))

    def memory(self) -> Memory:
        from notewell.cli.place import memory_of

        return memory_of(self.arguments)

    def ended(self) -> Ended:
        from notewell.capture import Ended

        called = self.called
        if not called.transcript:
            raise ValueError(f"{called.host} named no transcript")
        path = Path(called.transcript).expanduser()
        reason = f"{called.event} ({called.detail})" if called.detail else called.event
        return Ended(path, called.session or path.stem, called.host, called.cwd, reason)


# -- what each event does; a note that was made is returned ---------------------------------------


def _session_start(hook: _Hook) -> str | None:
    from notewell.tools import bootstrap

    try:
        return _save_earlier(hook)
    finally:  # What went wrong with an older conversation is not the new one's fault.
        with hook.memory() as memory:
            today = hook.now.astimezone(hook.zone).date()
            _inject(hook, "SessionStart", bootstrap(memory, today, max_chars=CONTEXT_CHARS))


def _save_earlier(hook: _Hook) -> str | None:
    """Of a host that told of no end, the conversations before this one."""
    from notewell.capture import earlier, forget

    waiting = earlier(hook.folder, hook.called.session)
    saved, gone = None, None
    for one in waiting:
        try:
            path = _save_one(hook, one)
            saved = saved or path
        except NoteUnreadable as error:
            if not _is_gone(error):
                raise
            gone = error
    if waiting:
        forget(hook.folder, [one.session for one in waiting])
    if gone:
        raise gone  # Said once: it is not waited for again.
    return saved


def _is_gone(error: NoteUnreadable) -> bool:
    """No transcript, or one of no kind we know; what we may not read now may be read later."""
    return not isinstance(error.__cause__, OSError) or isinstance(
        error.__cause__, (FileNotFoundError, IsADirectoryError, NotADirectoryError)
    )


def _prompt(hook: _Hook) -> str | None:
    question = hook.called.prompt[:MAX_QUESTION_CHARS].strip()
    if not getattr(hook.arguments, "recall", False) or not question:
        return None
    from notewell.tools import REMINDER, fenced

    with hook.memory() as memory:
        hits = memory.search(question, max_results=RECALLED, mode="keyword").hits
    quoted = [fenced(hit.snippet, path=hit.path, lines=str(hit.span)) for hit in hits]
    _inject(hook, "UserPromptSubmit", "\n\n".join((REMINDER, *quoted)) if quoted else "")
    return None


def _stop(hook: _Hook) -> str | None:
    if hook.called.host == "codex" and hook.called.transcript:
        from notewell.capture import remember

        remember(hook.folder, hook.ended())
    return None


def _save(hook: _Hook) -> str | None:
    return _save_one(hook, hook.ended())


def _save_one(hook: _Hook, ended: Ended) -> str | None:
    from notewell.capture import Saved, save_new_messages

    messages = _messages(hook.arguments)
    if not messages:
        return None
    saved = save_new_messages(hook.place(), ended, now=hook.now, zone=hook.zone, messages=messages)
    return saved.path if isinstance(saved, Saved) else None


def _inject(hook: _Hook, event: str, text: str) -> None:
    """Into the conversation, as the host takes it; Cursor takes nothing with a prompt."""
    if not text:
        return
    if hook.called.host != "cursor":
        told = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        say(json.dumps(told))
    elif event == "SessionStart":
        say(json.dumps({"additional_context": text}))


_EVENTS = {
    "session-start": "print what a session begins with",
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

    told = arguments.state_dir
    return Path(told).expanduser() if told else default_state_dir()


def _folder(arguments: argparse.Namespace) -> Path:
    from notewell.capture import capture_dir

    return capture_dir(_state_dir(arguments), meant(arguments).agent, _root(arguments))


def _messages(arguments: argparse.Namespace) -> int:
    """How many messages to save; 0 where the settings say not to."""
    from notewell.config import load_settings

    settings = load_settings(_root(arguments), meant(arguments).agent)
    return 0 if settings.off_because else settings.capture.session_messages
