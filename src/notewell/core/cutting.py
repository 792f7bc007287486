"""Where a long line is cut: into pieces for the index, and into parts for an answer.

A line that is longer than a chunk becomes several chunks, its pieces. An answer quotes sentences
of a long line, its parts. Both know where they begin in the line, so neighbours can be joined.

The weight of a text is an estimate of its tokens, made without a tokenizer. Its unit is a quarter
of a token: four characters of most scripts make a token, while a Chinese, Japanese or Korean
character is about a token by itself.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from notewell.limits import CHARS_PER_TOKEN
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class LinePart(NamedTuple):
    """A piece or a part of a line, without white space around it."""

    start: int
    """Where it begins in the line, in characters."""
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_SPACE = re.compile(r"\s")


def pieces(line: str, limit: int) -> Iterator[LinePart]:
    """Cut a line where a word ends, otherwise where a grapheme ends; none weighs more than the
    limit."""
    start = 0
    while start < len(line):
        end = start + fitting_chars(line, start, limit)
        if end < len(line):
            end = _good_cut(line, start, end)
        yield from _stripped(line, start, end)
        start = end


# A mark that ends a sentence, with the quotation marks and brackets after it.
# Compiled when a line is cut, which few searches do.
_SENTENCE_END = r"[.!?;:…][\"'”’)\]]*\s|[。！？；…]+[”’」』）]*"


def parts(line: str, least: int, most: int) -> Iterator[LinePart]:
    """Cut a line where a sentence ends, after at least `least` characters; otherwise as `pieces`
    does, after at most `most`."""
    start = 0
    while len(line) - start > most:
        sentence = re.compile(_SENTENCE_END).search(line, start + least - 1, start + most)
        end = sentence.end() if sentence else _good_cut(line, start, start + most)
        yield from _stripped(line, start, end)
        start = end
    yield from _stripped(line, start, len(line))


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Where sentences end in a part of a text; each is the start of the next one."""
    return [sentence.end() for sentence in re.compile(_SENTENCE_END).finditer(text, start, end)]


def _stripped(line: str, start: int, end: int) -> Iterator[LinePart]:
    text = line[start:end]
    if bare := text.strip():
        yield LinePart(start + len(text) - len(text.lstrip()), bare)


def _good_cut(line: str, start: int, end: int) -> int:
    window = line[start:end]
    # Only a space in the last quarter: otherwise the piece would be too short.
    for offset in range(len(window) - 1, len(window) * 3 // 4, -1):
        if _SPACE.match(window[offset]) and line[start + offset + 1].isalnum():
            return start + offset + 1
    if window.isascii() and line[end].isascii():
        return end
    return start + _last_grapheme_break(line[start : end + 1], len(window))


def _last_grapheme_break(text: str, limit: int) -> int:
    from notewell.core.segmentation import grapheme_next_break

    last = here = 0
    while here < limit:
        last, here = here, grapheme_next_break(text, here)
    if here == limit:
        return limit
    return last or limit  # One grapheme larger than a chunk (many combining marks) is cut.


# -- weight --------------------------------------------------------------------------------------


@cache
def _wide() -> re.Pattern[str]:
    """Chinese, Japanese and Korean. Compiled on first use: its large classes take milliseconds,
    and a search of an English memory does not need it."""
    return re.compile(
        "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
        "\uff00-\uffef\U00020000-\U0003ffff]"
    )


def token_weight(text: str) -> int:
    """The length of a text in quarter tokens."""
    if text.isascii():
        return len(text)
    return len(text) + (CHARS_PER_TOKEN - 1) * wide_chars(text)


def wide_chars(text: str) -> int:
    """How many characters are Chinese, Japanese or Korean."""
    return 0 if text.isascii() else len(_wide().findall(text))


def fitting_chars(text: str, start: int, limit: int) -> int:
    """How many characters after `start` weigh at most `limit`; at least one, for progress."""
    piece = text[start : start + limit]
    if piece.isascii():
        return max(1, len(piece))
    total, wide = 0, _wide()
    for taken, character in enumerate(piece):
        total += CHARS_PER_TOKEN if wide.match(character) else 1
        if total > limit:
            return max(1, taken)
    return max(1, len(piece))
