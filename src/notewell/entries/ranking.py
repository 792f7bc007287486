"""What a recall gives, in which order, and whether one of it is clearly meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from notewell.entries.entry import MemoryEntry

LIMIT = 5
MAX_LIMIT = 100
MIN_SCORE = 0.25
"""On the scale of the model (see `core.ranking`): strangers come out near 0, answers above .3."""
CLEAR_SCORE = 0.7
CLEAR_MARGIN = 0.1
"""What forgets by a query must be near, and nothing else as near: two alike are asked about."""
CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Recalled:
    """An entry and how well it answers, 0 to 1."""

    entry: MemoryEntry
    score: float
    by_words: bool = False
    """Found by words alone: no model has judged what it means."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The entries that answer, best first."""

    found: tuple[Recalled, ...]
    waiting: int = 0
    """Entries whose vectors are still another model's: these were searched by words alone."""
    notice: str | None = None
    """Why the answer may lack something."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was deleted, or what may be meant where that is not clear."""

    entry: MemoryEntry | None = None
    candidates: tuple[Recalled, ...] = ()


def ranked(found: Iterable[Recalled], *, limit: int, min_score: float) -> tuple[Recalled, ...]:
    """By relevance; only what is equally relevant by importance, then the newest first."""
    best: dict[str, Recalled] = {}
    for one in found:
        known = best.get(one.entry.id)
        if one.score >= min_score and (known is None or known.score < one.score):
            best[one.entry.id] = one
    return tuple(sorted(best.values(), key=_place)[:limit])


def _place(one: Recalled) -> tuple[float, float, int, str]:
    entry = one.entry
    return (-round(one.score, 3), -entry.importance, -entry.created_at_ms, entry.id)


def clearly_meant(query: str, found: Sequence[Recalled]) -> MemoryEntry | None:
    """The one entry that a query to forget means; None where it could be another."""
    verbatim = [one.entry for one in found if _folded(one.entry.text) == _folded(query)]
    if len(verbatim) == 1:
        return verbatim[0]
    if not found or found[0].score < CLEAR_SCORE or found[0].by_words:
        return None  # A question of one word is in every text that has it.
    if len(found) > 1 and found[0].score - found[1].score < CLEAR_MARGIN:
        return None
    return found[0].entry


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!。！")
