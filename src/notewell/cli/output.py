"""Standard output and standard error of the command line, and its progress bar."""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from notewell.errors import OutputFailed
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from notewell.config import Settings
    from notewell.sync import Progress

_OURS = ("\x1b[1m", "\x1b[0m")
# In parentheses, so that `split` keeps the sequences.
_STEERS = re.compile(r"(\x1b\[[01]m)")
# C0 control characters have visible pictures (␛ for escape). C1 has none, and its U+009B starts an
# escape sequence too, so those become the replacement character.
_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}


def say(text: str) -> None:
    """Write data to standard output."""
    with _our_errors():
        sys.stdout.write(_for(sys.stdout, text) + "\n")


def write_bytes(data: bytes) -> None:
    """Write data to standard output as it is: for a filter."""
    with _our_errors():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _for(stream: TextIO, text: str) -> str:
    """A terminal executes escape sequences, and notes may contain any. On a terminal only our own
    bold and reset are kept; output to a pipe or a file is unchanged."""
    # The second test is the fast path: nearly every line is printable.
    if not stream.isatty() or text.isprintable():
        return text
    return "".join(map(_harmless, _STEERS.split(text)))


def _harmless(part: str) -> str:
    return part if part in _OURS else part.translate(_PICTURES)


def ignored_settings(refused_keys: Sequence[str], errors: int) -> list[str]:
    """The notices about what has no effect in a workspace's settings file."""
    check = "`notewell config check`"
    notices = [
        f"{key}: a workspace's file may not set it ({check} says why)" for key in refused_keys
    ]
    if errors:
        mistakes = counted(errors, "mistake")
        notices.append(f"{mistakes} in the workspace's settings file ({check} lists them)")
    return notices


def tell_ignored(settings: Settings) -> None:
    """A workspace's settings file that cannot be used stops no command; the user is told."""
    for notice in ignored_settings(settings.refused_keys, settings.workspace_errors):
        tell(f"ignored: {notice}")


def flush() -> None:
    with _our_errors():
        sys.stdout.flush()


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    # No failure: `main` ends quietly when the reader of the pipe has gone.
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(error.strerror or str(error)) from error


def give_up_output() -> None:
    """Otherwise Python reports the unwritten rest once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """Write everything that is not data to standard error."""
    sys.stderr.write(_for(sys.stderr, text) + "\n")


def print_json(value: dict[str, Any]) -> None:
    import json

    from notewell.tools import JSON_VERSION

    say(json.dumps({"version": JSON_VERSION, **value}, ensure_ascii=False, indent=2))


def can_ask() -> bool:
    """Whether a person can be asked. Both: a question that nobody sees, or that nobody can answer,
    must not be asked."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr.isatty())


def short_path(path: Path) -> str:
    """A path for a person: `~` for the user's home."""
    text, home = str(path), os.path.expanduser("~")  # noqa: PTH111 - `pathlib` may not be loaded
    inside = home != os.sep and (text == home or text.startswith(home + os.sep))
    return f"~{text[len(home) :]}" if inside else text


# -- progress ------------------------------------------------------------------------------------

BAR_WIDTH = 30
PACE_AFTER_S = 0.5
"""Earlier, a rate says more about the start than about the work."""
PACE_FROM = 10
"""Fewer steps than this are unlike one another."""


def duration(seconds: float) -> str:
    """A time for a person: `4 s`, `3 min`, `2 h 10 min`."""
    if seconds < 99.5:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def pace(completed: int, total: int, elapsed_s: float) -> str:
    """Rate and time left of one phase; empty before they can be known."""
    if elapsed_s < PACE_AFTER_S or total < PACE_FROM or not completed:
        return ""
    per_s = completed / elapsed_s
    rate = f"{per_s:.0f}/s" if per_s >= 10 else f"{per_s:.1f}/s"
    left = f", {duration((total - completed) / per_s)} left" if completed < total else ""
    return f", {rate}{left}"


class ProgressBar:
    """A progress bar on a terminal; nothing where standard error is a file or a pipe."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        # Asked once: a log file must not be filled with thousands of bars.
        self._watched = sys.stderr.isatty()
        self._shown = False
        self._now_s = now_s
        self._since_s = self._last_s = now_s()
        self._last: Progress | None = None

    def update(self, progress: Progress) -> None:
        if not self._watched or not progress.total:
            return
        now_s = self._now_s()
        last = self._last
        # A phase (notes, then vectors) begins when the one before was last heard of. A count that
        # goes on under another label is the same phase.
        if last and (progress.total != last.total or progress.completed < last.completed):
            self._since_s = self._last_s
        self._last, self._last_s = progress, now_s
        filled = BAR_WIDTH * progress.completed // progress.total
        bar = "█" * filled + "░" * (BAR_WIDTH - filled)
        how_fast = pace(progress.completed, progress.total, now_s - self._since_s)
        sys.stderr.write(
            f"\r{bar} {progress.completed}/{progress.total} {progress.label}{how_fast}\x1b[K"
        )
        sys.stderr.flush()
        self._shown = True

    def done(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
