"""SentencePiece (unigram) as its makers do it: text to the numbers a model was trained on.

    "Ｎote: 日本"  ->  ▁Note: ▁日本  ->  ▁No|te|:  ▁日本  ->  [1246, 39, 26, 18853]

Every piece has a score, and a word is cut where the scores add up to the most. No piece of this
vocabulary reaches across a space, so each word is cut for itself and its numbers are remembered.

The package of that name gives the same numbers. Its model file also brings a table for cleaning
text, which turned out to be Unicode's NFKC with the few exceptions below, so Python's own will do.

One difference is meant: the control words of a vocabulary, `<s>` and the like, are text in a note.
"""

from __future__ import annotations

import struct
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPACE = "▁"
"""Stands before every word; what a note itself has of it counts as a space."""

UNKNOWN_PENALTY = 10.0
"""How much worse than the worst piece a character is that no piece holds."""

REMEMBERED_WORDS = 50_000
REMEMBERED_CHARS = 64
"""Together some 10 MB at worst; longer words are rarely seen again."""

_SPACES = dict.fromkeys(
    map(ord, "\t\n\f\r\u1680\u200b\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " "
)
"""What the model's makers turn into a space beyond those that NFKC does."""

_UNTOUCHED = "\uff5e"
"""The wide tilde of Chinese and Japanese: NFKC would make it a narrow one, the makers do not."""


class Vocabulary(NamedTuple):
    scores: dict[str, tuple[int, float]]
    """Piece -> its number and score, control words left out."""
    unknown: int
    first: int
    last: int


class SentencePiece:
    """The best cut of each word, by dynamic programming over its characters."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pieces = vocabulary.scores
        self._unknown = vocabulary.unknown
        self.first = vocabulary.first
        self.last = vocabulary.last
        worst = min(score for _, score in self._pieces.values())
        self._unknown_score = worst - UNKNOWN_PENALTY
        self._reach = _longest_by_start(self._pieces)
        self._seen: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, path: Path) -> SentencePiece:
        return cls(read_vocabulary(path.read_bytes()))

    def pieces(self, text: str) -> list[int]:
        """The numbers of `text`, without the ends a model wants around them."""
        numbers: list[int] = []
        for word in _plain(text).split(" "):
            if not word:
                continue
            known = self._seen.get(word)
            numbers.extend(self._learn(word) if known is None else known)
        return numbers

    def _learn(self, word: str) -> tuple[int, ...]:
        numbers = tuple(self._cut(SPACE + word))
        if len(word) <= REMEMBERED_CHARS:
            if len(self._seen) >= REMEMBERED_WORDS:
                self._seen.clear()
            self._seen[word] = numbers
        return numbers

    def _cut(self, word: str) -> list[int]:
        """`best[i]` is the best score of the first `i` characters, `came[i]` its last piece."""
        best = [0.0] + [-1e300] * len(word)
        came = [(0, 0)] * (len(word) + 1)
        for start in range(len(word)):
            so_far = best[start]
            # A piece may lie here or not; a single unknown character always may.
            if so_far + self._unknown_score > best[start + 1]:
                best[start + 1] = so_far + self._unknown_score
                came[start + 1] = (start, self._unknown)
            reach = min(len(word), start + self._reach.get(word[start : start + 2], 1))
            for end in range(start + 1, reach + 1):
                piece = self._pieces.get(word[start:end])
                if piece is not None and so_far + piece[1] > best[end]:
                    best[end] = so_far + piece[1]
                    came[end] = (start, piece[0])
        return self._trace(came)

    def _trace(self, came: list[tuple[int, int]]) -> list[int]:
        """Back from the end; a run of unknown characters is one unknown piece."""
        numbers: list[int] = []
        at = len(came) - 1
        while at > 0:
            at, number = came[at]
            if number != self._unknown or numbers[-1:] != [number]:
                numbers.append(number)
        numbers.reverse()
        return numbers


def _longest_by_start(pieces: dict[str, tuple[int, float]]) -> dict[str, int]:
    """The length of the longest piece for each pair of first characters.

    Few pairs begin a long piece, so most starts are done after two or three looks.
    """
    longest: dict[str, int] = {}
    for piece in pieces:
        start, length = piece[:2], len(piece)
        if length > longest.get(start, 0):
            longest[start] = length
    return longest


def _plain(text: str) -> str:
    """As the model saw text in training; lone surrogates, which no text has, become spaces."""
    if text.isascii():
        return text.translate(_SPACES)
    clean = text.translate(_SPACES).encode("utf-8", "replace").decode("utf-8")
    if _UNTOUCHED not in clean:
        return unicodedata.normalize("NFKC", clean)
    parts = clean.split(_UNTOUCHED)
    return _UNTOUCHED.join(unicodedata.normalize("NFKC", part) for part in parts)


# -- The model file: a protocol buffer, of which we read as much as we need --------------------

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_FIRST, _LAST = "<s>", "</s>"


def read_vocabulary(data: bytes) -> Vocabulary:
    """The pieces of a SentencePiece model; raises `ValueError` on anything else."""
    scores: dict[str, tuple[int, float]] = {}
    special: dict[str, int] = {}
    unknown = None
    try:
        for number, (piece, score, kind) in enumerate(_records(data)):
            if kind == _NORMAL:
                scores[piece] = (number, score)
            elif kind == _UNKNOWN:
                unknown = number
            else:
                special[piece] = number
    except (IndexError, struct.error) as error:
        raise ValueError(f"not a SentencePiece model ({error})") from error
    if unknown is None or not scores or not {_FIRST, _LAST} <= special.keys():
        raise ValueError("not a SentencePiece model: it lacks pieces")
    return Vocabulary(scores, unknown, special[_FIRST], special[_LAST])


def _records(data: bytes) -> Iterator[tuple[str, float, int]]:
    """Text, score and kind of each piece: field 1 of the model, which comes first in the file."""
    at = 0
    while at < len(data) and data[at] == 0x0A:
        # A piece has 16 characters at most, so that every length fits one byte.
        end = at + 2 + data[at + 1]
        text_end = at + 4 + data[at + 3]
        if data[at + 1] > 0x7F or data[at + 2] != 0x0A or data[text_end] != 0x15:
            raise ValueError(f"not a SentencePiece model: byte {at} begins no piece")
        (score,) = struct.unpack_from("<f", data, text_end + 1)
        kind = data[text_end + 6] if text_end + 5 < end else _NORMAL
        yield data[at + 4 : text_end].decode("utf-8"), score, kind
        at = end
