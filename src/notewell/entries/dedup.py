"""When two texts say the same, and how well a text answers by its words alone.

Vectors alone do not tell. Under the embedded model "Deploys are on Friday" and "Deploys are on
Monday" have a cosine of .98, "I like tea" and "I do not like tea" of .96: taking the new one for
the old one would lose what has changed. So a near duplicate must also say no word of its own, and
leave out none of the small words (not, only, off, before …) that turn a statement around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from notewell.core import stem, stop_words, text_query
from notewell.core.words import words

if TYPE_CHECKING:
    from collections.abc import Collection

SAME_COSINE: Final = 0.95
"""From here on two texts may be the same; what OpenClaw takes for it."""

_EMPTY_WORDS = """
a an the is are was were be been am do does has have had that this it its of please remember note
user i he she they we
"""
# With or without these a statement stays what it is: whose it is, everybody knows.
_EMPTY = frozenset(map(stem, _EMPTY_WORDS.split()))


def is_told_by(new: str, old: str) -> bool:
    """Whether somebody who knows the old text learns nothing from the new one."""
    said, known = _telling(new), _telling(old)
    return bool(said) and said <= known and not (known - said) & stop_words()


def word_score(question: str, text: str) -> float:
    """The share of the question's words that the text has: for what a model cannot read."""
    query = text_query(question)
    if not query.terms:
        return 0.0
    having = {form for word in words(text) for form in word.forms}
    return sum(_had(term, query.pairs, having) for term in query.terms) / len(query.terms)


def _had(term: str, pairs: Collection[str], having: Collection[str]) -> float:
    """Half for a pair of characters that stand apart: 喝绿茶 is about 喝茶 too."""
    if term in having:
        return 1.0
    return 0.5 if term in pairs and all(one in having for one in term) else 0.0


def _telling(text: str) -> frozenset[str]:
    return frozenset(word.forms[0] for word in words(text) if not word.single) - _EMPTY
