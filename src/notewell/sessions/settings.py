"""What can be set for transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Whether transcripts are searched, and which ones."""

    enabled: bool = False
    """Transcripts are private: they are indexed only if the user asks for it."""
    folders: tuple[tuple[Path, str], ...] = ()
    """Folders of other hosts' transcripts, each with the name that its hits show."""
    delta_bytes: int = 100_000
    delta_messages: int = 50
    """A search, a watch and a server index a transcript again after this growth; `notewell index`
    ignores both limits."""
