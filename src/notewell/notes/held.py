"""A folder held by its descriptor in which files can be made, renamed and removed.

It steps down as `below` does, and each change is one call that takes the descriptor and a name, so
a folder that is renamed, or a link put in its place, changes nothing about where a write lands.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.notes.below import HeldFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
# For writing too, though nothing is written through it: a note its owner has made read-only must
# not be replaced, and network file systems lock nothing that is only read.
_CHANGE_FLAGS = (
    os.O_RDWR
    | _NOFOLLOW
    | _CLOEXEC
    | getattr(os, "O_NONBLOCK", 0)  # a named pipe would wait for its reader
    | getattr(os, "O_NOCTTY", 0)  # a terminal must not become ours
)
_NEW_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC
_UNNAMED = getattr(os, "O_TMPFILE", 0)
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
_NO_FLAGS = {errno.ENOSYS, errno.EINVAL}
_NOREPLACE = 1
_NO_UNNAMED = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
# As open to others as the user's own editor would make them: the notes are the user's.
_FILE_MODE, _FOLDER_MODE = 0o666, 0o777

TRIES = 1000
"""Names that are tried one after another; so many at once are taken by nobody."""


class ChangeableFolder(HeldFolder):
    __slots__ = ()

    def fileno(self) -> int | None:
        return self._fd

    def folder(self, name: str) -> ChangeableFolder:
        return ChangeableFolder(self._open(name, _FOLDER_FLAGS))

    def file_to_change(self, name: str) -> int:
        """The descriptor of a regular file that we may write to."""
        return self._open_regular(name, _CHANGE_FLAGS)

    def new_file(self, name: str, data: bytes) -> int:
        """A file that was not there before, whole and on disk; else nothing of it remains."""
        fd = self._unnamed_file()
        if fd is None:
            return self._filled_file(name, data)
        try:
            _write_all(fd, data)
            os.fsync(fd)
            # Only now does it get its name, and at once: a kill leaves all of it or nothing.
            os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=self._fd, follow_symlinks=True)
        except OSError as error:
            os.close(fd)
            if error.errno in _NO_LINKS:
                return self._filled_file(name, data)
            raise
        return fd

    def _unnamed_file(self) -> int | None:
        """None where the system, or this file system, has none."""
        if not _UNNAMED or not os.path.isdir("/proc/self/fd"):  # noqa: PTH112
            return None
        try:
            return os.open(".", os.O_RDWR | _UNNAMED | _CLOEXEC, _FILE_MODE, dir_fd=self._fd)
        except OSError as error:
            if error.errno in _NO_UNNAMED:
                return None
            raise

    def _filled_file(self, name: str, data: bytes) -> int:
        """Under a name that is no note's first: half a note would be taken for a whole one."""
        beside = f".new-{os.getpid()}-{os.urandom(4).hex()}.tmp"
        fd = os.open(beside, _NEW_FLAGS, _FILE_MODE, dir_fd=self._fd)
        try:
            _write_all(fd, data)
            os.fsync(fd)
            self._put_in_place(beside, name)
        except BaseException:
            os.close(fd)
            raise
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=self._fd)
        return fd

    def _put_in_place(self, whole: str, name: str) -> None:
        try:
            os.link(whole, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # FAT and some network drives have no second names: an empty file holds the place.
            os.close(os.open(name, _NEW_FLAGS, _FILE_MODE, dir_fd=self._fd))
            os.replace(whole, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def temporary_file(self, note: str, data: bytes, *, like: os.stat_result) -> str:
        """The name of a file that is ready to take the place of `note`, which `like` tells of.

        Who calls holds the lock of the note, so one name is enough, and what a kill left of it
        goes. It is hidden, and not called `.md`: it is never taken for a note.
        """
        name = f".edit-{hashlib.sha256(os.fsencode(note)).hexdigest()[:16]}.tmp"
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._fd)
        fd = self.new_file(name, data)
        try:
            _give(fd, like)
        finally:
            os.close(fd)
        return name

    def new_folder(self, name: str) -> str:
        """A folder nobody has, called so with a number behind it."""
        for number in range(1, TRIES + 1):
            with suppress(FileExistsError):
                self.claim_folder(f"{name}-{number}")
                return f"{name}-{number}"
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def claim_folder(self, name: str) -> None:
        """Makes it, or says that something of that name is there."""
        os.mkdir(name, _FOLDER_MODE, dir_fd=self._fd)

    def rename(self, name: str, target: ChangeableFolder, new_name: str) -> None:
        """What is called `new_name` is replaced; who calls has made sure that it may be."""
        os.rename(name, new_name, src_dir_fd=self._fd, dst_dir_fd=target.fileno())

    def rename_onto_nothing(self, name: str, target: ChangeableFolder, new_name: str) -> bool:
        """In one step; `FileExistsError` where something has the name.

        False where the system or this file system cannot: nothing has happened then.
        """
        import ctypes

        renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if renameat2 is None:
            return False
        names = os.fsencode(name), os.fsencode(new_name)
        if renameat2(self._fd, names[0], target.fileno(), names[1], _NOREPLACE) == 0:
            return True
        code = ctypes.get_errno()
        if code in _NO_FLAGS:
            return False
        raise OSError(code, os.strerror(code), new_name)

    @contextmanager
    def removed_on_failure(self, name: str) -> Iterator[None]:
        """For a thing of our own that is of no use alone."""
        made = self.stat(name)
        try:
            yield
        except BaseException:
            with suppress(OSError):
                now = self.stat(name)
                if (now.st_ino, now.st_dev) == (made.st_ino, made.st_dev):
                    self._remove(name, now)
            raise

    def _remove(self, name: str, status: os.stat_result) -> None:
        if stat.S_ISDIR(status.st_mode):
            os.rmdir(name, dir_fd=self._fd)  # refuses when somebody has put something into it
        else:
            os.unlink(name, dir_fd=self._fd)


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _give(fd: int, like: os.stat_result) -> None:
    """The same rights, and the same owner where we may: an agent's edit takes no note away."""
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):
            os.fchown(fd, like.st_uid, like.st_gid)
    os.fchmod(fd, like.st_mode & 0o777)
