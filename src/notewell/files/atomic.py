"""Files that are replaced or made as a whole: a reader sees the old content or the new one.

    replace_file   temporary file beside it ── fsync? ── rename over it ── fsync of the folder?
    create_file    the same, but a file that is there already stays

`durable` decides about both fsyncs. With it the new content survives a power cut once the call
has returned. Without it a power cut may leave the old content or, on some file systems, an empty
file: enough for caches and whatever can be made again.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from notewell.files.private import PRIVATE_FILE, give_to_owner, sync_directory, sync_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

NO_LINKS = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL}
)
"""A file system without hard links refuses `link` with one of these; Windows with EINVAL."""


RENAME_PAUSES_S = (0.001, 0.01, 0.05, 0.2, 0.5) if sys.platform == "win32" else ()
"""Windows refuses to rename over a file that a reader, an indexer or a virus scanner has open, for
milliseconds. Elsewhere a refusal is final."""


def persistently(
    rename: Callable[[], object],
    pauses_s: Sequence[float] = RENAME_PAUSES_S,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Try again after each pause while the file is in use; raises the last PermissionError."""
    for pause_s in pauses_s:
        try:
            rename()
        except PermissionError:
            sleep(pause_s)
        else:
            return
    rename()


def replace_file(
    path: Path,
    data: bytes,
    *,
    durable: bool,
    mode: int = PRIVATE_FILE,
    owner: tuple[int, int] | None = None,
    temporary: Path | None = None,
    before_rename: Callable[[], None] | None = None,
) -> None:
    """Give `path` the content `data`. Raises OSError; the old file is then untouched.

    `temporary` is for a caller that is the only writer, because it holds a lock: with a fixed
    name the next write removes what a killed process left. All others get a name of their own,
    and `notewell doctor` recognizes what a killed process left by the process id in it.
    `owner` is a user and a group, for root who changes the file of a user.
    `before_rename` may raise to stop the replacement: the last moment to see that another program
    changed the file.
    """
    with _written(path, data, temporary, mode, owner, durable=durable) as ready:
        if before_rename:
            before_rename()
        persistently(lambda: ready.replace(path))
    if durable:
        sync_directory(path.parent)


def create_file(
    path: Path,
    data: bytes,
    *,
    durable: bool,
    mode: int | None = PRIVATE_FILE,
    owner: tuple[int, int] | None = None,
    temporary: Path | None = None,
) -> bool:
    """Make `path` with this content; False if something has the name, which then stays as it is.

    Without a `mode`, it is a file of the user's, as the umask says. `owner` and `temporary` are as
    above.

    Unlike `open(path, "x")` it never shows a file that is half written. On a file system without
    hard links (FAT, exFAT, some network shares) a reader may see it empty for a moment.
    """
    with _written(path, data, temporary, mode, owner, durable=durable) as ready:
        made = _given_name(ready, path)
        ready.unlink(missing_ok=True)
    if durable:
        # Even if another process made it: its name may not be on disk yet, and we rely on it.
        sync_directory(path.parent)
    return made


def _given_name(ready: Path, path: Path) -> bool:
    """Whether the file has the name now; False if something else has it."""
    try:
        os.link(ready, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        with suppress(FileExistsError):
            _move_to_free_name(ready, path)
            return True
        return False
    return True


def _move_to_free_name(ready: Path, path: Path) -> None:
    """Raises FileExistsError if something has the name."""
    # A rename alone would replace a file that appeared meanwhile; O_EXCL decides who has the name.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    try:
        persistently(lambda: ready.replace(path))
    except OSError:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def _written(
    path: Path,
    data: bytes,
    temporary: Path | None,
    mode: int | None,
    owner: tuple[int, int] | None,
    *,
    durable: bool,
) -> Iterator[Path]:
    """A complete temporary file, for the caller to rename or to link; removed on a failure."""
    ready = temporary or path.with_name(f".{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
    if temporary:
        ready.unlink(missing_ok=True)
    # O_EXCL also refuses a link that somebody put there.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    fd = os.open(ready, flags, 0o666 if mode is None else mode)
    try:
        with os.fdopen(fd, "wb") as file:
            _give_to(fd, owner)
            if owner is None:
                give_to_owner(fd, path.parent.stat())
            file.write(data)
            file.flush()
            if durable:
                sync_file(fd)
        if mode not in (None, PRIVATE_FILE):
            ready.chmod(mode)  # `open` has applied the umask.
        yield ready
    except BaseException:
        ready.unlink(missing_ok=True)
        raise


def _give_to(fd: int, owner: tuple[int, int] | None) -> None:
    """Before there is any content: nobody else reads it meanwhile."""
    now = os.fstat(fd)
    if sys.platform != "win32" and owner is not None and owner != (now.st_uid, now.st_gid):
        with suppress(PermissionError):  # Only root may, and then it is needed.
            os.fchown(fd, *owner)


_BESIDE = re.compile(r"-(\d{1,10})-[0-9a-f]{8}$")
_NO_END = re.compile("")


def remove_left_behind(path: Path, ends: re.Pattern[str] = _NO_END) -> None:
    """Remove the temporary files of `path` whose writers were killed; and those of files beside it
    whose names are its name and one of `ends`."""
    from notewell.files.locks import is_alive

    start = f".{path.name}"
    with suppress(OSError):
        for name in os.listdir(path.parent):  # noqa: PTH208 - only names are wanted
            left = _BESIDE.search(name) if name.startswith(start) else None
            is_ours = left and ends.fullmatch(name[len(start) : left.start()])
            if left and is_ours and is_alive(int(left[1])) is False:
                path.with_name(name).unlink(missing_ok=True)
