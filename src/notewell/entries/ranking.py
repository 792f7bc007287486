"""Which entries answer a query, in which order; and whether two texts say the same.

Vectors cannot decide whether two texts say the same. Under the embedded model "Deploys are on
Friday" and "Deploys are on Monday" have a cosine of .98, "I like tea" and "I do not like tea" of
.96: to treat the new text as a duplicate would lose the change. So a duplicate must also contain
no word of its own, and must not omit a small word (not, only, off, before …) that reverses a
statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from notewell.core import split_words, stem, stop_words, text_query
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from notewell.entries.entry import MemoryEntry

LIMIT = 5
MAX_LIMIT = 100
MIN_SCORE = 0.25
"""On the scale of `core.ranking`: unrelated entries score near 0, answers above .3."""
CLEAR_SCORE = 0.7
CLEAR_MARGIN = 0.1
"""A query may delete an entry only if it scores high and no other entry is as close."""
CANDIDATES = 5
SAME_COSINE: Final = 0.95
"""From here on two texts may be duplicates; OpenClaw uses the same value."""

_EMPTY_WORDS = """
a an the is are was were be been am do does has have had that this it its of please remember note
user i he she they we
"""
# They do not change what a statement says; the pronouns do not, because the owner is known.
_EMPTY = frozenset(map(stem, _EMPTY_WORDS.split()))


@dataclass(frozen=True, slots=True)
class Recalled:
    """An entry and how well it answers, 0 to 1."""

    entry: MemoryEntry
    score: float
    by_words: bool = False
    """Found by words alone: no model has compared its meaning."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The entries that answer, best first."""

    results: tuple[Recalled, ...]
    waiting: int = 0
    """Entries that still have vectors of another model: these were searched by words alone."""
    notice: str | None = None
    """Why the answer may be incomplete."""
    public_notice: str | None = None
    """The notice for remote readers."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The entry that was deleted, or the candidates if it was not clear which one was meant."""

    entry: MemoryEntry | None = None
    candidates: tuple[Recalled, ...] = ()


def ranked(results: Iterable[Recalled], *, limit: int, min_score: float) -> tuple[Recalled, ...]:
    """By relevance; equally relevant entries by importance, then the newest first."""
    best: dict[str, Recalled] = {}
    for result in results:
        previous = best.get(result.entry.id)
        if result.score >= min_score and (previous is None or previous.score < result.score):
            best[result.entry.id] = result
    return tuple(sorted(best.values(), key=_sort_key)[:limit])


def _sort_key(result: Recalled) -> tuple[float, float, int, str]:
    entry = result.entry
    # Rounded: a difference in the fourth digit is noise and must not outweigh the importance.
    return (-round(result.score, 3), -entry.importance, -entry.created_at_ms, entry.id)


def clearly_meant(query: str, results: Sequence[Recalled]) -> MemoryEntry | None:
    """The entry that a query to forget means; None if it could mean another one too."""
    verbatim = [item.entry for item in results if _folded(item.entry.text) == _folded(query)]
    if len(verbatim) == 1:
        return verbatim[0]
    # A score by words is not enough: a query of one word matches every text that contains it.
    if not results or results[0].score < CLEAR_SCORE or results[0].by_words:
        return None
    if len(results) > 1 and results[0].score - results[1].score < CLEAR_MARGIN:
        return None
    return results[0].entry


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!。！")


# -- by words ------------------------------------------------------------------------------------


def adds_nothing(new: str, old: str) -> bool:
    """Whether the old text already says everything that the new one says."""
    new_words, old_words = _meaningful_words(new), _meaningful_words(old)
    omitted = old_words - new_words
    return bool(new_words) and new_words <= old_words and not omitted & stop_words()


def word_score(query: str, text: str) -> float:
    """The share of the query's terms that the text has: for texts that a model cannot read."""
    parsed = text_query(query)
    if not parsed.terms:
        return 0.0
    forms = {form for word in split_words(text) for form in word.forms}
    return sum(_term_score(term, parsed.pairs, forms) for term in parsed.terms) / len(parsed.terms)


def _term_score(term: str, pairs: Collection[str], forms: Collection[str]) -> float:
    """Half for a pair of Chinese characters that are apart in the text: 喝绿茶 matches 喝茶."""
    if term in forms:
        return 1.0
    return 0.5 if term in pairs and all(character in forms for character in term) else 0.0


def _meaningful_words(text: str) -> frozenset[str]:
    return frozenset(word.forms[0] for word in split_words(text) if not word.single) - _EMPTY
