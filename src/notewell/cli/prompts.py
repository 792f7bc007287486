"""Questions to a person on a terminal. `output.can_ask` says whether there is one."""

from __future__ import annotations

import sys

from notewell.errors import NotewellError


class NoAnswer(NotewellError):
    """The input ended: Ctrl-D, or a terminal that was closed."""

    def __init__(self) -> None:
        super().__init__("no answer: the input ended")


def ask_line(question: str) -> str:
    """What the user types, without blanks around it; empty for Enter. Raises `NoAnswer`."""
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise NoAnswer
    return line.strip()


def ask_yes(question: str, *, default: bool = False) -> bool:
    """Enter takes the default, which is no for everything that writes. Raises `NoAnswer`."""
    while True:
        answer = ask_line(f"{question} [{'Y/n' if default else 'y/N'}] ").lower()
        if answer in ("y", "yes", "n", "no", ""):
            return default if answer == "" else answer in ("y", "yes")
        sys.stderr.write("please type y or n\n")
