"""What is kept of conversations and what is not, for `notewell status` and `notewell doctor`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from notewell.capture.hook_state import HEARTBEAT
from notewell.capture.kept_folder import kept_files
from notewell.files import read_json, why_not_writable
from notewell.records import dataclass
from notewell.types import counted

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.capture.kept_folder import KeptFiles
    from notewell.capture.settings import CaptureSettings


@dataclass(frozen=True, slots=True)
class KeepStatus:
    """What is kept for one memory."""

    folder: Path
    files: KeptFiles
    keeps: bool
    """Whether the last hook kept the conversation, or would have."""
    is_searched: bool
    settings: CaptureSettings
    problem: str | None = None
    """Why nothing can be kept, although it should be."""

    @property
    def message(self) -> str:
        problem = f"nothing is kept from now on: {self.problem}" if self.problem else ""
        return "; ".join(filter(None, (problem, self._kept(), self._not_kept(), self._limits())))

    @property
    def action(self) -> str | None:
        """What a user does who wants more to be kept."""
        if self.keeps:
            return None
        if self.settings.keep.enabled is False:
            return "to keep conversations whole, remove sessions.keep.enabled from your settings"
        return (
            "to keep conversations whole: `notewell install HOST`, or sessions.keep.enabled: true"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "keeps": self.keeps,
            "folder": str(self.folder),
            "conversations": self.files.conversations,
            "bytes": self.files.bytes,
            "searched": self.is_searched,
            "problem": self.problem,
        }

    def _kept(self) -> str:
        files = self.files
        if not files.conversations:
            return "no conversation is kept yet" if self.keeps and not self.problem else ""
        since = datetime.fromtimestamp(files.since or 0, UTC).astimezone()
        text = f"{counted(files.conversations, 'conversation')}, {files.bytes / 1e6:.1f} MB"
        searched = "" if self.is_searched else ", not searched (sessions.keep.search)"
        return f"{text}, the oldest of {since:%Y-%m-%d}, in {self.folder}{searched}"

    def _not_kept(self) -> str:
        if self.keeps:
            return ""
        messages = self.settings.session_messages
        if not messages:
            return "nothing is kept of what is said from now on"
        return f"the last {messages} messages of each session only, as a note"

    def _limits(self) -> str:
        keep = self.settings.keep
        if not self.keeps:
            return ""
        days = f"after {counted(keep.days, 'day')}" if keep.days else ""
        size = f"beyond {keep.megabytes} MB" if keep.megabytes else ""
        both = " or ".join(filter(None, (days, size)))
        return f"removed {both}" if both else ""


def read_keep_status(
    capture: Path, folder: Path, settings: CaptureSettings, *, is_searched: bool
) -> KeepStatus | None:
    """None if no hook has run and nothing is kept: then captures are not set up.

    `capture` is the folder of `capture_dir`, `folder` that of `kept_dir`.
    """
    keeps = settings.keep.enabled
    heartbeat = read_json(capture / HEARTBEAT)
    files = kept_files(folder)
    if not heartbeat and not files.conversations:
        return None
    if keeps is None:
        keeps = heartbeat.get("keeps") is True
    problem = why_not_writable(folder) if keeps else None
    return KeepStatus(folder, files, keeps, is_searched, settings, problem)
