"""An excerpt of a note: some of its lines, bounded in number and in characters.

Invariant: reading on from `next_from` and `next_char` until there is none shows every character of
the note once. A line that is longer than GET_CHARS is read in parts.
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
    start_char: int = 1
    """Where the text begins in its first line, counted from 1."""
    next_char: int | None = None
    """Where to read on in the line `next_from`; None: at its beginning."""

    @property
    def cut(self) -> bool:
        """Whether the last line is not complete."""
        return self.next_char is not None

    def joined_to(self, before: str | None) -> str:
        """The text behind that of the excerpts before it; None: there is none."""
        if before is None:
            return self.text
        return before + ("" if self.start_char > 1 else "\n") + self.text


def excerpt_of(path: str, text: str, first: int, count: int, char: int = 1) -> Excerpt:
    """At most `count` lines and GET_CHARS characters, but always at least one line or its part.
    `char` is where to begin in the first line, counted from 1."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()  # A line break at the end begins no further line.
    taken: list[str] = []
    room = GET_CHARS
    wanted = lines[first - 1 : first - 1 + count]
    if wanted:
        wanted[0] = wanted[0][char - 1 :]
    for line in wanted:
        # The first line is always taken, however long: otherwise a reader could not go on.
        if taken and len(line) > room:
            break
        taken.append(line)
        room -= len(line) + 1  # the line break that joins it to the next
    last = first - 1 + len(taken)
    excerpt = "\n".join(taken)
    # Only the first line can be longer than all of it; then no other line is taken.
    is_cut = len(excerpt) > GET_CHARS
    following = last + 1 if taken and last < len(lines) else None
    return Excerpt(
        path,
        excerpt[:GET_CHARS],
        first,
        last,
        len(lines),
        first if is_cut else following,
        char,
        char + GET_CHARS if is_cut else None,
    )
