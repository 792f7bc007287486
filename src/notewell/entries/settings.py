"""`plugins.entries.memory-lancedb`, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from notewell.errors import BadSetting

NAME = "plugins.entries.memory-lancedb"
FOLDER = "lancedb"


@dataclass(frozen=True, slots=True)
class LanceSettings:
    """Whether agents have entries, and what happens without their asking: by default, nothing."""

    enabled: bool = False
    """Whether the tools are offered."""
    auto_capture: bool = False
    auto_recall: bool = False
    db_path: str | None = None
    """The folder of the entries; None: below the state folder."""
    capture_chars: int = 500
    """A longer message is a document, not a statement."""
    recall_chars: int = 1000
    """So much of a prompt is asked for."""

    def folder(self, state: Path) -> Path:
        """Where the entries of all agents are; a folder on this machine, because of the lock."""
        if self.db_path is None:
            return state / FOLDER
        path = Path(self.db_path).expanduser()
        if "://" in self.db_path or not path.is_absolute():
            raise BadSetting(
                f"{NAME}.config.dbPath",
                f"expected a folder of this machine, absolute or with ~: {self.db_path!r}",
            )
        return path
