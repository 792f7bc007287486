"""START HERE: the time that a query names, and the parser of English times.

An English query is split into words once and parsed from left to right.

At each word the parsers are tried in turn; the first that finds a time wins, and parsing continues
after that time:

    english_times ─ _time_at    since X · from X to Y · in X
                      └ _named    early X · end of X · week of X · two weeks before X
                          └ _whole    last week · 3 days ago · 2 March 2026 · Monday …

Each level calls only the one below, so no text can cause recursion, and each looks only a few
words ahead, so the work is linear in the length of the query.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from notewell.core.times.english_phrases import count_of, dated, past_the, relative
from notewell.core.times.spans import (
    RECENT_DAYS,
    UNITS,
    ParsedTime,
    TimeSpan,
    ago,
    compiled,
    is_selective,
    join_times,
    shift,
    third_of,
    until_today,
    week,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

_PREPOSITIONS = {
    "in": "in", "during": "in", "throughout": "in", "over": "in", "within": "in", "of": "of",
    "on": "on", "after": "on", "since": "any", "from": "any", "between": "any",
}  # fmt: skip
"""What may follow: after "in" the bare name of a month or a year, after "on" a weekday, after "of"
a year ("a photo of June" shows a person), and after the others any of these."""

_DASH = "\x01"  # In place of long dashes: "Monday–Friday" is three words.
_JOINTS = frozenset(("to", "through", "thru", "until", "till", "-", _DASH))

_OPEN = frozenset(("before", "until", "till", "by"))
"""These times have no first day: they are skipped, with the time that follows."""

_PARTS = {"early": 0, "mid": 1, "late": 2}
_PARTS_OF = {"beginning": 0, "start": 0, "middle": 1, "end": 2}

_PADDING = [""] * 8  # More than any parser looks ahead; also what index -1 returns.


@lru_cache(maxsize=64)
def find_times(question: str, today: date) -> TimeSpan | None:
    """The first time, or range of times, that a query names; None if it names none. After
    "recently", which is hardly a time, another one counts."""
    times = list(english_times(question, today))
    recently = until_today(RECENT_DAYS, "day", today)
    found = next((time for time in times if time[1] != recently), next(iter(times), None))
    if not question.isascii():
        # Imported when a query may be Chinese: most are not.
        from notewell.core.times.chinese import chinese_times

        chinese = next(chinese_times(question, today), None)
        found = min(filter(None, (found, chinese)), default=None)
    return found[1] if found else None


def english_times(question: str, today: date) -> Iterator[tuple[int, TimeSpan]]:
    """Each time with its position in the text."""
    starts, words = _cut(question)
    at = 0
    while at < len(starts):
        if words[at] in _OPEN:
            skipped = _named(words, past_the(words, at + 1), today, "any")
            at = skipped.end if skipped else at + 1
            continue
        parsed = _time_at(words, at, today)
        if parsed and is_selective(parsed.span):
            yield starts[at], parsed.span
        at = parsed.end if parsed else at + 1


def _cut(question: str) -> tuple[list[int], list[str]]:
    """The words in lower case, and their positions.

    An id, a version or a path stays one word, so that the 2026 of TCK-2026 is not a year; only
    plain words are split at hyphens: mid-March, March-May.
    """
    starts: list[int] = []
    words: list[str] = []
    # Each character that is not Latin becomes "?", which separates words. A pattern with all these
    # characters would take 2.4 ms to compile, this one takes 0.1 ms.
    latin = question.replace("–", _DASH).replace("—", _DASH)
    latin = latin.encode("latin-1", "replace").decode("latin-1")
    for match in compiled(f"""[^\\s,;:!?()\\[\\]{{}}<>"'`|*{_DASH}]+|{_DASH}""").finditer(latin):
        word = match[0].lower().strip("./")
        plain = word.replace("-", "").isalpha()
        pieces = word.replace("-", " - ").split() if plain else [word] if word else []
        starts.extend([match.start()] * len(pieces))
        words.extend(pieces)
    return starts, words + _PADDING


def _time_at(words: list[str], at: int, today: date) -> ParsedTime | None:
    """A time that begins at this word, with the words that make a range of it."""
    word = words[at]
    after = _PREPOSITIONS.get(word, "")
    if after:
        at = past_the(words, at + 1)
    start = _named(words, at, today, after)
    if not start:
        return None
    if word == "since":
        return start._replace(span=TimeSpan(start.span.first, today))
    if word == "after":
        return start._replace(span=TimeSpan(shift(start.span.last, 1), today))
    range_ = _range(words, at, today, after)
    # "A letter from April", "between Sun and us": without a second time, these name no time.
    return range_ if word in ("from", "between") else range_ or start


def _range(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    """From the time that begins here to another; "and" joins two times only after "between"."""

    def read_start(day: date) -> ParsedTime | None:
        return _named(words, at, day, after)

    def read_end(day: date) -> ParsedTime | None:
        return _named(words, there, day, after)

    start = read_start(today)
    joint = words[start.end] if start else ""
    if not start or not (
        joint in _JOINTS or (joint == "and" and "between" in (words[at - 1], words[at - 2]))
    ):
        return None
    there = past_the(words, start.end + 1)
    end = read_end(today)
    return ParsedTime(join_times(start, end, read_start, read_end), end.end) if end else None


def _named(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    """A time, or a part of one, or the week around it."""
    word, following = words[at], words[at + 1]
    if word in _PARTS:
        return _part(words, at + 1 + (following == "-"), today, _PARTS[word])
    if following == "of" and word in _PARTS_OF:
        return _part(words, at + 2, today, _PARTS_OF[word])
    if following == "of" and word == "week":
        day = _whole(words, past_the(words, at + 2), today, "on")
        if not day or day.span.first != day.span.last:
            return None
        return day._replace(span=week(day.span.first))
    return _whole(words, at, today, after) or _time_before(words, at, today)


def _time_before(words: list[str], at: int, today: date) -> ParsedTime | None:
    """The week before 3 August, two days before last Monday."""
    count = count_of(words, at)
    end = count[2] if count else at
    unit = words[end].removesuffix("s")
    if unit not in UNITS or words[end + 1] != "before":
        return None
    named = _whole(words, past_the(words, end + 2), today, "on")
    if not named or named.span.first != named.span.last:
        return None
    day = named.span.first
    span = ago(count[0], count[1], unit, day) if count else until_today(1, unit, day)
    return named._replace(span=span)


def _part(words: list[str], at: int, today: date, part: int) -> ParsedTime | None:
    whole = _whole(words, past_the(words, at), today, "in")
    return whole._replace(span=third_of(whole.span, part)) if whole else None


def _whole(words: list[str], at: int, today: date, after: str) -> ParsedTime | None:
    return relative(words, at, today, after) or dated(words, at, today, after)
