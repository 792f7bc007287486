"""Which days a question means, which day a note belongs to, and how age tells on a score.

    "what broke on Monday after the March 2025 release?"
                 ── ──────
    English is cut into words once and read from left to right. At each word the readers below are
    asked in turn whether a time begins there; the first that says yes ends the search:

        asked_times ─ _english ─ _time_at   since X · from X to Y · in X
                                   └ _named   early X · end of X · week of X
                                       └ _whole   last week · 3 days ago · 2 March 2026 · Monday …

    Each floor calls only the one below, so no text can make it recurse, and each looks only a few
    words ahead, so the work grows with the length of the question and no faster.
    Chinese has no spaces to cut at; one pattern finds its times.
    The file is long because two languages share one calendar; each part can be read alone.

A time that is read wrongly pushes good hits down, one that is overlooked changes nothing. So where
a word has another meaning (`may`, `march`, `sat`, `2024 tokens`) the answer is None unless what
stands beside it settles the matter. The clock is never read: today is an argument.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from math import exp2
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DECAY_FLOOR = 0.5
"""Decay orders, it never excludes. Past the half-life age says no more about what is wanted, so
old notes are ordered by how well they answer; and one that answers twice as well as a note of
today is never behind it, however old it is."""

RECENT_DAYS = 14
"""What "recently" reaches back to: this week and the one before it, with a weekend to spare."""

MAX_SPAN_DAYS = 3 * 365
"""A wider time ("since 2019") holds most of any memory and so tells no notes apart."""

FIRST_YEAR = 1970
"""A smaller number after "in" is a count or an address, not the year of a note."""


class TimeSpan(NamedTuple):
    """Consecutive days, both ends included."""

    first: date
    last: date

    def distance_days(self, day: date) -> int:
        """How far a day lies outside; 0 inside."""
        return max(0, (self.first - day).days, (day - self.last).days)


class _Found(NamedTuple):
    """A time in a text and where the text goes on after it."""

    span: TimeSpan
    end: int
    every_days: int = 0
    """7 for a weekday and 365 for a month or a day without a year: they come round again, so in
    a range they follow the other end. 0 where the text or today settles which one is meant."""


def note_date(path: str) -> date | None:
    """The day of `2026-11-15.md` or `2026-11-15-<slug>.md`; None for a note without a date."""
    named = _compiled(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:-.+)?\.md", re.IGNORECASE).fullmatch(
        path.rpartition("/")[2]
    )
    return _day(*map(int, named.groups())) if named else None


def decay(age_days: float, half_life_days: float = 30.0, floor: float = DECAY_FLOOR) -> float:
    """What a score is multiplied by: 1 today, half after a half-life (above 0), never less than
    the floor. A note from the future counts as today's."""
    return max(floor, exp2(-max(0.0, age_days) / half_life_days))


def asked_times(question: str, today: date) -> TimeSpan | None:
    """The first time, or range of times, that a question names; None when it names none."""
    found = next(_english(question, today), None)
    if not question.isascii():
        chinese = next(_chinese(question, today), None)
        found = min(filter(None, (found, chinese)), default=None)
    return found[1] if found else None


@cache
def _compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Compiled by the first text that needs it: most commands never do."""
    return re.compile(pattern, flags)


# Days and the calendar. Nothing here fails on a year that does not exist: it stops at the edge.


def _shift(day: date, days: float) -> date:
    ordinal = day.toordinal() + round(days)
    return date.fromordinal(min(max(1, ordinal), date.max.toordinal()))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _months(year: int, month: int, count: int = 1) -> TimeSpan:
    """So many months from this one on; month 0 is the December before."""
    first, after = (_month_start(year * 12 + month - 1 + step) for step in (0, count))
    return TimeSpan(first, max(first, _shift(after, -1)))


def _month_start(number: int) -> date:
    year, month = divmod(min(max(12, number), 9999 * 12 + 11), 12)
    return date(year, month + 1, 1)


def _week(day: date, offset: int = 0) -> TimeSpan:
    monday = _shift(day, 7 * offset - day.weekday())
    return TimeSpan(monday, _shift(monday, 6))


def _one(day: date) -> TimeSpan:
    return TimeSpan(day, day)


def _period(unit: str, offset: int, today: date) -> TimeSpan:
    """The week, weekend, month, quarter or year that lies so many of them from today's."""
    if unit == "week":
        return _week(today, offset)
    if unit == "weekend":
        return _week(today, offset)._replace(first=_shift(_week(today, offset).first, 5))
    if unit == "month":
        return _months(today.year, today.month + offset)
    if unit == "quarter":
        return _months(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
    return _months(today.year + offset, 1, 12)


def _weekday(number: int, today: date) -> date:
    """The latest one not after today."""
    return _shift(today, -((today.weekday() - number) % 7))


def _latest_weekend(today: date) -> TimeSpan:
    saturday = _weekday(5, today)
    return TimeSpan(saturday, _shift(saturday, 1))


def _day_of_year(month: int, day: int, today: date) -> date | None:
    """The latest one not after today. Eight years always hold a 29 February."""
    days = (_day(today.year - back, month, day) for back in range(9))
    return next((found for found in days if found and found <= today), None)


def _recurring(month: int, count: int, today: date, offset: int | None = None) -> TimeSpan:
    """A month, season or quarter known by its name alone.

    Without an offset the latest that has begun; -1 is the last that is over, 1 the next to begin,
    0 the one we are in or else this year's.
    """
    spans = [_months(today.year + step, month, count) for step in (-2, -1, 0, 1)]
    if offset is None:
        return next(span for span in reversed(spans) if span.first <= today)
    if offset < 0:
        return next((span for span in reversed(spans) if span.last < today), spans[0])
    if offset > 0:
        return next((span for span in spans if span.first > today), spans[-1])
    return next((span for span in spans if span.first <= today <= span.last), spans[2])


def _ago(least: float, most: float, unit: str, today: date) -> TimeSpan:
    """Half a unit to either side: whoever says "three weeks ago" does not mean one day."""
    days, slack = _UNITS[unit]
    slack = round(slack * min(1, least))
    last = min(today, _shift(today, slack - round(least * days)))
    return TimeSpan(min(last, _shift(today, -slack - round(most * days))), last)


def _until_today(count: float, unit: str, today: date) -> TimeSpan:
    days = count * _UNITS[unit][0]
    return TimeSpan(_shift(today, days // -1), today)


def _third(span: TimeSpan, part: int) -> TimeSpan:
    """The early, middle or late third; fewer than three days have none."""
    days = (span.last - span.first).days + 1
    if days < 3:
        return span
    first = _shift(span.first, part * (days // 3))
    return TimeSpan(first, span.last if part == 2 else _shift(first, days // 3 - 1))


def _joined(
    start: _Found,
    end: _Found,
    read_start: Callable[[date], _Found | None],
    read_end: Callable[[date], _Found | None],
) -> TimeSpan:
    """From one time to another. The end that comes round again is read next to the other one:
    "March to May 2025" begins in 2025, "March 2025 to May" ends there."""
    if start.every_days:
        start = read_start(end.span.last) or start
    elif end.every_days:
        end = read_end(_shift(start.span.first, end.every_days - 1)) or end
    return TimeSpan(min(start.span.first, end.span.first), max(start.span.last, end.span.last))


def _tells(span: TimeSpan) -> bool:
    return span.first <= span.last and (span.last - span.first).days < MAX_SPAN_DAYS


# English.

_UNITS = {
    "minute": (1 / 1440, 0),
    "hour": (1 / 24, 0),
    "day": (1, 0),
    "week": (7, 3),
    "month": (30.44, 15),
    "year": (365.25, 182),
}
"""Its length in days, and how many days to either side "one ago" may mean."""

_PERIODS = frozenset(("week", "weekend", "month", "quarter", "year"))
_WHICH = {
    "last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1,
}  # fmt: skip
_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_FAR_DAYS = {"day before yesterday": -2, "day after tomorrow": 2}
_DAY_PARTS = frozenset(("morning", "afternoon", "evening", "night"))
_WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5,
    "sunday": 6,
}  # fmt: skip
_SHORT_WEEKDAYS = {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5,
    "sun": 6,
}  # fmt: skip
_MONTHS = {
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7,
    "august": 8, "september": 9, "october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2,
    "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11,
    "dec": 12,
}  # fmt: skip
_SEASONS = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
    "q1": 1, "q2": 4, "q3": 7, "q4": 10,
}  # fmt: skip
"""Three months from this one on: the northern seasons of the weather services, and quarters."""

_COUNTS = {
    "a": (1, 1), "an": (1, 1), "one": (1, 1), "two": (2, 2), "three": (3, 3), "four": (4, 4),
    "five": (5, 5), "six": (6, 6), "seven": (7, 7), "eight": (8, 8), "nine": (9, 9),
    "ten": (10, 10), "eleven": (11, 11), "twelve": (12, 12), "half": (0.5, 0.5),
    "couple": (2, 3), "few": (2, 5), "several": (3, 7),
}  # fmt: skip

_PREPOSITIONS = {
    "in": "in", "during": "in", "throughout": "in", "over": "in", "within": "in", "of": "of",
    "on": "on", "after": "on", "since": "any", "from": "any", "between": "any",
}  # fmt: skip
"""What may follow: after "in" a month or year by its bare name, after "on" a weekday, after "of"
a year ("a photo of June" is of a person), and any of these where nothing else makes sense."""

_DASH = "\x01"  # Stands for the long dashes: "Monday–Friday" is three words.
_JOINTS = frozenset(("to", "through", "thru", "until", "till", "-", _DASH))

_OPEN = frozenset(("before", "until", "till", "by"))
"""No first day: such a time is passed over, with what follows it."""

_PARTS = {"early": 0, "mid": 1, "late": 2}
_PARTS_OF = {"beginning": 0, "start": 0, "middle": 1, "end": 2}

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

_PADDING = [""] * 8  # More than any reader looks ahead; the first also ends the list at index -1.


def _english(question: str, today: date) -> Iterator[tuple[int, TimeSpan]]:
    """Where each time begins, and the time."""
    starts, words = _cut(question)
    at = 0
    while at < len(starts):
        if words[at] in _OPEN:
            passed = _named(words, _past_the(words, at + 1), today, "any")
            at = passed.end if passed else at + 1
            continue
        found = _time_at(words, at, today)
        if found and _tells(found.span):
            yield starts[at], found.span
        at = found.end if found else at + 1


def _cut(question: str) -> tuple[list[int], list[str]]:
    """Lower-case words and where they stand.

    What holds an id, a version or a path together stays in the word, so that the 2026 of TCK-2026
    is nobody's year; only plain words are taken apart at hyphens: mid-March, March-May.
    """
    starts: list[int] = []
    words: list[str] = []
    # What is not Latin turns into "?", one for one, and so parts words: a pattern that names all
    # of it takes 2.4 ms to compile, this one 0.1.
    latin = question.replace("–", _DASH).replace("—", _DASH)
    latin = latin.encode("latin-1", "replace").decode("latin-1")
    for found in _compiled(f"""[^\\s,;:!?()\\[\\]{{}}<>"'`|*{_DASH}]+|{_DASH}""").finditer(latin):
        word = found[0].lower().strip("./")
        plain = word.replace("-", "").isalpha()
        pieces = word.replace("-", " - ").split() if plain else [word] if word else []
        starts.extend([found.start()] * len(pieces))
        words.extend(pieces)
    return starts, words + _PADDING


def _time_at(words: list[str], at: int, today: date) -> _Found | None:
    """A time that begins at this word, with what makes a stretch of it."""
    word = words[at]
    after = _PREPOSITIONS.get(word, "")
    if after:
        at = _past_the(words, at + 1)
    start = _named(words, at, today, after)
    if not start:
        return None
    if word == "since":
        return start._replace(span=TimeSpan(start.span.first, today))
    if word == "after":
        return start._replace(span=TimeSpan(_shift(start.span.last, 1), today))
    stretch = _range(words, at, today, after)
    # "A letter from April", "between Sun and us": alone, these name nothing.
    return stretch if word in ("from", "between") else stretch or start


def _past_the(words: list[str], at: int) -> int:
    return at + (words[at] == "the")


def _range(words: list[str], at: int, today: date, after: str) -> _Found | None:
    """From the time that begins here to another; "and" joins two only after "between"."""

    def read_start(day: date) -> _Found | None:
        return _named(words, at, day, after)

    def read_end(day: date) -> _Found | None:
        return _named(words, there, day, after)

    start = read_start(today)
    joint = words[start.end] if start else ""
    if not start or not (
        joint in _JOINTS or (joint == "and" and "between" in (words[at - 1], words[at - 2]))
    ):
        return None
    there = _past_the(words, start.end + 1)
    end = read_end(today)
    return _Found(_joined(start, end, read_start, read_end), end.end) if end else None


def _named(words: list[str], at: int, today: date, after: str) -> _Found | None:
    """A time, or a part of one, or the week around it."""
    word, following = words[at], words[at + 1]
    if word in _PARTS:
        return _part(words, at + 1 + (following == "-"), today, _PARTS[word])
    if following == "of" and word in _PARTS_OF:
        return _part(words, at + 2, today, _PARTS_OF[word])
    if following == "of" and word == "week":
        found = _whole(words, _past_the(words, at + 2), today, "on")
        if not found or found.span.first != found.span.last:
            return None
        return found._replace(span=_week(found.span.first))
    return _whole(words, at, today, after)


def _part(words: list[str], at: int, today: date, part: int) -> _Found | None:
    found = _whole(words, _past_the(words, at), today, "in")
    return found._replace(span=_third(found.span, part)) if found else None


def _whole(words: list[str], at: int, today: date, after: str) -> _Found | None:
    return (
        _relative_day(words, at, today)
        or _which(words, at, today, after)
        or _some_time_ago(words, at, today)
        or _date(words, at, today, after)
        or _day_of_week(words, at, today, after)
        or _named_months(words, at, today, after)
        or _year(words, at, today, after)
    )


def _relative_day(words: list[str], at: int, today: date) -> _Found | None:
    word = words[at]
    if word in _DAYS:
        return _Found(_one(_shift(today, _DAYS[word])), at + 1)
    if word in ("recently", "lately"):
        return _Found(_until_today(RECENT_DAYS, "day", today), at + 1)
    if word == "other" and words[at + 1] == "day":
        return _Found(_until_today(RECENT_DAYS, "day", today), at + 2)
    days = _FAR_DAYS.get(" ".join(words[at : at + 3])) if word == "day" else None
    return _Found(_one(_shift(today, days)), at + 3) if days else None


def _which(words: list[str], at: int, today: date, after: str) -> _Found | None:
    """Last week, this Friday, next summer, the past three days, over the weekend."""
    word, noun = words[at], words[at + 1]
    if word == "weekend" and after:
        return _Found(_latest_weekend(today), at + 1)
    offset = _WHICH.get(word)
    if offset is None:
        return None
    if noun in _DAY_PARTS and word in ("last", "this"):
        return _Found(_one(_shift(today, offset)), at + 2)
    if noun in _PERIODS and word != "past":
        span = _period(noun, offset, today)
        return _day_of_that_week(words, at + 1, span) or _Found(span, at + 2)
    rolling = _rolling(words, at, today) if offset < 0 else None
    if rolling:
        return rolling
    named = _which_name(noun, offset, today)
    return _Found(named, at + 2) if named else None


def _day_of_that_week(words: list[str], at: int, week: TimeSpan) -> _Found | None:
    """The Wednesday of "last week on Wednesday"."""
    there = at + 1 + (words[at + 1] == "on")
    if words[at] != "week" or words[there] not in _WEEKDAYS:
        return None
    return _Found(_one(_shift(week.first, _WEEKDAYS[words[there]])), there + 1)


def _rolling(words: list[str], at: int, today: date) -> _Found | None:
    """The last two weeks, the past month: until today, wherever the calendar cuts."""
    _, most, end = _count(words, at + 1) or (1, 1, at + 1)
    unit = words[end].removesuffix("s")
    if unit not in _UNITS or (end == at + 1 and words[at] != "past"):
        return None
    return _Found(_until_today(most, unit, today), end + 1)


def _which_name(noun: str, offset: int, today: date) -> TimeSpan | None:
    """Last Monday, this Friday, next March, last summer."""
    if offset == 0 and noun in ("may", "sat", "sun", "wed"):
        return None  # "this may fail", "this sat there for a year"
    number = _WEEKDAYS.get(noun, _SHORT_WEEKDAYS.get(noun))
    if number is not None:
        if offset < 0:
            return _one(_weekday(number, _shift(today, -1)))
        return _one(_shift(_week(today, offset).first, number))
    if noun in _MONTHS:
        return _recurring(_MONTHS[noun], 1, today, offset)
    return _recurring(_SEASONS[noun], 3, today, offset) if noun in _SEASONS else None


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


def _some_time_ago(words: list[str], at: int, today: date) -> _Found | None:
    counted = _count(words, at)
    if not counted:
        return None
    least, most, end = counted
    unit = words[end].removesuffix("s")
    if unit not in _UNITS or words[end + 1] not in ("ago", "back"):
        return None
    return _Found(_ago(least, most, unit, today), end + 2)


def _date(words: list[str], at: int, today: date, after: str) -> _Found | None:
    """2026-03-02, memory/2026-03-02.md, March 2nd, 2026 or 2 March; a year may be missing."""
    if words[at][:4].isdecimal() or words[at].endswith(".md"):
        found = _iso(words[at], today)
        if found:
            return _Found(found, at + 1)
    if words[at] in _MONTHS:
        name, day = words[at], _day_number(words[at + 1])
        unsure = name == "may" and words[at + 1].isdecimal()
        end = at + 2
    else:
        day = _day_number(words[at])
        of = words[at + 1] == "of"
        name, end = words[at + 1 + of], at + 2 + of
        unsure = name in ("may", "march") and not of
    if not day or name not in _MONTHS or words[end] in _NO_YEAR_BEFORE:
        return None
    year = _year_after(words, end, today)
    if year:
        found_day = _day(year[0], _MONTHS[name], day)
        return _Found(_one(found_day), year[1]) if found_day else None
    if unsure and not after and words[end]:
        return None  # "may 2 agents write", "step 2 may fail"; at the end it can only be a day.
    found_day = _day_of_year(_MONTHS[name], day, today)
    return _Found(_one(found_day), end, every_days=365) if found_day else None


def _iso(word: str, today: date) -> TimeSpan | None:
    in_name = note_date(word)
    if in_name:
        return _one(in_name)
    shape = r"(\d{4})([-/])(\d\d?)(?:\2(\d\d?)(?:t\d\d)?)?"
    found = _compiled(shape).fullmatch(word)
    year = _year_number(found[1], today) if found else None
    if not found or not year:
        return None
    if found[4]:
        day = _day(year, int(found[3]), int(found[4]))
        return _one(day) if day else None
    # Only 2026-03 is a month; 2026/3 and 2026-3 are more often something else.
    is_month = found[2] == "-" and len(found[3]) == 2 and 1 <= int(found[3]) <= 12
    return _months(year, int(found[3])) if is_month else None


def _day_number(word: str) -> int | None:
    """2, 2nd, 21st; the words "first" and "second" count other things far more often."""
    number = word[:-2] if word.endswith(("st", "nd", "rd", "th")) else word
    if not number.isdecimal() or len(number) > 2:
        return None
    return int(number) if 1 <= int(number) <= 31 else None


def _day_of_week(words: list[str], at: int, today: date, after: str) -> _Found | None:
    triggered = after in ("on", "any")
    number = _WEEKDAYS.get(words[at], _SHORT_WEEKDAYS.get(words[at]) if triggered else None)
    if number is None:
        return None
    there = at + 1 + (words[at + 1] == "of")
    if words[there] in _WHICH and words[there + 1] == "week":
        return _Found(_one(_shift(_week(today, _WHICH[words[there]]).first, number)), there + 2)
    if not triggered and not _stands_for_a_day(words, at):
        return None
    dated = _date(words, _past_the(words, at + 1), today, "on")
    # In "Monday, March 2" the weekday adds nothing.
    return dated or _Found(_one(_weekday(number, today)), at + 1, every_days=7)


def _stands_for_a_day(words: list[str], at: int) -> bool:
    """Without "on", a full name counts in "Monday morning", "Monday's" and at the end."""
    says_so = words[at + 1] in _DAY_PARTS or words[at + 1] in ("s", "")
    return says_so and words[at - 1] not in _NO_DAY_AFTER


def _named_months(words: list[str], at: int, today: date, after: str) -> _Found | None:
    """A month, season or quarter by name: with its year, or where only a time can stand."""
    name = words[at]
    count = 1 if name in _MONTHS else 3
    month = _MONTHS.get(name, _SEASONS.get(name))
    if month is None or (count == 3 and words[at + 1] in _NO_SEASON_BEFORE):
        return None
    year = _year_after(words, at + 1, today)
    if not year and name[0] == "q":
        before = _year_number(words[at - 1], today)  # 2026 Q1
        year = (before, at + 1) if before else None
    if year:
        return _Found(_months(year[0], month, count), year[1])
    if after not in ("in", "any"):
        return None
    return _Found(_recurring(month, count, today), at + 1, every_days=365)


def _year(words: list[str], at: int, today: date, after: str) -> _Found | None:
    if words[at] == "year":
        at, after = at + 1, "in"
    year = _year_number(words[at], today) if after in ("in", "of", "any") else None
    if not year or words[at + 1] in _NO_YEAR_BEFORE:
        return None
    return _Found(_months(year, 1, 12), at + 1)


def _year_after(words: list[str], at: int, today: date) -> tuple[int, int] | None:
    """The year of the month or day just read, and where the text goes on: "2025", "last year"."""
    at += words[at] == "of"
    if words[at] in _WHICH and words[at + 1] == "year":
        return today.year + _WHICH[words[at]], at + 2
    year = _year_number(words[at], today)
    return (year, at + 1) if year and words[at + 1] not in _NO_YEAR_BEFORE else None


def _year_number(word: str, today: date) -> int | None:
    if len(word) != 4 or not word.isdecimal():
        return None
    return int(word) if FIRST_YEAR <= int(word) <= today.year + 1 else None


# Chinese.

_PLAINER = str.maketrans("週這個後禮過號兩幾來從時鐘", "周这个后礼过号两几来从时钟")
"""Traditional to simplified, for the few characters the pattern knows."""

_CHINESE_DAYS = {"今": 0, "昨": -1, "前": -2, "大前": -3, "明": 1, "后": 2}
_CHINESE_WEEKDAYS = "一二三四五六日"
_CHINESE_WHICH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1}
_CHINESE_YEARS = {"前": -2, "去": -1, "今": 0, "明": 1}
_CHINESE_UNITS = {
    "分钟": "minute", "小时": "hour", "天": "day", "周": "week", "星期": "week", "礼拜": "week",
    "周末": "weekend", "月": "month", "季度": "quarter", "年": "year",
}  # fmt: skip

# Each (?<!) keeps out a longer word that only ends like ours: 说明|天, 以前|天, 成本|月;
# each (?!) one that only begins like it: 上周一|共, 上周日|志, 三年前|端.
_CHINESE = r"""
    (?: (?P<said_year> (?: (?<!\d)(?P<year>\d{4})
                       | (?P<near>今|(?<!过)去|(?<![以之目大])前|(?<![说声证表])明)
                       ) 年(?!前|以前|之前|后) )
      | (?<![\d.十一二三四五六七八九]) )
    (?: (?P<month>\d{1,2}|[十一二三四五六七八九]{1,2})月份?
        (?: (?P<day>\d{1,2}|[十一二三四五六七八九]{1,3})[日号] )?
      | (?(said_year)|(?!)) )
  | (?P<until_now>(?:最近|过去|(?<!附)近)的?)?
    (?<![\d.]) (?P<count>\d{1,3}|[十一二两三四五六七八九]{1,3}|几|半)
    (?P<unit>分钟|个?小时|天|周|个?星期|个?礼拜|个月|年)
    (?(until_now)|[以之]?前(?![端台缀提置往期面景沿]))
  | (?P<recently>最近|近来|近期|近日|这几天|前[几两些]天)
  | (?P<near_day>[今昨][天日早晚晨夜] | (?<![说发声证表])明[天日早晚晨]
      | (?<![以之提目])大?前(?:天(?!气)|晚) | (?<![以之先然])后天(?![性气]) )
  | (?: (?P<which>(?<![晚早以马网路手线])上上?|这|(?<![成基资版文样根脚副日])本
                 |(?<![以线如地])下)个?
      | (?<![每\d十一二两三四五六七八九几个]) )
    (?: (?:周|星期|礼拜)
        (?P<weekday>[一二三四五六日天](?![共起直些样般个次位名条项场篇件份志期程常]))
      | (?P<period>周末|(?(which)(?:周|星期|礼拜|月|季度)|(?!))) )
"""
_CHINESE_TAIL = (
    "(?P<since>以来|至今|到现在)|(?P<after>之后|以后)|(?P<open>[以之]?前)|(?P<to>[到至~～–—-])"
)


def _chinese(question: str, today: date) -> Iterator[tuple[int, TimeSpan]]:
    """Where each time begins, and the time."""
    text = question.translate(_PLAINER)
    times = _compiled(_CHINESE, re.VERBOSE)
    for match in times.finditer(text):
        found = _read_chinese(match, today)
        span = _with_tail(text, match, found, today) if found else None
        if span and _tells(span):
            yield match.start(), span


def _with_tail(text: str, match: re.Match[str], found: _Found, today: date) -> TimeSpan | None:
    """The time together with what follows it: since, after, or up to another; None if open."""
    tail = _compiled(_CHINESE_TAIL).match(text, found.end)
    if not tail:
        return found.span
    if tail["since"]:
        return TimeSpan(found.span.first, today)
    if tail["after"]:
        return TimeSpan(_shift(found.span.last, 1), today)
    if tail["open"]:
        return None
    other = _compiled(_CHINESE, re.VERBOSE).match(text, tail.end())
    end = _read_chinese(other, today) if other else None
    if not other or not end:
        return found.span
    return _joined(
        found, end, lambda day: _read_chinese(match, day), lambda day: _read_chinese(other, day)
    )


def _read_chinese(match: re.Match[str], today: date) -> _Found | None:
    end = match.end()
    which = _CHINESE_WHICH.get(match["which"] or "")
    if match["month"] or match["said_year"]:
        return _chinese_date(match, today)
    if match["count"]:
        return _chinese_count(match, today)
    if match["recently"]:
        return _Found(_until_today(RECENT_DAYS, "day", today), end)
    if match["near_day"]:
        return _Found(_one(_shift(today, _CHINESE_DAYS[match["near_day"][:-1]])), end)
    if match["weekday"]:
        number = _CHINESE_WEEKDAYS.index(match["weekday"].replace("天", "日"))
        if which is None:
            return _Found(_one(_weekday(number, today)), end, every_days=7)
        return _Found(_one(_shift(_week(today, which).first, number)), end)
    if which is None:
        return _Found(_latest_weekend(today), end)
    return _Found(_period(_CHINESE_UNITS[match["period"]], which, today), end)


def _chinese_date(match: re.Match[str], today: date) -> _Found | None:
    """2026年, 去年三月, 2026年3月2日, 三月, 3月2号."""
    end = match.end()
    year = _year_number(match["year"], today) if match["year"] else None
    if match["near"]:
        year = today.year + _CHINESE_YEARS[match["near"]]
    if match["said_year"] and not (year and 0 < year <= date.max.year):
        return None
    month, day = (_chinese_number(match[part]) for part in ("month", "day"))
    if year and not match["month"]:
        return _Found(_months(year, 1, 12), end)
    if not month or month > 12:
        return None
    if not match["day"]:
        span = _months(year, month) if year else _recurring(month, 1, today)
        return _Found(span, end, 0 if year else 365)
    found = _day(year, month, day or 0) if year else _day_of_year(month, day or 0, today)
    return _Found(_one(found), end, 0 if year else 365) if found else None


def _chinese_count(match: re.Match[str], today: date) -> _Found | None:
    """三天前, 半年前, 最近两周."""
    unit = _CHINESE_UNITS[match["unit"].removeprefix("个")]
    if match["count"] in ("几", "半"):
        least, most = _COUNTS["few" if match["count"] == "几" else "half"]
    else:
        least = most = _chinese_number(match["count"]) or 0
    if not most:
        return None
    if match["until_now"]:
        return _Found(_until_today(most, unit, today), match.end())
    return _Found(_ago(least, most, unit, today), match.end())


def _chinese_number(said: str | None) -> int | None:
    """3, 三, 十二, 二十一; 三四 (three or four) counts as three."""
    if not said or said.isdecimal():
        return int(said) if said else None
    tens, ten, ones = said.replace("两", "二").rpartition("十")
    digits = "零一二三四五六七八九"
    units = digits.find(ones) if ones else 0
    number = (digits.find(tens) if tens else 1) * 10 + units if ten else units
    return number if number > 0 and units >= 0 else None
