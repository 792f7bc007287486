"""When all notes are compared with the index: a look. The times of a note tell whether it changed.

Before each search somebody should look, or the answer may be old. But 100 000 notes take most of a
second. Two rules keep that short:

    in a process     looking takes at most a tenth of the time (`LOOK_SHARE`), a hundredth while
                     a watch reports changes; searches of several threads share one look
    a command        answers first if a look takes longer than `wait_s`, says when the last one
                     was, and looks after its answer

How long a look takes is known from the last one, of any process: a file in the folder of the index
has its time. The file exists only if looks take long, so that a small memory does not pay for it.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from notewell.records import NamedTuple, dataclass, field
from notewell.types import Notice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOOK_SHARE = 10
"""A scan of 10 000 files is too slow to be done for every search of a busy process."""
WATCHED_SHARE = 100
"""The same while a watch runs and has heard of no change. Its notices come within half a second;
where they are lost, as on some network drives, a change is found this late."""
LOOK_WAIT_S = 0.2
"""What a command waits for a look. 20 000 notes take about this long."""
LONGEST_S = 3600.0
"""After an hour a command waits for a look, however long that takes: an answer that is older than
this is of little use, although it would say so."""


class Look(NamedTuple):
    """A look that found, or made, index and notes equal."""

    at_s: float
    """When it began, in seconds since 1970."""
    took_s: float

    def notice(self, now_s: float) -> Notice:
        return Notice.same(
            f"the notes were compared with the index {_length(now_s - self.at_s)} ago, not for "
            f"this search, because that takes {self.took_s:.1f} s: later changes may be missing"
        )


class BegunLook(NamedTuple):
    at_s: float
    started: float
    requests: int


class NotesCompared(NamedTuple):
    """What one look found."""

    begun: BegunLook
    took_s: float
    changed: int | Notice | None
    """How many notes differ from the index; None if it has to be rebuilt; a notice if there was
    none yet."""
    mark: int | None = None
    """The change mark of the notes from before this look: who shares it may know a newer one."""


class LookedResult(NamedTuple):
    changed: int
    """How many notes differed from the index."""
    notice: Notice | None
    """What was not brought up to date, and why."""


@dataclass(slots=True)
class LookSchedule:
    """Decides whether a search looks. Thread-safe."""

    now_ns: Callable[[], int]
    monotonic_s: Callable[[], float]
    file: Path | None
    """Where the last look is recorded for other processes; None: nowhere."""
    wait_s: float | None = None
    """A search does not wait for a look that takes longer than this; None: it does."""
    postponed: Look | None = None
    """The last look, if a search did not wait for a new one."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Protects the next two fields: a look that ends must not undo a request that came while it
    ran."""
    _again_at: float = 0.0
    _requests: int = 0
    _is_watched: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)
    """Of the thread that looks; protects the next two fields."""
    _looks: int = 0
    _last: NotesCompared | None = None

    def request(self) -> None:
        """The next search looks: the caller knows that a note has just changed."""
        with self._lock:
            self._again_at = 0.0
            self._requests += 1
        self._forget()

    def watched(self, *, quiet: bool) -> None:
        """A watch says whether it reports changes and has heard of none."""
        if self._is_watched and not quiet:
            self.request()
        self._is_watched = quiet

    def is_recent(self) -> bool:
        return self.monotonic_s() < self._again_at

    def postpone(self) -> Look | None:
        """The last look, if a new one takes longer than a search waits."""
        if self.wait_s is None:
            return None
        last, now_s = self._recorded(), self.now_ns() / 1e9
        # A look in the future: the clock was set back, and nobody knows when it was.
        if last and last.took_s > self.wait_s and 0 <= now_s - last.at_s < LONGEST_S:
            self.postponed = last
        return self.postponed

    @property
    def is_due(self) -> bool:
        """Whether a search postponed a look, and the last one is not recent."""
        last = self.postponed
        return last is not None and self.now_ns() / 1e9 - last.at_s > LOOK_SHARE * last.took_s

    def wait(self) -> bool:
        """From now on searches wait for a look; whether one did not."""
        was_postponed = self.postponed is not None
        self.wait_s = self.postponed = None
        return was_postponed

    def compare(
        self,
        changed: Callable[[], int | Notice | None],
        change_mark: Callable[[], int | None] = lambda: None,
    ) -> NotesCompared:
        """Look, with `changed`, or share the look for which this thread has waited.

        Eight threads that look at once take eight times as long, and the next look comes that
        much later for all of them together: a service would stop for half a second every five.
        """
        looks_before = self._looks
        with self._turn:
            last = self._last
            if last and self._looks > looks_before and last.begun.requests == self._requests:
                return last
            begun, mark = self.begin(), change_mark()
            number = changed()
            took_s = self.monotonic_s() - begun.started if isinstance(number, int) else 0.0
            if number == 0:
                self.rest(begun, took_s)
            self._looks += 1
            self._last = NotesCompared(begun, took_s, number, mark)
            return self._last

    def begin(self) -> BegunLook:
        return BegunLook(self.now_ns() / 1e9, self.monotonic_s(), self._requests)

    def rest(self, begun: BegunLook, took_s: float) -> None:
        """No search looks for a while. Not before what this look found is indexed: until then a
        search of another thread would take the index for up to date."""
        with self._lock:
            if begun.requests == self._requests:
                # From the duration of the scan: slow disks are scanned less often.
                share = WATCHED_SHARE if self._is_watched else LOOK_SHARE
                self._again_at = begun.started + (1 + share) * took_s

    def confirm(self, begun: BegunLook, took_s: float) -> None:
        """Index and notes are equal, as of the beginning of this look."""
        self.rest(begun, took_s)
        with self._lock:
            if begun.requests != self._requests:
                return
        if took_s > LOOK_WAIT_S:
            self._record(Look(begun.at_s, took_s))
        else:
            self._forget()

    def confirm_sync(self, at_s: float) -> None:
        """The same after a sync, which does not tell how long a look takes."""
        if last := self._recorded():
            self._record(Look(at_s, last.took_s))

    # -- the file --------------------------------------------------------------------------------

    def _recorded(self) -> Look | None:
        # A damaged file is none; so is one that cannot be read.
        with suppress(OSError, ValueError):
            if self.file is not None:
                at_s, took_s = map(float, self.file.read_text(encoding="ascii").split())
                return Look(at_s, took_s)
        return None

    def _record(self, look: Look) -> None:
        from notewell.files import replace_file

        # Without the file the next search looks.
        with suppress(OSError):
            if self.file is not None:
                line = f"{look.at_s:.3f} {look.took_s:.3f}\n".encode()
                replace_file(self.file, line, durable=False)

    def _forget(self) -> None:
        with suppress(OSError):
            if self.file is not None:
                self.file.unlink(missing_ok=True)


def _length(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
