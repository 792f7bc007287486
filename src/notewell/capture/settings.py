"""What can be set for what Notewell writes down by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """Session notes and the log of searches."""

    session_messages: int = 15
    """How many of the last messages a session note has; 0 writes no session notes."""
    recall_log: bool = True
    """Keep what agents asked and which lines they got."""
