"""Notices of the operating system that something changed, and the folders they are asked for.

A notice is only a hint: it may come late, twice, or not at all, and its paths are for display. A
notifier holds three file descriptors, however many folders it watches.

    workspace/            watched, without what is below: MEMORY.md and memory/ come and go here
    ├── node_modules/     not watched
    └── memory/           watched, with every folder below
        └── trips/        watched

Folders are watched, never files: ten thousand notes in one folder cost one watch. We walk the
tree ourselves instead of asking for recursive watches, so that ignored folders cost nothing. For a
folder that does not exist yet, the nearest existing folder above it is watched.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from notewell.notes import IGNORED_FOLDERS, why_unprintable

if TYPE_CHECKING:
    import threading
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from watchfiles._rust_notify import RustNotify

STEP_S = 0.1
"""How often the native notifier wakes up; also the pause after which it returns a group."""
GROUP_MS = 500
"""It returns a group after this time, even if changes go on."""
NOTE_SUFFIXES = (".md",)
MAX_FOLDERS = 10_000
"""Each costs the kernel about a kilobyte and one of the user's watches, which editors need too."""
VANISHING = 3
"""How often to retry: a folder may vanish between being listed and being watched."""


class NotifierUnavailable(Exception):
    """There are no notices, or no longer; `why` is shown to the user."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Notifier(Protocol):
    """Watches folders, not the folders below them. A watch waits nowhere else."""

    def open(self, folders: Collection[str]) -> None:
        """Watch these folders in place of others; raises `NotifierUnavailable`."""
        ...

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        """The paths that changed, as soon as there are any; nothing after the timeout or when
        `stop` is set. Only waits if it is not open. Closes itself when it raises
        `NotifierUnavailable`."""
        ...

    def close(self) -> None: ...


class FileNotifier:
    """The operating system's own notices: inotify, FSEvents, ReadDirectoryChangesW."""

    def __init__(self, step_s: float = STEP_S) -> None:
        self._step_ms = max(1, round(step_s * 1000))
        self._notify: RustNotify | None = None

    def open(self, folders: Collection[str]) -> None:
        self.close()
        # Checked before the kernel does: its limit is shared with every other program of the
        # user.
        if len(folders) > MAX_FOLDERS:
            raise NotifierUnavailable(f"there are more than {MAX_FOLDERS} folders of notes")
        for _ in range(VANISHING):
            with suppress(FileNotFoundError):
                self._notify = _open_native(folders)
                return
            folders = [folder for folder in folders if Path(folder).is_dir()]
        raise NotifierUnavailable("folders vanish faster than they can be watched")

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        if self._notify is None:
            stop.wait(timeout_s)
            return ()
        try:
            # RustNotify takes a timeout of 0 as no timeout.
            timeout_ms = max(1, round(timeout_s * 1000))
            changes = self._notify.watch(GROUP_MS, self._step_ms, timeout_ms, stop)
        except RuntimeError as error:
            # A single name that is not UTF-8 ends the notices of RustNotify.
            self.close()
            raise NotifierUnavailable(str(error)) from error
        if changes == "signal":
            raise KeyboardInterrupt
        return () if isinstance(changes, str) else [path for _, path in changes]

    def close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None


class NoNotifier:
    """For file systems without notices: network drives, some containers."""

    def open(self, folders: Collection[str]) -> None:
        raise NotifierUnavailable("notices of changes are switched off")

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        stop.wait(timeout_s)
        return ()

    def close(self) -> None:
        return None


def _open_native(folders: Collection[str]) -> RustNotify:
    try:
        from watchfiles._rust_notify import RustNotify
    except ImportError as error:
        raise NotifierUnavailable(
            f"the watchfiles package cannot be used here: {error}"
        ) from error
    debug = polling = recursive = forgiving = False
    # ignore_permission_denied would also hide that the limit of watches is reached.
    try:
        return RustNotify(sorted(folders), debug, polling, 0, recursive, forgiving)
    except FileNotFoundError:
        raise
    except UnicodeEncodeError as error:
        raise NotifierUnavailable("the name of a folder is not valid UTF-8") from error
    except (OSError, RuntimeError) as error:
        raise NotifierUnavailable(_describe(error)) from error


_NO_WATCHES = (
    "the system's limit of watched folders is reached; "
    "raise fs.inotify.max_user_watches to get changes at once"
)


def describe_limit(error: OSError) -> str:
    """Why the kernel refuses a watch."""
    return _NO_WATCHES if error.errno == errno.ENOSPC else str(error)


def _describe(error: Exception) -> str:
    text = str(error)
    # RustNotify raises errors without an errno: the text is all there is.
    if "watch limit" in text:
        return _NO_WATCHES
    if "os error 24" in text:
        return (
            "the system has no descriptor or inotify instance left for this user; raise "
            "`ulimit -n` or fs.inotify.max_user_instances to get changes at once"
        )
    return text


# -- which folders -------------------------------------------------------------------------------


class WatchPaths:
    """The paths of a memory: files, or folders with everything below them."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        ignore: Sequence[Path] = (),
        suffixes: tuple[str, ...] = NOTE_SUFFIXES,
    ) -> None:
        self._paths = tuple(dict.fromkeys(_real(path) for path in paths))
        self._ignore = frozenset(_real(path) for path in ignore)
        self._suffixes = suffixes
        self._above = {str(parent) for path in self._paths for parent in Path(path).parents}

    def folders(self) -> Mapping[str, tuple[int, int]]:
        """The folders to watch now, each with its device and inode: a folder that was replaced by
        another of the same name has to be watched anew."""
        folders: dict[str, tuple[int, int]] = {}
        for path in self._paths:
            folders.update(_nearest(Path(path).parent))
            folders.update(self._below(path))
        return folders

    def _below(self, top: str) -> Iterator[tuple[str, tuple[int, int]]]:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            try:
                status = os.lstat(folder)
                if not stat.S_ISDIR(status.st_mode):
                    continue  # A file is watched by its folder; a link is not followed.
                with os.scandir(folder) as entries:
                    waiting += [entry.path for entry in entries if self._is_watched(entry)]
            except OSError:
                continue  # It vanished, or we may not read it: the scan reports that.
            yield folder, (status.st_dev, status.st_ino)

    def _is_watched(self, entry: os.DirEntry[str]) -> bool:
        return (
            entry.is_dir(follow_symlinks=False)
            and entry.name not in IGNORED_FOLDERS
            and entry.path not in self._ignore
            and why_unprintable(entry.name) is None
        )

    def matters(self, path: str, watched: Collection[str]) -> bool:
        """Whether a change of `path` can change what a sync finds."""
        # A folder above may have been moved or removed together with the notes.
        if path in self._paths or path in self._above:
            return True
        if not any(path.startswith(f"{parent}{os.sep}") for parent in self._paths):
            return False
        if path in self._ignore:
            return False
        # A folder that was removed can be recognized only by the watches we had.
        return self.is_note(path) or path in watched or os.path.isdir(path)  # noqa: PTH112

    def is_note(self, path: str) -> bool:
        return path.lower().endswith(self._suffixes)


def _real(path: Path) -> str:
    """The path as notices will name it: links are resolved, except the last component."""
    absolute = path.absolute()
    return str(Path(os.path.realpath(absolute.parent)) / absolute.name)


def _nearest(folder: Path) -> dict[str, tuple[int, int]]:
    """This folder, or the nearest one above it that can be watched."""
    nearest: dict[str, tuple[int, int]] = {}
    for candidate in (*reversed(folder.parents), folder):
        with suppress(OSError):
            os.scandir(candidate).close()  # A folder that we may list we may also watch.
            status = candidate.stat()
            nearest = {str(candidate): (status.st_dev, status.st_ino)}
    return nearest
