"""English with words in Chinese: the cheapest way to bring the dictionary into sentences.

A dictionary lists ten Chinese words for `clip`, most of them seldom used. The parallel texts tell
which one people write: the one that stands where `clip` stands.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from model.dictionary import without_article
from model.vocabulary import HAN_RUN, longest_matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    from model.dictionary import Entry
    from model.parallel import Parallel

MAX_WORD_CHARS = 4
MAX_CANDIDATES = 16
MAX_TRANSLATIONS = 3
MIN_SEEN = 2
"""Once together is chance."""
NEARLY_AS_GOOD = 0.3
"""A translation that is attested so much less than the best one is another meaning."""
COMMON = 20
"""A word in so many lines that is never translated as the dictionary says means something else
there: `are` is no unit of area."""
UNLIKELY_CHARACTER = 3.0
UNLIKELY_NAME = 4.0
"""`Times` is a newspaper, `Python` a snake; both in units of a rank among the meanings."""
SHARE_OF_FIRST = 0.75
SHARE_WITHOUT_STOP_WORDS = 0.8
"""So much Chinese that English articles and prepositions would be out of place."""
_ENDINGS = (
    ("ies", "y"), ("s", ""), ("es", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
)  # fmt: skip
_IRREGULAR = {
    "ate": "eat", "began": "begin", "bought": "buy", "broke": "break", "brought": "bring",
    "built": "build", "came": "come", "caught": "catch", "children": "child", "chose": "choose",
    "drank": "drink", "drove": "drive", "fell": "fall", "felt": "feel", "flew": "fly",
    "forgot": "forget", "found": "find", "gave": "give", "gone": "go", "got": "get",
    "grew": "grow",
    "heard": "hear", "kept": "keep", "knew": "know", "lost": "lose", "made": "make", "men": "man",
    "met": "meet", "paid": "pay", "people": "person", "ran": "run", "said": "say", "sang": "sing",
    "sat": "sit", "saw": "see", "sent": "send", "slept": "sleep", "sold": "sell", "spent": "spend",
    "spoke": "speak", "swam": "swim", "taught": "teach", "thought": "think", "told": "tell",
    "took": "take", "understood": "understand", "went": "go", "women": "woman", "won": "win",
    "wore": "wear", "wrote": "write",
}  # fmt: skip
_STOP_WORDS = re.compile(
    r"\b(the|a|an|of|to|in|is|are|was|were|and|for|on|with|that|this|by|at|as|it|be)\b ?",
    re.IGNORECASE,
)
_ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:'s)?")
_BETWEEN_HAN = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")


def candidates(entries: Iterable[Entry], counts: Mapping[str, int]) -> dict[str, list[str]]:
    """English word -> Chinese words, the likeliest by the dictionary first.

    Likely is a word that is frequent, whose first meaning this is, that is no name and no single
    character: those mean too many things. A form that the dictionary has (`matches`) may also be
    what its base is (`match`).
    """
    ranked: defaultdict[str, set[tuple[float, str]]] = defaultdict(set)
    for entry in entries:
        word = entry.simplified
        if len(word) > MAX_WORD_CHARS or not HAN_RUN.fullmatch(word):
            continue
        for rank, gloss in enumerate(entry.glosses[:5]):
            english = without_article(gloss.lower())
            if re.fullmatch(r"[a-z]{2,}", english):
                unlikely = (
                    rank
                    - math.log1p(counts.get(word, 0)) / 2
                    + UNLIKELY_CHARACTER * (len(word) == 1)
                    + UNLIKELY_NAME * gloss[0].isupper()
                )
                ranked[english].add((unlikely, word))
    words = {
        english: list(dict.fromkeys(word for _, word in sorted(found)))[:MAX_CANDIDATES]
        for english, found in sorted(ranked.items())
    }
    return {
        english: list(dict.fromkeys((*found, *words.get(_stem(english, words) or "", ()))))
        for english, found in words.items()
    }


def attested(
    words: Mapping[str, list[str]], lines: Iterable[Parallel], folding: Mapping[str, str]
) -> dict[str, list[str]]:
    """The candidates by how often they translate the word (Dice), else in their order."""
    table = str.maketrans(dict(folding))
    chinese = {word for found in words.values() for word in found}
    together: Counter[tuple[str, str]] = Counter()
    alone: Counter[str] = Counter()
    for line in lines:
        english = {base for word in _ENGLISH_WORD.findall(line.en) if (base := _base(word, words))}
        runs = HAN_RUN.findall(line.zh.translate(table))
        pieces = {piece for run in runs for piece in longest_matches(run, chinese)}
        alone.update(english)
        alone.update(pieces)
        together.update(
            (word, piece) for word in english for piece in words[word] if piece in pieces
        )

    def dice(word: str, piece: str) -> float:
        seen = together[word, piece]
        return 2 * seen / (alone[word] + alone[piece]) if seen >= MIN_SEEN else 0.0

    def best(word: str, found: list[str]) -> list[str]:
        enough = NEARLY_AS_GOOD * max(dice(word, piece) for piece in found)
        ranked = sorted(found, key=lambda piece: -dice(word, piece))
        return [piece for piece in ranked if dice(word, piece) >= enough][:MAX_TRANSLATIONS]

    return {
        word: best(word, found)
        for word, found in words.items()
        if alone[word] < COMMON or any(together[word, piece] >= MIN_SEEN for piece in found)
    }


def _base(word: str, words: Mapping[str, list[str]]) -> str | None:
    """The word, or the one it is a form of, if the dictionary has it."""
    word = word.lower().removesuffix("'s")
    return word if word in words else _stem(word, words)


def _stem(word: str, words: Mapping[str, list[str]]) -> str | None:
    irregular = _IRREGULAR.get(word)
    if irregular in words:
        return irregular
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and word.removesuffix(ending) + instead in words:
            return word.removesuffix(ending) + instead
    return None


def code_switched(text: str, words: Mapping[str, list[str]], share: float, random: Random) -> str:
    """The text with a share of its words in Chinese."""

    def switched(match: re.Match[str]) -> str:
        base = _base(match[0], words)
        if base is None or random.random() >= share:
            return match[0]
        found = words[base]
        return found[0] if random.random() < SHARE_OF_FIRST else random.choice(found)

    mixed = _ENGLISH_WORD.sub(switched, text)
    if share > SHARE_WITHOUT_STOP_WORDS:
        mixed = _STOP_WORDS.sub(lambda match: "" if random.random() < 0.6 else match[0], mixed)
    return _BETWEEN_HAN.sub("", mixed)
