"""Which days a question means, which day a note belongs to, and how age tells on a score.

    "what broke on Monday after the March 2025 release?"   asked on 15 November 2026
                ─────────
    asked_times ─┬─ english     cuts a text into words and reads them from left to right
                 │    ├─ english_relative    yesterday · last week · 3 days ago
                 │    └─ english_dates       2 March 2026 · Monday · in March · in 2024
                 └─ chinese     has no spaces to cut at; one pattern finds its times

    `spans` lies below them all: the days, weeks and months of the calendar that they share.
    The time that begins first in the text is the answer, in whichever language it is said.

A time that is read wrongly pushes good hits down, one that is overlooked changes nothing. So where
a word has another meaning (`may`, `march`, `sat`, `2024 tokens`) the answer is None unless what
stands beside it settles the matter. The clock is never read: today is an argument.
"""

from __future__ import annotations

from math import exp2
from typing import TYPE_CHECKING

from notewell.core.times.spans import (
    FIRST_YEAR,
    MAX_SPAN_DAYS,
    RECENT_DAYS,
    TimeSpan,
    note_date,
)

if TYPE_CHECKING:
    from datetime import date

__all__ = [
    "FIRST_YEAR",
    "MAX_SPAN_DAYS",
    "RECENT_DAYS",
    "TimeSpan",
    "asked_times",
    "decay",
    "note_date",
]


def asked_times(question: str, today: date) -> TimeSpan | None:
    """The first time, or range of times, that a question names; None when it names none."""
    # A language is imported by the first question that may be in it: most commands ask none.
    from notewell.core.times.english import english_times

    found = next(english_times(question, today), None)
    if not question.isascii():
        from notewell.core.times.chinese import chinese_times

        chinese = next(chinese_times(question, today), None)
        found = min(filter(None, (found, chinese)), default=None)
    return found[1] if found else None


def decay(age_days: float, half_life_days: float = 30.0, *, floor: float) -> float:
    """What a score is multiplied by: 1 today, half after a half-life (above 0), never less than
    the floor. A note from the future counts as today's."""
    return max(floor, exp2(-max(0.0, age_days) / half_life_days))
