"""What a hook tells about a conversation that is over, or about to be compacted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ended:
    transcript: Path
    session: str
    """The host's id of it: what is saved of it is remembered under this."""
    host: str
    cwd: str | None
    reason: str
