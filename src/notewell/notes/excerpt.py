"""Some lines of a text, as many as one wants to read at once."""

from __future__ import annotations

from dataclasses import dataclass

from notewell.limits import GET_CHARS


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a note."""

    path: str
    text: str
    start_line: int
    end_line: int
    """The last line in `text`; one less than `start_line` where there are none."""
    total_lines: int
    next_from: int | None
    """Where to read on; None at the end."""
    cut: bool = False
    """The last line was too long to be shown whole."""


def lines_of(path: str, text: str, first: int, count: int) -> Lines:
    """At most `count` lines and GET_CHARS characters, but always at least one line."""
    every = text.split("\n")
    if every[-1] == "":
        every.pop()  # A text that ends in a line break has no further line behind it.
    taken: list[str] = []
    room = GET_CHARS
    for line in every[first - 1 : first - 1 + count]:
        if taken and len(line) > room:
            break
        taken.append(line)
        room -= len(line) + 1
    last = first - 1 + len(taken)
    shown = "\n".join(taken)
    return Lines(
        path,
        shown[:GET_CHARS],
        first,
        last,
        len(every),
        last + 1 if taken and last < len(every) else None,
        cut=len(shown) > GET_CHARS,
    )
