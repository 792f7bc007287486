"""The WordPiece tokenizer of BERT (uncased), with Chinese words: text to token ids.

    "Naïve, 記憶體"  ──▶  naive  ,  记忆  体  ──▶  [15743, 1010, 38068, 30656]

BERT makes every Han character a word. Here a run of them is written in simplified characters and
cut from left to right into the longest pieces that the vocabulary has. With a vocabulary without
such pieces, and without a table of traditional characters, the result is that of BERT.

A word is the text between white space. The result for a word depends on that word alone, so its
ids are cached; most words of a text have been seen before.
The package `tokenizers` gives the same ids and needs more than a dozen other packages.

One difference is intended: `[SEP]` or `[MASK]` in a note is text, never a control token.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from notewell.embedders.vocabulary import VocabularyFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from notewell.embedders.vocabulary import PieceNumbers

MAX_WORD_CHARS = 100
"""The limit of BERT: a longer word is [UNK]."""

MAX_HAN_CHARS = 4
"""The longest Chinese word that is looked up: longer ones are names and sayings."""

CACHED_WORDS = 50_000
CACHED_WORD_CHARS = 64
"""Together about 10 MB at most; longer words rarely occur again."""

# Unicode white space without its control characters, which BERT removes instead.
_WORD = re.compile(r"[^ \t\n\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

# Without "Cn" (unassigned): a new character must not disappear in old versions of Python only.
_REMOVED = frozenset({"Cc", "Cf", "Co", "Cs"})

_HAN = re.compile(
    # The blocks in which BERT makes each character a word. The sixth block should start at
    # U+2B820; the reference code says U+2B920, and the model was trained with that.
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]+"
)


class WordPiece:
    """Greedy longest match against a vocabulary; pieces inside a word start with `##`."""

    def __init__(
        self, vocabulary: PieceNumbers, traditional: Mapping[str, str] | None = None
    ) -> None:
        """`traditional` has the simplified character for each traditional one."""
        self._ids = vocabulary
        self._simplified = str.maketrans(dict(traditional or {}))
        self._unknown = _number_of("[UNK]", vocabulary)
        self.first = _number_of("[CLS]", vocabulary)
        self.last = _number_of("[SEP]", vocabulary)
        self._cache: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, vocabulary: Path, traditional: Path | None = None) -> WordPiece:
        """One piece on each line; in `traditional` two characters with a tab between them."""
        return cls(VocabularyFile(vocabulary), _table(traditional) if traditional else None)

    def pieces(self, text: str) -> list[int]:
        """The ids of `text`, without the [CLS] and [SEP] that a model expects around them."""
        numbers: list[int] = []
        for word in _WORD.findall(text):
            cached = self._cache.get(word)
            numbers.extend(self._tokenize(word) if cached is None else cached)
        return numbers

    def _tokenize(self, word: str) -> tuple[int, ...]:
        plain = word.lower() if word.isascii() and word.isprintable() else self._plain(word)
        numbers = tuple(n for part in _parts(plain) for n in self._match(part))
        if len(word) <= CACHED_WORD_CHARS:
            # Cleared as a whole: cheaper than an LRU, and the common words return at once.
            if len(self._cache) >= CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = numbers
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

    def _plain(self, word: str) -> str:
        """Without control characters and accents, in lower case, Chinese words separated."""
        clean = "".join(
            c for c in word if c != "\ufffd" and unicodedata.category(c) not in _REMOVED
        )
        apart = unicodedata.normalize("NFD", _HAN.sub(self._cut, clean))
        bare = "".join(c for c in apart if unicodedata.category(c) != "Mn")
        # The reference lowers each letter alone; Python lowers a final sigma to another letter.
        return bare.replace("Σ", "σ").lower()

    def _cut(self, run: re.Match[str]) -> str:
        """A run of Han characters as words with spaces around them."""
        text = run.group().translate(self._simplified)
        words: list[str] = []
        start = 0
        while start < len(text):
            words.append(self._longest(text[start : start + MAX_HAN_CHARS]))
            start += len(words[-1])
        return f" {' '.join(words)} "

    def _longest(self, text: str) -> str:
        """The longest start of `text` that is in the vocabulary; its first character in any
        case."""
        lengths = range(len(text), 1, -1)
        starts = (text[:n] for n in lengths)
        return next((start for start in starts if self._ids.get(start) is not None), text[0])


def _number_of(piece: str, vocabulary: PieceNumbers) -> int:
    number = vocabulary.get(piece)
    if number is None:
        raise LookupError(f"the vocabulary has no {piece}")
    return number


def _table(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return {pair[0]: pair[1] for pair in (line.split("\t") for line in lines)}


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
    """Like BERT, every ASCII symbol counts, also `$`, `+` and `~`, which Unicode does not."""
    if char < "\x7f":
        return not char.isalnum()
    return unicodedata.category(char)[0] == "P"
