"""Notes made and rewritten as a whole: a session note or an import that is new, and an undo.

    create     memory/2026-11-15-router.md, memory/2026-11-15-router-2.md, …   the first free name
    rewrite    lock ── read ── change ── temporary file, fsync ── still the same file? ── rename

An append (see `append`) is all that our own writes do to an existing note; `rewrite` only takes
such bytes back. Renaming gives the note a new inode, which tells an appender that waits for the
lock to open the note again.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.errors import NoteNotWritable
from notewell.files import (
    NotPlain,
    WritableDir,
    can_edit_folders,
    descend,
    describe_os_error,
    identity,
)
from notewell.notes.agent_folder import FOLLOWS_LINKS
from notewell.notes.note_file import locked_note, read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FOLDER = "memory"
MAX_NUMBER = 999
"""More sessions of one name on one day than anybody has."""


def numbered_paths(stem: str) -> Iterator[str]:
    """The names `create` tries, in this order. None is skipped, so after the first that is
    missing there is none."""
    yield f"{FOLDER}/{stem}.md"
    for number in range(2, MAX_NUMBER + 2):
        yield f"{FOLDER}/{stem}-{number}.md"


def create_note(root: Path, stem: str, data: bytes) -> str:
    _require_descriptors(f"{FOLDER}/{stem}.md")
    *folders, _ = f"{FOLDER}/{stem}".split("/")
    with _not_writable(f"{FOLDER}/{stem}.md", "fix that; it is saved next time"):
        for depth, folder in enumerate(folders):
            with descend(WritableDir(None), (str(root), *folders[:depth])) as parent:
                parent.make_folder(folder)
                # Before the note: a durable file in a folder without a durable name would be lost.
                parent.sync()
        with descend(WritableDir(None), (str(root), *folders)) as place:
            return _create_numbered(place, stem, data)


def _create_numbered(place: WritableDir, stem: str, data: bytes) -> str:
    for path in numbered_paths(stem):
        # No check before it: two processes would both find the name free.
        with suppress(FileExistsError):
            os.close(place.new_file(path.rpartition("/")[2], data))
            place.sync()
            return path
    raise FileExistsError(f"{stem}.md and {MAX_NUMBER} more are there")


def rewrite_note(
    root: Path, path: str, change: Callable[[bytes], bytes | None], *, wait_s: float
) -> None:
    _require_descriptors(path)
    *folders, name = path.split("/")
    with (
        _not_writable(path, "fix that first"),
        descend(WritableDir(None), (str(root), *folders)) as folder,
    ):
        fd = folder.file_to_change(name)
        with locked_note(fd, path, wait_s=wait_s):
            # Under the lock, so that it includes the appends that finished while we waited.
            before = os.fstat(fd)
            if before.st_nlink > 1:
                # A rename would leave the other name with the old text.
                raise NoteNotWritable(path, "it has another name (a hard link)", "edit the note")
            data = change(read_all(fd, before.st_size))
            if data is None:
                _require_unchanged(folder, name, path, before)
                folder.remove_file(name)
            else:
                temporary = folder.temporary_file(name, data, like=before)
                with folder.removed_on_failure(temporary):
                    _require_unchanged(folder, name, path, before)
                    folder.rename(temporary, folder, name)
            # Before the history says "undone": a power cut must not bring the entry back.
            folder.sync()


def _require_descriptors(path: str) -> None:
    if not can_edit_folders():
        raise NoteNotWritable(path, FOLLOWS_LINKS, "do it in an editor; appends work")


def _require_unchanged(folder: WritableDir, name: str, path: str, before: os.stat_result) -> None:
    """An editor does not take our lock, so this is checked as late as possible."""
    now = folder.stat(name)
    is_same = identity(now) == identity(before)
    if not is_same or (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise NoteNotWritable(path, "another program changed the note meanwhile", "try again")


@contextmanager
def _not_writable(path: str, action: str) -> Iterator[None]:
    try:
        yield
    except NotPlain as refusal:
        raise NoteNotWritable(path, refusal.why, "put a plain file or folder there") from None
    except OSError as error:
        raise NoteNotWritable(path, describe_os_error(error), action) from error
