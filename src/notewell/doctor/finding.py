"""What the doctor says: a finding, and what would mend it.

A remedy is a plain value. Checks name it, `mend` carries it out, so nothing is changed by looking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

MOST_TOLD = 20
"""Of one kind; the finding behind them says how many more there are."""


@dataclass(frozen=True, slots=True)
class Tighten:
    """Files and folders of ours that other users can look into."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Remove:
    """Temporary files of ours whose writers have ended."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """An index folder that holds more than the index that answers."""

    folder: Path


@dataclass(frozen=True, slots=True)
class CacheAnew:
    """A damaged cache: it holds nothing but copies."""

    cache: Path


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A damaged generation, to be set aside before a new one is built."""

    generation: Path


@dataclass(frozen=True, slots=True)
class BringUpToDate:
    """An index that is missing, old, or behind the notes."""


Remedy: TypeAlias = Tighten | Remove | Sweep | CacheAnew | Rebuild | BringUpToDate


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    """The part it is about, in one word: `index`, `notes`, `lease`."""
    told: str
    todo: str | None = None
    """The next step; None where all is well."""
    remedy: Remedy | None = None
    """What `--fix` would do about it; there may be one where nothing has to be done."""

    @property
    def is_fixable(self) -> bool:
        return self.remedy is not None


FIX = "`notewell doctor --fix` does it"


def size_told(count: int) -> str:
    """Bytes as people say them."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
