"""Files and folders of our own: closed to other users whatever the umask, and durable on request.

State files are for their owner alone. A model is public, and a folder of models may be shared, so
others may read it; but a user who could write it would decide what every search finds.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
MODEL_FILE = 0o644


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents, for their owner alone.

    `mkdir(parents=True)` gives the mode to the last one only. Each is fsynced into its parent:
    otherwise a power cut could lose the folder together with durable files in it.
    """
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        sync_directory(folder.parent)


def sync_directory(path: Path) -> None:
    """Force the names in a folder to disk: the second half of a durable create or rename."""
    if (
        sys.platform == "win32"
    ):  # Windows has no descriptors for directories; NTFS journals renames.
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def effective_user() -> int:
    """The number of the user as whom files are made. Windows has none: `st_uid` is always 0."""
    if sys.platform == "win32":
        return 0
    return os.geteuid()


def why_not_writable(folder: Path) -> str | None:
    """Why nothing can be written to a folder, there or not; None if it seems possible."""
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not there.is_dir():
        return f"{there} is not a folder"
    # `os.access` asks about the real user by default; files are opened as the effective one.
    effective = os.access in os.supports_effective_ids
    may = os.access(there, os.W_OK | os.X_OK, effective_ids=effective)
    return None if may else f"{there} is not writable"


def open_private(path: str, flags: int) -> int:
    """An opener for `open(..., opener=open_private)`."""
    return os.open(path, flags, PRIVATE_FILE)


def open_model(path: str, flags: int) -> int:
    """The same for model weights, which others may read."""
    return os.open(path, flags, MODEL_FILE)
