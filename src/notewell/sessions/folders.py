"""Which files are transcripts, found and opened without following a link.

An agent's own folder is flat; those of other hosts are trees with a name:

    sessions/<file>.jsonl                  the agent's own
    sessions/<name>/<folder>/<file>.jsonl  those of a host, `claude` or `codex` say

What is rotated away (`….jsonl.reset.…`) no longer ends in `.jsonl` and is gone; what takes its
place has another inode and is read from the start.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from notewell.types import FoundNote, Ignored, NoteStat, Scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Here: TypeAlias = int | Path
"""A folder: its descriptor, or where there are none for folders (Windows) its path."""

PREFIX = "sessions"
SUFFIX = ".jsonl"

MAX_TRANSCRIPT_BYTES = 512 * 1024 * 1024
"""Weeks of one conversation with its pictures; a larger file is something else."""

MAX_FOLDERS = 8
"""Codex nests three deep (year, month, day)."""

BLOCK_BYTES = 1024 * 1024

_TOO_LARGE = f"larger than {MAX_TRANSCRIPT_BYTES // 2**20} MiB, the most a transcript may have"
_LINK = "a symbolic link; links are not followed"
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _PLAIN
_FILE_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | _PLAIN


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """A folder of transcripts."""

    path: Path
    name: str = ""
    """Of another host's folder; the agent's own has none."""

    @property
    def key(self) -> str:
        return f"{PREFIX}/{self.name}" if self.name else PREFIX

    def locate(self, key: str) -> tuple[str, ...] | None:
        """The way from the folder to a transcript, by its key; None for what is not below it."""
        if not key.startswith(f"{self.key}/") or not key.endswith(SUFFIX) or _why_untellable(key):
            return None
        names = tuple(key[len(self.key) + 1 :].split("/"))
        deepest = MAX_FOLDERS if self.name else 0
        if len(names) - 1 > deepest or not {"", ".", ".."}.isdisjoint(names):
            return None
        return None if os.sep != "/" and ("\\" in key or ":" in key) else names


def find_transcripts(folders: Iterable[TranscriptFolder]) -> Scan:
    """One look at the disk; a folder that is not there holds none."""
    look = _Look()
    for folder in folders:
        look.at(folder)
    return Scan(
        notes=dict(sorted(look.notes.items())),
        ignored=tuple(Ignored(*one) for one in sorted(look.ignored.items())),
        unreadable=tuple(Ignored(*one) for one in sorted(look.unreadable.items())),
    )


class _Look:
    def __init__(self) -> None:
        self.notes: dict[str, FoundNote] = {}
        self.ignored: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}

    def at(self, folder: TranscriptFolder) -> None:
        deepest = MAX_FOLDERS if folder.name else 0
        try:
            with _held(folder.path) as here:
                self._walk(here, folder.key, deepest)
        except (FileNotFoundError, NotADirectoryError):
            if folder.name:  # The user named it; the agent's own appears with its first session.
                self.ignored[folder.key] = "not there"
        except OSError as error:
            self.unreadable[folder.key] = in_words(error)

    def _walk(self, here: Here, key: str, deepest: int) -> None:
        with os.scandir(here) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            below = f"{key}/{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    if deepest:
                        with _held(entry.name, here) as folder:
                            self._walk(folder, below, deepest - 1)
                elif entry.name.endswith(SUFFIX):
                    self._take(below, entry)
            except (FileNotFoundError, NotADirectoryError):
                continue  # it went while we looked, or became a link
            except OSError as error:
                self.unreadable[_shown(below)] = in_words(error)

    def _take(self, key: str, entry: os.DirEntry[str]) -> None:
        status = entry.stat(follow_symlinks=False)
        if why := _why_untellable(key) or _why_not_taken(status):
            self.ignored[_shown(key)] = why
        else:
            self.notes[key] = FoundNote(key, transcript_stat(status))


@contextmanager
def _held(name: str | Path, above: Here | None = None) -> Iterator[Here]:
    """A folder by its descriptor, so that a link put in its place meanwhile leads nowhere.

    Only the way to the first one is followed as it is written.
    """
    if isinstance(above, Path) or os.open not in os.supports_dir_fd:
        yield Path(name) if above is None else Path(str(above), name)
        return
    flags = _FOLDER_FLAGS if above is not None else _FOLDER_FLAGS & ~_NOFOLLOW
    fd = os.open(name, flags, dir_fd=above)
    try:
        yield fd
    finally:
        os.close(fd)


def transcript_stat(status: os.stat_result) -> NoteStat:
    return NoteStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def open_transcript(folder: TranscriptFolder, names: tuple[str, ...]) -> int:
    """A descriptor of a plain file; each step down refuses a link, so none can be slipped in."""
    if os.open not in os.supports_dir_fd:
        return open_checked(folder.path.joinpath(*names))
    here = os.open(folder.path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for name in names[:-1]:
            below = os.open(name, _FOLDER_FLAGS, dir_fd=here)
            os.close(here)
            here = below
        fd = os.open(names[-1], _FILE_FLAGS, dir_fd=here)
    finally:
        os.close(here)
    return _required_plain(fd)


def open_checked(path: Path) -> int:
    """Where folders cannot be held open (Windows): looked at before it is opened."""
    if any(one.is_symlink() for one in (path, *path.parents)):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return _required_plain(os.open(path, _FILE_FLAGS))


def _required_plain(fd: int) -> int:
    if why := _why_not_taken(os.fstat(fd)):
        os.close(fd)
        raise OSError(errno.EFBIG if why == _TOO_LARGE else errno.EINVAL, why)
    return fd


def read_blocks(fd: int, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The bytes of a file from `start` on, up to `end` or all there is."""
    os.lseek(fd, start, os.SEEK_SET)
    left = MAX_TRANSCRIPT_BYTES if end is None else end - start
    while left > 0 and (block := os.read(fd, min(left, BLOCK_BYTES))):
        left -= len(block)
        yield block


def _why_not_taken(status: os.stat_result) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return _LINK
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return _TOO_LARGE if status.st_size > MAX_TRANSCRIPT_BYTES else None


def _why_untellable(name: str) -> str | None:
    """Why a name cannot stand in a listing, an index or a citation."""
    with suppress(UnicodeEncodeError):
        name.encode()
        return None if name.isprintable() else "its name has characters that cannot be shown"
    return "its name is not valid UTF-8"


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def in_words(error: OSError) -> str:
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "not there"
    if error.errno == errno.ELOOP:
        return _LINK
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "permission denied"
    said = error.strerror or type(error).__name__
    return said[:1].lower() + said[1:]
