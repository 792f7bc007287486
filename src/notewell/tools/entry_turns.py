"""Automatic recall before a turn and automatic capture after it, for hosts to call.

    before   recalled_for(entries, prompt, settings)     text to put before the prompt
    after    capture_turn(entries, messages, settings)   messages of the user become entries

Both do nothing unless the settings switch them on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.capture import without_injected
from notewell.entries import EntriesSettings, category_of, reads_like_orders, refusal
from notewell.errors import NotewellError
from notewell.tools.context import CallContext
from notewell.tools.entry_tools import RecallInput, fit_entries, memory_recall, quoted
from notewell.tools.failures import Failure
from notewell.tools.fence import REMINDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.capture import Message
    from notewell.entries import EntryStore, Recalled, Stored

MAX_CAPTURED = 3
"""Per turn: more statements at once are rather a story."""
RECALLED = 3
MIN_SCORE = 0.4
"""Higher than for an explicit recall: an unrequested weak entry only distracts the model."""
_OFF = EntriesSettings()
_HERE = CallContext()


@dataclass(frozen=True, slots=True)
class Injection:
    """What to put before a prompt."""

    text: str = ""
    """Empty if there is nothing to say."""
    results: tuple[Recalled, ...] = ()
    trouble: Failure | None = None
    """Why recall failed; the turn continues without it."""


@dataclass(frozen=True, slots=True)
class Capture:
    """What was stored of the messages of a turn."""

    stored: tuple[Stored, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """The beginning of a message, and why it was refused."""
    trouble: NotewellError | None = None
    """What stopped the capture; the entries in `stored` are stored nevertheless."""


def recalled_for(
    entries: EntryStore,
    prompt: str,
    settings: EntriesSettings = _OFF,
    context: CallContext = _HERE,
) -> Injection:
    """Entries about the user's prompt, quoted as data. Nothing in group conversations: others read
    there, and an entry may be confidential.
    """
    query = without_injected(prompt).strip()[: settings.recall_chars]
    if not settings.auto_recall or not context.is_private or not query:
        return Injection()
    answer = memory_recall(entries, RecallInput(query, RECALLED), context)
    if isinstance(answer, Failure):
        return Injection(trouble=answer)
    relevant = tuple(
        result
        for result in answer.results
        # Also checked here: entries can be stored by `notewell entries store` without the filter.
        if result.score >= MIN_SCORE and not reads_like_orders(result.entry.text)
    )
    results, _ = fit_entries(relevant, context.inject_chars)
    text = "\n\n".join((REMINDER, *map(quoted, results))) if results else ""
    return Injection(text, results)


def capture_turn(
    entries: EntryStore, messages: Sequence[Message], settings: EntriesSettings = _OFF
) -> Capture:
    """Store messages of the user that are statements (see `entries/auto_capture.py`)."""
    if not settings.auto_capture:
        return Capture()
    stored: list[Stored] = []
    refused: list[tuple[str, str]] = []
    for message in messages:
        text = without_injected(message.text).strip()
        why = refusal(text, role=message.role, max_chars=settings.capture_chars)
        if why is None and len(stored) >= MAX_CAPTURED:
            why = f"{MAX_CAPTURED} entries a turn are enough"
        if why is not None:
            refused.append((text[:40], why))
            continue
        try:
            stored.append(entries.store(text, category=category_of(text)))
        except NotewellError as error:
            return Capture(tuple(stored), tuple(refused), error)
    return Capture(tuple(stored), tuple(refused))
