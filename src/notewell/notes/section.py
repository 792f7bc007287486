"""A section of a note by its heading, and which headings lead to it from the end of the note."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from notewell.errors import BadEntry
from notewell.notes.names import untellable

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW_LEVEL = 2
"""The first level is the note's own title."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")

Headings = tuple[str, ...]
"""The way to a section, `("# Work", "## Decisions")`."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of MEMORY.md; of several with this heading the last one, a new one if none."""

    heading: str
    """`Decisions`, or `### Decisions` where the level matters; case and spaces do not.
    Also as a hit shows it, with the headings above: `# Work › ## Decisions`."""

    def is_at_end_of(self, way: Headings) -> bool:
        wanted = self._parts()
        found = [_cut(heading) for heading in way[-len(wanted) :]]
        return len(found) == len(wanted) and all(
            level in (0, found_level) and title.casefold() == found_title.casefold()
            for (level, title), (found_level, found_title) in zip(wanted, found, strict=True)
        )

    def new_headings(self) -> Headings:
        """As they are written; raises `BadEntry` for what cannot be a heading."""
        written: Headings = ()
        depth = NEW_LEVEL - 1
        for level, title in self._parts():
            depth = level or depth + 1
            written += (f"{'#' * depth} {title}",)
        ways = [way for _, way in _sections("\n".join(written))]
        if ways[-1:] != [written] or untellable(self.heading) or not all(map(_titled, written)):
            raise BadEntry(f"{self.heading!r} cannot be a heading; name it in plain words")
        return written

    def _parts(self) -> list[tuple[int, str]]:
        from notewell.core import HEADING_SEPARATOR

        return [_cut(part) for part in self.heading.split(HEADING_SEPARATOR)]


def headings_to_write(text: str, section: Section) -> Headings:
    """What must stand at the end of the note for an entry there to be in the section."""
    ways = [way for _, way in _sections(text)]
    known = [way for way in ways if section.is_at_end_of(way)]
    wanted = known[-1] if known else section.new_headings()
    here = ways[-1] if ways else ()
    return () if wanted == here else wanted[_shared(wanted, here) :]


def headings_above(text: str, line: int) -> Headings:
    ways = [way for start, way in _sections(text) if start < line]
    return ways[-1] if ways else ()


def _shared(wanted: Headings, here: Headings) -> int:
    """How many headings of the way need not be repeated, being open at the end of the note."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(wanted[:-1], here, strict=False))
    shared = len(list(pairs))
    # A heading closes only those of its own level and below: `### A` would land in an open `## B`.
    while shared and any(_cut(one)[0] < _cut(wanted[shared])[0] for one in here[shared:]):
        shared -= 1
    return shared


def _sections(text: str) -> Iterator[tuple[int, Headings]]:
    """Each heading's line, from 1, and the way to its section."""
    from notewell.core import find_units

    above: list[tuple[int, str]] = []
    for unit in find_units(text.split("\n")):
        if unit.heading:
            above = [*(one for one in above if one[0] < unit.level), (unit.level, unit.heading)]
            yield unit.start + 1, tuple(heading for _, heading in above)


def _titled(heading: str) -> bool:
    return bool(heading.strip("# "))


def _cut(heading: str) -> tuple[int, str]:
    """Level and title; level 0 where none is written."""
    one_line = " ".join(heading.split())
    found = _HEADING.fullmatch(one_line)
    return (len(found[1]), found[2]) if found else (0, one_line)
