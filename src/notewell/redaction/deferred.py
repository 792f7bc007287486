"""A redactor that loads its rules at the first text.

More than a hundred patterns take 40 ms to load, and most hooks and searches find nothing new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from notewell.redaction.redactor import Redactor


class DeferredRedactor:
    """Masks with the key in the state folder, as `Redactor(load_mask_key(state))` does."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._redactor: Redactor | None = None

    def __call__(self, text: str) -> str:
        if self._redactor is None:
            from notewell.redaction.mask import load_mask_key
            from notewell.redaction.redactor import Redactor

            # Two threads may both load it: they get the same rules and the same key.
            self._redactor = Redactor(load_mask_key(self._state))
        return self._redactor(text)


class RememberingRedactor:
    """Masks each text once, for a short process: a hook that keeps a conversation and saves it as
    a note sees the same messages twice."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._masked: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        masked = self._masked.get(text)
        if masked is None:
            masked = self._masked[text] = self._redact(text)
        return masked
