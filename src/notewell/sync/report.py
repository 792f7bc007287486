"""What a sync tells: while it runs, and when it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from notewell.errors import BackendFailed, EmbedderTrouble, NotewellError

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.index import MustRebuild
    from notewell.types import Ignored


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync has come."""

    completed: int
    total: int
    label: str


ProgressCallback: TypeAlias = "Callable[[Progress], None]"


@dataclass(slots=True)
class SyncReport:
    """What a sync did, and what it could not do."""

    rebuilt: MustRebuild | None = None
    """Why a new index was built; None if none was."""
    written: int = 0
    """Notes that were new or had changed."""
    forgotten: int = 0
    unchanged: int = 0
    ignored: tuple[Ignored, ...] = ()
    unreadable: list[Ignored] = field(default_factory=list)
    """Folders and notes that could not be read; what was known of them is kept."""
    repaired: list[Ignored] = field(default_factory=list)
    """Notes that had to be cleaned to be read, and of what; the files stay as they are."""
    chunks: int = 0
    vectors_added: int = 0
    vectors_waiting: int = 0
    trouble: NotewellError | None = None
    """Why vectors are still waiting, or an engine was not brought up to date."""

    @property
    def notes(self) -> int:
        return self.written + self.unchanged

    @property
    def changed_anything(self) -> bool:
        return bool(self.rebuilt or self.written or self.forgotten or self.vectors_added)

    @property
    def is_degraded(self) -> bool:
        return bool(self.unreadable or isinstance(self.trouble, EmbedderTrouble | BackendFailed))
