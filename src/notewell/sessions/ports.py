"""The seam for where conversations are: files of this machine, or rows of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.sessions.transcript import LeavesOut, Transcript
    from notewell.types import FoundNote, Note, Scan


class TranscriptSource(Protocol):
    """The conversations of one memory. `Transcripts` has those in files, `StoredConversations`
    those beside notes in PostgreSQL."""

    @property
    def places(self) -> tuple[Path, ...]:
        """Folders that a watcher observes."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How the paths of conversations end."""
        ...

    def scan(self) -> Scan:
        """Which conversations there are now."""
        ...

    def read(self, path: str) -> Note:
        """A conversation as a note: its redacted text, one line per message.

        Raises `NotANote` for a path that is not of a conversation, and `NoteUnreadable`.
        """
        ...

    def open(self, path: str) -> Transcript:
        """The same with its line map and the facts of the session."""
        ...

    def has_message(self, path: str, is_wanted: LeavesOut) -> bool:
        """Whether a conversation has such a message, also one that was forgotten before."""
        ...

    def new_messages(self, found: FoundNote, size: int) -> int | None:
        """The number of messages after the first `size` bytes; None if it has no such bytes."""
        ...

    def compacted_since(self, found: FoundNote, size: int) -> bool:
        """Whether its host compacted it in the bytes after `size`."""
        ...
