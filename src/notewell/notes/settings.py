"""What can be set for the notes of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.notes.scope import ExtraPath


@dataclass(frozen=True, slots=True)
class NotesSettings:
    """Which notes belong to a memory besides those of its workspace."""

    extra_paths: tuple[ExtraPath, ...] = ()
    redact: bool = False
    """Mask secrets in notes, too. Secrets in transcripts are always masked."""
