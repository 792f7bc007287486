"""English times: a question is cut into words once and read from left to right.

At each word the readers are asked in turn whether a time begins there; the first that says yes
settles it, and reading goes on behind that time:

    english_times ─ _time_at    since X · from X to Y · in X
                      └ _named    early X · end of X · week of X
                          └ _whole    last week · 3 days ago · 2 March 2026 · Monday …

Each floor calls only the one below, so no text can make it recurse, and each looks only a few
words ahead, so the work grows with the length of the question and no faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core.times.english_phrases import dated, past_the, relative
from notewell.core.times.spans import (
    Found,
    TimeSpan,
    compiled,
    joined,
    shift,
    tells,
    third_of,
    week,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

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

_PADDING = [""] * 8  # More than any reader looks ahead; the first also ends the list at index -1.


def english_times(question: str, today: date) -> Iterator[tuple[int, TimeSpan]]:
    """Where each time begins, and the time."""
    starts, words = _cut(question)
    at = 0
    while at < len(starts):
        if words[at] in _OPEN:
            passed = _named(words, past_the(words, at + 1), today, "any")
            at = passed.end if passed else at + 1
            continue
        found = _time_at(words, at, today)
        if found and tells(found.span):
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
    for found in compiled(f"""[^\\s,;:!?()\\[\\]{{}}<>"'`|*{_DASH}]+|{_DASH}""").finditer(latin):
        word = found[0].lower().strip("./")
        plain = word.replace("-", "").isalpha()
        pieces = word.replace("-", " - ").split() if plain else [word] if word else []
        starts.extend([found.start()] * len(pieces))
        words.extend(pieces)
    return starts, words + _PADDING


def _time_at(words: list[str], at: int, today: date) -> Found | None:
    """A time that begins at this word, with what makes a stretch of it."""
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
    stretch = _range(words, at, today, after)
    # "A letter from April", "between Sun and us": alone, these name nothing.
    return stretch if word in ("from", "between") else stretch or start


def _range(words: list[str], at: int, today: date, after: str) -> Found | None:
    """From the time that begins here to another; "and" joins two only after "between"."""

    def read_start(day: date) -> Found | None:
        return _named(words, at, day, after)

    def read_end(day: date) -> Found | None:
        return _named(words, there, day, after)

    start = read_start(today)
    joint = words[start.end] if start else ""
    if not start or not (
        joint in _JOINTS or (joint == "and" and "between" in (words[at - 1], words[at - 2]))
    ):
        return None
    there = past_the(words, start.end + 1)
    end = read_end(today)
    return Found(joined(start, end, read_start, read_end), end.end) if end else None


def _named(words: list[str], at: int, today: date, after: str) -> Found | None:
    """A time, or a part of one, or the week around it."""
    word, following = words[at], words[at + 1]
    if word in _PARTS:
        return _part(words, at + 1 + (following == "-"), today, _PARTS[word])
    if following == "of" and word in _PARTS_OF:
        return _part(words, at + 2, today, _PARTS_OF[word])
    if following == "of" and word == "week":
        found = _whole(words, past_the(words, at + 2), today, "on")
        if not found or found.span.first != found.span.last:
            return None
        return found._replace(span=week(found.span.first))
    return _whole(words, at, today, after)


def _part(words: list[str], at: int, today: date, part: int) -> Found | None:
    found = _whole(words, past_the(words, at), today, "in")
    return found._replace(span=third_of(found.span, part)) if found else None


def _whole(words: list[str], at: int, today: date, after: str) -> Found | None:
    return relative(words, at, today, after) or dated(words, at, today, after)
