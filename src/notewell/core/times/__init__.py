"""Which days a query names, and the day of a note.

    "what broke on Monday after the March 2025 release?"   asked on 15 November 2026
                ─────────
    find.find_times ─┬─ english_times     splits a text into words, parses them from left to right
                     │    └─ english_phrases   yesterday · 3 days ago · 2 March 2026 · in March
                     └─ chinese           has no spaces between words; one pattern finds all times

    All of them use `spans`: the days, weeks and months of the calendar.
    The result is the time that begins first in the text, in either language.

A time that is parsed wrongly lowers good hits; a time that is missed changes nothing. So if a word
has another meaning (`may`, `march`, `sat`, `2024 tokens`), it is a time only if the words beside
it leave no doubt. Nothing here reads the clock: today is an argument.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.core.times.find import find_times
    from notewell.core.times.spans import (
        FIRST_YEAR,
        MAX_SPAN_DAYS,
        RECENT_DAYS,
        TimeSpan,
        note_date,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "find": "find_times",
            "spans": "FIRST_YEAR MAX_SPAN_DAYS RECENT_DAYS TimeSpan note_date",
        },
    )
