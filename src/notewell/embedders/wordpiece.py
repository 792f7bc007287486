"""WordPiece as BERT (uncased) does it: text to the numbers a model was trained on.

    "Naïve, 日本"  ->  naive  ,  日  本  ->  [15743, 1010, 1864, 1876]

A word is what stands between white space. Everything that happens to it depends on that word
alone, so its numbers are remembered; most words of a text have been seen before.
The tokenizers package gives the same numbers and brings more than a dozen packages along.

One difference is meant: `[SEP]` or `[MASK]` in a note is text, never a command to the model.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MAX_WORD_CHARS = 100
"""BERT's own limit: a longer run of letters is [UNK]."""

REMEMBERED_WORDS = 50_000
REMEMBERED_CHARS = 64
"""Together some 10 MB at worst; longer words are rarely seen again."""

# White space as Unicode has it, less the control characters among it, which BERT removes.
_WORD = re.compile(r"[^ \t\n\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

# Not "Cn": a character too new for this Python must not vanish under one version only.
_REMOVED = frozenset({"Cc", "Cf", "Co", "Cs"})

_HAN = re.compile(
    # BERT's blocks of characters that are words of their own. The sixth one should begin at
    # U+2B820; the reference says U+2B920, and what the model was given is what counts.
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]"
)


class WordPiece:
    """Greedy longest match against a vocabulary whose inner pieces begin with `##`."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._ids = vocabulary
        self._unknown = vocabulary["[UNK]"]
        self.first = vocabulary["[CLS]"]
        self.last = vocabulary["[SEP]"]
        self._seen: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, path: Path) -> WordPiece:
        """One piece a line. Not `splitlines()`: a piece may be one of its exotic line ends."""
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        return cls({piece: number for number, piece in enumerate(lines)})

    def pieces(self, text: str) -> list[int]:
        """The numbers of `text`, without the [CLS] and [SEP] a model wants around them."""
        numbers: list[int] = []
        for word in _WORD.findall(text):
            known = self._seen.get(word)
            numbers.extend(self._learn(word) if known is None else known)
        return numbers

    def _learn(self, word: str) -> tuple[int, ...]:
        numbers = tuple(n for part in _parts(_plain(word)) for n in self._match(part))
        if len(word) <= REMEMBERED_CHARS:
            if len(self._seen) >= REMEMBERED_WORDS:
                self._seen.clear()
            self._seen[word] = numbers
        return numbers

    def _match(self, part: str) -> list[int]:
        if len(part) > MAX_WORD_CHARS:
            return [self._unknown]
        numbers: list[int] = []
        start = 0
        while start < len(part):
            prefix = "##" if start else ""
            for end in range(len(part), start, -1):
                number = self._ids.get(prefix + part[start:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            numbers.append(number)
            start = end
        return numbers


def _plain(word: str) -> str:
    """Without control characters and accents, in lower case, Han characters apart."""
    if word.isascii() and word.isprintable():
        return word.lower()
    clean = "".join(c for c in word if c != "\ufffd" and unicodedata.category(c) not in _REMOVED)
    apart = unicodedata.normalize("NFD", _HAN.sub(r" \g<0> ", clean))
    bare = "".join(c for c in apart if unicodedata.category(c) != "Mn")
    # The reference lowers letter by letter; Python alone would give a final sigma its own form.
    return bare.replace("Σ", "σ").lower()


def _parts(word: str) -> Iterator[str]:
    """Runs of letters and digits, and each punctuation mark alone."""
    if word.isalnum():
        yield word
        return
    start = 0
    for at, char in enumerate(word):
        if char == " " or _is_punctuation(char):
            if start < at:
                yield word[start:at]
            if char != " ":
                yield char
            start = at + 1
    if start < len(word):
        yield word[start:]


def _is_punctuation(char: str) -> bool:
    """Every ASCII mark counts, also `$`, `+` and `~`, which Unicode calls symbols."""
    if char < "\x7f":
        return not char.isalnum()
    return unicodedata.category(char)[0] == "P"
