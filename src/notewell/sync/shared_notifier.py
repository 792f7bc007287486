"""One inotify instance for all watches of a process. Linux only.

    watch of agent a ──▶ share ──┐                      ┌──▶ share of a
    watch of agent b ──▶ share ──┼──▶ inotify ──▶ thread┼──▶ share of b
    watch of agent c ──▶ share ──┘                      └──▶ share of c

`FileNotifier` needs an instance for each watch. A user has 128 of them by default, for all of the
user's programs, and each polls ten times a second. Here, a watch that begins or ends adds or
removes its folders, and the others lose no notice. A thread without notices waits in the kernel.

The kernel is called through ctypes: Python has no function for inotify.
"""

from __future__ import annotations

import ctypes
import errno
import os
import selectors
import struct
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.sync.notifier import MAX_FOLDERS, STEP_S, NotifierUnavailable, describe_limit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# From <sys/inotify.h>; the numbers are the same on every architecture.
_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_QUEUE_OVERFLOW, _IGNORED, _ONLY_FOLDERS = 0x4000, 0x8000, 0x0100_0000
_CHANGES = (
    _MODIFY
    | _ATTRIB
    | _CLOSE_WRITE
    | _MOVED_FROM
    | _MOVED_TO
    | _CREATE
    | _DELETE
    | _DELETE_SELF
    | _MOVE_SELF
    | _ONLY_FOLDERS
)
_EVENT = struct.Struct("iIII")
"""Watch descriptor, mask, cookie, and the length of the name that follows."""
# Windows has neither of these names.
_CLOSE_ON_EXEC, _NON_BLOCKING = getattr(os, "O_CLOEXEC", 0), getattr(os, "O_NONBLOCK", 0)
READ_BYTES = 64 * 1024
MAX_PATHS = 10_000
"""Of changes that a watch has not fetched yet. More are a loss, which leads to a sync."""
OVERFLOW = "more changes at once than the system keeps"


def open_shared_notifier() -> SharedNotifier | None:
    """None where there is no inotify, or no instance left: then each watch opens its own notifier,
    which says why it cannot."""
    if sys.platform != "linux":
        return None
    try:
        return SharedNotifier()
    except (OSError, AttributeError):
        return None


class SharedNotifier:
    """Thread-safe. `share` gives each watch a `Notifier` of its own."""

    def __init__(self) -> None:
        self._inotify = _Inotify()
        self._lock = threading.Lock()
        self._shares: dict[int, dict[NotifierShare, str]] = {}
        """By watch descriptor: who watches this folder, and under which path."""
        self._is_closed = False
        self._wake_read, self._wake_write = os.pipe()
        # A daemon, so that a process that forgets to close this can still end.
        self._thread = threading.Thread(target=self._run, name="notewell-notices", daemon=True)
        self._thread.start()

    def share(self) -> NotifierShare:
        return NotifierShare(self)

    def close(self) -> None:
        """Ends the thread and wakes everybody who listens."""
        os.write(self._wake_write, b"x")
        self._thread.join()
        with self._lock:
            self._is_closed = True
            shares = {share for sharing in self._shares.values() for share in sharing}
            self._shares.clear()
        for share in shares:
            share.wake()
        self._inotify.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def watch(self, share: NotifierShare, folders: Collection[str]) -> None:
        """The share gets notices of these folders in place of others."""
        with self._lock:
            if self._is_closed:
                raise NotifierUnavailable("the notifier is closed")
            before = {number for number, sharing in self._shares.items() if share in sharing}
            added: dict[int, str] = {}
            try:
                for folder in folders:
                    # Also for a known folder: another one of the same name may have replaced it.
                    number = self._inotify.add(folder)
                    if number is not None:
                        added[number] = folder
            except OSError as error:
                self._forget(share, set(added) - before)
                raise NotifierUnavailable(describe_limit(error)) from error
            for number, folder in added.items():
                self._shares.setdefault(number, {})[share] = folder
            self._forget(share, before - set(added))

    def forget(self, share: NotifierShare) -> None:
        with self._lock:
            self._forget(share, {n for n, sharing in self._shares.items() if share in sharing})

    def _forget(self, share: NotifierShare, numbers: Collection[int]) -> None:
        for number in numbers:
            sharing = self._shares.get(number, {})
            sharing.pop(share, None)
            if not sharing:
                self._shares.pop(number, None)
                self._inotify.remove(number)

    # -- the thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._inotify.fd, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select()}
                if self._wake_read in ready:
                    return
                self._deliver()

    def _deliver(self) -> None:
        for number, mask, name in self._inotify.read():
            with self._lock:
                if mask & _QUEUE_OVERFLOW:
                    everybody = {share for sharing in self._shares.values() for share in sharing}
                    for share in everybody:
                        share.lose(OVERFLOW)
                    continue
                sharing = dict(self._shares.get(number, {}))
                if mask & _IGNORED:
                    # The folder is gone, and with it the watch of the kernel.
                    self._shares.pop(number, None)
            for share, folder in sharing.items():
                share.hear(os.path.join(folder, name) if name else folder)  # noqa: PTH118


class NotifierShare:
    """The `Notifier` of one watch."""

    def __init__(self, shared: SharedNotifier) -> None:
        self._shared = shared
        self._condition = threading.Condition()
        self._paths: set[str] = set()
        self._lost: str | None = None
        self._is_woken = False

    def open(self, folders: Collection[str]) -> None:
        if len(folders) > MAX_FOLDERS:
            raise NotifierUnavailable(f"there are more than {MAX_FOLDERS} folders of notes")
        self._shared.watch(self, folders)

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        """Who sets `stop` must call `wake`, too."""
        with self._condition:
            self._condition.wait_for(lambda: self._has_news or stop.is_set(), timeout_s)
            self._is_woken = False
            if not self._has_news:
                return ()
        # A program that saves a file causes several notices.
        stop.wait(STEP_S)
        with self._condition:
            paths, self._paths = self._paths, set()
            lost, self._lost = self._lost, None
        if lost is not None:
            raise NotifierUnavailable(lost)
        return paths

    @property
    def _has_news(self) -> bool:
        return bool(self._paths) or self._lost is not None or self._is_woken

    def hear(self, path: str) -> None:
        with self._condition:
            self._paths.add(path)
            if len(self._paths) > MAX_PATHS:
                self._paths.clear()
                self._lost = OVERFLOW
            self._condition.notify_all()

    def lose(self, why: str) -> None:
        with self._condition:
            self._lost = why
            self._condition.notify_all()

    def wake(self) -> None:
        with self._condition:
            self._is_woken = True
            self._condition.notify_all()

    def close(self) -> None:
        self._shared.forget(self)


class _Inotify:
    """The three calls of the kernel."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self._checked(self._libc.inotify_init1(_CLOSE_ON_EXEC | _NON_BLOCKING))

    def add(self, folder: str) -> int | None:
        """The watch descriptor; None for a folder that has vanished."""
        number = self._libc.inotify_add_watch(self.fd, os.fsencode(folder), _CHANGES)
        if number < 0 and ctypes.get_errno() in (errno.ENOENT, errno.ENOTDIR):
            return None
        return self._checked(number)

    def remove(self, number: int) -> None:
        # An error means that the kernel has removed it already, because the folder is gone.
        self._libc.inotify_rm_watch(self.fd, number)

    def read(self) -> Iterator[tuple[int, int, str]]:
        """Watch descriptor, mask and file name of each event that is there."""
        data = b""
        with suppress(BlockingIOError):
            data = os.read(self.fd, READ_BYTES)
        start = 0
        while start < len(data):
            number, mask, _, length = _EVENT.unpack_from(data, start)
            start += _EVENT.size + length
            yield number, mask, os.fsdecode(data[start - length : start].rstrip(b"\0"))

    def close(self) -> None:
        os.close(self.fd)

    @staticmethod
    def _checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result
