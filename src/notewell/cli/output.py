"""How the command line speaks."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from notewell.errors import OutputFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.sync import Progress

_OURS = ("\x1b[1m", "\x1b[0m")
_STEERS = re.compile(r"(\x1b\[[01]m)")
# C0 has pictures of its own (␛ for escape); C1, whose U+009B begins a command too, has none.
_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}


def say(text: str) -> None:
    """Data."""
    with _our_errors():
        sys.stdout.write(_for(sys.stdout, text) + "\n")


def _for(stream: TextIO, text: str) -> str:
    """A terminal obeys what it is sent, and notes may hold anything: there, of all that steers it
    only our own bold and its end are left. What goes to a pipe or a file is as it is."""
    if not stream.isatty() or text.isprintable():
        return text
    return "".join(map(_harmless, _STEERS.split(text)))


def _harmless(part: str) -> str:
    return part if part in _OURS else part.translate(_PICTURES)


def flush() -> None:
    with _our_errors():
        sys.stdout.flush()


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(error.strerror or str(error)) from error


def tell(text: str) -> None:
    """Everything else."""
    sys.stderr.write(_for(sys.stderr, text) + "\n")


def print_json(value: dict[str, Any]) -> None:
    import json

    from notewell.tools import JSON_VERSION

    say(json.dumps({"version": JSON_VERSION, **value}, ensure_ascii=False, indent=2))


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# -- progress ------------------------------------------------------------------------------------

BAR_WIDTH = 30


class ProgressBar:
    """A progress bar on a terminal; nothing where standard error is a file or a pipe."""

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()
        self._shown = False

    def update(self, progress: Progress) -> None:
        if not self._watched or not progress.total:
            return
        filled = BAR_WIDTH * progress.completed // progress.total
        bar = "█" * filled + "░" * (BAR_WIDTH - filled)
        sys.stderr.write(f"\r{bar} {progress.completed}/{progress.total} {progress.label}\x1b[K")
        sys.stderr.flush()
        self._shown = True

    def done(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
