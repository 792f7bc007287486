"""Syncing whenever the notes change, until `stop` is set.

    wait ──a change──▶ debounce: wait until writing stops ──▶ watch new folders ──▶ sync ─┐
     ▲                                                                                    │
     └────────────────────────────────────────────────────────────────────────────────────┘

The scan of a sync is the truth; notices only say when to scan. Two rules make that sufficient.
Folders are watched *before* the scan, so a change after the scan gives a notice. And the notifier
stops waiting only when a sync is due, so that sync sees whatever notice was dropped then.

It runs in one thread. A sync that fails is reported and retried; it does not end the watch.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

from notewell.errors import NotewellError
from notewell.records import dataclass
from notewell.sync.notifier import NOTE_SUFFIXES, FileNotifier, NotifierUnavailable, WatchPaths
from notewell.sync.plan import SyncInterrupted
from notewell.sync.schedule import Burst, Past, Timing, heard, next_sync

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from notewell.sync.indexer import Indexer
    from notewell.sync.notifier import Notifier
    from notewell.sync.plan import Progress, SyncReport
    from notewell.sync.schedule import Why
    from notewell.sync.settings import SyncSettings

RETRY_NOTIFIER_S = 60.0
"""How often to retry without notices: an editor that ends gives its watches back."""
KEPT_SUFFIX = ".jsonl"
"""Of kept conversations. The module that reads them is not loaded before there are some."""


class StopAskedFor(SyncInterrupted):
    """Raise it from a sync, for example from its progress callback, to end the watch at once."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Notices of changes arrive: from the start, or again."""

    folders: int


@dataclass(frozen=True, slots=True)
class Scanning:
    """There are no notices, for this reason; the notes are scanned periodically instead."""

    why: str
    every_s: float


@dataclass(frozen=True, slots=True)
class Heard:
    """The first notice after a sync; the watch now waits until writing stops."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synced:
    why: Why
    report: SyncReport
    took_s: float
    paths: tuple[str, ...]
    """The first few notes that notices named; the report has the numbers."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A sync failed. Reported once while the error stays the same."""

    why: Why
    error: Exception
    retry_s: float


WatchEvent: TypeAlias = Listening | Scanning | Heard | Synced | Failed


class Watcher:
    """Calls `sync` when something changed at or below `folders`.

    A folder is watched with everything below it; for a single file, its folder is watched. Changes
    in `ignore` do not count, nor do files that are neither notes nor, by `session_suffixes`,
    transcripts.
    """

    def __init__(
        self,
        sync: Callable[[], SyncReport],
        folders: Sequence[Path],
        *,
        ignore: Sequence[Path] = (),
        session_suffixes: tuple[str, ...] = (),
        timing: Timing | None = None,
        on_event: Callable[[WatchEvent], None] = lambda _: None,
        notifier: Notifier | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sync = sync
        self._watch_paths = WatchPaths(
            folders, ignore=ignore, suffixes=(*NOTE_SUFFIXES, *session_suffixes)
        )
        self._session_suffixes = session_suffixes
        self._timing = timing or Timing()
        self._on_event = on_event
        self._notifier = notifier or FileNotifier()
        self._monotonic_s = monotonic_s
        self._watched: Mapping[str, tuple[int, int]] | None = None
        """None while there are no notices."""
        self._last_state: Listening | Scanning | None = None
        self._retry_notifier_at_s = float("-inf")
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
            self._wait_for_notices(left_s, stop)

    @property
    def _is_listening(self) -> bool:
        """As last reported: a notifier that has just failed is opened again by the next sync."""
        return isinstance(self._last_state, Listening)

    # -- notices ---------------------------------------------------------------------------------

    def _wait_for_notices(self, timeout_s: float, stop: threading.Event) -> None:
        try:
            paths = self._notifier.listen(timeout_s, stop)
        except NotifierUnavailable:
            # Notices may be lost, so this counts as a change. The sync that follows opens the
            # notifier again.
            self._watched = None
            self._note_change(())
            return
        watched = self._watched or {}
        if relevant := [path for path in paths if self._watch_paths.matters(path, watched)]:
            # With a tuple of no suffixes `endswith` is false, so all of them are notes.
            sessions = all(path.lower().endswith(self._session_suffixes) for path in relevant)
            named = tuple(sorted(filter(self._watch_paths.is_note, relevant)))
            self._note_change(named, sessions=sessions)

    def _note_change(self, paths: tuple[str, ...], *, sessions: bool = False) -> None:
        is_first = self._burst is None
        self._burst = heard(self._burst, paths, self._monotonic_s(), sessions=sessions)
        if is_first:
            self._on_event(Heard(self._burst.paths))

    def _watch_folders(self) -> None:
        """Open the notifier for the folders that exist now, unless it has these already."""
        if self._monotonic_s() < self._retry_notifier_at_s:
            return
        folders = self._watch_paths.folders()
        if folders == self._watched:
            return
        try:
            self._notifier.open(folders)
        except NotifierUnavailable as error:
            self._fall_back_to_scanning(error)
            return
        self._watched = folders
        self._report_state(Listening(len(folders)))

    def _fall_back_to_scanning(self, error: NotifierUnavailable) -> None:
        self._watched = None
        self._retry_notifier_at_s = self._monotonic_s() + RETRY_NOTIFIER_S
        self._report_state(Scanning(error.why, self._timing.scan_s))

    def _report_state(self, state: Listening | Scanning) -> None:
        """Only when the kind of state changes: the number of folders changes all day."""
        if type(state) is not type(self._last_state):
            self._last_state = state
            self._on_event(state)

    # -- syncing ---------------------------------------------------------------------------------

    def _bring_up_to_date(self, why: Why) -> None:
        # Before the scan; see the module docstring.
        self._watch_folders()
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
        # Only a sync that found nothing to do measures how long a scan takes.
        look_s = self._past.look_s if report.changed_anything else done.took_s
        # A provider that is down would otherwise be called again with every change.
        failures = self._past.failures + 1 if report.trouble else 0
        self._past = Past(self._monotonic_s(), look_s, failures)
        self._trouble = ""
        self._on_event(done)

    def _failed(self, why: Why, error: Exception) -> None:
        past = self._past
        self._past = Past(self._monotonic_s(), past.look_s, past.failures + 1)
        # Once, not every few seconds of an outage.
        if str(error) != self._trouble:
            self._trouble = str(error)
            due = next_sync(self._timing, self._past, None, listening=self._is_listening)
            self._on_event(Failed(why, error, due.at_s - self._past.ended_s))


# -- the watch of an index -----------------------------------------------------------------------


def watch_index(
    indexer: Indexer,
    sync: Callable[..., SyncReport],
    stop: threading.Event,
    *,
    settings: SyncSettings,
    timing: Timing | None = None,
    on_event: Callable[[WatchEvent], None] = lambda _: None,
    notifier: Notifier | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Call `sync` (`Memory.sync`) whenever a source of the index changes, until `stop` is set."""
    places, suffixes = _session_places(indexer)
    looks = indexer.looks
    notes = indexer.notes.local_paths() if indexer.indexes_notes else ()
    minutes = settings.interval_minutes
    is_listening = False

    def report(event: WatchEvent) -> None:
        nonlocal is_listening
        if isinstance(event, (Listening, Scanning)):
            is_listening = isinstance(event, Listening)
        # A notice that comes later than this sync makes it untrue again.
        looks.watched(quiet=is_listening and isinstance(event, Synced))
        on_event(event)

    watcher = Watcher(
        _stopping(sync, stop, progress),
        [*notes, *places],
        # The index may be kept inside the workspace; its own writes must not trigger a sync.
        ignore=indexer.store.local_paths(),
        session_suffixes=suffixes,
        timing=timing
        or Timing(debounce_s=settings.debounce_s, interval_s=minutes * 60 if minutes else None),
        on_event=report,
        notifier=notifier,
    )
    try:
        watcher.run(stop)
    finally:
        looks.watched(quiet=False)


def _session_places(indexer: Indexer) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The folders of transcripts, and how their names end. The folder of kept conversations may
    appear while the watch runs."""
    if transcripts := indexer.transcripts:
        return transcripts.places, transcripts.suffixes
    return ((indexer.kept,), (KEPT_SUFFIX,)) if indexer.kept else ((), ())


def _stopping(
    sync: Callable[..., SyncReport],
    stop: threading.Event,
    progress: Callable[[Progress], None] | None,
) -> Callable[[], SyncReport]:
    """A sync that ends when `stop` is set."""

    def on_progress(done: Progress) -> None:
        # A sync can take minutes; its progress reports are where it can be interrupted.
        if stop.is_set():
            raise StopAskedFor
        if progress:
            progress(done)

    is_first = True

    def run() -> SyncReport:
        # The first one takes what grew while nobody watched. Later ones hold transcripts back.
        nonlocal is_first
        report = sync(everything=is_first, progress=on_progress)
        is_first = False
        return report

    return run
