"""What was said, by whom and when; the text of a message, whatever its host wraps it in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from datetime import date

Speaker: TypeAlias = Literal["User", "Assistant"]
Record: TypeAlias = dict[str, Any]
"""One JSON object of a transcript. Nothing about it is certain."""

SPEAKERS: dict[str, Speaker] = {"user": "User", "assistant": "Assistant"}

_UNSAYABLE = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_MILLISECONDS = 1e11
"""A larger number of seconds lies beyond the year 5000, so it counts milliseconds."""


class Turn(NamedTuple):
    """One message, its lines not yet folded."""

    speaker: Speaker
    text: str
    id: str | None = None
    """The host's own id: a message that is written twice is said once."""


class Told(NamedTuple):
    """What one record tells, of the session or of what was said."""

    turn: Turn | None = None
    session_id: str | None = None
    cwd: str | None = None
    at: datetime | None = None
    compacted: bool = False


class Format(NamedTuple):
    """One host's way to write a transcript."""

    name: str
    owns: Callable[[Record], bool]
    """Whether a record is of this host; the first that any host owns decides for the file."""
    told: Callable[[Record], Told]


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a conversation besides its words."""

    format: str | None = None
    id: str | None = None
    cwd: str | None = None
    started_at: datetime | None = None
    last_at: datetime | None = None

    def day(self, zone: tzinfo = UTC) -> date | None:
        """The day it began, where the user lives."""
        return self.started_at.astimezone(zone).date() if self.started_at else None


def spoken(speaker: object, texts: Collection[str], id_: object = None) -> Turn | None:
    """A turn, if one of the two speaks and says something."""
    text = "\n".join(texts)
    if not isinstance(speaker, str) or speaker not in SPEAKERS or not text.strip():
        return None
    return Turn(SPEAKERS[speaker], text, id_ if isinstance(id_, str) else None)


def texts_of(content: object, kinds: Collection[str] = ("text",)) -> Iterator[str]:
    """The texts of a message; calls, results, thoughts and pictures are not what was said."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") in kinds:
                text = block.get("text")
                if isinstance(text, str):
                    yield text


def folded(text: str) -> str:
    """One line of it, in characters that can be written: no NUL, no half of a surrogate pair."""
    return " ".join(_UNSAYABLE.sub(_REPLACEMENT, text).split())


def known(value: object) -> str | None:
    """A text that can stand in a listing; else nothing is known."""
    return folded(value) or None if isinstance(value, str) else None


def moment(value: object) -> datetime | None:
    """A time as hosts write it: ISO 8601, or a number of seconds or milliseconds."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) > _MILLISECONDS else value
            at = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None  # no time that ever was
