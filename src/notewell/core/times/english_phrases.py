"""English phrases for times: those that the calendar names, and those counted from today.

    dated      2026-03-02 · March 2nd · Monday · summer 2025 · in 2024
    relative   yesterday · last week · this Friday · the past month · 3 days ago

A name without its year means the latest one that has begun. Most names have other meanings too, so
the words before and after a name decide whether it is a time at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core.times.spans import (
    FEW,
    RECENT_DAYS,
    UNITS,
    ParsedTime,
    TimeSpan,
    ago,
    compiled,
    day_of_year,
    latest_weekend,
    months,
    note_date,
    one_day,
    one_day_a_year,
    period,
    real_day,
    recurring,
    shift,
    until_today,
    week,
    weekday,
    year_number,
)

if TYPE_CHECKING:
    from datetime import date

WHICH = {
    "last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1,
}  # fmt: skip
"""The offset from the current week, month or year."""

DAY_PARTS = frozenset(("morning", "afternoon", "evening", "night"))
WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5,
    "sunday": 6,
}  # fmt: skip
SHORT_WEEKDAYS = {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5,
    "sun": 6,
}  # fmt: skip
MONTHS = {
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7,
    "august": 8, "september": 9, "october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2,
    "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11,
    "dec": 12,
}  # fmt: skip
SEASONS = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
    "q1": 1, "q2": 4, "q3": 7, "q4": 10,
}  # fmt: skip
"""The first of three months: the meteorological seasons of the north, and quarters."""

_NO_YEAR_BEFORE = frozenset((
    "party", "parties", "bytes", "kb", "mb", "gb", "ms", "px", "km", "lines", "words", "tokens",
    "chars", "characters", "items", "rows", "files", "users", "people", "times", "steps", "notes",
    "chunks", "requests", "entries", "records", "messages", "dollars", "euros", "usd", "eur",
    "seconds", "minutes", "hours", "days", "miles",
))  # fmt: skip
"""In "of 2000 items" the number is a count, and "may 3rd party code …" contains no day."""

_NO_SEASON_BEFORE = frozenset(
    ("boot", "framework", "mvc", "security", "cloud", "back", "through", "-")
)
"""Spring Boot and a fall-back are not seasons."""

_NO_DAY_AFTER = frozenset(("every", "each", "any", "black", "good", "cyber", "to", "and", "or"))
"""Every Monday, Black Friday and "Monday to Friday" are not one certain day."""


def dated(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    """A time that begins at this word and that the calendar names."""
    return (
        _date(words, at, today, after)
        or _day_of_week(words, at, today, after)
        or _named_months(words, at, today, after)
        or _year(words, at, today, after)
    )


def past_the(words: list[str], at: int) -> int:
    return at + (words[at] == "the")


def _date(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    """2026-03-02, memory/2026-03-02.md, March 2nd, 2026 or 2 March; the year may be missing."""
    # A cheap check first: this runs at every word of a query.
    if words[at][:4].isdecimal() or words[at].endswith(".md"):
        span = _iso(words[at], today)
        if span:
            return ParsedTime(span, at + 1)
    if words[at] in MONTHS:
        name, day = words[at], _day_number(words[at + 1])
        is_unsure = name == "may" and words[at + 1].isdecimal()
        end = at + 2
    else:
        day = _day_number(words[at])
        of = words[at + 1] == "of"
        name, end = words[at + 1 + of], at + 2 + of
        is_unsure = name in ("may", "march") and not of
    if not day or name not in MONTHS or words[end] in _NO_YEAR_BEFORE:
        return None
    year = _year_after(words, end, today)
    if year:
        date_ = real_day(year[0], MONTHS[name], day)
        return ParsedTime(one_day(date_), year[1]) if date_ else None
    if is_unsure and not after and words[end]:
        return None  # "may 2 agents write", "step 2 may fail"; at the end of a query it is a day.
    date_ = day_of_year(MONTHS[name], day, today)
    return ParsedTime(one_day_a_year(date_), end, every_days=365) if date_ else None


def _iso(word: str, today: date) -> TimeSpan | None:
    in_name = note_date(word)
    if in_name:
        return one_day(in_name)
    shape = r"(\d{4})([-/])(\d\d?)(?:\2(\d\d?)(?:t\d\d)?)?"
    match = compiled(shape).fullmatch(word)
    year = year_number(match[1], today) if match else None
    if not match or not year:
        return None
    if match[4]:
        day = real_day(year, int(match[3]), int(match[4]))
        return one_day(day) if day else None
    # Only 2026-03 is a month; 2026/3 and 2026-3 are more often something else.
    is_month = match[2] == "-" and len(match[3]) == 2 and 1 <= int(match[3]) <= 12
    return months(year, int(match[3])) if is_month else None


def _day_number(word: str) -> int | None:
    """2, 2nd, 21st; but not "first" and "second", which mostly count other things."""
    number = word[:-2] if word.endswith(("st", "nd", "rd", "th")) else word
    if not number.isdecimal() or len(number) > 2:
        return None
    return int(number) if 1 <= int(number) <= 31 else None


def _day_of_week(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    is_expected = after in ("on", "any")
    # "Sat", "sun" and "wed" are also words, so short names need a preposition before them.
    number = WEEKDAYS.get(words[at], SHORT_WEEKDAYS.get(words[at]) if is_expected else None)
    if number is None:
        return None
    there = at + 1 + (words[at + 1] == "of")
    if words[there] in WHICH and words[there + 1] == "week":
        return ParsedTime(
            one_day(shift(week(today, WHICH[words[there]]).first, number)), there + 2
        )
    if not is_expected and not _is_one_day(words, at):
        return None
    dated = _date(words, past_the(words, at + 1), today, "on")
    # In "Monday, March 2" the weekday adds nothing.
    return dated or ParsedTime(one_day(weekday(number, today)), at + 1, every_days=7)


def _is_one_day(words: list[str], at: int) -> bool:
    """Without "on", a full name counts in "Monday morning", "Monday's" and at the end."""
    is_clear = words[at + 1] in DAY_PARTS or words[at + 1] in ("s", "")
    return is_clear and words[at - 1] not in _NO_DAY_AFTER


def _named_months(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    """A month, season or quarter by name: with its year, or after "in" and the like."""
    name = words[at]
    count = 1 if name in MONTHS else 3
    month = MONTHS.get(name, SEASONS.get(name))
    if month is None or (count == 3 and words[at + 1] in _NO_SEASON_BEFORE):
        return None
    year = _year_after(words, at + 1, today)
    if not year and name[0] == "q":
        before = year_number(words[at - 1], today)  # 2026 Q1
        year = (before, at + 1) if before else None
    if year:
        return ParsedTime(months(year[0], month, count), year[1])
    # Without a year, "may", "march", "spring" and "fall" are mostly verbs.
    if after not in ("in", "any"):
        return None
    return ParsedTime(recurring(month, count, today), at + 1, every_days=365)


def _year(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    # "The year 2024" is a year in any position.
    if words[at] == "year":
        at, after = at + 1, "in"
    year = year_number(words[at], today) if after in ("in", "of", "any") else None
    if not year or words[at + 1] in _NO_YEAR_BEFORE:
        return None
    return ParsedTime(months(year, 1, 12), at + 1)


def _year_after(words: list[str], at: int, today: date) -> tuple[int, int] | None:
    """The year after a month or day ("2025", "last year"), and the position after it."""
    at += words[at] == "of"
    if words[at] in WHICH and words[at + 1] == "year":
        return today.year + WHICH[words[at]], at + 2
    year = year_number(words[at], today)
    return (year, at + 1) if year and words[at + 1] not in _NO_YEAR_BEFORE else None


# -- counted from today -------------------------------------------------------------------------

_PERIODS = frozenset(("week", "weekend", "month", "quarter", "year"))
_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_FAR_DAYS = {"day before yesterday": -2, "day after tomorrow": 2}

_COUNTS = {
    "a": (1, 1), "an": (1, 1), "one": (1, 1), "two": (2, 2), "three": (3, 3), "four": (4, 4),
    "five": (5, 5), "six": (6, 6), "seven": (7, 7), "eight": (8, 8), "nine": (9, 9),
    "ten": (10, 10), "eleven": (11, 11), "twelve": (12, 12), "half": (0.5, 0.5),
    "couple": (2, 3), "few": FEW, "several": (3, 7),
}  # fmt: skip
"""The smallest and the largest number that each may mean."""


def relative(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    """A time that begins at this word and is counted from today. Of the names of the calendar this
    covers only those after "last", "this" or "next"."""
    return (
        _relative_day(words, at, today)
        or _which(words, at, today, after)
        or _some_time_ago(words, at, today)
    )


def _relative_day(words: list[str], at: int, today: date) -> ParsedTime | None:
    word = words[at]
    if word in _DAYS:
        return ParsedTime(one_day(shift(today, _DAYS[word])), at + 1)
    if word in ("recently", "lately"):
        return ParsedTime(until_today(RECENT_DAYS, "day", today), at + 1)
    if word == "other" and words[at + 1] == "day":
        return ParsedTime(until_today(RECENT_DAYS, "day", today), at + 2)
    days = _FAR_DAYS.get(" ".join(words[at : at + 3])) if word == "day" else None
    return ParsedTime(one_day(shift(today, days)), at + 3) if days else None


def _which(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    """Last week, this Friday, next summer, the past three days, over the weekend."""
    word, noun = words[at], words[at + 1]
    if word == "weekend" and after:
        return ParsedTime(latest_weekend(today), at + 1)
    offset = WHICH.get(word)
    if offset is None:
        return None
    if noun in DAY_PARTS and word in ("last", "this"):
        return ParsedTime(one_day(shift(today, offset)), at + 2)
    # "Last week" is a calendar week; "the past week" is the last seven days, see `_rolling`.
    if noun in _PERIODS and word != "past":
        span = period(noun, offset, today)
        return _day_of_that_week(words, at + 1, span) or ParsedTime(span, at + 2)
    rolling = _rolling(words, at, today) if offset < 0 else None
    if rolling:
        return rolling
    named = _which_name(noun, offset, today)
    return ParsedTime(named, at + 2) if named else None


def _day_of_that_week(words: list[str], at: int, that_week: TimeSpan) -> ParsedTime | None:
    """The Wednesday of "last week on Wednesday"."""
    there = at + 1 + (words[at + 1] == "on")
    if words[at] != "week" or words[there] not in WEEKDAYS:
        return None
    return ParsedTime(one_day(shift(that_week.first, WEEKDAYS[words[there]])), there + 1)


def _rolling(words: list[str], at: int, today: date) -> ParsedTime | None:
    """The last two weeks, the past month: up to today, not whole calendar weeks or months."""
    _, most, end = count_of(words, at + 1) or (1, 1, at + 1)
    unit = words[end].removesuffix("s")
    if unit not in UNITS or (end == at + 1 and words[at] != "past"):
        return None
    return ParsedTime(until_today(most, unit, today), end + 1)


def _which_name(noun: str, offset: int, today: date) -> TimeSpan | None:
    """Last Monday, this Friday, next March, last summer."""
    if offset == 0 and noun in ("may", "sat", "sun", "wed"):
        return None  # "this may fail", "this sat there for a year"
    number = WEEKDAYS.get(noun, SHORT_WEEKDAYS.get(noun))
    if number is not None:
        if offset < 0:
            # "Last Monday" on a Monday is a week ago, not today.
            return one_day(weekday(number, shift(today, -1)))
        return one_day(shift(week(today, offset).first, number))
    if noun in MONTHS:
        return recurring(MONTHS[noun], 1, today, offset)
    return recurring(SEASONS[noun], 3, today, offset) if noun in SEASONS else None


def count_of(words: list[str], at: int) -> tuple[float, float, int] | None:
    """Smallest number, largest number, position of the unit: "3", "a couple of", "half a"."""
    at += words[at] == "a" and words[at + 1] in ("couple", "few")
    word = words[at]
    if word == "half" and words[at - 1] in ("a", "and"):
        return None  # "two and a half years ago": the two would be lost.
    # Four digits: more would exceed the calendar anyway, and `int` of a long text is slow.
    if word.isdecimal() and len(word) <= 4:
        least: float = int(word)
        most = least
    elif word in _COUNTS:
        least, most = _COUNTS[word]
    else:
        return None
    at += 1
    return least, most, at + (words[at] == "of" or (word == "half" and words[at] in ("a", "an")))


def _some_time_ago(words: list[str], at: int, today: date) -> ParsedTime | None:
    count = count_of(words, at)
    if not count:
        return None
    least, most, end = count
    unit = words[end].removesuffix("s")
    if unit not in UNITS or words[end + 1] not in ("ago", "back"):
        return None
    return ParsedTime(ago(least, most, unit, today), end + 2)
