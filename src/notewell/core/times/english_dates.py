"""English times that the calendar names: 2026-03-02, March 2nd, Monday, summer 2025, in 2024.

A name without its year means the latest one that has begun. Most of these names mean other things
as well, so what stands before and behind a name decides whether it is a time at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core.times.spans import (
    Found,
    TimeSpan,
    compiled,
    day_of_year,
    months,
    note_date,
    one_day,
    one_day_a_year,
    real_day,
    recurring,
    shift,
    week,
    weekday,
    year_number,
)

if TYPE_CHECKING:
    from datetime import date

WHICH = {
    "last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1,
}  # fmt: skip
"""How many weeks, months or years from the one we are in."""

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
"""Three months from this one on: the northern seasons of the weather services, and quarters."""

_NO_YEAR_BEFORE = frozenset((
    "party", "parties", "bytes", "kb", "mb", "gb", "ms", "px", "km", "lines", "words", "tokens",
    "chars", "characters", "items", "rows", "files", "users", "people", "times", "steps", "notes",
    "chunks", "requests", "entries", "records", "messages", "dollars", "euros", "usd", "eur",
    "seconds", "minutes", "hours", "days", "miles",
))  # fmt: skip
"""In "of 2000 items" the number is a count, and "may 3rd party code …" has no day in it."""

_NO_SEASON_BEFORE = frozenset(
    ("boot", "framework", "mvc", "security", "cloud", "back", "through", "-")
)
"""Spring Boot has no season, nor has a fall-back."""

_NO_DAY_AFTER = frozenset(("every", "each", "any", "black", "good", "cyber", "to", "and", "or"))
"""Every Monday, Black Friday and "Monday to Friday" are no day in particular."""


def dated(words: list[str], at: int, today: date, after: str) -> Found | None:
    """A time that begins at this word and has a name in the calendar."""
    return (
        _date(words, at, today, after)
        or _day_of_week(words, at, today, after)
        or _named_months(words, at, today, after)
        or _year(words, at, today, after)
    )


def past_the(words: list[str], at: int) -> int:
    return at + (words[at] == "the")


def _date(words: list[str], at: int, today: date, after: str) -> Found | None:
    """2026-03-02, memory/2026-03-02.md, March 2nd, 2026 or 2 March; a year may be missing."""
    if words[at][:4].isdecimal() or words[at].endswith(".md"):
        found = _iso(words[at], today)
        if found:
            return Found(found, at + 1)
    if words[at] in MONTHS:
        name, day = words[at], _day_number(words[at + 1])
        unsure = name == "may" and words[at + 1].isdecimal()
        end = at + 2
    else:
        day = _day_number(words[at])
        of = words[at + 1] == "of"
        name, end = words[at + 1 + of], at + 2 + of
        unsure = name in ("may", "march") and not of
    if not day or name not in MONTHS or words[end] in _NO_YEAR_BEFORE:
        return None
    year = _year_after(words, end, today)
    if year:
        found_day = real_day(year[0], MONTHS[name], day)
        return Found(one_day(found_day), year[1]) if found_day else None
    if unsure and not after and words[end]:
        return None  # "may 2 agents write", "step 2 may fail"; at the end it can only be a day.
    found_day = day_of_year(MONTHS[name], day, today)
    return Found(one_day_a_year(found_day), end, every_days=365) if found_day else None


def _iso(word: str, today: date) -> TimeSpan | None:
    in_name = note_date(word)
    if in_name:
        return one_day(in_name)
    shape = r"(\d{4})([-/])(\d\d?)(?:\2(\d\d?)(?:t\d\d)?)?"
    found = compiled(shape).fullmatch(word)
    year = year_number(found[1], today) if found else None
    if not found or not year:
        return None
    if found[4]:
        day = real_day(year, int(found[3]), int(found[4]))
        return one_day(day) if day else None
    # Only 2026-03 is a month; 2026/3 and 2026-3 are more often something else.
    is_month = found[2] == "-" and len(found[3]) == 2 and 1 <= int(found[3]) <= 12
    return months(year, int(found[3])) if is_month else None


def _day_number(word: str) -> int | None:
    """2, 2nd, 21st; the words "first" and "second" count other things far more often."""
    number = word[:-2] if word.endswith(("st", "nd", "rd", "th")) else word
    if not number.isdecimal() or len(number) > 2:
        return None
    return int(number) if 1 <= int(number) <= 31 else None


def _day_of_week(words: list[str], at: int, today: date, after: str) -> Found | None:
    triggered = after in ("on", "any")
    number = WEEKDAYS.get(words[at], SHORT_WEEKDAYS.get(words[at]) if triggered else None)
    if number is None:
        return None
    there = at + 1 + (words[at + 1] == "of")
    if words[there] in WHICH and words[there + 1] == "week":
        return Found(one_day(shift(week(today, WHICH[words[there]]).first, number)), there + 2)
    if not triggered and not _stands_for_a_day(words, at):
        return None
    dated = _date(words, past_the(words, at + 1), today, "on")
    # In "Monday, March 2" the weekday adds nothing.
    return dated or Found(one_day(weekday(number, today)), at + 1, every_days=7)


def _stands_for_a_day(words: list[str], at: int) -> bool:
    """Without "on", a full name counts in "Monday morning", "Monday's" and at the end."""
    says_so = words[at + 1] in DAY_PARTS or words[at + 1] in ("s", "")
    return says_so and words[at - 1] not in _NO_DAY_AFTER


def _named_months(words: list[str], at: int, today: date, after: str) -> Found | None:
    """A month, season or quarter by name: with its year, or where only a time can stand."""
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
        return Found(months(year[0], month, count), year[1])
    if after not in ("in", "any"):
        return None
    return Found(recurring(month, count, today), at + 1, every_days=365)


def _year(words: list[str], at: int, today: date, after: str) -> Found | None:
    if words[at] == "year":
        at, after = at + 1, "in"
    year = year_number(words[at], today) if after in ("in", "of", "any") else None
    if not year or words[at + 1] in _NO_YEAR_BEFORE:
        return None
    return Found(months(year, 1, 12), at + 1)


def _year_after(words: list[str], at: int, today: date) -> tuple[int, int] | None:
    """The year of the month or day just read, and where the text goes on: "2025", "last year"."""
    at += words[at] == "of"
    if words[at] in WHICH and words[at + 1] == "year":
        return today.year + WHICH[words[at]], at + 2
    year = year_number(words[at], today)
    return (year, at + 1) if year and words[at + 1] not in _NO_YEAR_BEFORE else None
