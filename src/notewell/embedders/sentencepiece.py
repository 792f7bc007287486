"""The SentencePiece tokenizer (unigram): text to token ids.

    "Ｎote: 日本"  ──▶  ▁Note: ▁日本  ──▶  ▁No|te|:  ▁日本  ──▶  [1246, 39, 26, 18853]

Every piece has a score, and a word is split so that the sum of the scores is highest. No piece of
this vocabulary contains a space, so each word is split alone and its ids are cached.

The package `sentencepiece` gives the same ids. The model file also contains a table that
normalises text; it is Unicode's NFKC with the few exceptions below, so Python's own is used.

One difference is intended: control tokens such as `<s>` are plain text in a note.
"""

from __future__ import annotations

import struct
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPACE = "▁"
"""Marks the start of every word; the same character in a note counts as a space."""

UNKNOWN_PENALTY = 10.0
"""How much lower than the lowest score a character without a piece scores."""

CACHED_WORDS = 50_000
CACHED_WORD_CHARS = 64
"""Together about 10 MB at most; longer words rarely occur again."""

_SPACES = dict.fromkeys(
    map(ord, "\t\n\f\r\u1680\u200b\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " "
)
"""Characters that the model's normalisation turns into a space, and NFKC does not."""

_UNTOUCHED = "\uff5e"
"""The fullwidth tilde: NFKC would replace it, the model's normalisation does not."""


class Vocabulary(NamedTuple):
    scores: dict[str, tuple[int, float]]
    """Id and score by piece, without the control tokens."""
    unknown: int
    first: int
    last: int


class SentencePiece:
    """The best split of each word, by dynamic programming (Viterbi) over its characters."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pieces = vocabulary.scores
        self._unknown = vocabulary.unknown
        self.first = vocabulary.first
        self.last = vocabulary.last
        worst = min(score for _, score in self._pieces.values())
        self._unknown_score = worst - UNKNOWN_PENALTY
        self._reach = _longest_by_start(self._pieces)
        self._cache: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, path: Path) -> SentencePiece:
        return cls(read_vocabulary(path.read_bytes()))

    def pieces(self, text: str) -> list[int]:
        """The ids of `text`, without the start and end tokens that a model expects around them."""
        numbers: list[int] = []
        for word in _plain(text).split(" "):
            if not word:
                continue
            cached = self._cache.get(word)
            numbers.extend(self._tokenize(word) if cached is None else cached)
        return numbers

    def _tokenize(self, word: str) -> tuple[int, ...]:
        numbers = tuple(self._split(SPACE + word))
        if len(word) <= CACHED_WORD_CHARS:
            # Cleared as a whole: cheaper than an LRU, and the common words return at once.
            if len(self._cache) >= CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = numbers
        return numbers

    def _split(self, word: str) -> list[int]:
        """`best[i]` is the best score of the first `i` characters, `came[i]` its last piece as
        (start, id)."""
        # Lower than any sum of scores: no split ends here yet.
        best = [0.0] + [-1e300] * len(word)
        came = [(0, 0)] * (len(word) + 1)
        for start in range(len(word)):
            so_far = best[start]
            # One unknown character is always possible, so that every word has a split.
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
        """From the end to the start; consecutive unknown characters become one unknown id."""
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

    Few pairs start a long piece, so most positions need only two or three lookups.
    """
    longest: dict[str, int] = {}
    for piece in pieces:
        start, length = piece[:2], len(piece)
        if length > longest.get(start, 0):
            longest[start] = length
    return longest


def _plain(text: str) -> str:
    """Normalised as in training; lone surrogates, which are not valid text, are replaced."""
    if text.isascii():
        return text.translate(_SPACES)
    clean = text.translate(_SPACES).encode("utf-8", "replace").decode("utf-8")
    # ASCII and texts without the tilde are nearly all texts; the rest is split around it.
    if _UNTOUCHED not in clean:
        return unicodedata.normalize("NFKC", clean)
    parts = clean.split(_UNTOUCHED)
    return _UNTOUCHED.join(unicodedata.normalize("NFKC", part) for part in parts)


# -- the model file: a protocol buffer, of which only the pieces are read ------------------------

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
    """Text, score and kind of each piece: field 1 of the message, which comes first in the file.

    0x0A is the tag of field 1 (bytes), 0x15 that of field 2 (a 32-bit float).
    """
    at = 0
    while at < len(data) and data[at] == 0x0A:
        # A piece has at most 16 characters, so every length fits into one byte of a varint.
        end = at + 2 + data[at + 1]
        text_end = at + 4 + data[at + 3]
        if data[at + 1] > 0x7F or data[at + 2] != 0x0A or data[text_end] != 0x15:
            raise ValueError(f"not a SentencePiece model: no piece starts at byte {at}")
        (score,) = struct.unpack_from("<f", data, text_end + 1)
        kind = data[text_end + 6] if text_end + 5 < end else _NORMAL
        yield data[at + 4 : text_end].decode("utf-8"), score, kind
        at = end
