"""What can be set for transcripts, and where the kept ones are.

Every search loads this module with the other settings, so it imports nothing of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core import short_sha256
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
    search_kept: bool = True
    """Search the conversations that hooks have kept, if there are any."""


def kept_dir(state: Path, agent: str, location: str | Path) -> Path:
    """The folder of the conversations that are kept for one agent and workspace.

    `location` is that of the notes (see `NoteStore.location`).
    """
    # An agent may be used with several workspaces, and none may show the talk of another.
    place = short_sha256(str(location))[:12]
    return state / "agents" / agent / "sessions" / place
