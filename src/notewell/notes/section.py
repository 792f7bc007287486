"""A section of a note, found by its heading, and the headings to write so that an entry at the end
of the note belongs to it."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from notewell.errors import BadEntry
from notewell.notes.scope import why_unprintable
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW_LEVEL = 2
"""The first level is the note's own title."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")

Headings = tuple[str, ...]
"""The headings above a line, outermost first: `("# Work", "## Decisions")`."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of MEMORY.md: the last one with this heading, or a new one."""

    heading: str
    """`Decisions`, or `### Decisions` if the level matters; case and spaces do not matter.
    Also as a hit shows it, with the headings above: `# Work › ## Decisions`."""

    def is_at_end_of(self, way: Headings) -> bool:
        wanted = self._parts()
        found = [_cut(heading) for heading in way[-len(wanted) :]]
        return len(found) == len(wanted) and all(
            # Level 0 is a heading without `#`: any level will do.
            level in (0, found_level) and title.casefold() == found_title.casefold()
            for (level, title), (found_level, found_title) in zip(wanted, found, strict=True)
        )

    def new_headings(self) -> Headings:
        """The headings of a new section; raises `BadEntry` if a text cannot be a heading."""
        written: Headings = ()
        depth = NEW_LEVEL - 1
        for level, title in self._parts():
            depth = level or depth + 1
            written += (f"{'#' * depth} {title}",)
        # Parsed back: Markdown must read what we write as these headings, at these levels.
        ways = [way for _, way in _sections("\n".join(written))]
        if (
            ways[-1:] != [written]
            or why_unprintable(self.heading)
            or not all(map(_titled, written))
        ):
            raise BadEntry(f"{self.heading!r} cannot be a heading; name it in plain words")
        return written

    def _parts(self) -> list[tuple[int, str]]:
        from notewell.core import HEADING_SEPARATOR

        return [_cut(part) for part in self.heading.split(HEADING_SEPARATOR)]


def headings_to_write(text: str, section: Section) -> Headings:
    """What must be at the end of the note so that an entry there is in the section."""
    ways = [way for _, way in _sections(text)]
    known = [way for way in ways if section.is_at_end_of(way)]
    # The same heading may be there several times, because an append repeats it.
    wanted = known[-1] if known else section.new_headings()
    here = ways[-1] if ways else ()
    return () if wanted == here else wanted[_shared(wanted, here) :]


def headings_above(text: str, line: int) -> Headings:
    ways = [way for start, way in _sections(text) if start < line]
    return ways[-1] if ways else ()


def _shared(wanted: Headings, here: Headings) -> int:
    """How many of the headings need no repetition because they are open at the end."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(wanted[:-1], here, strict=False))
    shared = len(list(pairs))
    # A heading closes only those of its own level and below: `### A` would land in an open `## B`.
    while shared and any(_cut(heading)[0] < _cut(wanted[shared])[0] for heading in here[shared:]):
        shared -= 1
    return shared


def _sections(text: str) -> Iterator[tuple[int, Headings]]:
    """The line of each heading, from 1, with the headings that lead to it."""
    from notewell.core import find_units

    above: list[tuple[int, str]] = []
    for unit in find_units(text.split("\n")):
        if unit.heading:
            above = [*(pair for pair in above if pair[0] < unit.level), (unit.level, unit.heading)]
            yield unit.start + 1, tuple(heading for _, heading in above)


def _titled(heading: str) -> bool:
    return bool(heading.strip("# "))


def _cut(heading: str) -> tuple[int, str]:
    """Level and title; level 0 if none is written."""
    one_line = " ".join(heading.split())
    found = _HEADING.fullmatch(one_line)
    return (len(found[1]), found[2]) if found else (0, one_line)
