"""What the hooks do, one function for each event. `hook` calls them, prints and reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.cli.hook_keep import KeptNow, keep_earlier, keep_now, remember_start
from notewell.cli.hook_setup import Hook, messages_of
from notewell.cli.hook_turns import (
    capture_entries,
    has_entries_due,
    is_gone,
    recalled_entries,
    recalled_notes,
)
from notewell.errors import NoteUnreadable
from notewell.hosts import HOOK_CALLS
from notewell.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.capture import SessionEnd
    from notewell.memory import Memory

CONTEXT_CHARS = 2700
"""Per note. Codex accepts 10 000 characters from a hook, others more; there are three notes."""
SESSION_CHARS = 1000
"""Of the end of the last conversation."""
MAX_QUESTION_CHARS = 2000


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
