"""Files and folders of our own: closed to others whatever the umask, and on disk when we say so.

What we note down is for its owner alone. A model is public, and a folder of models may be shared,
so others may read it; but whoever could write it would decide what every search finds.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
MODEL_FILE = 0o644


def make_private(folder: Path) -> None:
    """A folder and what is missing above it, for their owner alone.

    `mkdir(parents=True)` gives its mode to the last one only. They are on disk when this returns:
    what is written in a folder that the disk does not know yet would be lost with it.
    """
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        sync_directory(folder.parent)


def sync_directory(path: Path) -> None:
    """The names in a folder, on disk."""
    if os.name == "nt":  # Windows has no descriptors for directories; its rename is journalled.
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(path: str, flags: int) -> int:
    """For `open(..., opener=...)`."""
    return os.open(path, flags, PRIVATE_FILE)


def open_model(path: str, flags: int) -> int:
    return os.open(path, flags, MODEL_FILE)
