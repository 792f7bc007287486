"""What can be set for what Notewell writes down by itself.

Every search loads this module with the other settings, so it imports nothing of this package.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.errors import BadSetting
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from datetime import tzinfo


@dataclass(frozen=True, slots=True)
class FlushSettings:
    """When the silent turn before a compaction runs, and with which prompts."""

    enabled: bool = True
    reserve_tokens: int = 20_000
    """What the host keeps free: it compacts when less is left of the context window."""
    soft_threshold_tokens: int = 4_000
    """How many tokens before that the flush runs."""
    prompt: str | None = None
    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class KeepSettings:
    """Which conversations are kept whole, and for how long."""

    enabled: bool | None = None
    """None: the entry of the hook decides, which `notewell install` has written."""
    days: int | None = None
    """Older ones are removed; None: none is."""
    megabytes: int | None = None
    """Beyond this size of all of them, the oldest are removed; None: none is."""
    left_out: tuple[Path, ...] = ()
    """Folders in which nothing is kept of what is said."""

    def leaves_out(self, cwd: str | None) -> bool:
        """Whether a conversation in this folder is not kept."""
        if cwd is None or not self.left_out or "\0" in cwd:
            return False
        # With and without links: the host may name the folder in either way.
        places = (Path(os.path.normpath(cwd)), Path(os.path.realpath(cwd)))
        folders = (*self.left_out, *(Path(os.path.realpath(one)) for one in self.left_out))
        return any(place.is_relative_to(folder) for place in places for folder in folders)


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """Session notes, kept conversations, the flush, the start of a session, and searches."""

    session_messages: int = 15
    """How many of the last messages a session note has; 0 writes no session notes."""
    slug_command: tuple[str, ...] = ()
    """The program that names a session note, and its arguments; empty: the time is the name."""
    bootstrap_chars: int = 20_000
    """How many characters of each note a session starts with."""
    time_zone: str | None = None
    """Whose midnight decides the day of a note, `Europe/Berlin`; None: the system's."""
    recall_log: bool = True
    """Keep what agents asked and which lines they got."""
    hook_recall: bool = True
    """A prompt gets what notes say about it, if its hook asks for that."""
    hook_recall_s: float = 2.5
    """How long a prompt waits for its recall."""
    hook_work_s: float = 8.0
    """How long any other hook works on what can wait. A host ends a hook after ten seconds."""
    flush: FlushSettings = field(default_factory=FlushSettings)
    keep: KeepSettings = field(default_factory=KeepSettings)


def user_zone(settings: CaptureSettings) -> tzinfo | None:
    """The time zone of the user; None stands for the system's, as in `datetime.astimezone`."""
    if settings.time_zone is None:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(settings.time_zone)
    # `ZoneInfoNotFoundError` is a KeyError; a name with `..` is a ValueError.
    except (KeyError, ValueError, OSError):
        problem = f"there is no time zone {settings.time_zone!r}; write one such as Europe/Berlin"
        raise BadSetting("userTimezone", problem) from None
