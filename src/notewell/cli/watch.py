"""`notewell watch`: keeps the index up to date until it is interrupted."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.cli.output import tell
from notewell.cli.place import add_place, memory_of
from notewell.errors import BadSetting

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from types import FrameType

    from notewell.sync import SyncSettings, Timing

MAX_MINUTES = 10_080.0
MAX_DEBOUNCE_S = 600.0


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "--every",
        type=float,
        metavar="MINUTES",
        help="look this often too, whatever was heard (default: about once a minute)",
    )
    parser.add_argument(
        "--debounce",
        type=float,
        metavar="S",
        help="quiet to wait for after a change (default: 1.5 seconds)",
    )
    parser.add_argument(
        "--scan",
        action="store_true",
        help="do not listen, look every 5 seconds: for network drives, which make no sound",
    )


def run(arguments: argparse.Namespace) -> int:
    from notewell.cli.watch_output import JsonView, LiveView
    from notewell.sync import FileNotifier, NoNotifier

    stop = threading.Event()
    with memory_of(arguments) as memory, _ended_by_signals(stop):
        view = (JsonView if arguments.json else LiveView)(memory.workspace)
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
    from notewell.sync import Timing

    debounce_s, minutes = arguments.debounce, arguments.every
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
