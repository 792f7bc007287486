"""An excerpt of a note: some of its lines, bounded in number and in characters.

Invariant: reading on from `next_from` until it is None shows every line of the note once, unless a
single line is longer than GET_CHARS, which is then cut.
"""

from __future__ import annotations

from notewell.limits import GET_CHARS
from notewell.records import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Consecutive lines of a note."""

    path: str
    text: str
    start_line: int
    end_line: int
    """The last line in `text`; one less than `start_line` if there is none."""
    total_lines: int
    next_from: int | None
    """The line to read next; None at the end."""
    cut: bool = False
    """The last line was longer than GET_CHARS and is not complete."""


def excerpt_of(path: str, text: str, first: int, count: int) -> Excerpt:
    """At most `count` lines and GET_CHARS characters, but always at least one line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()  # A line break at the end begins no further line.
    taken: list[str] = []
    room = GET_CHARS
    for line in lines[first - 1 : first - 1 + count]:
        # The first line is always taken, however long: otherwise a reader could not go on.
        if taken and len(line) > room:
            break
        taken.append(line)
        room -= len(line) + 1  # the line break that joins it to the next
    last = first - 1 + len(taken)
    excerpt = "\n".join(taken)
    return Excerpt(
        path,
        excerpt[:GET_CHARS],
        first,
        last,
        len(lines),
        last + 1 if taken and last < len(lines) else None,
        cut=len(excerpt) > GET_CHARS,
    )
