"""From the JSON a model writes to typed values. What is wrong is said so that it can be mended."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.errors import BadRequest
from notewell.limits import MAX_QUERY_CHARS, MAX_RESULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PATH_CHARS = 4096
"""As long as a path can be on Linux; a longer one is not looked at, and not repeated back."""
MAX_TEXT_CHARS = 1_000_000
"""An entry is refused from 64 KiB on by the notes; this bounds what is looked at before."""
MAX_SECTION_CHARS = 200
MAX_LINE = 2**31

_CITED = re.compile(r"(?P<path>.+\.md)#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SearchInput:
    query: str
    max_results: int | None = None
    min_score: float | None = None

    @classmethod
    def parse(cls, told: Mapping[str, object]) -> SearchInput:
        given = Given(told, ("query", "maxResults", "minScore"))
        return cls(
            given.text("query", MAX_QUERY_CHARS),
            given.whole("maxResults", 1, MAX_RESULTS),
            given.share("minScore"),
        )


@dataclass(frozen=True, slots=True)
class GetInput:
    path: str
    from_line: int | None = None
    lines: int | None = None

    @classmethod
    def parse(cls, told: Mapping[str, object]) -> GetInput:
        given = Given(told, ("path", "from", "lines"))
        path = given.text("path", MAX_PATH_CHARS)
        first = given.whole("from", 1, MAX_LINE)
        lines = given.whole("lines", 1, MAX_LINE)
        return cls(*_uncited(path, first, lines))


@dataclass(frozen=True, slots=True)
class AppendInput:
    text: str
    section: str | None = None

    @classmethod
    def parse(cls, told: Mapping[str, object]) -> AppendInput:
        given = Given(told, ("text", "section"))
        section = given.text("section", MAX_SECTION_CHARS) if given.has("section") else None
        return cls(given.text("text", MAX_TEXT_CHARS), section)


@dataclass(frozen=True, slots=True)
class StatusInput:
    @classmethod
    def parse(cls, told: Mapping[str, object]) -> StatusInput:
        Given(told, ())
        return cls()


def _uncited(
    path: str, first: int | None, lines: int | None
) -> tuple[str, int | None, int | None]:
    """`memory/a.md#L5-L9` is how a hit is cited, so it is what a model may paste as a path."""
    cited = _CITED.fullmatch(path)
    if cited is None:
        return path, first, lines
    start = max(1, int(cited["first"]))
    count = max(1, int(cited["last"] or start) - start + 1)
    return cited["path"], first or start, lines or (None if first else count)


class Given:
    """Arguments by name; one that is null counts as not given."""

    def __init__(self, told: Mapping[str, object], known: tuple[str, ...]) -> None:
        self._told = told
        for name in told:
            if name not in known:
                raise BadRequest(f"there is no argument {name[:40]!r}{_nearest(name, known)}")

    def has(self, name: str) -> bool:
        return self._told.get(name) is not None

    def text(self, name: str, most: int) -> str:
        value = self._told.get(name)
        if not isinstance(value, str):
            raise BadRequest(f"{name!r} must be a text, not {_kind(value)}")
        if len(value) > most:
            raise BadRequest(f"{name!r} may have {most} characters at most, not {len(value)}")
        return value

    def whole(self, name: str, low: int, high: int) -> int | None:
        value = self._number(name)
        if value is None:
            return None
        if value != int(value) or not low <= value <= high:
            raise BadRequest(f"{name!r} must be a whole number from {low} to {high}")
        return int(value)  # A model may well write 5.0.

    def share(self, name: str) -> float | None:
        value = self._number(name)
        if value is not None and not 0 <= value <= 1:
            raise BadRequest(f"{name!r} must be a number from 0 to 1")
        return value

    def _number(self, name: str) -> float | None:
        value = self._told.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRequest(f"{name!r} must be a number, not {_kind(value)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise BadRequest(f"{name!r} must be a number that can be written down")
        return value


def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name[:40], known, n=1)
    if near:
        return f": did you mean {near[0]!r}?"
    return f": this tool takes {', '.join(known)}" if known else ": this tool takes none"


def _kind(value: object) -> str:
    names = {"NoneType": "nothing", "dict": "an object", "list": "a list", "bool": "true or false"}
    kind = type(value).__name__
    return names.get(kind, f"a {kind}")
