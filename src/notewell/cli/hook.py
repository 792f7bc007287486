"""`notewell hook`: the commands that hosts such as Claude Code and Codex call while they work.

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
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from notewell.cli.hook_call import (
    TookTooLong,
    calls_in,
    context_json,
    parse_call,
    run_within,
    standard_input,
    why_not,
)
from notewell.cli.hook_events import HookResult, run_event
from notewell.cli.hook_keep import keeps_conversations
from notewell.cli.hook_setup import folder_of, messages_of, open_hook
from notewell.cli.hook_turns import not_searched
from notewell.cli.output import flush, give_up_output, say, tell
from notewell.cli.place import add_pins, add_place, apply_pins, refuse_place
from notewell.errors import (
    BadSetting,
    MemoryOff,
    OutputFailed,
    WorkspaceMissing,
    WorkspaceNotSet,
)
from notewell.hosts import HOOK_CALLS, HOOK_FILES, HOOK_GUARD

if TYPE_CHECKING:
    import argparse
    from datetime import tzinfo

    from notewell.cli.hook_setup import Hook
    from notewell.config import Settings
    from notewell.errors import NotewellError

LEASE_WAIT_S = 1.0
"""Another process is writing the index: it does the work of the hook, too."""


def add_options(parser: argparse.ArgumentParser) -> None:
    from argparse import BooleanOptionalAction

    from notewell.cli.hook_keep import add_notes_only

    actions = parser.add_subparsers(
        title="actions", description="", metavar="ACTION", required=True
    )
    for event, summary in _EVENTS.items():
        command = actions.add_parser(event, help=summary)
        command.set_defaults(action=event, wait=LEASE_WAIT_S)
        command.add_argument(
            "--host", choices=tuple(HOOK_CALLS), default="claude", help="the host that calls"
        )
        command.add_argument(
            "--keep",
            action="store_true",
            help="keep conversations whole, unless settings say no",
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
        "--recall",
        action=BooleanOptionalAction,
        default=True,
        help="print what notes say about each prompt (default: yes)",
    )
    add_notes_only(install)
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
    refuse_place(uninstall)


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
        zone = now.astimezone().tzinfo or UTC
        # All of them: what one does not finish does not concern the others.
        done = [handle(arguments, call, now, zone) for call in calls_in(standard_input())]
        if not all(done):
            _leave()
    return 0


def _leave() -> None:
    """End the process while a thread still works: an orderly exit would let it finish, or crash in
    the middle of native code. Files are safe: a kill at any moment is."""
    with suppress(OSError):
        flush()
        sys.stderr.flush()
    os._exit(0)


def handle(arguments: argparse.Namespace, data: bytes, now: datetime, zone: tzinfo) -> bool:
    """Handle one call; a failure goes into the heartbeat file. Returns False if the work is not
    finished: the process must end without waiting for its thread."""
    started, event, host = time.monotonic(), arguments.action, arguments.host
    try:
        call = parse_call(event, host, data)
    except (TypeError, ValueError) as error:
        _report(arguments, now, None, HookResult(trouble=str(error)))
        return True
    if call.is_subagent:
        return True
    hook, failure, result = None, None, HookResult()
    try:
        hook = open_hook(arguments, call, now, zone, started)
        result = run_within(started, hook.end, partial(run_event, hook))
    except MemoryOff:
        return True  # The user switched the memory off: not a failure.
    except WorkspaceNotSet as error:
        with suppress(OSError, OutputFailed):
            _notify(event, host, error)
        return True  # Without a folder of notes there is no heartbeat file either.
    except Exception as error:  # noqa: BLE001 - a surface, whose failure must not stop the host
        failure = error
        result = HookResult(trouble=str(error) or type(error).__name__)
    try:
        _answer(arguments, hook, failure)
    except (OSError, OutputFailed) as error:
        # The host has gone, or its disk is full. What the hook has done is still recorded.
        give_up_output()
        result = result._replace(trouble=result.trouble or f"no answer was written: {error}")
    _report(arguments, now, hook.settings if hook else None, result)
    return not isinstance(failure, TookTooLong)


def _answer(arguments: argparse.Namespace, hook: Hook | None, failure: Exception | None) -> None:
    unread = BadSetting if hook is None else WorkspaceMissing
    is_start = arguments.action == "session-start"
    if is_start and isinstance(failure, (WorkspaceMissing, unread)):
        _notify(arguments.action, arguments.host, failure)
    else:
        _print(arguments, hook, failure)
    flush()


def _answers(arguments: argparse.Namespace, hook: Hook | None) -> bool:
    """Whether the memory should have answered. The model must know then that there is nothing for
    another reason than that no note is about it."""
    if arguments.action == "session-start":
        return True
    if hook.recalls_notes if hook else getattr(arguments, "recall", False):
        return True
    entries = hook.settings.entries if hook else None
    return arguments.action == "prompt" and entries is not None and entries.auto_recall


def _print(arguments: argparse.Namespace, hook: Hook | None, failure: Exception | None) -> None:
    """Print what there is for the conversation, or why there is nothing."""
    # A copy: a thread that is late may still append.
    texts = [*hook.context] if hook else []
    if failure and not any(texts) and _answers(arguments, hook):
        texts.append(not_searched(why_not(failure)))
    text = "\n\n".join(filter(None, texts))
    context = context_json(arguments.action, arguments.host, text)
    if context is not None:
        say(context)


def _report(
    arguments: argparse.Namespace, now: datetime, settings: Settings | None, result: HookResult
) -> None:
    """Write the heartbeat, also after a failure: `doctor` then can say when hooks ran last."""
    from notewell.capture import record_hook_run

    event, trouble = arguments.action, result.trouble
    # A failure to write it is reported only if there was no other.
    try:
        record_hook_run(
            folder_of(arguments),
            event,
            arguments.host,
            now,
            captured=result.captured,
            trouble=trouble,
            is_on=settings is None or bool(messages_of(settings)),
            keeps=None if settings is None else keeps_conversations(arguments, settings),
            kept=result.has_kept,
        )
    except Exception as error:  # noqa: BLE001 - a surface, whose failure must not stop the host
        trouble = trouble or str(error)
    # The output of a stop hook can keep a host from stopping, so this event is always silent.
    if trouble and event != "stop":
        with suppress(OSError):
            tell(f"notewell: {trouble}")


def _notify(event: str, host: str, error: NotewellError) -> None:
    """Say it to the user and to the model, once in a session: standard error is seen by nobody."""
    if event == "session-start":
        context = HOOK_CALLS[host].context("SessionStart", not_searched(why_not(error))) or {}
        say(json.dumps({"systemMessage": f"Notewell: {error}", **context}))


_EVENTS = {
    "session-start": "print notes for a new session",
    "prompt": "a prompt was sent",
    "pre-compact": "save the last messages before they are compacted",
    "stop": "a turn is over; prints nothing",
    "session-end": "save the last messages of a session",
}
