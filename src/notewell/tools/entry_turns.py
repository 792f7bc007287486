"""What a host may do around a turn without the model's asking: recall before, capture after.

    before   recalled_for(entries, prompt, settings)     text to put in front of the prompt
    after    capture_turn(entries, messages, settings)   what the user said becomes entries

Both do nothing unless the settings switch them on, and both are the host's to call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.capture import without_injected
from notewell.entries import LanceSettings, category_of, reads_like_orders, refusal
from notewell.errors import NotewellError
from notewell.tools.context import CallContext
from notewell.tools.entry_tools import RecallInput, fitted, memory_recall, quoted
from notewell.tools.failures import Failure
from notewell.tools.fence import REMINDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.capture import Message
    from notewell.entries import EntryStore, Recalled, Stored

MAX_CAPTURED = 3
"""A turn: whoever says more at once is telling a story."""
RECALLED = 3
MIN_SCORE = 0.4
"""Nobody has asked for these: a weak one only distracts."""
_OFF = LanceSettings()
_HERE = CallContext()


@dataclass(frozen=True, slots=True)
class Injection:
    """What goes in front of a prompt."""

    text: str = ""
    """Empty where nothing is to be said."""
    found: tuple[Recalled, ...] = ()
    trouble: Failure | None = None
    """Why there may be nothing: the turn goes on without."""


@dataclass(frozen=True, slots=True)
class Capture:
    """What became of the messages of a turn."""

    stored: tuple[Stored, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """The beginning of a message, and why it was not taken."""
    trouble: NotewellError | None = None
    """What stopped it; what is in `stored` is stored all the same."""


def recalled_for(
    entries: EntryStore, prompt: str, settings: LanceSettings = _OFF, context: CallContext = _HERE
) -> Injection:
    """Entries about what the user has just said, quoted as data; in groups, nothing.

    Others listen there, and an entry may have been said in confidence.
    """
    asked = without_injected(prompt).strip()[: settings.recall_chars]
    if not settings.auto_recall or not context.is_private or not asked:
        return Injection()
    answer = memory_recall(entries, RecallInput(asked, RECALLED), context)
    if isinstance(answer, Failure):
        return Injection(trouble=answer)
    wanted = tuple(
        one
        for one in answer.found
        if one.score >= MIN_SCORE and not reads_like_orders(one.entry.text)
    )
    found, _ = fitted(wanted, context.inject_chars)
    text = "\n\n".join((REMINDER, *map(quoted, found))) if found else ""
    return Injection(text, found)


def capture_turn(
    entries: EntryStore, messages: Sequence[Message], settings: LanceSettings = _OFF
) -> Capture:
    """Store what the user said in this turn and what is worth it (see `lance.worth`)."""
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
