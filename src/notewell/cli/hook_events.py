"""What the hooks do, one function for each event. `hook` calls them, prints and reports."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.cli.hook_call import time_of
from notewell.cli.hook_keep import (
    KeptNow,
    keep_earlier,
    keep_now,
    keeps_conversations,
    remember_start,
)
from notewell.cli.hook_turns import (
    capture_entries,
    has_entries_due,
    is_gone,
    recalled_entries,
    recalled_notes,
)
from notewell.cli.place import location_of, workspace_of
from notewell.errors import NoteUnreadable
from notewell.hosts import HOOK_CALLS
from notewell.records import dataclass, field, replace
from notewell.redaction import DeferredRedactor, RememberingRedactor

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from datetime import datetime, tzinfo

    from notewell.capture import NoteWriter, SessionEnd
    from notewell.cli.hook_call import HookCall
    from notewell.config import Settings
    from notewell.memory import Memory

CONTEXT_CHARS = 2700
"""Per note. Codex accepts 10 000 characters from a hook, others more; there are three notes."""
SESSION_CHARS = 1000
"""Of the end of the last conversation."""
MAX_QUESTION_CHARS = 2000


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


# -- one function for each event -----------------------------------------------------------------


class HookResult(NamedTuple):
    """For the heartbeat; the answer to the host is on standard output."""

    captured: str | None = None
    """The path of the note that was made."""
    trouble: str | None = None
    """What did not work, although the hook did its work."""
    has_kept: bool = False
    """Messages of a conversation were kept."""


def run_event(hook: Hook) -> HookResult:
    """Do the work of the event, and keep the conversation. Keeping comes first: it must not depend
    on a note. But a prompt waits for its recall, so that comes first there."""
    if hook.call.event == "session-start":
        return _session_start(hook)
    if hook.call.event == "prompt":
        result = _prompt(hook)
        return _with_kept(result, keep_now(hook))
    kept = keep_now(hook)
    result = _ENDS[hook.call.event](hook, kept)
    return _with_kept(result, kept)


def _with_kept(result: HookResult, kept: KeptNow) -> HookResult:
    return HookResult(result.captured, result.trouble or kept.trouble, kept.messages > 0)


def _session_start(hook: Hook) -> HookResult:
    left = None
    try:
        remember_start(hook)
        saved = _save_earlier(hook)
    finally:  # A failure with an earlier conversation must not affect the new one.
        with hook.memory() as memory:
            left = _begin(hook, memory)
    return saved._replace(trouble=saved.trouble or left)


def _begin(hook: Hook, memory: Memory) -> str | None:
    """Print the notes of a new session, then bring the index up to date; what is left to do."""
    from notewell.tools import REMINDER, TOOLS_LINE, bootstrap, last_session, refresh_words

    today = hook.now.astimezone(hook.zone).date()
    limit = min(CONTEXT_CHARS, hook.settings.capture.bootstrap_chars)
    notes = bootstrap(memory, today, max_chars=limit)
    last = last_session(memory, max_chars=min(SESSION_CHARS, limit))
    if notes or last or memory.notes.scan().notes:
        # Once: `bootstrap` begins with it.
        reminder = REMINDER if last and not notes else ""
        hook.context.extend((TOOLS_LINE, notes, reminder, last))
    left = refresh_words(memory, within_s=hook.left_s)
    trouble = capture_entries(memory, hook.folder) if has_entries_due(hook.folder) else None
    return left or trouble


def _save_earlier(hook: Hook) -> HookResult:
    """Save the earlier conversations whose end the host did not report."""
    from notewell.capture import forget_pending, pending_sessions

    waiting = pending_sessions(hook.folder, hook.call.session)
    earlier = keep_earlier(hook, waiting)
    first, done, failures = HookResult(), [], []
    for ended in waiting:
        if not ended.has_note:
            done.append(ended.session)
            continue
        try:
            result = _save_ended(hook, ended)
            first = HookResult(first.captured or result.captured, first.trouble or result.trouble)
        except NoteUnreadable as error:
            failures.append(error)
            if not is_gone(error):
                continue  # It waits on; the conversations after it must not wait with it.
        done.append(ended.session)
    if done:
        still = [ended for ended in earlier.waiting if ended.session in done]
        forget_pending(hook.folder, done, still=still)
    if failures:
        raise failures[0]  # One that is gone is reported once: it is no longer waited for.
    return _with_kept(first, KeptNow(earlier.messages, trouble=earlier.trouble))


def _prompt(hook: Hook) -> HookResult:
    # A long prompt is mostly pasted text; its beginning has the question.
    question = hook.call.prompt[:MAX_QUESTION_CHARS].strip()
    if hook.settings.off_because or not question:
        return HookResult()
    recalls_notes = hook.recalls_notes
    entries = hook.settings.entries
    recalls_entries = entries is not None and entries.auto_recall
    if not recalls_notes and not recalls_entries:
        return HookResult()
    troubles = []
    transcript = hook.call.transcript
    with hook.memory() as memory:
        if recalls_notes:
            recalled = recalled_notes(
                memory,
                question,
                within_s=hook.left_s,
                transcript=transcript and Path(transcript).expanduser().as_posix(),
            )
            hook.context.append(recalled.text)
            troubles.append(recalled.trouble)
        if recalls_entries:
            recalled = recalled_entries(memory, question)
            hook.context.append(recalled.text)
            troubles.append(recalled.trouble)
    return HookResult(trouble=next(filter(None, troubles), None))


def _stop(hook: Hook, _kept: KeptNow) -> HookResult:
    # A host that has this event may not report the end of a session.
    if "stop" in HOOK_CALLS[hook.call.host].events.values() and hook.call.transcript:
        from notewell.capture import remember_pending

        remember_pending(hook.folder, hook.ended())
    return HookResult(trouble=_entries_trouble(hook))


def _entries_trouble(hook: Hook) -> str | None:
    """Capture entries, if the settings say so and the host has named its transcript."""
    settings = hook.settings.entries
    if settings is None or not settings.auto_capture or not hook.call.transcript:
        return None
    if hook.settings.off_because:
        return None
    with hook.memory() as memory:
        return capture_entries(memory, hook.folder, hook.ended())


def _pre_compact(hook: Hook, _kept: KeptNow) -> HookResult:
    """The flush that a hook can do: it cannot insert a turn, but it can save the messages."""
    from notewell.capture import FlushFacts, flush_due, remember_pending

    if hook.settings.off_because:
        return HookResult()
    flush = hook.settings.capture.flush
    if hook.is_compacting:
        # Asked although no turn can follow: the log of decisions then has every compaction.
        facts = FlushFacts(0, 0, provider="cli", compacting=True)
        id_, now = hook.call.session or "unknown", hook.now
        flush_due(hook.folder, id_, facts, settings=flush, zone=hook.zone, clock=lambda: now)
    if flush.enabled:
        # The session goes on, and its host may be killed before it reports the end.
        remember_pending(hook.folder, hook.ended())
        # Else each request would make a note. The transcript keeps what may be compacted.
        if hook.is_compacting:
            return _save(hook)
    return HookResult(trouble=_entries_trouble(hook))


def _session_end(hook: Hook, kept: KeptNow) -> HookResult:
    from notewell.capture import forget_pending

    result, ended = _save(hook), hook.ended()
    forget_pending(hook.folder, [ended.session], still=() if kept.is_complete else [ended])
    return result


def _save(hook: Hook) -> HookResult:
    try:
        saved = _save_ended(hook, hook.ended())
    finally:  # The two captures are independent of each other.
        trouble = _entries_trouble(hook)
    return saved._replace(trouble=saved.trouble or trouble)


def _save_ended(hook: Hook, ended: SessionEnd) -> HookResult:
    from notewell.capture import Saved, forgotten_filter, save_new_messages
    from notewell.sessions import forgotten_file, was_compacted

    messages = messages_of(hook.settings)
    if not messages:
        return HookResult()
    calls = HOOK_CALLS.get(ended.host)
    if calls and not calls.compacts_after_event and was_compacted(ended.transcript):
        ended = replace(ended, is_compacting=True)
    saved = save_new_messages(
        hook.place(),
        ended,
        now=hook.now,
        zone=hook.zone,
        messages=messages,
        name_it=_namer(hook),
        leaves_out=forgotten_filter(forgotten_file(hook.kept), ended.transcript),
    )
    if not isinstance(saved, Saved):
        return HookResult()
    why = saved.unnamed_because
    return HookResult(saved.path, f"{saved.path} is named by its time: {why}" if why else None)


def _namer(hook: Hook) -> Callable[[str], str] | None:
    """The program that names a session note; None if there is none."""
    command = hook.settings.capture.slug_command
    if not command:
        return None  # Without the import: a host waits, and most users have no such program.
    from notewell.capture import SLUG_TIMEOUT_S, slug_namer

    return slug_namer(command, min(SLUG_TIMEOUT_S, hook.left_s))


_ENDS: dict[str, Callable[[Hook, KeptNow], HookResult]] = {
    "pre-compact": _pre_compact,
    "stop": _stop,
    "session-end": _session_end,
}
"""The events at which something was said."""


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
    from notewell.assembly import index_dir, store_at

    agent, store = location_of(arguments).agent, settings.store
    folder = index_dir(_state_dir(arguments), agent, _root(arguments), store.path)
    return not store_at(folder, store).change_mark()


# -- where ---------------------------------------------------------------------------------------


def _root(arguments: argparse.Namespace) -> Path:
    return Path(os.path.realpath(workspace_of(arguments)))


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
