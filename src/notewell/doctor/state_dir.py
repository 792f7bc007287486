"""Where the state lies: who may look into it, what file system it is on, how much room is left."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.doctor.finding import FIX, Finding, RestrictAccess
from notewell.doctor.state_files import capture_folders, index_folders, own_files
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
"""File systems that somebody else keeps: of their locks and renames nothing is known for sure."""

OTHERS = 0o077
OTHERS_WRITE = 0o022
MARGIN_BYTES = 16 * 2**20
"""The write-ahead log and SQLite's own scratch, beside the new generation."""
BYTES_A_NOTE_BYTE = 6
"""An index of prose with 384 dimensions takes about five times what the notes take."""


def may(path: Path, mode: int) -> bool:
    """For the user we are now; root may everything."""
    effective = os.access in os.supports_effective_ids
    return os.access(path, mode, effective_ids=effective)


# -- permissions ---------------------------------------------------------------------------------


def permissions(state: Path, index: Path) -> Iterator[Finding]:
    if not os.path.lexists(state):
        above = nearest(state)
        if not may(above, os.W_OK | os.X_OK):
            message = f"{state} cannot be made: {above} is not ours to write to"
            yield Finding("state", message, "choose another place with --state-dir")
        return
    folders = [state, *index_folders(state, index), *capture_folders(state)]
    yield from _closed_to_us(folders)
    yield from _of_somebody_else([*folders, *own_files(state, index)])
    yield from _open_to_others(state, folders[1:], own_files(state, index))


def _closed_to_us(folders: Iterable[Path]) -> Iterator[Finding]:
    for folder in folders:
        if not may(folder, os.R_OK | os.X_OK):
            message = f"{folder} is closed to us: nothing in it could be looked at"
            yield Finding(
                "state", message, f"`chmod u+rwx {folder}`, or choose another --state-dir"
            )
        elif not may(folder, os.W_OK):
            message = f"{folder} cannot be written to: the last index answers, and gets no newer"
            yield Finding("state", message, f"`chmod u+w {folder}`, or choose another --state-dir")


def _of_somebody_else(paths: Iterable[Path]) -> Iterator[Finding]:
    if os.name == "nt":
        return
    theirs = [path for path in paths if _status(path).st_uid != os.geteuid()]
    if theirs:
        uid = _status(theirs[0]).st_uid
        message = f"{len(theirs)} of our files belong to user {uid}, first {theirs[0]}"
        todo = "run Notewell as one user; `chown` gives the files back"
        yield Finding("state", message, todo)


def _open_to_others(
    state: Path, folders: Iterable[Path], files: Iterable[Path]
) -> Iterator[Finding]:
    if os.name == "nt":
        return
    readable = tuple(file for file in files if _is_open(file, OTHERS))
    if readable:
        message = f"other users can read {len(readable)} of our files, first {readable[0]}"
        yield Finding("state", message, FIX, RestrictAccess(readable))
    writable = tuple(folder for folder in folders if _is_open(folder, OTHERS_WRITE))
    if writable:
        message = f"other users can write to {writable[0]}: what they put there would be searched"
        yield Finding("state", message, FIX, RestrictAccess(writable))
    listed = tuple(
        folder for folder in folders if _is_open(folder, OTHERS) and folder not in writable
    )
    if listed:
        # Names of agents and dates, no more: nothing that has to be done today.
        message = f"other users can list {len(listed)} of our folders, first {listed[0]}"
        yield Finding("state", message, None, RestrictAccess(listed))
    mode = _mode(state)
    if mode & OTHERS_WRITE and not mode & stat.S_ISVTX:
        # The folder is the user's choice and may hold other things: never changed by us.
        message = f"other users can write to {state}, and so put an index of theirs in our place"
        yield Finding("state", message, f"`chmod go-w {state}`")


def _is_open(path: Path, bits: int) -> bool:
    """What belongs to somebody else is message apart, and not ours to close."""
    return bool(_mode(path) & bits) and _status(path).st_uid == os.geteuid()


def _mode(path: Path) -> int:
    return stat.S_IMODE(_status(path).st_mode)


def _status(path: Path) -> os.stat_result:
    """Of a file that went while we looked, that of nothing: ours and closed to others."""
    try:
        return path.lstat()
    except OSError:
        return os.stat_result((0, 0, 0, 0, os.geteuid(), 0, 0, 0, 0, 0))


# -- the file system -----------------------------------------------------------------------------


def file_system(folder: Path, mounts: Path = MOUNTS) -> Iterator[Finding]:
    kind = mounted_as(folder, mounts)
    if kind in NETWORK:
        message = f"{folder} is on {kind}, a network file system: its locks cannot be trusted"
        todo = "keep the state on a local disk: --state-dir or NOTEWELL_STATE_DIR"
        yield Finding("state", message, todo)
    elif kind:
        yield Finding("state", f"{folder} is on {kind}")


def mounted_as(folder: Path, mounts: Path = MOUNTS) -> str | None:
    """The kind of the file system, as `mount` would say; None where nobody tells."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    real = Path(os.path.realpath(folder))
    best, kind = -1, None
    for line in lines:
        left, _, right = line.partition(" - ")
        fields, message = left.split(" "), right.split(" ")
        point = Path(_unescaped(fields[4])) if len(fields) > 4 else None
        # Of two on one point the later hides the earlier.
        if point and real.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), message[0]
    return kind


def _unescaped(name: str) -> str:
    """The kernel writes a space as `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), name)


# -- room ----------------------------------------------------------------------------------------


def room(store: IndexStore, index: Path, note_bytes: int) -> Iterator[Finding]:
    """Whether a new generation would fit beside the one that answers."""
    there = nearest(index)
    free = shutil.disk_usage(there).free
    needed = rebuild_bytes(store, note_bytes)
    message = f"{size_text(free)} free at {there}, a rebuild needs about {size_text(needed)}"
    todo = "make room, or choose another place with --state-dir" if free < needed else None
    yield Finding("disk", message, todo)


def rebuild_bytes(store: IndexStore, note_bytes: int) -> int:
    there = store.describe().generation_bytes
    return max(there, BYTES_A_NOTE_BYTE * note_bytes) + MARGIN_BYTES


def nearest(folder: Path) -> Path:
    """This folder, or the first above it that is there."""
    # Not Path.is_dir, which raises where a folder on the way is closed to us.
    there = (one for one in (folder, *folder.parents) if os.path.isdir(one))  # noqa: PTH112
    return next(there, Path(folder.anchor or "."))
