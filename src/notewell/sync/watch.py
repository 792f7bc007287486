"""Bringing the index up to date whenever the notes change, for as long as nobody says stop.

    listen ──a change──▶ wait until the writing stops ──▶ listen to new folders ──▶ sync ─┐
       ▲                                                                                  │
       └──────────────────────────────────────────────────────────────────────────────────┘

The scan is the truth, and what is heard only says when to look. Two rules make that enough:
folders are listened to *before* the scan, so what changes after it was looked at is heard; and
the ear gives up waiting only when a sync is due, so what it drops in that moment is looked at.

One thread. A sync that fails is told and tried again; it does not end the watch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from notewell.errors import NotewellError
from notewell.sync.notifier import FileNotifier, NotifierUnavailable
from notewell.sync.schedule import Burst, Past, Timing, heard, next_sync
from notewell.sync.watch_paths import NOTE_SUFFIXES, WatchPaths

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from notewell.sync.notifier import Notifier
    from notewell.sync.report import SyncReport
    from notewell.sync.schedule import Why

LISTEN_AGAIN_S = 60.0
"""How often somebody who cannot listen tries to: watches are given back when an editor ends."""


class StopAskedFor(Exception):
    """Raise it out of a sync, from its progress say, to end the watch in the middle of one."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Changes are heard: from the start, or again."""

    folders: int


@dataclass(frozen=True, slots=True)
class Scanning:
    """Changes are not heard, for this reason; the notes are looked at every so often instead."""

    why: str
    every_s: float


@dataclass(frozen=True, slots=True)
class Heard:
    """The first change after a sync; the rest of the writing is waited for."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synced:
    why: Why
    report: SyncReport
    took_s: float
    paths: tuple[str, ...]
    """Notes that were heard to change, the first few; the report knows how many did."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Told once while it stays the same."""

    why: Why
    error: Exception
    retry_s: float


WatchEvent: TypeAlias = Listening | Scanning | Heard | Synced | Failed


class Watcher:
    """Calls `sync` when something changed at or below `folders`.

    A folder is heard with everything below it; of a single file, the folder it is in. Nothing
    happens in `ignore`. Files count if their names end in one of `suffixes`.
    """

    def __init__(
        self,
        sync: Callable[[], SyncReport],
        folders: Sequence[Path],
        *,
        ignore: Sequence[Path] = (),
        suffixes: tuple[str, ...] = NOTE_SUFFIXES,
        timing: Timing | None = None,
        on_event: Callable[[WatchEvent], None] = lambda _: None,
        notifier: Notifier | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sync = sync
        self._watch_paths = WatchPaths(folders, ignore=ignore, suffixes=suffixes)
        self._timing = timing or Timing()
        self._on_event = on_event
        self._notifier = notifier or FileNotifier()
        self._monotonic_s = monotonic_s
        self._listened_to: Mapping[str, tuple[int, int]] | None = None
        """None while nothing can be heard."""
        self._last_state: Listening | Scanning | None = None
        self._listen_again_at_s = float("-inf")
        self._burst: Burst | None = None
        self._past = Past(0.0)
        self._trouble = ""

    def run(self, stop: threading.Event) -> None:
        """Sync at once and then whenever it is due, until `stop` is set."""
        try:
            if not stop.is_set():
                self._bring_up_to_date("start")
            while not stop.is_set():
                self._wait_or_sync(stop)
        except StopAskedFor:
            return
        finally:
            self._notifier.close()

    def _wait_or_sync(self, stop: threading.Event) -> None:
        due = next_sync(self._timing, self._past, self._burst, listening=self._is_listening)
        left_s = due.at_s - self._monotonic_s()
        if left_s <= 0:
            self._bring_up_to_date(due.why)
        else:
            self._hear(left_s, stop)

    @property
    def _is_listening(self) -> bool:
        """As far as the user knows: an ear that just broke down is opened again in a moment."""
        return isinstance(self._last_state, Listening)

    # -- listening -------------------------------------------------------------------------------

    def _hear(self, timeout_s: float, stop: threading.Event) -> None:
        try:
            paths = self._notifier.listen(timeout_s, stop)
        except NotifierUnavailable:
            # Whatever it was, something happened; the sync that follows opens the ear again.
            self._listened_to = None
            self._note_change(())
            return
        known = self._listened_to or {}
        if matter := [path for path in paths if self._watch_paths.matters(path, known)]:
            self._note_change(tuple(sorted(filter(self._watch_paths.is_note, matter))))

    def _note_change(self, paths: tuple[str, ...]) -> None:
        is_first = self._burst is None
        self._burst = heard(self._burst, paths, self._monotonic_s())
        if is_first:
            self._on_event(Heard(self._burst.paths))

    def _listen_to_what_is_there(self) -> None:
        """Nothing is done where the folders are the ones of before."""
        if self._monotonic_s() < self._listen_again_at_s:
            return
        folders = self._watch_paths.folders()
        if folders == self._listened_to:
            return
        try:
            self._notifier.open(folders)
        except NotifierUnavailable as error:
            self._give_up_listening(error)
            return
        self._listened_to = folders
        self._report_state(Listening(len(folders)))

    def _give_up_listening(self, error: NotifierUnavailable) -> None:
        self._listened_to = None
        self._listen_again_at_s = self._monotonic_s() + LISTEN_AGAIN_S
        self._report_state(Scanning(error.why, self._timing.scan_s))

    def _report_state(self, state: Listening | Scanning) -> None:
        """Only when the one turns into the other: folders come and go all day."""
        if type(state) is not type(self._last_state):
            self._last_state = state
            self._on_event(state)

    # -- syncing ---------------------------------------------------------------------------------

    def _bring_up_to_date(self, why: Why) -> None:
        self._listen_to_what_is_there()
        paths = self._burst.paths if self._burst else ()
        self._burst = None
        started_s = self._monotonic_s()
        try:
            report = self._sync()
        except (NotewellError, OSError) as error:
            self._failed(why, error)
        else:
            self._synced(Synced(why, report, self._monotonic_s() - started_s, paths))

    def _synced(self, done: Synced) -> None:
        report = done.report
        changed = report.written or report.forgotten or report.vectors_added or report.rebuilt
        look_s = self._past.look_s if changed else done.took_s
        failures = self._past.failures + 1 if report.trouble else 0
        self._past = Past(self._monotonic_s(), look_s, failures)
        self._trouble = ""
        self._on_event(done)

    def _failed(self, why: Why, error: Exception) -> None:
        past = self._past
        self._past = Past(self._monotonic_s(), past.look_s, past.failures + 1)
        if str(error) != self._trouble:
            self._trouble = str(error)
            due = next_sync(self._timing, self._past, None, listening=self._is_listening)
            self._on_event(Failed(why, error, due.at_s - self._past.ended_s))
