"""Which days a query names, the day of a note, and how age lowers a score.

    "what broke on Monday after the March 2025 release?"   asked on 15 November 2026
                ─────────
    find_times ─┬─ english           splits a text into words and parses them from left to right
                │    └─ english_phrases   yesterday · 3 days ago · 2 March 2026 · in March
                └─ chinese           has no spaces between words; one pattern finds all times

    All of them use `spans`: the days, weeks and months of the calendar.
    The result is the time that begins first in the text, in either language.

A time that is parsed wrongly lowers good hits; a time that is missed changes nothing. So if a word
has another meaning (`may`, `march`, `sat`, `2024 tokens`), it is a time only if the words beside
it leave no doubt. Nothing here reads the clock: today is an argument.
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
    "decay",
    "find_times",
    "note_date",
]


def find_times(question: str, today: date) -> TimeSpan | None:
    """The first time, or range of times, that a query names; None if it names none."""
    # Each language is imported when a query may be in it: most commands have no query.
    from notewell.core.times.english import english_times

    found = next(english_times(question, today), None)
    if not question.isascii():
        from notewell.core.times.chinese import chinese_times

        chinese = next(chinese_times(question, today), None)
        found = min(filter(None, (found, chinese)), default=None)
    return found[1] if found else None


def decay(age_days: float, half_life_days: float = 30.0, *, floor: float) -> float:
    """The factor for the age of a note: 1 today, one half after a half-life (above 0), never less
    than the floor. A note from the future counts as today's."""
    return max(floor, exp2(-max(0.0, age_days) / half_life_days))
