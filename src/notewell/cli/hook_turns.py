"""What hooks do around a turn: recall before it, capture of entries after it.

    prompt                            notes with --recall, entries with `autoRecall`
    stop, pre-compact, session-end    entries with `autoCapture`

Each function returns its trouble as a text: a hook goes on and reports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NotewellError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from notewell.capture import SessionEnd
    from notewell.config import Settings
    from notewell.memory import Memory

MAX_RECALLED = 3
SYNC_S = 5.0
"""A hook may index words for this long; a host ends a hook after ten seconds."""


class RecalledText(NamedTuple):
    """Text for the model, and what went wrong; both may be empty."""

    text: str = ""
    trouble: str | None = None


def recalled_notes(memory: Memory, question: str) -> RecalledText:
    """What notes say about a prompt, or why they could not be searched."""
    from notewell.tools import REMINDER, OutOfTime, ask_memory, fenced, stop_after, unsearchable

    try:
        # Keywords only: to load the model would take longer than a prompt may wait.
        answer, *_ = ask_memory(
            memory,
            question,
            max_results=MAX_RECALLED,
            mode="keyword",
            journal_as=None,
            progress=stop_after(SYNC_S),
        )
    except OutOfTime:
        return _not_searched("the notes are not indexed yet: run `notewell index`")
    if answer.hits:
        hits = [fenced(hit.snippet, path=hit.path, lines=str(hit.span)) for hit in answer.hits]
        return RecalledText("\n\n".join((REMINDER, *hits)))
    why = unsearchable(memory.status())
    return _not_searched(why) if why else RecalledText()


def _not_searched(why: str) -> RecalledText:
    """The model must know that silence does not mean that there is no note about it."""
    return RecalledText(f"(Notes could not be searched for this prompt: {why})", why)


def recalled_entries(
    arguments: argparse.Namespace, settings: Settings, prompt: str
) -> RecalledText:
    """Entries about a prompt; nothing unless the settings have `autoRecall`."""
    if settings.entries is None or not settings.entries.auto_recall:
        return RecalledText()
    from notewell.cli.entries import entries_of
    from notewell.tools import recall_for_turn

    with entries_of(arguments, settings) as entries:
        if entries is None:
            return RecalledText()
        injection = recall_for_turn(entries, prompt, settings.entries)
    trouble = injection.trouble
    return RecalledText(
        injection.text, f"no entries recalled: {trouble.error}" if trouble else None
    )


def capture_entries(
    arguments: argparse.Namespace, settings: Settings, folder: Path, ended: SessionEnd
) -> str | None:
    """Store new statements of the user; nothing unless the settings have `autoCapture`.

    Returns what went wrong.
    """
    if settings.off_because or settings.entries is None or not settings.entries.auto_capture:
        return None
    from notewell.cli.entries import entries_of
    from notewell.tools import capture_transcript

    try:
        with entries_of(arguments, settings) as entries:
            if entries is None:
                return None
            captured = capture_transcript(entries, folder, ended, settings.entries)
    except NotewellError as error:
        return f"no entries captured: {error}"
    return f"not all entries captured: {captured.trouble}" if captured.trouble else None
