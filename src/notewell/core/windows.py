"""Windows: parts of a chunk that get a vector of their own.

One vector for 800 characters hides a fact that is mentioned in passing. So an embedder that can
afford it embeds small parts of a chunk, too, and a chunk is as near as a mix of its own vector
and that of its best window:

    chunk    ├──────────────────────────────────────────────┤
    windows  ├──────────┤├─────────────┤├──────┤├───────────┤   whole lines, in order

A line is split, at the ends of sentences, only if it is longer than a window. A chunk that is not
longer than one window has none: its own vector says the same.

The spans are not stored: whoever reads stored windows computes them from the text of the chunk.
Whoever changes the spans changes `core.words.VERSION` and `core.window_codes.VERSION`, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from notewell.core.long_lines import Extent
from notewell.core.words import without_markers
from notewell.ports import SplitText, Window

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    WindowPlaces: TypeAlias = Sequence[Sequence[tuple[int, Extent]]]
    """For each window of a chunk, its lines, and which characters of each line are in it."""

WINDOW_CHARS = 250
"""Lines are joined until a window has so many. Measured: see docs/ranking.md."""
LONG_LINE_CHARS = 330
"""A longer line is split: two windows of half a line each say less than one of a whole line."""

_LINE_END = re.compile("\n")
_ITEM = re.compile(r"[-*+>|]|\d+[.)]\s")
"""An indented line of a list, a quotation or a table is no code."""
# Compiled when a chunk is embedded: a search does not need it.
_SENTENCE_END = r"(?<=[.!?])\s+|(?<=[。！？])\s*"


def split_text(heading: str, text: str) -> SplitText:
    """What an embedder gets of a chunk."""
    from notewell.core.chunking import headings_above  # Imported late: a search does not need it.

    text = without_markers(text)
    above = headings_above(heading, text)
    before = f"{above}\n\n" if above else ""
    shift = len(before)
    windows = (Window(start + shift, end + shift) for start, end in find_windows(text))
    return SplitText(before + text, above, tuple(windows))


def window_places(text: str, first_line: int, first_char: int = 0) -> WindowPlaces:
    """For each window of a chunk, its lines, and which characters of each line are in it.

    The chunk begins in `first_line`, at `first_char` if it is a piece of a long line.
    """
    # A marker is the end of a line, so the lines stay the same without it.
    text = without_markers(text)
    starts = [0, *[mark.end() for mark in _LINE_END.finditer(text)]]
    places: list[Sequence[tuple[int, Extent]]] = []
    for window in find_windows(text):
        first = bisect_right(starts, window.start) - 1
        last = bisect_right(starts, window.end - 1) - 1
        extents = [
            (first_line + at, _extent(window, starts[at] - first_char, first_char))
            for at in range(first, last + 1)
        ]
        places.append(extents)
    return places


def _extent(window: Window, line_start: int, first_char: int) -> Extent:
    # The end of a line in the middle of a window is not needed: no character is behind it.
    start, end = window
    return Extent(max(first_char, start - line_start), end - line_start)


def find_windows(text: str) -> tuple[Window, ...]:
    """In order; blank lines between two windows belong to neither. Code has none."""
    if not is_long(text) or is_code(text):
        return ()
    found = tuple(_packed(text, list(_units(text))))
    return found if len(found) > 1 else ()


def is_long(text: str) -> bool:
    """Longer than one window."""
    return _size(text) > WINDOW_CHARS


def is_code(text: str) -> bool:
    """Whether most lines are code: fenced or indented. A few lines of a function say less than
    all of them, so that the best window would mislead (see docs/ranking.md)."""
    # Every line of code begins with one of these. Most texts are prose, and a search asks about
    # some two hundred.
    if "    " not in text and "```" not in text and "~~~" not in text and "\t" not in text:
        return False
    code = lines = 0
    fenced = False
    for line in text.split("\n"):
        stripped = line.strip()
        is_fence = stripped.startswith(("```", "~~~"))
        fenced ^= is_fence
        if stripped:
            lines += 1
            indented = line.startswith(("    ", "\t")) and not _ITEM.match(stripped)
            code += is_fence or fenced or indented
    return 2 * code > lines


def _packed(text: str, units: Sequence[Window]) -> Iterator[Window]:
    start = end = size = 0
    for unit in units:
        more = _size(text[unit.start : unit.end])
        if size and size + more > WINDOW_CHARS:
            yield Window(start, end)
            size = 0
        if not size:
            start = unit.start
        end, size = unit.end, size + more
    if size:
        yield Window(start, end)


def _units(text: str) -> Iterator[Window]:
    """Lines, and the parts of long lines."""
    start = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            first = start + line.index(stripped)
            unit = Window(first, first + len(stripped))
            yield from (unit,) if _size(stripped) <= LONG_LINE_CHARS else _parts(text, unit)
        start += len(line) + 1


def _parts(text: str, line: Window) -> Iterator[Window]:
    """Sentences, joined until they are a window; a longer sentence is cut at a space."""
    start, end = line.start, line.start
    for sentence in _sentences(text, line):
        if end > start and _size(text[start : sentence.end]) > WINDOW_CHARS:
            yield Window(start, end)
            start = sentence.start
        end = sentence.end
        while _size(text[start:end]) > LONG_LINE_CHARS:
            cut = _cut(text, start, end)
            yield Window(start, cut)
            start = cut
    if end > start:
        yield Window(start, end)


def _sentences(text: str, line: Window) -> Iterator[Window]:
    start = line.start
    for mark in re.compile(_SENTENCE_END).finditer(text, line.start, line.end):
        if mark.start() > start:
            yield Window(start, mark.start())
        start = mark.end()
    if start < line.end:
        yield Window(start, line.end)


def _cut(text: str, start: int, end: int) -> int:
    # Wide characters count twice, so half of the limit fits whatever the script is.
    half = WINDOW_CHARS // 2
    most = start + (WINDOW_CHARS if _size(text[start:end]) == end - start else half)
    space = text.rfind(" ", start + half // 2, most)
    return space + 1 if space > 0 else most


def _size(text: str) -> int:
    """Characters; a Chinese, Japanese or Korean one counts as two."""
    if text.isascii():
        return len(text)
    from notewell.core.cutting import wide_chars

    return len(text) + wide_chars(text)
