"""What can be set for the store of the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.core import Secret


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the index is, and how it keeps vectors."""

    path: Path | None = None
    """The folder for indexes; each agent and workspace has a folder of its own in it. None:
    `memory` in the state folder."""
    driver: str = "sqlite"
    """The storage engine: `sqlite` or `postgres`."""
    url: Secret | None = None
    """The connection string of PostgreSQL; NOTEWELL_DATABASE_URL wins over it."""
    tenant: str = "default"
    """Whose rows the agents see in PostgreSQL."""
    vector_driver: str | None = None
    """`segments` or `sqlite-vec`; None: `sqlite-vec` if `extension_path` names its library."""
    vector_extension: bool = True
    """False: sqlite-vec is never loaded; `segments` takes its place."""
    extension_path: Path | None = None
    """The library of sqlite-vec; None: the one of its Python package."""
    cache_entries: int = 50_000
    """Vectors that survive a rebuild of the index; 0 keeps none."""


class StorePlace(NamedTuple):
    """One index, in words that another process understands."""

    folder: Path
    settings: StoreSettings
