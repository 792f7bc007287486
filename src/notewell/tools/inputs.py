"""What a tool call comes with: arguments that a model wrote, and a context that the host set.

The arguments are JSON from a model, so they are checked and turned into typed values; errors say
how to correct the call. A model cannot change the context (`CallContext`).
"""

from __future__ import annotations

import difflib
import math
import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.core import is_private
from notewell.errors import BadRequest, BadSetting
from notewell.limits import ANSWER_CHARS, MAX_QUERY_CHARS, MAX_RESULTS
from notewell.records import dataclass
from notewell.tools.fence import without_escapes

if TYPE_CHECKING:
    from collections.abc import Mapping

Citations: TypeAlias = Literal["on", "off", "auto"]

LEAST_INJECT_CHARS = 200
MAX_PATH_CHARS = 4096
"""The longest path on Linux. A longer one is refused unread, and not repeated."""
MAX_TEXT_CHARS = 1_000_000
"""The note store refuses entries from 64 KiB on; this bounds the work before that check."""
MAX_SECTION_CHARS = 200
MAX_LINE = 2**31

# At most nine digits: Python refuses to parse numbers of thousands of digits.
# Any path: transcripts are cited too, and no note or transcript has a name that ends like this.
_CITED = re.compile(
    r"(?P<path>.+)#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9})|C(?P<char>\d{1,9}))?", re.IGNORECASE
)


# -- the context ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallContext:
    """Which conversation calls, and what it may see."""

    session_key: str | None = None
    """`agent:<id>:<channel>:<context>`; None for a program that talks to its own user."""
    citations: Citations = "auto"
    origin: str = "tool"
    """The mark of entries that are written from here: one word, or the session key."""
    inject_chars: int | None = None
    """How many characters an answer may have; None: as many as the settings of the memory say."""
    enabled: bool = True
    """False when the configuration gives this agent no memory."""

    def __post_init__(self) -> None:
        # These values come from a configuration file, so the type checker has not seen them.
        if self.citations not in ("on", "off", "auto"):
            raise BadSetting("memory.citations", f"expected on, off or auto: {self.citations!r}")
        if self.inject_chars is not None and self.inject_chars < LEAST_INJECT_CHARS:
            raise BadSetting(
                "inject chars", f"expected at least {LEAST_INJECT_CHARS}, not {self.inject_chars}"
            )

    def budget_chars(self, configured: int | None = None) -> int:
        """The limit of this conversation, else the configured one, else the default."""
        return self.inject_chars or configured or ANSWER_CHARS

    @property
    def is_private(self) -> bool:
        """Between the agent and one person."""
        return is_private(self.session_key)

    @property
    def cites(self) -> bool:
        """Whether sources are shown: the members of a group must not learn paths of notes."""
        return self.is_private if self.citations == "auto" else self.citations == "on"


HERE = CallContext()
"""A program that talks to its own user."""


# -- the arguments -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchInput:
    query: str
    max_results: int | None = None
    min_score: float | None = None
    folder: str | None = None

    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> SearchInput:
        values = Arguments(arguments, ("query", "maxResults", "minScore", "folder"))
        return cls(
            values.text("query", MAX_QUERY_CHARS),
            values.whole("maxResults", 1, MAX_RESULTS),
            values.share("minScore"),
            values.text("folder", MAX_PATH_CHARS) if values.has("folder") else None,
        )


@dataclass(frozen=True, slots=True)
class GetInput:
    path: str
    from_line: int | None = None
    lines: int | None = None
    from_char: int = 1
    """Where to begin in the first line: `memory/a.md#L7C12001`."""

    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> GetInput:
        values = Arguments(arguments, ("path", "from", "lines"))
        path = without_escapes(values.text("path", MAX_PATH_CHARS))
        first = values.whole("from", 1, MAX_LINE)
        lines = values.whole("lines", 1, MAX_LINE)
        return cls(*_uncited(path, first, lines))


@dataclass(frozen=True, slots=True)
class AppendInput:
    text: str
    section: str | None = None

    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> AppendInput:
        values = Arguments(arguments, ("text", "section"))
        section = values.text("section", MAX_SECTION_CHARS) if values.has("section") else None
        return cls(values.text("text", MAX_TEXT_CHARS), section)


@dataclass(frozen=True, slots=True)
class StatusInput:
    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> StatusInput:
        # Called for its check alone: this tool has no arguments.
        Arguments(arguments, ())
        return cls()


def _uncited(
    path: str, first: int | None, lines: int | None
) -> tuple[str, int | None, int | None, int]:
    """Hits are cited as `memory/a.md#L5-L9`, so a model may pass that as a path. An excerpt that
    ends inside a line says `#L7C12001`, as GitHub writes a place in a file."""
    cited = _CITED.fullmatch(path)
    if cited is None:
        return path, first, lines, 1
    if cited["char"] and not first:
        return cited["path"], max(1, int(cited["first"])), lines, max(1, int(cited["char"]))
    # A model may write L0, or a last line before the first one.
    start = max(1, int(cited["first"]))
    count = max(1, int(cited["last"] or start) - start + 1)
    # The arguments are more explicit than the citation. With another first line, the number of
    # cited lines means nothing.
    return cited["path"], first or start, lines or (None if first else count), 1


class Arguments:
    """Arguments by name; one that is null counts as not given."""

    def __init__(self, arguments: Mapping[str, object], known: tuple[str, ...]) -> None:
        self._arguments = arguments
        for name in arguments:
            # Refused and not ignored: a model that invents an argument relies on its effect.
            if name not in known:
                raise BadRequest(f"there is no argument {name[:40]!r}{_nearest(name, known)}")

    def has(self, name: str) -> bool:
        return self._arguments.get(name) is not None

    def text(self, name: str, most: int) -> str:
        value = self._arguments.get(name)
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
        return int(value)  # Models also write 5.0.

    def flag(self, name: str) -> bool:
        value = self._arguments.get(name)
        if value is not None and not isinstance(value, bool):
            raise BadRequest(f"{name!r} must be true or false, not {_kind(value)}")
        return bool(value)

    def share(self, name: str) -> float | None:
        value = self._number(name)
        if value is not None and not 0 <= value <= 1:
            raise BadRequest(f"{name!r} must be a number from 0 to 1")
        return value

    def _number(self, name: str) -> float | None:
        value = self._arguments.get(name)
        if value is None:
            return None
        # `True` is an int in Python, but not a number in JSON.
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRequest(f"{name!r} must be a number, not {_kind(value)}")
        # Python's JSON parser accepts NaN and Infinity, and `int()` fails on both.
        if isinstance(value, float) and not math.isfinite(value):
            raise BadRequest(f"{name!r} must be a number that can be written down")
        return value


def _nearest(name: str, known: tuple[str, ...]) -> str:
    # Cut first: the comparison takes quadratic time.
    near = difflib.get_close_matches(name[:40], known, n=1)
    if near:
        return f": did you mean {near[0]!r}?"
    return f": this tool takes {', '.join(known)}" if known else ": this tool takes none"


def _kind(value: object) -> str:
    names = {"NoneType": "nothing", "dict": "an object", "list": "a list", "bool": "true or false"}
    kind = type(value).__name__
    return names.get(kind, f"a {kind}")
