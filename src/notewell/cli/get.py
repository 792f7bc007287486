"""`notewell get`: lines of a note, as they are on disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from notewell.cli.output import counted, print_json, say, tell
from notewell.cli.place import memory_of
from notewell.errors import BadRequest
from notewell.tools import excerpt_json

if TYPE_CHECKING:
    import argparse

NOTHING_FOUND = 3
_CITATION = re.compile(r"(?P<path>.+)#L(?P<first>\d+)(?:-L(?P<last>\d+))?")


def run(arguments: argparse.Namespace) -> int:
    path, first, count = _wanted(arguments)
    with memory_of(arguments) as memory:
        lines = memory.get(path, from_line=first, lines=count)
    if arguments.json:
        print_json(excerpt_json(lines))
        return 0 if lines.end_line >= lines.start_line else NOTHING_FOUND
    if lines.end_line < lines.start_line:
        total = counted(lines.total_lines, "line")
        tell(f"{lines.path} has {total}; there is no line {lines.start_line}")
        return NOTHING_FOUND
    say(lines.text)
    if lines.cut:
        tell(f"line {lines.end_line} is too long to show whole")
    if lines.next_from and not count:
        tell(f"read on with --from {lines.next_from} ({lines.total_lines} lines in all)")
    return 0


def _wanted(arguments: argparse.Namespace) -> tuple[str, int, int | None]:
    """A citation says which lines; the options win over it."""
    cited = _CITATION.fullmatch(arguments.path)
    if not cited:
        return arguments.path, _first(arguments.from_line, 1), arguments.lines
    first = int(cited["first"])
    last = int(cited["last"] or first)
    if last < first:
        raise BadRequest(f"{arguments.path!r} ends before it begins")
    count = arguments.lines if arguments.lines is not None else last - first + 1
    return cited["path"], _first(arguments.from_line, first), count


def _first(asked: int | None, otherwise: int) -> int:
    return otherwise if asked is None else asked
