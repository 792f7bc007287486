"""CC-CEDICT: Chinese words with what they mean in English."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.documents import HAN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

SHARE_TRADITIONAL = 0.2
_ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.+)/\s*")
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|,? (abbr\.|also called|also written) .*")
# Glosses that say something about the word instead of what it means.
_NOT_A_MEANING = (
    "CL:", "variant of", "old variant", "erhua variant", "Japanese variant", "see ", "see also",
    "surname", "used in", "abbr.", "also written", "also pr.", "Taiwan pr.", "Kangxi radical",
)  # fmt: skip
_ARTICLE = re.compile(r"^(to be|to|a|an|the) ")


@dataclass(frozen=True, slots=True)
class Entry:
    traditional: str
    simplified: str
    glosses: tuple[str, ...]
    """Meanings only, without asides; never empty."""


def entries(text: str) -> list[Entry]:
    """Entries that hold Chinese and mean something, in the order of the file."""
    found = []
    for line in text.split("\n"):
        match = _ENTRY.fullmatch(line)
        if match and HAN.search(match[2]):
            glosses = _meanings(match[3])
            if glosses:
                found.append(Entry(match[1], match[2], glosses))
    return found


def _meanings(glosses: str) -> tuple[str, ...]:
    """`/to visit/CL:個|个[ge4]/` is one meaning; `; ` separates them like `/`."""
    found = []
    for gloss in re.split(r"/|; ", glosses):
        bare = re.sub(r"\s+", " ", _ASIDE.sub("", gloss)).strip(" ,;")
        if bare and not gloss.startswith(_NOT_A_MEANING) and not HAN.search(bare):
            found.append(bare)
    return tuple(found)


def without_article(gloss: str) -> str:
    return _ARTICLE.sub("", gloss)


@dataclass(frozen=True, slots=True)
class Gloss:
    zh: str
    en: str


def glosses(found: Iterable[Entry], random: Random) -> list[Gloss]:
    """Each entry with its first two meanings, some in traditional characters."""
    return [
        Gloss(
            entry.traditional if random.random() < SHARE_TRADITIONAL else entry.simplified,
            "; ".join(entry.glosses[:2]),
        )
        for entry in found
    ]
