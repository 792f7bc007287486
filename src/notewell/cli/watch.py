"""`notewell watch`: keeps the index up to date until it is interrupted. It writes one line for
each change, and no others:

    13:47:04  watching 3 folders: 12 notes, 40 chunks
    13:52:10  memory/2026-11-15.md: 1 written, 2 vectors added (0.4 s)

On a terminal the last line shows the current activity. Programs get the same as JSON lines.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import flush, say, tell
from notewell.cli.place import memory_of
from notewell.errors import BadSetting
from notewell.notes import printable
from notewell.sync import (
    Failed,
    FileNotifier,
    Heard,
    Listening,
    NoNotifier,
    Scanning,
    Synced,
    Timing,
)
from notewell.tools import JSON_VERSION, report_figures
from notewell.types import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from types import FrameType

    from notewell.sync import Progress, SyncReport, SyncSettings, WatchEvent

# One week: a longer interval is surely a mistake, and an infinite one would never end.
MAX_MINUTES = 10_080.0
MAX_DEBOUNCE_S = 600.0
NAMED = 2
"""Up to so many notes are named in a line; for more, the counts suffice."""


def run(arguments: argparse.Namespace) -> int:
    stop = threading.Event()
    with memory_of(arguments) as memory, _ended_by_signals(stop):
        view = (JsonView if arguments.json else LiveView)(Path(memory.notes.location))
        try:
            memory.watch(
                stop,
                on_event=view.on_event,
                timing=_timing(arguments, memory.settings.sync),
                notifier=NoNotifier() if arguments.scan else FileNotifier(),
                progress=view.progress,
            )
        finally:
            view.done()
    if not arguments.json:
        tell("stopped; the index stays as it is")
    return 0


def _timing(arguments: argparse.Namespace, settings: SyncSettings) -> Timing:
    """From the command line, else from the settings."""
    debounce_s, minutes = arguments.debounce, arguments.every
    # Negated comparisons: NaN fails them as well.
    if debounce_s is not None and not 0 <= debounce_s <= MAX_DEBOUNCE_S:
        raise BadSetting("--debounce", f"must be from 0 to {MAX_DEBOUNCE_S:g}, not {debounce_s:g}")
    if minutes is not None and not 0 < minutes <= MAX_MINUTES:
        raise BadSetting("--every", f"must be above 0, to {MAX_MINUTES:g}, not {minutes:g}")
    minutes = minutes or settings.interval_minutes
    return Timing(
        debounce_s=settings.debounce_s if debounce_s is None else debounce_s,
        interval_s=minutes * 60 if minutes else None,
    )


@contextmanager
def _ended_by_signals(stop: threading.Event) -> Iterator[None]:
    """The first signal ends the watch after the current batch; the second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Only the main thread may set signal handlers.
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}

    def end(_number: int, _frame: FrameType | None) -> None:
        # Not directly: the signal may interrupt the very thread that waits for the event, and that
        # thread holds the lock that `set` needs. It would deadlock.
        threading.Thread(target=stop.set, daemon=True).start()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        restore()


# -- output --------------------------------------------------------------------------------------


def now_here() -> datetime:
    return datetime.now(UTC).astimezone()


class StatusLine:
    """The last line of a terminal, overwritten in place; nothing without a terminal."""

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if self._watched:
            # Return to the start of the line, write, and erase what a longer text left behind.
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    def clear(self) -> None:
        self.show("")


class LiveView:
    """Lines for people."""

    def __init__(self, workspace: Path, clock: Callable[[], datetime] = now_here) -> None:
        self._workspace = workspace
        self._clock = clock
        self._status = StatusLine()
        self._state = ""
        self._trouble: str | None = None
        self._has_begun = False

    def on_event(self, event: WatchEvent) -> None:
        match event:
            case Listening(folders):
                self._hears(folders)
            case Scanning(why, every_s):
                self._state = f"looking every {every_s:g} s"
                self._aside(f"not listening for changes, {self._state} instead: {why}")
            case Heard():
                self._status.show("a change: waiting until the writing stops")
            case Synced():
                self._synced(event)
            case Failed(_, error, retry_s):
                self._trouble = str(error)
                self._aside(f"{error}; trying again in {retry_s:g} s")

    def progress(self, progress: Progress) -> None:
        self._status.show(f"{progress.label} {progress.completed}/{progress.total}")

    def done(self) -> None:
        self._status.clear()

    def _hears(self, folders: int) -> None:
        self._state = f"watching {counted(folders, 'folder')}"
        if self._has_begun:
            self._aside("listening for changes again")

    def _synced(self, done: Synced) -> None:
        report = done.report
        if not self._has_begun:
            self._line(f"{self._state}: {_held(report)} ({done.took_s:.1f} s)")
        # A look that changed nothing is no line: a log of a quiet day stays empty.
        elif what := what_changed(report):
            names = _names(done.paths, self._workspace)
            self._line(f"{names}{what} ({done.took_s:.1f} s)")
        self._has_begun = True
        self._tell_trouble(_problem(report))
        self._status.show(f"{self._state}, {_held(report)}, looked at {self._clock():%H:%M:%S}")

    def _tell_trouble(self, trouble: str | None) -> None:
        """Report a problem once while it lasts, and once when it is over."""
        if trouble and trouble != self._trouble:
            self._aside(trouble)
        elif self._trouble and not trouble:
            self._aside("all is well again")
        self._trouble = trouble

    def _line(self, text: str) -> None:
        self._status.clear()
        # Flushed after each line: a pipe is block-buffered, and its reader waits for the change.
        say(f"{self._clock():%H:%M:%S}  {text}")
        flush()

    def _aside(self, text: str) -> None:
        self._status.clear()
        tell(f"{self._clock():%H:%M:%S}  {text}")


def _problem(report: SyncReport) -> str | None:
    if report.trouble:
        return str(report.trouble)
    return report.fallback.notice.text if report.fallback else None


class JsonView:
    """One object a line."""

    def __init__(self, workspace: Path, clock: Callable[[], datetime] = now_here) -> None:
        self._workspace = workspace
        self._clock = clock
        self._has_begun = False

    def on_event(self, event: WatchEvent) -> None:
        match event:
            case Listening(folders):
                self._line("listening", {"folders": folders})
            case Scanning(why, every_s):
                self._line("scanning", {"why": why, "everySeconds": every_s})
            # The sync that follows is an event of its own.
            case Heard():
                pass
            case Synced(why, report, took_s, paths):
                # The first sync is always reported: a program learns from it that the index is
                # ready.
                if what_changed(report) or report.trouble or not self._has_begun:
                    named = [_short(path, self._workspace) for path in paths]
                    self._line("synced", _synced_json(why, report, took_s, named))
                self._has_begun = True
            case Failed(_, error, retry_s):
                message = {"kind": type(error).__name__, "message": str(error)}
                self._line("failed", {"error": message, "retrySeconds": retry_s})

    def progress(self, progress: Progress) -> None:
        return None

    def done(self) -> None:
        return None

    def _line(self, event: str, facts: dict[str, Any]) -> None:
        time = self._clock().isoformat(timespec="seconds")
        payload = {"version": JSON_VERSION, "event": event, "time": time, **facts}
        say(json.dumps(payload, ensure_ascii=False))
        flush()


def what_changed(report: SyncReport) -> str:
    """Empty if nothing changed."""
    parts = [f"built a new index: {report.rebuilt}"] if report.rebuilt else []
    parts += [f"{report.written} written"] if report.written else []
    parts += [f"{report.forgotten} forgotten"] if report.forgotten else []
    if report.vectors_added:
        parts.append(f"{counted(report.vectors_added, 'vector')} added")
    return ", ".join(parts)


def _held(report: SyncReport) -> str:
    return f"{counted(report.notes, 'note')}, {counted(report.chunks, 'chunk')}"


def _names(paths: tuple[str, ...], workspace: Path) -> str:
    if not 0 < len(paths) <= NAMED:
        return ""
    return ", ".join(_short(path, workspace) for path in paths) + ": "


def _short(path: str, workspace: Path) -> str:
    # Extra paths and transcripts may be outside the workspace; those keep their full path.
    inside = Path(path).is_relative_to(workspace)
    return printable(str(Path(path).relative_to(workspace)) if inside else path)


def _synced_json(why: str, report: SyncReport, took_s: float, paths: list[str]) -> dict[str, Any]:
    return {
        "why": why,
        "paths": paths,
        **report_figures(report),
        "seconds": round(took_s, 3),
    }
