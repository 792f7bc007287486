"""The key of the masks: one a state folder, made once, readable by its owner only."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.errors import StateNotWritable
from notewell.files import make_private, sync_directory

if TYPE_CHECKING:
    from pathlib import Path

KEY_BYTES = 32
NAME = "redaction.key"


def load_mask_key(state_dir: Path) -> bytes:
    """Makes the key where there is none; several processes at once end up with the same one."""
    path = state_dir / NAME
    try:
        if not path.exists():
            _make(path)
        key = path.read_bytes()
    except OSError as error:
        raise StateNotWritable(str(path), (error.strerror or "unknown error").lower()) from error
    if len(key) != KEY_BYTES:
        raise StateNotWritable(str(path), f"it is no key of {KEY_BYTES} bytes; remove it")
    return key


def _make(path: Path) -> None:
    """Written beside and linked into place, so that nobody ever reads half a key."""
    make_private(path.parent)
    beside = path.with_name(f".{NAME}-{os.getpid()}-{os.urandom(4).hex()}")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # Another process was first: its key is as good.
            os.link(beside, path)
        sync_directory(path.parent)
    finally:
        beside.unlink()
