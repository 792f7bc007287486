"""Which files are transcripts; they are found and opened without following symbolic links.

The agent's own folder is flat; the folder of another host is a tree and has a name:

    sessions/<file>.jsonl                  the agent's own
    sessions/<name>/<folder>/<file>.jsonl  of a host, for example `claude` or `codex`

A host that rotates a transcript renames it (`….jsonl.reset.…`): the old file no longer has the
suffix of a transcript, and the new one has another inode and is read from its start.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from notewell.hosts import TRANSCRIPT_FORMATS
from notewell.types import FoundNote, Ignored, NoteStat, Scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from notewell.hosts import TranscriptFormat

FolderRef: TypeAlias = int | Path
"""An open folder: its descriptor or, where a folder has none (Windows), its path."""

PREFIX = "sessions"
SUFFIX = ".jsonl"
"""Of the transcripts that Notewell itself writes, and of most hosts."""

MAX_TRANSCRIPT_BYTES = 512 * 1024 * 1024
"""Weeks of one conversation with its images; a larger file is something else."""

MAX_FOLDERS = 8
"""Codex nests three deep (year, month, day)."""

BLOCK_BYTES = 1024 * 1024

_TOO_LARGE = f"larger than {MAX_TRANSCRIPT_BYTES // 2**20} MiB, the most a transcript may have"
_LINK = "a symbolic link; links are not followed"
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _PLAIN
# O_NONBLOCK: the open of a named pipe would otherwise wait for a writer.
_FILE_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | _PLAIN


def transcript_suffixes(
    formats: Iterable[TranscriptFormat] = TRANSCRIPT_FORMATS,
) -> tuple[str, ...]:
    """The suffixes of files that may be transcripts, each once."""
    return tuple(dict.fromkeys(format_.suffix for format_ in formats))


def is_transcript_path(path: str) -> bool:
    """Whether a path in the index is that of a transcript; notes are Markdown files."""
    return path.endswith(transcript_suffixes())


def path_of_session(id_: str) -> str:
    """The path of a session by its id. The most common suffix is not part of an id; others are,
    since two files may differ in the suffix only."""
    others = tuple(suffix for suffix in transcript_suffixes() if suffix != SUFFIX)
    return f"{PREFIX}/{id_}" if others and id_.endswith(others) else f"{PREFIX}/{id_}{SUFFIX}"


def session_of_path(path: str) -> str:
    """The id of a session by its path; the inverse of `path_of_session`."""
    return path.removeprefix(f"{PREFIX}/").removesuffix(SUFFIX)


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """A folder of transcripts."""

    path: Path
    name: str = ""
    """The name of another host's folder; the agent's own folder has none."""

    @property
    def key(self) -> str:
        return f"{PREFIX}/{self.name}" if self.name else PREFIX

    @property
    def max_depth(self) -> int:
        return MAX_FOLDERS if self.name else 0

    def locate(self, path: str, suffixes: tuple[str, ...] = (SUFFIX,)) -> tuple[str, ...] | None:
        """The names from this folder down to a transcript; None if it cannot be in the folder."""
        if not path.startswith(f"{self.key}/") or not path.endswith(suffixes):
            return None
        names = tuple(path[len(self.key) + 1 :].split("/"))
        if len(names) - 1 > self.max_depth or not {"", ".", ".."}.isdisjoint(names):
            return None
        # On Windows these characters separate folders and name drives and streams.
        if os.sep != "/" and ("\\" in path or ":" in path):
            return None
        return None if _why_not_printable(path) else names


def find_transcripts(
    folders: Iterable[TranscriptFolder], suffixes: tuple[str, ...] = (SUFFIX,)
) -> Scan:
    """One scan of the disk; a folder that does not exist has no transcripts."""
    scanner = _Scanner(suffixes)
    for folder in folders:
        scanner.add(folder)
    return Scan(
        notes=dict(sorted(scanner.notes.items())),
        ignored=tuple(Ignored(*item) for item in sorted(scanner.ignored.items())),
        unreadable=tuple(Ignored(*item) for item in sorted(scanner.unreadable.items())),
    )


class _Scanner:
    def __init__(self, suffixes: tuple[str, ...]) -> None:
        self._suffixes = suffixes
        self.notes: dict[str, FoundNote] = {}
        self.ignored: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}

    def add(self, folder: TranscriptFolder) -> None:
        try:
            with _opened(folder.path) as ref:
                self._scan(ref, folder.key, folder.max_depth)
        except (FileNotFoundError, NotADirectoryError):
            # The user named the folder of a host; the agent's own appears with its first session.
            if folder.name:
                self.ignored[folder.key] = "not there"
        except OSError as error:
            self.unreadable[folder.key] = os_error_text(error)

    def _scan(self, folder: FolderRef, path: str, depth: int) -> None:
        with os.scandir(folder) as iterator:
            entries = sorted(iterator, key=lambda entry: entry.name)
        for entry in entries:
            entry_path = f"{path}/{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth:
                        with _opened(entry.name, folder) as below:
                            self._scan(below, entry_path, depth - 1)
                elif entry.name.endswith(self._suffixes):
                    self._add_file(entry_path, entry)
            except (FileNotFoundError, NotADirectoryError):
                continue  # Removed, or replaced by a link, since the folder was listed.
            except OSError as error:
                self.unreadable[_printable(entry_path)] = os_error_text(error)

    def _add_file(self, path: str, entry: os.DirEntry[str]) -> None:
        status = entry.stat(follow_symlinks=False)
        if why := _why_not_printable(path) or _why_not_a_transcript(status):
            self.ignored[_printable(path)] = why
        else:
            self.notes[path] = FoundNote(path, transcript_stat(status))


@contextmanager
def _opened(name: str | Path, above: FolderRef | None = None) -> Iterator[FolderRef]:
    """A folder by its descriptor (openat, O_NOFOLLOW): a link that replaces it meanwhile has no
    effect. Links on the way to the first folder are followed: the user configured that path.
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
    """A descriptor of a regular file. Each step is an openat with O_NOFOLLOW, so a link that is
    put in place between two steps is refused too."""
    if os.open not in os.supports_dir_fd:
        return open_checked(folder.path.joinpath(*names))
    folder_fd = os.open(folder.path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for name in names[:-1]:
            below_fd = os.open(name, _FOLDER_FLAGS, dir_fd=folder_fd)
            os.close(folder_fd)
            folder_fd = below_fd
        fd = os.open(names[-1], _FILE_FLAGS, dir_fd=folder_fd)
    finally:
        os.close(folder_fd)
    return _require_regular(fd)


def open_checked(path: Path) -> int:
    """For systems without openat (Windows): check for links, then open."""
    if any(parent.is_symlink() for parent in (path, *path.parents)):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return _require_regular(os.open(path, _FILE_FLAGS))


def _require_regular(fd: int) -> int:
    if why := _why_not_a_transcript(os.fstat(fd)):
        os.close(fd)
        raise OSError(errno.EFBIG if why == _TOO_LARGE else errno.EINVAL, why)
    return fd


def read_blocks(fd: int, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The bytes of a file from `start` up to `end`, or up to the size limit."""
    os.lseek(fd, start, os.SEEK_SET)
    left = MAX_TRANSCRIPT_BYTES if end is None else end - start
    while left > 0 and (block := os.read(fd, min(left, BLOCK_BYTES))):
        left -= len(block)
        yield block


def _why_not_a_transcript(status: os.stat_result) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return _LINK
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return _TOO_LARGE if status.st_size > MAX_TRANSCRIPT_BYTES else None


def _why_not_printable(name: str) -> str | None:
    """Why a name cannot be used in a listing, an index or a citation."""
    with suppress(UnicodeEncodeError):
        name.encode()
        return None if name.isprintable() else "its name has characters that cannot be shown"
    return "its name is not valid UTF-8"


def _printable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def os_error_text(error: OSError) -> str:
    """What went wrong, in our words where users meet the error often."""
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "not there"
    if error.errno == errno.ELOOP:
        return _LINK
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "permission denied"
    text = error.strerror or type(error).__name__
    return text[:1].lower() + text[1:]
