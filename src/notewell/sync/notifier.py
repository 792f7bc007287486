"""Hearing that something changed in a folder.

What is heard is a hint and nothing more: it may come late, twice, or not at all, and the names it
brings are for show. Listening holds three descriptors, however many folders are listened to.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Collection

    from watchfiles._rust_notify import RustNotify

STEP_S = 0.1
"""How often the ear looks up; also the quiet after which it hands over what it heard."""
GROUP_MS = 500
"""Hands over by then, even if it goes on."""
MAX_FOLDERS = 10_000
"""Each costs the kernel about a kilobyte and one of the user's watches, which editors need too."""
VANISHING = 3
"""Folders may go between being found and being listened to, but hardly three times in a row."""


class NotifierUnavailable(Exception):
    """Changes cannot be heard, or no longer; the reason is in words the user sees."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Notifier(Protocol):
    """Listens to folders, not to what is below them. Its waiting is all the waiting there is."""

    def open(self, folders: Collection[str]) -> None:
        """From now on, listen to these in place of others; raises `Deaf`."""
        ...

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        """The paths that changed, as soon as there are any; nothing when the time is over or
        `stop` is set. Merely waits where it is not open. Raises `Deaf`, and is closed then."""
        ...

    def close(self) -> None: ...


class FileNotifier:
    """The operating system's own notices: inotify, FSEvents, ReadDirectoryChangesW."""

    def __init__(self, step_s: float = STEP_S) -> None:
        self._step_ms = max(1, round(step_s * 1000))
        self._notify: RustNotify | None = None

    def open(self, folders: Collection[str]) -> None:
        self.close()
        if len(folders) > MAX_FOLDERS:
            raise NotifierUnavailable(f"there are more than {MAX_FOLDERS} folders of notes")
        for _ in range(VANISHING):
            with suppress(FileNotFoundError):
                self._notify = _notices(folders)
                return
            folders = [folder for folder in folders if Path(folder).is_dir()]
        raise NotifierUnavailable("folders vanish faster than they can be listened to")

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        if self._notify is None:
            stop.wait(timeout_s)
            return ()
        try:
            # A timeout of 0 would mean for ever.
            timeout_ms = max(1, round(timeout_s * 1000))
            said = self._notify.watch(GROUP_MS, self._step_ms, timeout_ms, stop)
        except RuntimeError as error:
            # One name that is not UTF-8 is enough, and the notices end with it.
            self.close()
            raise NotifierUnavailable(str(error)) from error
        if said == "signal":
            raise KeyboardInterrupt
        return () if isinstance(said, str) else [path for _, path in said]

    def close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None


class NoNotifier:
    """For places that make no sound: network drives, some containers."""

    def open(self, folders: Collection[str]) -> None:
        raise NotifierUnavailable("listening is switched off")

    def listen(self, timeout_s: float, stop: threading.Event) -> Collection[str]:
        stop.wait(timeout_s)
        return ()

    def close(self) -> None:
        return None


def _notices(folders: Collection[str]) -> RustNotify:
    try:
        from watchfiles._rust_notify import RustNotify
    except ImportError as error:
        raise NotifierUnavailable(
            f"the watchfiles package cannot be used here: {error}"
        ) from error
    debug = polling = recursive = forgiving = False
    # Not forgiving: it would keep silent about a limit that is reached, too.
    try:
        return RustNotify(sorted(folders), debug, polling, 0, recursive, forgiving)
    except FileNotFoundError:
        raise
    except UnicodeEncodeError as error:
        raise NotifierUnavailable("the name of a folder is not valid UTF-8") from error
    except (OSError, RuntimeError) as error:
        raise NotifierUnavailable(_in_words(error)) from error


def _in_words(error: Exception) -> str:
    told = str(error)
    # It has no errno, only a text.
    if "watch limit" in told:
        return (
            "the system's limit of watched folders is reached; "
            "raise fs.inotify.max_user_watches to be told of changes at once"
        )
    if "os error 24" in told:
        return (
            "the system has no descriptor or inotify instance left for this user; raise "
            "`ulimit -n` or fs.inotify.max_user_instances to be told of changes at once"
        )
    return told
