"""What can be set for the store of the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the index is, and how it keeps vectors."""

    path: Path | None = None
    """The folder for indexes; each agent and workspace has a folder of its own in it. None:
    `memory` in the state folder."""
    vector_driver: str = "segments"
    cache_entries: int = 50_000
    """Vectors that survive a rebuild of the index; 0 keeps none."""
