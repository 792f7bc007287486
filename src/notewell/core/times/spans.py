"""Days, weeks and months: the calendar that the parsers of all languages share.

A parser names a part of the calendar and gets a TimeSpan. Nothing here fails for a year that does
not exist: the result is clamped to the first or the last day that Python's `date` can hold.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

RECENT_DAYS = 14
"""The days that "recently" covers: two weeks."""

MAX_SPAN_DAYS = 3 * 365
"""A longer time ("since 2019") contains most notes of any memory, so it selects nothing."""

FIRST_YEAR = 1970
"""A smaller number after "in" is a count or an address, not the year of a note."""

FEW = (2, 5)
"""The smallest and the largest number that "a few" and 几 mean."""

UNITS = {
    "minute": (1 / 1440, 0),
    "hour": (1 / 24, 0),
    "day": (1, 0),
    "week": (7, 3),
    "month": (30.44, 15),
    "year": (365.25, 182),
}
"""The length in days, and how many days earlier or later "one ago" may mean."""

KEPT_PATHS = 4096
"""The next question finds many of the same notes."""

OTHER_YEAR_DAYS = 7
"""The distance of the same day in another year: the latest year is meant first."""


class TimeSpan(NamedTuple):
    """Consecutive days, both ends included."""

    first: date
    last: date

    def distance_days(self, day: date) -> int:
        """The days between a day and this span; 0 inside."""
        return max(0, (self.first - day).days, (day - self.last).days)


class YearlySpan(TimeSpan):
    """A month or a day without its year: the latest is meant first, but "in June" may also be a
    June of an earlier year, and nothing else in the query says so."""

    __slots__ = ()

    def distance_days(self, day: date) -> int:
        latest = TimeSpan.distance_days(self, day)
        # Also the years before and after: a winter begins in one year and ends in the next.
        years = (day.year + step for step in (-1, 0, 1))
        moved = (
            TimeSpan(_in_year(self.first, year), _in_year(self.last, year + self._years))
            for year in years
        )
        return min(latest, OTHER_YEAR_DAYS + min(span.distance_days(day) for span in moved))

    @property
    def _years(self) -> int:
        return self.last.year - self.first.year


def _in_year(day: date, year: int) -> date:
    """The same day of another year; 28 February for a 29th that does not exist."""
    year = min(max(year, date.min.year), date.max.year)
    return real_day(year, day.month, day.day) or day.replace(year=year, day=28)


class ParsedTime(NamedTuple):
    """A time in a text, and the position after it."""

    span: TimeSpan
    end: int
    every_days: int = 0
    """7 for a weekday and 365 for a month or a day without a year: they recur, so in a range they
    depend on the other end. 0 if the text or today decides which one is meant."""


@lru_cache(maxsize=4096)
@lru_cache(maxsize=KEPT_PATHS)
def note_date(path: str) -> date | None:
    """The day of `2026-11-15.md` or `2026-11-15-<slug>.md`; None for a note without a date."""
    match = compiled(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:-.+)?\.md", re.IGNORECASE).fullmatch(
        path.rpartition("/")[2]
    )
    return real_day(*map(int, match.groups())) if match else None


@cache
def compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Compiled on first use: most commands never need it."""
    return re.compile(pattern, flags)


def shift(day: date, days: float) -> date:
    # Date arithmetic raises OverflowError outside of the years 1 to 9999, so clamp first.
    ordinal = day.toordinal() + round(days)
    return date.fromordinal(min(max(1, ordinal), date.max.toordinal()))


def real_day(year: int, month: int, day: int) -> date | None:
    """None for 30 February."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def months(year: int, month: int, count: int = 1) -> TimeSpan:
    """This many months; month 0 is the December before."""
    first, after = (_month_start(year * 12 + month - 1 + step) for step in (0, count))
    # December 9999 has no month after it; `max` keeps the span in order.
    return TimeSpan(first, max(first, shift(after, -1)))


def _month_start(number: int) -> date:
    # Months are counted from the year 0; 12 is January of the year 1, the first of `date`.
    year, month = divmod(min(max(12, number), 9999 * 12 + 11), 12)
    return date(year, month + 1, 1)


def week(day: date, offset: int = 0) -> TimeSpan:
    monday = shift(day, 7 * offset - day.weekday())
    return TimeSpan(monday, shift(monday, 6))


def one_day(day: date) -> TimeSpan:
    return TimeSpan(day, day)


def one_day_a_year(day: date) -> TimeSpan:
    return YearlySpan(day, day)


def period(unit: str, offset: int, today: date) -> TimeSpan:
    """The week, weekend, month, quarter or year at this offset from the current one."""
    if unit == "week":
        return week(today, offset)
    if unit == "weekend":
        return week(today, offset)._replace(first=shift(week(today, offset).first, 5))
    if unit == "month":
        return months(today.year, today.month + offset)
    if unit == "quarter":
        return months(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
    return months(today.year + offset, 1, 12)


def weekday(number: int, today: date) -> date:
    """The latest one not after today."""
    return shift(today, -((today.weekday() - number) % 7))


def latest_weekend(today: date) -> TimeSpan:
    saturday = weekday(5, today)
    return TimeSpan(saturday, shift(saturday, 1))


def day_of_year(month: int, day: int, today: date) -> date | None:
    """The latest one not after today. In eight years there is always a 29 February."""
    days = (real_day(today.year - back, month, day) for back in range(9))
    return next((date_ for date_ in days if date_ and date_ <= today), None)


def recurring(month: int, count: int, today: date, offset: int | None = None) -> TimeSpan:
    """A month, season or quarter by its name alone.

    Without an offset it is the latest that has begun; -1 is the latest that is over, 1 the next to
    begin, 0 the current one or else that of this year.
    """
    # From two years back: in January the last winter that is over began the year before last.
    spans = [months(today.year + step, month, count) for step in (-2, -1, 0, 1)]
    if offset is None:
        return YearlySpan(*next(span for span in reversed(spans) if span.first <= today))
    if offset < 0:
        return next((span for span in reversed(spans) if span.last < today), spans[0])
    if offset > 0:
        return next((span for span in spans if span.first > today), spans[-1])
    return next((span for span in spans if span.first <= today <= span.last), spans[2])


def ago(least: float, most: float, unit: str, today: date) -> TimeSpan:
    """Half a unit earlier and later: "three weeks ago" does not mean one certain day."""
    days, slack = UNITS[unit]
    # "Half a year ago" is more precise than "two years ago", so it has less slack.
    slack = round(slack * min(1, least))
    last = min(today, shift(today, slack - round(least * days)))
    return TimeSpan(min(last, shift(today, -slack - round(most * days))), last)


def until_today(count: float, unit: str, today: date) -> TimeSpan:
    days = count * UNITS[unit][0]
    # `// -1` rounds up: the last 12 hours reach into yesterday.
    return TimeSpan(shift(today, days // -1), today)


def third_of(span: TimeSpan, part: int) -> TimeSpan:
    """The early, middle or late third; a span of fewer than three days stays whole."""
    days = (span.last - span.first).days + 1
    if days < 3:
        return span
    first = shift(span.first, part * (days // 3))
    return TimeSpan(first, span.last if part == 2 else shift(first, days // 3 - 1))


def join_times(
    start: ParsedTime,
    end: ParsedTime,
    read_start: Callable[[date], ParsedTime | None],
    read_end: Callable[[date], ParsedTime | None],
) -> TimeSpan:
    """From one time to another. The end that recurs is parsed again, relative to the other end:
    "March to May 2025" begins in 2025, "March 2025 to May" ends in 2025."""
    if start.every_days:
        start = read_start(end.span.last) or start
    elif end.every_days:
        end = read_end(shift(start.span.first, end.every_days - 1)) or end
    return TimeSpan(min(start.span.first, end.span.first), max(start.span.last, end.span.last))


def is_selective(span: TimeSpan) -> bool:
    """Whether it separates some notes from the others."""
    return span.first <= span.last and (span.last - span.first).days < MAX_SPAN_DAYS


def year_number(word: str, today: date) -> int | None:
    if len(word) != 4 or not word.isdecimal():
        return None
    # Plans name the next year; a larger number is a count.
    return int(word) if FIRST_YEAR <= int(word) <= today.year + 1 else None
