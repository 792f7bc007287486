"""What can be set for keeping the index up to date."""

from __future__ import annotations

from notewell.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS
from notewell.records import dataclass


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """How notes are cut into chunks, and when changes are indexed."""

    chunk_tokens: int = CHUNK_TOKENS
    chunk_overlap: int = CHUNK_OVERLAP_TOKENS
    on_session_start: bool = True
    """The start of a session indexes the words of the notes that changed."""
    on_search: bool = True
    """A search first indexes the notes that changed a moment ago."""
    watch: bool = True
    """A server watches the notes and indexes changes by itself."""
    debounce_s: float = 1.5
    """A watch waits until nothing has changed for this long."""
    interval_minutes: int = 0
    """How often a watch syncs without a notice of a change; 0: about once a minute."""
