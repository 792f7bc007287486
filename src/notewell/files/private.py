"""Files and folders of our own: closed to other users whatever the umask, and durable on request.

State files are for their owner alone. A model is public, and a folder of models may be shared, so
others may read it; but a user who could write it would decide what every search finds.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
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
        give_folder_to_owner(folder.name, folder.parent.stat(), folder.parent)
        sync_directory(folder.parent)


def give_to_owner(fd: int, folder: os.stat_result) -> None:
    """Give what root has just made in the folder of a user to that user, who could not use it
    otherwise after one `sudo`. A file with content is not new: it keeps its owner."""
    if sys.platform == "win32" or os.geteuid() != 0 or folder.st_uid == 0:
        return
    made = os.fstat(fd)
    # A second name of a file may be in a folder that is not the user's.
    is_new_file = not made.st_size and made.st_nlink <= 1
    if made.st_uid == 0 and (is_new_file or stat.S_ISDIR(made.st_mode)):
        with suppress(OSError):  # Some file systems have no owners.
            os.fchown(fd, folder.st_uid, folder.st_gid)


def give_folder_to_owner(
    name: str, folder: os.stat_result, within: Path | None = None, *, dir_fd: int | None = None
) -> None:
    """The same for a new folder, whose parent is `folder`, at a path or by its descriptor."""
    if sys.platform == "win32" or os.geteuid() != 0 or folder.st_uid == 0:
        return
    path = within / name if within else name
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=dir_fd)
    try:
        give_to_owner(fd, folder)
    finally:
        os.close(fd)


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


def sync_file(fd: int) -> None:
    """Force the content of an open file to disk."""
    if sys.platform == "darwin":
        import fcntl

        # `fsync` of macOS ends in the cache of the drive, which a power cut empties.
        with suppress(OSError):  # A network drive does not know it.
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


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
