"""What narrows a search: tags, parts of paths, and days.

    router tag:network path:home/ after:2026-03 before:7d

    tag:network       notes with this tag, or one below it: network/home
    path:home/        notes with this text in their path, whatever its case
    after:2026-03     from this day on; of a month or year, from its first day
    before:7d         earlier than this day: 7 days ago

All of them must hold. A value in quotes may have spaces: `path:"my notes"`. In quotes as a whole,
`"tag:x"` is a text; so is everything with another name before the colon, such as `https://…`.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from notewell.core.note_facts import has_tag, normal_tag
from notewell.core.times import note_date
from notewell.errors import BadRequest
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.core.note_facts import NoteFacts

MAX_FILTERS = 16
"""Of one kind in a question."""
MAX_FILTER_CHARS = 512
DAY_FORMS = "a day (2026-03-04), a month (2026-03), a year (2026), or days ago (7d)"

_TYPED = re.compile(
    r"\"[^\"]*\"|(?<!\S)(?P<name>tag|path|after|before):(?:\"(?P<quoted>[^\"]*)\"|(?P<value>\S+))"
)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", re.ASCII)
_DAYS_AGO = re.compile(r"(\d{1,5})d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Filters:
    """All of them must hold. Made by `Filters.of`, which checks them."""

    tags: tuple[str, ...] = ()
    """As `normal_tag` writes them."""
    paths: tuple[str, ...] = ()
    """In lower case; each is a part of the path."""
    after: tuple[str, ...] = ()
    """Not before the first day of each of these; see `DAY_FORMS`."""
    before: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        tags: Sequence[str] = (),
        paths: Sequence[str] = (),
        after: Sequence[str] = (),
        before: Sequence[str] = (),
    ) -> Filters:
        """From what a caller wrote; raises `BadRequest`."""
        given = {"tag": tags, "path": paths, "after": after, "before": before}
        for name, values in given.items():
            if len(values) > MAX_FILTERS:
                raise BadRequest(f"a search has at most {MAX_FILTERS} filters `{name}:`")
            for value in values:
                _check(name, value)
        return cls(
            tuple(map(normal_tag, tags)),
            tuple(path.strip().replace("\\", "/").casefold() for path in paths),
            tuple(after),
            tuple(before),
        )

    def __bool__(self) -> bool:
        return bool(self.tags or self.paths or self.after or self.before)

    def __str__(self) -> str:
        """As one would type it."""
        given = (("tag", self.tags), ("path", self.paths), ("after", self.after))
        return " ".join(
            f'{name}:"{value}"' if " " in value else f"{name}:{value}"
            for name, values in (*given, ("before", self.before))
            for value in values
        )

    def fits(self, path: str, facts: NoteFacts, today: date) -> bool:
        """Whether a note fits, whatever engine found it."""
        first, end = self.days(today)
        day = note_date(path) or facts.day
        return (
            all(has_tag(facts.tags, tag) for tag in self.tags)
            and self.fits_path(path)
            and (not (self.after or self.before) or (day is not None and first <= day < end))
        )

    def fits_path(self, path: str) -> bool:
        return all(part in path.casefold() for part in self.paths)

    def days(self, today: date) -> tuple[date, date]:
        """The first day that fits, and the first one after it that does not."""
        return (
            max((first_day(one, today) for one in self.after), default=date.min),
            min((first_day(one, today) for one in self.before), default=date.max),
        )


def _check(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise BadRequest(f"`{name}:` takes a text, not {type(value).__name__}")
    if len(value) > MAX_FILTER_CHARS:
        raise BadRequest(f"`{name}:` takes at most {MAX_FILTER_CHARS} characters")
    if name in ("after", "before"):
        first_day(value, date.max)
    elif not (normal_tag(value) if name == "tag" else value.strip()):
        raise BadRequest(f"`{name}:` needs a value")


def first_day(written: str, today: date) -> date:
    """The day that is meant; of a month or year its first one. Raises `BadRequest`."""
    try:
        if ago := _DAYS_AGO.fullmatch(written):
            return today - timedelta(days=int(ago[1]))
        if found := _DATE.fullmatch(written):
            year, month, day = found.groups()
            return date(int(year), int(month or 1), int(day or 1))
    except (ValueError, OverflowError):
        pass  # Such as the 30th of February.
    raise BadRequest(
        f"{written[:40]!r} is no day for `after:` or `before:`: write {DAY_FORMS}; to search for "
        "the text itself, put it in quotes"
    )


def split_question(question: str) -> tuple[str, Filters]:
    """The text of a question and the filters that are typed in it. Raises `BadRequest`."""
    typed: dict[str, list[str]] = {"tag": [], "path": [], "after": [], "before": []}
    kept, end = [], 0
    for found in _TYPED.finditer(question):
        if name := found["name"]:
            typed[name].append(found["value"] if found["quoted"] is None else found["quoted"])
            kept.append(question[end : found.start()])
            end = found.end()
    if not end:
        return question, Filters()
    kept.append(question[end:])
    text = " ".join(part.strip() for part in kept if part.strip())
    return text, Filters.of(typed["tag"], typed["path"], typed["after"], typed["before"])


def both(first: Filters, second: Filters) -> Filters:
    """What fits both."""
    return Filters(
        first.tags + second.tags,
        first.paths + second.paths,
        first.after + second.after,
        first.before + second.before,
    )
