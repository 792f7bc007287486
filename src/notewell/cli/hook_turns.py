"""What hooks do around a turn: recall before it, capture of entries after it.

    prompt                            notes with --recall, entries with `autoRecall`
    stop, pre-compact, session-end    entries with `autoCapture`
    session-start                     likewise, of earlier sessions whose hook was not finished

A prompt captures nothing: it waits for its recall, and its turn ends with another hook.
Each function returns its trouble as a text: a hook goes on and reports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NoteUnreadable, NotewellError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.capture import SessionEnd
    from notewell.memory import Memory
    from notewell.types import Hit

MAX_RECALLED = 3
RECALL_CHARS = 1200
"""For notes, in all: every prompt pays for it."""
NOT_YET = "the notes are not indexed yet"


class RecalledText(NamedTuple):
    """Text for the model, and what went wrong; both may be empty."""

    text: str = ""
    trouble: str | None = None


def recalled_notes(
    memory: Memory, question: str, *, within_s: float, transcript: str | None = None
) -> RecalledText:
    """What notes and earlier conversations say about a prompt, or why they could not be searched.
    Notes that were never indexed are indexed first, for `within_s` at most. `transcript` is that
    of the conversation of the prompt: its host has it already."""
    from notewell.engines import unsearchable
    from notewell.tools import ask_memory, is_near, stop_after

    # Keywords only: to load the model would take longer than a prompt may wait.
    answer, *_ = ask_memory(
        memory,
        question,
        max_results=MAX_RECALLED,
        mode="keyword",
        plain=True,
        running_session=transcript,
        journal_as=None,
        progress=stop_after(within_s),
    )
    near = [hit for hit in answer.hits if is_near(question, hit)]
    if near:
        return RecalledText(quoted_hits(near, RECALL_CHARS), answer.notice)
    # A notice says what was not searched, such as notes that changed. What a second engine has
    # searched in place of the first one was searched.
    why = None if answer.fallback else answer.public_notice
    if why is None and not answer.hits:
        status = memory.status()
        why = unsearchable(status)
        # The start of the session, which some hosts run at the same time, may be indexing them.
        # A folder without notes has nothing to index.
        if why is None and not answer.has_index and (status.dirty or status.state != "missing"):
            why = NOT_YET
    return RecalledText(not_searched(why) if why else "", answer.notice or why)


def quoted_hits(hits: Sequence[Hit], max_chars: int) -> str:
    """The best lines of the hits as quotations, in so many characters."""
    from notewell.core import pack_hits
    from notewell.tools import REMINDER, escaped, fenced

    marks = sum(len(fenced("", path=hit.citation)) + 1 for hit in hits)
    packed = pack_hits(hits, max_chars - len(REMINDER) - marks, escaped)
    shown = (fenced(hit.shown_text, path=hit.citation) for hit in packed if hit.shown)
    return "\n".join((REMINDER, *shown))


def not_searched(why: str) -> str:
    """The model must know that silence does not mean that there is no note about it."""
    return f"(Memory could not be searched: {why})"


def recalled_entries(memory: Memory, prompt: str) -> RecalledText:
    """Entries about a prompt, with `autoRecall`; or why they could not be searched."""
    from notewell.tools import recall_for_turn

    settings, entries = memory.settings.entries, memory.entries
    if settings is None or entries is None:
        return RecalledText()
    injection = recall_for_turn(entries, prompt, settings)
    why = injection.trouble.error if injection.trouble else injection.notice
    if why is None or injection.text:
        return RecalledText(injection.text, why)
    return RecalledText(
        f"(Stored entries could not be searched: {why})", f"no entries recalled: {why}"
    )


def capture_entries(memory: Memory, folder: Path, ended: SessionEnd | None = None) -> str | None:
    """Store new statements of the user, with `autoCapture`: of this session, and of those whose
    last hook did not come to its end. Returns what went wrong."""
    from notewell.capture import (
        ENTRIES_DUE,
        forget_pending,
        pending_sessions,
        remember_pending,
    )

    settings, due = memory.settings.entries, folder / ENTRIES_DUE
    if settings is None or not settings.auto_capture:
        return None
    try:
        if ended is not None:
            # First: the time of this hook may be over before anything is stored.
            remember_pending(due, ended)
        troubles = []
        for waiting in pending_sessions(due, ""):
            captured = _captured(memory, folder, waiting)
            troubles.append(captured.trouble)
            if captured.is_done:
                forget_pending(due, [waiting.session])
    except NotewellError as error:
        return f"no entries captured: {error}"
    return next(filter(None, troubles), None)


class _CapturedSession(NamedTuple):
    is_done: bool
    """False: a later hook tries again."""
    trouble: str | None = None


def _captured(memory: Memory, folder: Path, ended: SessionEnd) -> _CapturedSession:
    from notewell.capture import forgotten_filter
    from notewell.sessions import forgotten_file, kept_dir
    from notewell.tools import capture_transcript

    settings, entries = memory.settings.entries, memory.entries
    if settings is None or entries is None:
        return _CapturedSession(is_done=True)
    kept = kept_dir(memory.state_dir, memory.agent, memory.notes.location)
    try:
        leaves_out = forgotten_filter(forgotten_file(kept), ended.transcript)
        captured = capture_transcript(entries, folder, ended, settings, leaves_out)
    except NoteUnreadable as error:
        # One that is gone is reported once: it is no longer waited for.
        return _CapturedSession(is_gone(error), f"no entries captured: {error}")
    if captured.trouble:
        trouble = f"not all entries captured: {captured.trouble}"
        return _CapturedSession(is_done=False, trouble=trouble)
    return _CapturedSession(is_done=True)


def has_entries_due(folder: Path) -> bool:
    """Whether a hook has left a session whose entries are not captured."""
    from notewell.capture import ENTRIES_DUE, pending_sessions

    return bool(pending_sessions(folder / ENTRIES_DUE, ""))


def is_gone(error: NoteUnreadable) -> bool:
    """No file, or no known format. A file that may not be read now may be readable later."""
    cause = error.__cause__
    return cause is None or isinstance(
        cause, (FileNotFoundError, IsADirectoryError, NotADirectoryError)
    )
