"""What notes say, one thing after another: an entry of a list with what is below it, or a line.

What stands in code, headings and comments states nothing. Of a conversation that was saved only
what the user said counts: what an assistant said is not the user's to have remembered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import word_set
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_WORDS = 3
"""`ok` and `done` are said every day and mean nothing later."""
MAX_CHARS = 600
"""A fact is short; what is longer belongs where it stands."""

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_FACT = re.compile(r"- (?:session|host|folder|closed by): `")


class Statement(NamedTuple):
    path: str
    span: Span
    text: str
    """On one line, without bullet and speaker."""
    words: frozenset[str]


def statements(path: str, text: str) -> Iterator[Statement]:
    """Those of a note, from its top."""
    for first, lines in _blocks(text.split("\n")):
        told = _told(lines)
        found = word_set(told)
        if len(found) >= MIN_WORDS and len(told) <= MAX_CHARS:
            yield Statement(path, Span(first, first + len(lines) - 1), told, found)


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Each with the number of its first line."""
    held: list[str] = []
    begun = 0
    in_code = False
    for number, line in enumerate(lines, 1):
        is_fence = bool(_FENCE.match(line))
        in_code ^= is_fence
        if held and line.startswith((" ", "\t")) and not (is_fence or in_code):
            held.append(line)  # What is indented belongs to the entry above it.
            continue
        if held:
            yield begun, held
        is_said = not (is_fence or in_code or line.startswith("#") or not line.strip())
        held, begun = ([line] if is_said else []), number
    if held:
        yield begun, held


def _told(lines: list[str]) -> str:
    if _FACT.match(lines[0]) or lines[0].startswith("Assistant: "):
        return ""
    text = " ".join(_without_comments(" ".join(lines)).split())
    return _BULLET.sub("", text, count=1).removeprefix("User: ").strip()


def _without_comments(text: str) -> str:
    """By hand: a pattern would look for the end of every open comment again and again."""
    kept, at = list[str](), 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        kept.append(text[at:begin])
        at = end + 3
    return "".join((*kept, text[at:]))
