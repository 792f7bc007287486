"""The numbers of word pieces, from a file with one piece on each line.

A question needs a few dozen pieces of 50 000. To find those in the bytes of the file takes a tenth
of the time of reading all into a dictionary, so the dictionary is made when many have been asked.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

SEARCHES = 64
"""So many pieces are searched for. That takes about as long as making the dictionary, and it is
three questions, or a part of one note."""

BLOCK_BYTES = 4096
"""The lines before each block are counted once."""


class PieceNumbers(Protocol):
    """A dictionary is one, too."""

    def get(self, piece: str, /) -> int | None: ...


class VocabularyFile:
    """Thread-safe: at worst two threads make the same dictionary."""

    def __init__(self, path: Path) -> None:
        text = b"\n%b\n" % path.read_bytes().removesuffix(b"\n")
        starts = range(0, len(text), BLOCK_BYTES)
        lines = (text.count(b"\n", start, start + BLOCK_BYTES) for start in starts)
        self._text = text
        self._lines_before = list(accumulate(lines, initial=0))
        self._searches = 0
        self._numbers: dict[str, int] | None = None

    def get(self, piece: str, /) -> int | None:
        """The number of the line of `piece`, from 0."""
        if self._numbers is None:
            if self._searches < SEARCHES:
                return self._search(piece)
            self._numbers = self._all_numbers()
        return self._numbers.get(piece)

    def _search(self, piece: str) -> int | None:
        self._searches += 1
        at = self._text.find(b"\n%b\n" % piece.encode())
        if at < 0:
            return None
        block = at // BLOCK_BYTES
        return self._lines_before[block] + self._text.count(b"\n", block * BLOCK_BYTES, at)

    def _all_numbers(self) -> dict[str, int]:
        # Bytes that are not UTF-8 must not stop a question: the digests are checked before notes
        # are embedded. Not `splitlines()`: a piece may be a Unicode line separator.
        pieces = self._text[1:-1].decode(errors="replace").split("\n")
        return {piece: number for number, piece in enumerate(pieces)}
