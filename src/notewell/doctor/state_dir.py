"""The state folder: permissions, file system, free space."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.doctor.finding import FIX, Finding, RestrictAccess
from notewell.doctor.state_files import capture_folders, index_folders, own_files
from notewell.files import effective_user, why_not_writable
from notewell.index import size_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from notewell.index import IndexStore

MOUNTS = Path("/proc/self/mountinfo")
NETWORK = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "glusterfs", "gpfs"),
        *("lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs", "vboxsf"),
        *("fuse.davfs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"),
        "fuse.sshfs",
    }
)
"""Network file systems: whether their locks and renames are reliable is unknown."""

OTHERS = 0o077
OTHERS_WRITE = 0o022
MARGIN_BYTES = 16 * 2**20
"""For logs and temporary files beside the new generation."""
BYTES_A_NOTE_BYTE = 6
"""An index of prose with 384 dimensions takes about five times the size of the notes."""


def may(path: Path, mode: int) -> bool:
    """Whether the current user may; root may do everything."""
    # `os.access` asks about the real user by default; files are opened as the effective one.
    effective = os.access in os.supports_effective_ids
    return os.access(path, mode, effective_ids=effective)


# -- permissions ---------------------------------------------------------------------------------


def permissions(state: Path, index: Path) -> Iterator[Finding]:
    if not os.path.lexists(state):
        if why := why_not_writable(state):
            message = f"{state} cannot be created: {why}"
            yield Finding("state", message, "choose another folder with --state-dir")
        return
    folders = [state, *index_folders(state, index), *capture_folders(state)]
    yield from _not_accessible(folders)
    yield from _of_other_users([*folders, *own_files(state, index)])
    yield from _open_to_others(state, folders[1:], own_files(state, index))


def _not_accessible(folders: Iterable[Path]) -> Iterator[Finding]:
    for folder in folders:
        if not may(folder, os.R_OK | os.X_OK):
            message = f"{folder} cannot be read: nothing in it was checked"
            yield Finding(
                "state", message, f"`chmod u+rwx {folder}`, or choose another --state-dir"
            )
        elif not may(folder, os.W_OK):
            message = f"{folder} cannot be written: the last index answers and is not updated"
            yield Finding("state", message, f"`chmod u+w {folder}`, or choose another --state-dir")


def _of_other_users(paths: Iterable[Path]) -> Iterator[Finding]:
    if sys.platform == "win32":
        return
    # After one run with sudo some files belong to root, and later syncs fail.
    theirs = [path for path in paths if _status(path).st_uid != effective_user()]
    if theirs:
        uid = _status(theirs[0]).st_uid
        message = f"{len(theirs)} of our files belong to user {uid}, first {theirs[0]}"
        todo = "run Notewell as one user; `chown` returns the files"
        yield Finding("state", message, todo)


def _open_to_others(
    state: Path, folders: Iterable[Path], files: Iterable[Path]
) -> Iterator[Finding]:
    if sys.platform == "win32":
        return
    readable = tuple(file for file in files if _is_open(file, OTHERS))
    if readable:
        message = f"other users can read {len(readable)} of our files, first {readable[0]}"
        yield Finding("state", message, FIX, RestrictAccess(readable))
    writable = tuple(folder for folder in folders if _is_open(folder, OTHERS_WRITE))
    if writable:
        message = f"other users can write to {writable[0]}: what they put there is searched"
        yield Finding("state", message, FIX, RestrictAccess(writable))
    listed = tuple(
        folder for folder in folders if _is_open(folder, OTHERS) and folder not in writable
    )
    if listed:
        # They reveal names of agents and dates only, so this is no problem.
        message = f"other users can list {len(listed)} of our folders, first {listed[0]}"
        yield Finding("state", message, None, RestrictAccess(listed))
    mode = _mode(state)
    if mode & OTHERS_WRITE and not mode & stat.S_ISVTX:
        # The user chose this folder, and it may hold other files: we never change it.
        message = f"other users can write to {state}, and so replace our index by theirs"
        yield Finding("state", message, f"`chmod go-w {state}`")


def _is_open(path: Path, bits: int) -> bool:
    """Files of another user are reported separately; we cannot change their mode."""
    return bool(_mode(path) & bits) and _status(path).st_uid == effective_user()


def _mode(path: Path) -> int:
    return stat.S_IMODE(_status(path).st_mode)


def _status(path: Path) -> os.stat_result:
    """For a file that vanished meanwhile: a status that gives no finding."""
    try:
        return path.lstat()
    except OSError:
        return os.stat_result((0, 0, 0, 0, effective_user(), 0, 0, 0, 0, 0))


# -- the file system -----------------------------------------------------------------------------


def file_system(folder: Path, mounts: Path = MOUNTS) -> Iterator[Finding]:
    kind = mounted_as(folder, mounts)
    if kind in NETWORK:
        message = f"{folder} is on {kind}, a network file system: its locks are not reliable"
        todo = "keep the state on a local disk: --state-dir or NOTEWELL_STATE_DIR"
        yield Finding("state", message, todo)
    elif kind:
        yield Finding("state", f"{folder} is on {kind}")


def mounted_as(folder: Path, mounts: Path = MOUNTS) -> str | None:
    """The type of the file system, as `mount` names it; None if it is unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    # A link may lead to another file system than the one it is on.
    real = Path(os.path.realpath(folder))
    best, kind = -1, None
    for line in lines:
        left, _, right = line.partition(" - ")
        fields, message = left.split(" "), right.split(" ")
        point = Path(_unescaped(fields[4])) if len(fields) > 4 else None
        # Of two mounts on one point the later hides the earlier.
        if point and real.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), message[0]
    return kind


def _unescaped(name: str) -> str:
    """The kernel writes a space as `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), name)


# -- room ----------------------------------------------------------------------------------------


def room(store: IndexStore, index: Path, note_bytes: int) -> Iterator[Finding]:
    """Whether there is space for a new index beside the one that answers."""
    there = nearest(index)
    free = shutil.disk_usage(there).free
    needed = rebuild_bytes(store, note_bytes)
    message = f"{size_text(free)} free at {there}, a rebuild needs about {size_text(needed)}"
    todo = "free some space, or choose another folder with --state-dir" if free < needed else None
    yield Finding("disk", message, todo)


def rebuild_bytes(store: IndexStore, note_bytes: int) -> int:
    # The larger of what it is and what the notes need: the notes may have grown since.
    there = store.describe().generation_bytes
    return max(there, BYTES_A_NOTE_BYTE * note_bytes) + MARGIN_BYTES


def nearest(folder: Path) -> Path:
    """This folder, or the nearest existing one above it."""
    # Not Path.is_dir, which raises if a folder on the way is not accessible.
    existing = (path for path in (folder, *folder.parents) if os.path.isdir(path))  # noqa: PTH112
    return next(existing, Path(folder.anchor or "."))
