"""An open directory in which files can be created, renamed and removed.

Each change is one system call that takes the descriptor and a name, so renaming the directory, or
putting a link in its place, does not change where a write lands. See `nofollow`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.files.atomic import NO_LINKS
from notewell.files.nofollow import FILE_MODE, FOLDER_MODE, PLAIN_FLAGS, DirHandle
from notewell.files.private import PRIVATE_FILE, give_folder_to_owner, give_to_owner, sync_file

if TYPE_CHECKING:
    from collections.abc import Iterator

# For writing too, though nothing is written through it: a file its owner has made read-only must
# not be replaced, and network file systems do not lock a file that is open for reading only.
_CHANGE_FLAGS = os.O_RDWR | PLAIN_FLAGS
_NEW_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | PLAIN_FLAGS
_UNNAMED = getattr(os, "O_TMPFILE", 0)
# Errors that mean "this file system cannot do that", as opposed to "it failed".
_NO_FLAGS = {errno.ENOSYS, errno.EINVAL}
_NOREPLACE = 1
_NO_UNNAMED = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}

EDIT_COPY = re.compile(r"\.edit-[0-9a-f]{16}\.tmp|\.new-\d{1,10}-[0-9a-f]{8}\.tmp")
"""The names of files that a process leaves if it is killed while it writes a note."""

MAX_NUMBER = 1000
"""Numbers tried for a new folder name; nobody has so many of one name."""


def can_edit_folders() -> bool:
    """Whether the system changes files by the descriptor of their folder; Windows does not, so
    a link could be put in place between the check of a path and its use."""
    return {os.open, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd


class WritableDir(DirHandle):
    __slots__ = ()

    def fileno(self) -> int | None:
        return self._fd

    def file_to_change(self, name: str) -> int:
        """The descriptor of a regular file that we may write to."""
        return self._open_regular(name, _CHANGE_FLAGS)

    def new_file(self, name: str, data: bytes, *, like: os.stat_result | None = None) -> int:
        """Create a file, complete and on disk; on failure nothing of it remains.

        `like` gives its owner and mode before it has any content: nobody who may not read the one
        may read the other. Raises FileExistsError if something has the name. Returns the open
        descriptor.
        """
        mode = FILE_MODE if like is None else PRIVATE_FILE
        fd = self._unnamed_file(mode)
        if fd is None:
            return self._filled_file(name, data, mode, like)
        try:
            self._give(fd, like)
            _write_all(fd, data)
            sync_file(fd)
            # It gets its name only now: a process that is killed leaves the whole file or none.
            os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=self._fd, follow_symlinks=True)
        except OSError as error:
            os.close(fd)
            if error.errno in NO_LINKS:
                return self._filled_file(name, data, mode, like)
            raise
        return fd

    def _give(self, fd: int, like: os.stat_result | None) -> None:
        if like is not None:
            _copy_owner_and_mode(fd, like)
        elif self._fd is not None:
            give_to_owner(fd, os.fstat(self._fd))

    def _unnamed_file(self, mode: int) -> int | None:
        """A file without a name (O_TMPFILE); None where the file system has none."""
        if not _UNNAMED or not os.path.isdir("/proc/self/fd"):  # noqa: PTH112
            return None
        try:
            flags = os.O_RDWR | _UNNAMED | getattr(os, "O_CLOEXEC", 0)
            return os.open(".", flags, mode, dir_fd=self._fd)
        except OSError as error:
            if error.errno in _NO_UNNAMED:
                return None
            raise

    def _filled_file(self, name: str, data: bytes, mode: int, like: os.stat_result | None) -> int:
        """Written under a name that is not a note's: a sync must not see half a note."""
        beside = f".new-{os.getpid()}-{os.urandom(4).hex()}.tmp"
        fd = os.open(beside, _NEW_FLAGS, mode, dir_fd=self._fd)
        try:
            self._give(fd, like)
            _write_all(fd, data)
            sync_file(fd)
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
            if error.errno not in NO_LINKS:
                raise
            # FAT and some network drives have no hard links: an empty file reserves the name.
            os.close(os.open(name, _NEW_FLAGS, FILE_MODE, dir_fd=self._fd))
            os.replace(whole, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def temporary_file(self, note: str, data: bytes, *, like: os.stat_result) -> str:
        """The name of a new file that can replace `note`; `like` gives its mode and owner.

        The caller holds the lock of the note, so one name is enough, and a leftover of a killed
        process is removed, here or by `notewell doctor` (`EDIT_COPY`). Its name is hidden and does
        not end in `.md`: no scan takes it for a note.
        """
        name = f".edit-{hashlib.sha256(os.fsencode(note)).hexdigest()[:16]}.tmp"
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._fd)
        os.close(self.new_file(name, data, like=like))
        return name

    def remove_file(self, name: str) -> None:
        os.unlink(name, dir_fd=self._fd)

    def new_folder(self, name: str) -> str:
        """Make a folder `<name>-<number>` with the first number that is free."""
        for number in range(1, MAX_NUMBER + 1):
            with suppress(FileExistsError):
                self.claim_folder(f"{name}-{number}")
                return f"{name}-{number}"
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def claim_folder(self, name: str) -> None:
        """Make the folder; raises FileExistsError if something has the name."""
        os.mkdir(name, FOLDER_MODE, dir_fd=self._fd)
        if self._fd is not None:
            give_folder_to_owner(name, os.fstat(self._fd), dir_fd=self._fd)

    def rename(self, name: str, target: WritableDir, new_name: str) -> None:
        """A file called `new_name` is replaced; the caller has checked that it may be."""
        os.rename(name, new_name, src_dir_fd=self._fd, dst_dir_fd=target.fileno())

    def rename_no_replace(self, name: str, target: WritableDir, new_name: str) -> bool:
        """Rename in one step with RENAME_NOREPLACE; FileExistsError if something has the name.

        False where the system or this file system cannot do that; nothing has happened then.
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
        """Remove an entry we made if the rest of the work fails."""
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
            os.rmdir(name, dir_fd=self._fd)  # fails if somebody has put something into it
        else:
            os.unlink(name, dir_fd=self._fd)


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _copy_owner_and_mode(fd: int, like: os.stat_result) -> None:
    """Without this an edit by an agent could take a note away from its owner."""
    if sys.platform == "win32":  # Windows keeps the rights of a folder.
        return
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):
            os.fchown(fd, like.st_uid, like.st_gid)
    os.fchmod(fd, like.st_mode & 0o777)
