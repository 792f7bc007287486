"""English times seen from today: yesterday, last week, this Friday, the past month, 3 days ago.

Of what the calendar names (Monday, March, summer) this file reads only what "last", "this" or
"next" stands before; the names themselves belong to `english_dates`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core.times.english_dates import (
    DAY_PARTS,
    MONTHS,
    SEASONS,
    SHORT_WEEKDAYS,
    WEEKDAYS,
    WHICH,
)
from notewell.core.times.spans import (
    FEW,
    RECENT_DAYS,
    UNITS,
    Found,
    TimeSpan,
    ago,
    latest_weekend,
    one_day,
    period,
    recurring,
    shift,
    until_today,
    week,
    weekday,
)

if TYPE_CHECKING:
    from datetime import date

_PERIODS = frozenset(("week", "weekend", "month", "quarter", "year"))
_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_FAR_DAYS = {"day before yesterday": -2, "day after tomorrow": 2}

_COUNTS = {
    "a": (1, 1), "an": (1, 1), "one": (1, 1), "two": (2, 2), "three": (3, 3), "four": (4, 4),
    "five": (5, 5), "six": (6, 6), "seven": (7, 7), "eight": (8, 8), "nine": (9, 9),
    "ten": (10, 10), "eleven": (11, 11), "twelve": (12, 12), "half": (0.5, 0.5),
    "couple": (2, 3), "few": FEW, "several": (3, 7),
}  # fmt: skip
"""The least and the most that each may mean."""


def relative(words: list[str], at: int, today: date, after: str) -> Found | None:
    """A time that begins at this word and is counted from today."""
    return (
        _relative_day(words, at, today)
        or _which(words, at, today, after)
        or _some_time_ago(words, at, today)
    )


def _relative_day(words: list[str], at: int, today: date) -> Found | None:
    word = words[at]
    if word in _DAYS:
        return Found(one_day(shift(today, _DAYS[word])), at + 1)
    if word in ("recently", "lately"):
        return Found(until_today(RECENT_DAYS, "day", today), at + 1)
    if word == "other" and words[at + 1] == "day":
        return Found(until_today(RECENT_DAYS, "day", today), at + 2)
    days = _FAR_DAYS.get(" ".join(words[at : at + 3])) if word == "day" else None
    return Found(one_day(shift(today, days)), at + 3) if days else None


def _which(words: list[str], at: int, today: date, after: str) -> Found | None:
    """Last week, this Friday, next summer, the past three days, over the weekend."""
    word, noun = words[at], words[at + 1]
    if word == "weekend" and after:
        return Found(latest_weekend(today), at + 1)
    offset = WHICH.get(word)
    if offset is None:
        return None
    if noun in DAY_PARTS and word in ("last", "this"):
        return Found(one_day(shift(today, offset)), at + 2)
    if noun in _PERIODS and word != "past":
        span = period(noun, offset, today)
        return _day_of_that_week(words, at + 1, span) or Found(span, at + 2)
    rolling = _rolling(words, at, today) if offset < 0 else None
    if rolling:
        return rolling
    named = _which_name(noun, offset, today)
    return Found(named, at + 2) if named else None


def _day_of_that_week(words: list[str], at: int, that_week: TimeSpan) -> Found | None:
    """The Wednesday of "last week on Wednesday"."""
    there = at + 1 + (words[at + 1] == "on")
    if words[at] != "week" or words[there] not in WEEKDAYS:
        return None
    return Found(one_day(shift(that_week.first, WEEKDAYS[words[there]])), there + 1)


def _rolling(words: list[str], at: int, today: date) -> Found | None:
    """The last two weeks, the past month: until today, wherever the calendar cuts."""
    _, most, end = _count(words, at + 1) or (1, 1, at + 1)
    unit = words[end].removesuffix("s")
    if unit not in UNITS or (end == at + 1 and words[at] != "past"):
        return None
    return Found(until_today(most, unit, today), end + 1)


def _which_name(noun: str, offset: int, today: date) -> TimeSpan | None:
    """Last Monday, this Friday, next March, last summer."""
    if offset == 0 and noun in ("may", "sat", "sun", "wed"):
        return None  # "this may fail", "this sat there for a year"
    number = WEEKDAYS.get(noun, SHORT_WEEKDAYS.get(noun))
    if number is not None:
        if offset < 0:
            return one_day(weekday(number, shift(today, -1)))
        return one_day(shift(week(today, offset).first, number))
    if noun in MONTHS:
        return recurring(MONTHS[noun], 1, today, offset)
    return recurring(SEASONS[noun], 3, today, offset) if noun in SEASONS else None


def _count(words: list[str], at: int) -> tuple[float, float, int] | None:
    """Least, most, and where the unit stands: "3", "three", "a couple of", "half a"."""
    at += words[at] == "a" and words[at + 1] in ("couple", "few")
    word = words[at]
    if word == "half" and words[at - 1] in ("a", "and"):
        return None  # "two and a half years ago": we would lose the two.
    if word.isdecimal() and len(word) <= 4:
        least: float = int(word)
        most = least
    elif word in _COUNTS:
        least, most = _COUNTS[word]
    else:
        return None
    at += 1
    return least, most, at + (words[at] == "of" or (word == "half" and words[at] in ("a", "an")))


def _some_time_ago(words: list[str], at: int, today: date) -> Found | None:
    counted = _count(words, at)
    if not counted:
        return None
    least, most, end = counted
    unit = words[end].removesuffix("s")
    if unit not in UNITS or words[end + 1] not in ("ago", "back"):
        return None
    return Found(ago(least, most, unit, today), end + 2)
