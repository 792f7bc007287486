"""Folders and files opened so that no symbolic link is ever followed, not even in a race.

A path that was checked and then opened by name is two questions to the disk, and a link can be
put in place between them: measured, that leaked in one read of thirty. So a folder is held by
its descriptor and each step down is one `openat` with O_NOFOLLOW, which cannot be tricked:

    disk ── folder("/srv/workspace") ── folder("memory") ── file("2026-11-15.md")

Where the system has no `openat` (Windows), `CheckedFolder` looks, opens, and looks again.
That stops every link that lies there, but not one swapped in and out within microseconds.

The way to the first folder is followed as written; whoever hands it over has resolved it.
A hard link is the file itself under another name, and no check can tell the two apart.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
_PLAIN_FLAGS = (
    _NOFOLLOW
    | _CLOEXEC
    | getattr(os, "O_NONBLOCK", 0)  # a named pipe would wait for its writer
    | getattr(os, "O_NOCTTY", 0)  # a terminal must not become ours
    | getattr(os, "O_BINARY", 0)  # Windows would end the text at Ctrl-Z
)
_FILE_FLAGS = os.O_RDONLY | _PLAIN_FLAGS
# With O_APPEND no write can land on what is there; reading shows what to go on from.
_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | _PLAIN_FLAGS
# As open to others as the user's own editor would make them: the notes are the user's.
_FILE_MODE, _FOLDER_MODE = 0o666, 0o777

# Linux and macOS say ELOOP of a link opened with O_NOFOLLOW, FreeBSD says EMLINK.
_LINK_ERRORS = {errno.ELOOP, errno.EMLINK}
_JUNCTION = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT: a link between folders on Windows


LINK = "a symbolic link; links are not followed"


class NotPlain(Exception):
    """A symbolic link, a pipe, a device: something that must not be opened as a note."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Folder(Protocol):
    """A folder that stays the one it was when opened."""

    def entries(self) -> list[os.DirEntry[str]]: ...

    def stat(self, name: str) -> os.stat_result:
        """Of the entry itself, never of what a link points to."""
        ...

    def folder(self, name: str) -> Folder:
        """Raises `NotPlain` for a link, OSError for the rest."""
        ...

    def file(self, name: str) -> int:
        """The descriptor of a regular file; raises `NotPlain` for anything else that is there."""
        ...

    def file_to_append(self, name: str) -> int:
        """Likewise, for reading and appending; an empty file is made where there is none."""
        ...

    def make_folder(self, name: str) -> None:
        """Unless something of that name is there."""
        ...

    def sync(self) -> None:
        """Returns when the names in this folder are on disk."""
        ...

    def close(self) -> None: ...


def disk() -> Folder:
    """Where every way begins; its names are absolute paths."""
    if {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd:
        return HeldFolder(None)
    return CheckedFolder("", None)


@contextmanager
def descend(start: Folder, names: Sequence[str]) -> Iterator[Folder]:
    """The folder at the end of the way, with one descriptor open at a time."""
    folder = start
    try:
        for name in names:
            child = folder.folder(name)
            if folder is not start:
                folder.close()
            folder = child
        yield folder
    finally:
        if folder is not start:
            folder.close()


def why_not_plain(status: os.stat_result) -> str | None:
    """What this is, if it is neither a regular file nor a folder."""
    mode = status.st_mode
    if stat.S_ISLNK(mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION:
        return LINK
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    kinds = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    return f"{kinds.get(stat.S_IFMT(mode), 'a device')}, not a file"


def in_words(error: OSError) -> str:
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "not there"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "permission denied"
    return (error.strerror or type(error).__name__).lower()


class HeldFolder:
    """Held by its descriptor, so renaming it or putting a link in its place changes nothing."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._fd) as found:
            return sorted(found, key=_name)

    def stat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def folder(self, name: str) -> HeldFolder:
        return HeldFolder(self._open(name, _FOLDER_FLAGS))

    def file(self, name: str) -> int:
        return self._open_regular(name, _FILE_FLAGS)

    def file_to_append(self, name: str) -> int:
        return self._open_regular(name, _APPEND_FLAGS | os.O_CREAT)

    def make_folder(self, name: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(name, _FOLDER_MODE, dir_fd=self._fd)

    def sync(self) -> None:
        if self._fd is not None:
            os.fsync(self._fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open_regular(self, name: str, flags: int) -> int:
        fd = self._open(name, flags)
        try:
            _require_regular(os.fstat(fd))
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _open(self, name: str, flags: int) -> int:
        try:
            return os.open(name, flags, _FILE_MODE, dir_fd=self._fd)
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise NotPlain(LINK) from None
            # A link opened as a folder is "not a directory", a socket "no such device": look.
            with suppress(OSError):
                if why := why_not_plain(self.stat(name)):
                    raise NotPlain(why) from None
            raise


class CheckedFolder:
    """Known by its path; looked at before and after each use."""

    __slots__ = ("_identity", "_parent", "_path")

    def __init__(self, path: str, parent: CheckedFolder | None) -> None:
        self._path = path
        self._parent = parent
        self._identity = identity(self._look(path)) if parent else None

    def entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._path) as found:
            entries = sorted(found, key=_name)
        self.require_unmoved()
        return entries

    def stat(self, name: str) -> os.stat_result:
        # Not DirEntry.stat, which leaves the inode out on Windows.
        return os.lstat(os.path.join(self._path, name))  # noqa: PTH118

    def folder(self, name: str) -> CheckedFolder:
        return CheckedFolder(os.path.join(self._path, name), self)  # noqa: PTH118

    def file(self, name: str) -> int:
        return self._open_regular(name, _FILE_FLAGS)

    def file_to_append(self, name: str) -> int:
        with suppress(FileExistsError):
            self.require_unmoved()
            path = os.path.join(self._path, name)  # noqa: PTH118
            # O_EXCL makes a file or nothing: it does not go where a link points.
            os.close(os.open(path, _APPEND_FLAGS | os.O_CREAT | os.O_EXCL, _FILE_MODE))
        return self._open_regular(name, _APPEND_FLAGS)

    def make_folder(self, name: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(os.path.join(self._path, name), _FOLDER_MODE)  # noqa: PTH102, PTH118

    def sync(self) -> None:
        pass  # Windows has no descriptors for folders; it journals their names

    def close(self) -> None:
        pass  # nothing is held

    def _open_regular(self, name: str, flags: int) -> int:
        path = os.path.join(self._path, name)  # noqa: PTH118
        before = os.lstat(path)
        _require_regular(before)
        fd = os.open(path, flags)
        try:
            _require_same(os.fstat(fd), identity(before))
            self.require_unmoved()
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _look(self, path: str) -> os.stat_result:
        status = os.lstat(path)
        if why := why_not_plain(status):
            raise NotPlain(why)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return status

    def require_unmoved(self) -> None:
        """Every folder down to this one is still the one that was looked at."""
        if self._parent is None:
            return
        _require_same(self._look(self._path), self._identity)
        self._parent.require_unmoved()


def _require_regular(status: os.stat_result) -> None:
    if why := why_not_plain(status):
        raise NotPlain(why)
    if not stat.S_ISREG(status.st_mode):
        raise NotPlain("a folder, not a file")


def _require_same(status: os.stat_result, expected: tuple[int, int] | None) -> None:
    if identity(status) != expected:
        raise NotPlain("it was replaced while it was opened")


def identity(status: os.stat_result) -> tuple[int, int]:
    """The same for the same file, whatever it is called."""
    return status.st_dev, status.st_ino


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name
