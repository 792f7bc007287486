"""The pieces of the model: those of the English model as they are, then Chinese ones.

Chinese is split by longest match over runs of Han, after traditional characters are folded to
simplified ones. So the vocabulary needs simplified characters, and the words that are frequent
enough to earn a row: each row of an int8 table costs 384 bytes of the wheel.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.dictionary import without_article

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from model.dictionary import Entry

CHARACTERS = 6_500
WORDS = 11_500
MAX_WORD_CHARS = 4
MIN_FREQUENCY = 5
"""In jieba's list; rarer words are split into characters well enough."""
OWN_TEXT_WEIGHT = 0.7
LIST_COUNT_OF_A_CHARACTER = 1 / 50
"""jieba counts in a corpus much larger than ours: our own texts should still be heard."""
MAX_GLOSSES = 3
HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    pieces: tuple[str, ...]
    """In the order of their rows; the English model's own come first, unchanged."""
    glosses: dict[str, list[str]]
    """Every Han piece with its meanings, possibly none: its row starts as their mean."""


def traditional_characters(text: str) -> dict[str, str]:
    """Traditional character -> simplified one, where the character itself is never simplified.

    OpenCC lists the likeliest simplification first. A result is never a key: folding twice
    changes nothing.
    """
    folded: dict[str, str] = {}
    for line in text.split("\n"):
        traditional, _, candidates = line.strip().partition("\t")
        simplified = candidates.split(" ")
        if len(traditional) == 1 and traditional not in simplified and len(simplified[0]) == 1:
            folded[traditional] = simplified[0]
    return {
        traditional: folded.get(simplified, simplified)
        for traditional, simplified in folded.items()
    }


def frequencies(text: str, folding: Mapping[str, str]) -> dict[str, int]:
    """jieba's list: word -> count, for words of Han alone."""
    table = str.maketrans(dict(folding))
    counts: dict[str, int] = {}
    for line in text.split("\n"):
        parts = line.split(" ")
        if len(parts) == 3 and HAN_RUN.fullmatch(parts[0]):
            word = parts[0].translate(table)
            counts[word] = counts.get(word, 0) + int(parts[1])
    return counts


def build(
    base: tuple[str, ...],
    entries: Iterable[Entry],
    counts: Mapping[str, int],
    folding: Mapping[str, str],
    texts: Iterable[str],
) -> Vocabulary:
    table = str.maketrans(dict(folding))
    meanings = _meanings(entries, table)
    candidates = {
        word
        for word in meanings
        if 2 <= len(word) <= MAX_WORD_CHARS and counts.get(word, 0) >= MIN_FREQUENCY
    }
    words_here, characters_here = _counted(texts, candidates, table)
    characters = _characters(counts, characters_here, folding, meanings)
    words = sorted(
        candidates,
        key=lambda word: (
            -math.log1p(counts[word]) - OWN_TEXT_WEIGHT * math.log1p(words_here[word]),
            word,
        ),
    )[:WORDS]
    known = set(base)
    pieces = (*base, *(piece for piece in (*characters, *words) if piece not in known))
    han = [piece for piece in pieces if HAN_RUN.fullmatch(piece)]
    return Vocabulary(pieces, {piece: meanings.get(piece, [])[:MAX_GLOSSES] for piece in han})


def _meanings(entries: Iterable[Entry], table: Mapping[int, str]) -> dict[str, list[str]]:
    """Folded word -> what it means, its main reading first."""
    readings: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        readings[entry.simplified.translate(table)].append(entry)
    return {
        word: [_short(gloss) for entry in sorted(found, key=_rank) for gloss in entry.glosses]
        for word, found in readings.items()
    }


def _rank(entry: Entry) -> tuple[bool, int]:
    """The reading with most meanings is the main one; a capital is a name (a town, a person)."""
    return entry.glosses[0][:1].isupper(), -len(entry.glosses)


def _short(gloss: str) -> str:
    """`Beijing, capital of …` is Beijing."""
    return gloss.partition(",")[0] if gloss[:1].isupper() else without_article(gloss)


def _counted(
    texts: Iterable[str], candidates: set[str], table: Mapping[int, str]
) -> tuple[Counter[str], Counter[str]]:
    """How often words (by longest match) and characters stand in our own texts."""
    words: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for text in texts:
        for run in HAN_RUN.findall(text.translate(table)):
            characters.update(run)
            words.update(longest_matches(run, candidates))
    return words, characters


def longest_matches(run: str, words: set[str]) -> list[str]:
    found: list[str] = []
    start = 0
    while start < len(run):
        for size in range(MAX_WORD_CHARS, 0, -1):
            piece = run[start : start + size]
            if size == 1 or (len(piece) == size and piece in words):
                found.append(piece)
                start += size
                break
    return found


def _characters(
    counts: Mapping[str, int],
    here: Counter[str],
    folding: Mapping[str, str],
    meanings: Mapping[str, list[str]],
) -> list[str]:
    """The most frequent; one that has no meaning and stands in none of our texts comes last."""
    weights: defaultdict[str, float] = defaultdict(float, here)
    for word, count in counts.items():
        for character in word:
            weights[character] += count * LIST_COUNT_OF_A_CHARACTER
    ranked = sorted(
        (character for character in weights if HAN_RUN.fullmatch(character)),
        key=lambda character: (
            character not in meanings and character not in here,
            -weights[character],
            character,
        ),
    )
    return [character for character in ranked if character not in folding][:CHARACTERS]
