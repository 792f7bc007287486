"""What a hook works with: the call of the host, the settings, the deadlines and the folders."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.hook_call import time_of
from notewell.cli.hook_keep import keeps_conversations
from notewell.cli.place import IN_DATABASE, location_of, workspace_of
from notewell.errors import BadSetting
from notewell.hosts import HOOK_CALLS
from notewell.records import dataclass, field
from notewell.redaction import DeferredRedactor, RememberingRedactor

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from datetime import datetime, tzinfo

    from notewell.capture import NoteWriter, SessionEnd
    from notewell.cli.hook_call import HookCall
    from notewell.config import Settings
    from notewell.memory import Memory

NEEDS_A_FOLDER = (
    "hooks need a folder of notes; to keep conversations beside notes in a database, connect the "
    "host to `notewell serve` and post them to /v1/sessions"
)
"""Hooks keep files beside the index of one machine, which no other replica would find."""


@dataclass(frozen=True, slots=True)
class Hook:
    arguments: argparse.Namespace
    call: HookCall
    now: datetime
    zone: tzinfo
    """The user's: it decides the day of a note."""
    settings: Settings
    deadline: float
    """On the monotonic clock: for the parts of the work that can be told (`HookTime.work`)."""
    end: float
    """Likewise, for all of it."""
    redact: Callable[[str], str]
    indexes_first: bool = False
    """The prompt waits until there is an index."""
    context: list[str] = field(default_factory=list)
    """Text for the conversation. A list that grows: what is there when the time is over is
    printed."""

    @property
    def left_s(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    @property
    def folder(self) -> Path:
        return folder_of(self.arguments)

    @property
    def state_dir(self) -> Path:
        return _state_dir(self.arguments)

    @property
    def keeps(self) -> bool:
        """Whether conversations are kept whole."""
        return keeps_conversations(self.arguments, self.settings)

    @property
    def recalls_notes(self) -> bool:
        """Whether a prompt gets what notes say about it."""
        return recalls_notes(self.arguments, self.settings)

    @property
    def kept(self) -> Path:
        from notewell.sessions import kept_dir

        return kept_dir(self.state_dir, location_of(self.arguments).agent, _root(self.arguments))

    def place(self) -> NoteWriter:
        from notewell.capture import NoteWriter
        from notewell.notes import open_notes

        return NoteWriter(open_notes(_root(self.arguments)), self.folder, self.redact)

    def memory(self) -> Memory:
        """With an embedder that gives up before the hook has to: keywords then still answer."""
        from notewell.cli.place import memory_of

        arguments = self.arguments
        if self.indexes_first:
            # The process that is building the index does the work of this hook, too. Elsewhere
            # what is indexed already answers; here only the whole of it does.
            arguments = Namespace(**{**vars(arguments), "wait": self.left_s})
        return memory_of(arguments, by_host=True, embedder_s=self.left_s)

    @property
    def is_compacting(self) -> bool:
        is_certain = HOOK_CALLS[self.call.host].compacts_after_event
        return self.call.event == "pre-compact" and is_certain

    def ended(self) -> SessionEnd:
        from notewell.capture import SessionEnd, is_compacted

        call = self.call
        if not call.transcript:
            raise ValueError(f"{call.host} named no transcript")
        path = Path(call.transcript).expanduser()
        reason = f"{call.event} ({call.detail})" if call.detail else call.event
        session = call.session or path.stem
        return SessionEnd(
            path,
            session,
            call.host,
            call.cwd,
            reason,
            is_compacting=self.is_compacting or is_compacted(self.folder, session),
        )


def open_hook(
    arguments: argparse.Namespace,
    call: HookCall,
    now: datetime,
    zone: tzinfo,
    started: float,
) -> Hook:
    from notewell.capture import user_zone

    settings = _settings(arguments)
    recalls = call.event == "prompt" and recalls_notes(arguments, settings)
    indexes_first = recalls and _has_no_index(arguments, settings)
    work, end = time_of(call.event, call.host, settings.capture, indexes_first=indexes_first)
    user = user_zone(settings.capture) or zone
    redact = RememberingRedactor(DeferredRedactor(_state_dir(arguments)))
    return Hook(
        arguments,
        call,
        now,
        user,
        settings,
        started + work,
        started + end,
        redact,
        indexes_first,
    )


def recalls_notes(arguments: argparse.Namespace, settings: Settings) -> bool:
    return getattr(arguments, "recall", False) and settings.capture.hook_recall


def _has_no_index(arguments: argparse.Namespace, settings: Settings) -> bool:
    """Whether the notes were never indexed. Copilot CLI runs the start of a session and its first
    prompt at the same time: then both hooks index them, and one waits for the other."""
    if settings.qmd is not None or settings.off_because:
        return False  # QMD has its own index, and its own times for updating it.
    from notewell.stores import index_dir, store_at

    agent, store = location_of(arguments).agent, settings.store
    folder = index_dir(_state_dir(arguments), agent, _root(arguments), store.path)
    return not store_at(folder, store).change_mark()


# -- where ---------------------------------------------------------------------------------------


def _root(arguments: argparse.Namespace) -> Path:
    workspace = workspace_of(arguments)
    if workspace == IN_DATABASE:
        raise BadSetting("-w", NEEDS_A_FOLDER)
    return Path(os.path.realpath(workspace))


def _state_dir(arguments: argparse.Namespace) -> Path:
    from notewell.config import default_state_dir

    folder = arguments.state_dir
    return Path(folder).expanduser() if folder else default_state_dir()


def folder_of(arguments: argparse.Namespace) -> Path:
    from notewell.capture import capture_dir

    return capture_dir(_state_dir(arguments), location_of(arguments).agent, _root(arguments))


def _settings(arguments: argparse.Namespace) -> Settings:
    from notewell.config import load_settings

    location = location_of(arguments)
    # Those of an OpenClaw are translated already.
    return location.settings or load_settings(_root(arguments), location.agent)


def messages_of(settings: Settings) -> int:
    """How many messages to save; 0 if the settings switch it off."""
    return 0 if settings.off_because else settings.capture.session_messages
