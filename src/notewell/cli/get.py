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
# Greedy: a path may itself contain `#L`, and only the last one starts the lines.
_CITATION = re.compile(r"(?P<path>.+)#L(?P<first>\d+)(?:-L(?P<last>\d+))?")


def run(arguments: argparse.Namespace) -> int:
    path, first, count = _range(arguments)
    with memory_of(arguments) as memory:
        excerpt = memory.get(path, from_line=first, lines=count)
    if arguments.json:
        print_json(excerpt_json(excerpt))
        return 0 if excerpt.end_line >= excerpt.start_line else NOTHING_FOUND
    if excerpt.end_line < excerpt.start_line:
        total = counted(excerpt.total_lines, "line")
        tell(f"{excerpt.path} has {total}; there is no line {excerpt.start_line}")
        return NOTHING_FOUND
    say(excerpt.text)
    if excerpt.cut:
        tell(f"line {excerpt.end_line} is too long to show whole")
    # A user who named the lines knows that the note goes on.
    if excerpt.next_from and not count:
        tell(f"read on with --from {excerpt.next_from} ({excerpt.total_lines} lines in all)")
    return 0


def _range(arguments: argparse.Namespace) -> tuple[str, int, int | None]:
    """The path and the lines. Options take precedence over the lines of a citation."""
    cited = _CITATION.fullmatch(arguments.path)
    if not cited:
        return arguments.path, _or(arguments.from_line, 1), arguments.lines
    first = int(cited["first"])
    last = int(cited["last"] or first)
    if last < first:
        raise BadRequest(f"{arguments.path!r} ends before it begins")
    count = arguments.lines if arguments.lines is not None else last - first + 1
    return cited["path"], _or(arguments.from_line, first), count


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
