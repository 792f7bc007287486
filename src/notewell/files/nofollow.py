"""Directories and files opened so that no symbolic link is ever followed, not even in a race.

Checking a path and then opening it by name takes two system calls, and a link can be put in place
between them: measured, one read in thirty leaked. So a directory is held by its descriptor, and
each step down is one `openat` with O_NOFOLLOW, which no race can redirect:

    disk() ── folder("/srv/workspace") ── folder("memory") ── file("2026-11-15.md")

Where the system has no `openat` (Windows), `PathDir` checks, opens, and checks again. That stops
every link that stays, but not one that is swapped in and out within microseconds.

The path of the first directory is followed as written, except for its last name: the caller has
resolved it, or calls `open_resolved`.
A hard link is the file itself under another name, and no check can tell the two apart.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from notewell.files.private import give_folder_to_owner, give_to_owner
from notewell.types import NoteStat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
PLAIN_FLAGS = (
    _NOFOLLOW
    | _CLOEXEC
    | getattr(os, "O_NONBLOCK", 0)  # opening a named pipe would wait for its other end
    | getattr(os, "O_NOCTTY", 0)  # a terminal must not become our controlling terminal
    | getattr(os, "O_BINARY", 0)  # Windows would end the text at Ctrl-Z
)
_FILE_FLAGS = os.O_RDONLY | PLAIN_FLAGS
# With O_APPEND no write can overwrite existing bytes; reading shows what the file ends with.
_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | PLAIN_FLAGS
# The umask decides, as for the user's own editor: these files are the user's, not ours.
FILE_MODE, FOLDER_MODE = 0o666, 0o777

# Opening a link with O_NOFOLLOW fails with ELOOP on Linux and macOS, with EMLINK on FreeBSD.
_LINK_ERRORS = {errno.ELOOP, errno.EMLINK}
_JUNCTION = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT: a link between folders on Windows

LINK = "a symbolic link; links are not followed"


class NotPlain(Exception):
    """A symbolic link, a pipe, a device: something that must not be opened."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Directory(Protocol):
    """An open directory: it stays the same one, whatever is renamed meanwhile."""

    def entries(self) -> list[os.DirEntry[str]]: ...

    def stat(self, name: str) -> os.stat_result:
        """The status of the entry itself, never of the target of a link."""
        ...

    def folder(self, name: str) -> Self:
        """Open a directory in this one. Raises `NotPlain` for a link, otherwise OSError."""
        ...

    def file(self, name: str) -> int:
        """The descriptor of a regular file; raises `NotPlain` for every other kind."""
        ...

    def file_to_append(self, name: str) -> int:
        """The same for reading and appending; creates an empty file if there is none."""
        ...

    def make_folder(self, name: str) -> None:
        """Does nothing if something has that name."""
        ...

    def sync(self) -> None:
        """Force the names in this directory to disk (fsync)."""
        ...

    def close(self) -> None: ...


AnyDirectory = TypeVar("AnyDirectory", bound=Directory)


def disk() -> Directory:
    """The directory every descent starts from; the names in it are absolute paths."""
    if {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd:
        return DirHandle(None)
    return PathDir("", None)


def open_resolved(path: str | os.PathLike[str]) -> Directory:
    """Open a directory the user named: links on the way to it are followed, none below it."""
    return disk().folder(os.path.realpath(path))


@contextmanager
def descend(start: AnyDirectory, names: Sequence[str]) -> Iterator[AnyDirectory]:
    """The directory at the end of `names`, with one descriptor open at a time."""
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
    """What kind of thing this is, if it is neither a regular file nor a directory."""
    mode = status.st_mode
    if stat.S_ISLNK(mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION:
        return LINK
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    kinds = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    return f"{kinds.get(stat.S_IFMT(mode), 'a device')}, not a file"


def describe_os_error(error: OSError) -> str:
    """The reason in a few words, for the middle of a sentence; it names no path."""
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "not there"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "permission denied"
    reason = error.strerror or type(error).__name__
    return reason[:1].lower() + reason[1:]


class DirHandle:
    """Held by its descriptor: renaming it or putting a link in its place changes nothing."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._fd) as entries:
            return sorted(entries, key=_name)

    def stat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def folder(self, name: str) -> Self:
        return type(self)(self._open(name, _FOLDER_FLAGS))

    def file(self, name: str) -> int:
        return self._open_regular(name, _FILE_FLAGS)

    def file_to_append(self, name: str) -> int:
        fd = self._open_regular(name, _APPEND_FLAGS | os.O_CREAT)
        if self._fd is not None:
            give_to_owner(fd, os.fstat(self._fd))
        return fd

    def make_folder(self, name: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=self._fd)
            if self._fd is not None:
                give_folder_to_owner(name, os.fstat(self._fd), dir_fd=self._fd)

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
            return os.open(name, flags, FILE_MODE, dir_fd=self._fd)
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise NotPlain(LINK) from None
            # The error names no kind: a link opened as a directory fails with ENOTDIR, a socket
            # with ENXIO. The entry itself says what it is.
            with suppress(OSError):
                if why := why_not_plain(self.stat(name)):
                    raise NotPlain(why) from None
            raise


class PathDir:
    """Known by its path, and checked before and after each use."""

    __slots__ = ("_identity", "_parent", "_path")

    def __init__(self, path: str, parent: PathDir | None) -> None:
        self._path = path
        self._parent = parent
        self._identity = identity(_require_folder(path)) if parent else None

    def entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._path) as unsorted:
            entries = sorted(unsorted, key=_name)
        self.require_unmoved()
        return entries

    def stat(self, name: str) -> os.stat_result:
        # Not DirEntry.stat, which leaves the inode out on Windows.
        return os.lstat(os.path.join(self._path, name))  # noqa: PTH118

    def folder(self, name: str) -> Self:
        return type(self)(os.path.join(self._path, name), self)  # noqa: PTH118

    def file(self, name: str) -> int:
        return self._open_regular(name, _FILE_FLAGS)

    def file_to_append(self, name: str) -> int:
        with suppress(FileExistsError):
            self.require_unmoved()
            path = os.path.join(self._path, name)  # noqa: PTH118
            # O_EXCL never follows a link: it creates a new file or fails.
            os.close(os.open(path, _APPEND_FLAGS | os.O_CREAT | os.O_EXCL, FILE_MODE))
        return self._open_regular(name, _APPEND_FLAGS)

    def make_folder(self, name: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(os.path.join(self._path, name), FOLDER_MODE)  # noqa: PTH102, PTH118

    def sync(self) -> None:
        pass  # Windows has no descriptors for directories; NTFS journals their names.

    def close(self) -> None:
        pass  # No descriptor is held.

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

    def require_unmoved(self) -> None:
        """Every directory down to this one is still the one that was checked first."""
        if self._parent is None:
            return
        _require_same(_require_folder(self._path), self._identity)
        self._parent.require_unmoved()


def _require_folder(path: str) -> os.stat_result:
    status = os.lstat(path)
    if why := why_not_plain(status):
        raise NotPlain(why)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return status


def _require_regular(status: os.stat_result) -> None:
    if why := why_not_plain(status):
        raise NotPlain(why)
    if not stat.S_ISREG(status.st_mode):
        raise NotPlain("a folder, not a file")


def _require_same(status: os.stat_result, expected: tuple[int, int] | None) -> None:
    if identity(status) != expected:
        raise NotPlain("it was replaced while it was opened")


def identity(status: os.stat_result) -> tuple[int, int]:
    """Equal for two names of the same file (device and inode)."""
    return status.st_dev, status.st_ino


def note_stat(status: os.stat_result) -> NoteStat:
    """What tells a changed note or transcript from an unchanged one."""
    return NoteStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name
