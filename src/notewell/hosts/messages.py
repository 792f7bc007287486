"""Messages: who said what and when, without the form that a host gives them.

The transcript parsers of all hosts share these functions. A record comes from a file that another
program wrote, so nothing about its shape is certain: a value of the wrong type counts as missing.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Speaker: TypeAlias = Literal["User", "Assistant"]
Record: TypeAlias = dict[str, Any]
"""One JSON object of a transcript."""

SPEAKERS: dict[str, Speaker] = {"user": "User", "assistant": "Assistant"}

# NUL ends a string in C libraries; a lone surrogate cannot be encoded as UTF-8.
_NOT_WRITABLE = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_INSERTED = re.compile(
    r"<hook_context>.*?(?:</hook_context>|\Z)"
    r"|--- Content from referenced files ---.*?(?:--- End of content ---|\Z)",
    re.DOTALL,
)
_MILLISECONDS = 1e11
"""As seconds, a larger number would be after the year 5000, so it counts milliseconds."""


class Turn(NamedTuple):
    """One message, its lines not yet folded."""

    speaker: Speaker
    text: str
    id: str | None = None
    """The host's own id; a host may write a message twice."""


class RecordFacts(NamedTuple):
    """What one record says of the session, or in it."""

    turn: Turn | None = None
    session_id: str | None = None
    cwd: str | None = None
    at: datetime | None = None
    host: str | None = None
    """The host, where a file of Notewell has the conversation of another one."""
    summary: str | None = None
    """The summary of a compaction. If it ends with the message before it, that message is the
    answer of the model that was asked for a summary, and nobody said it."""
    is_subagent: bool = False
    """The whole session is one of an agent with another agent: nothing in it was said by or to the
    user."""


def turn_of(role: object, texts: Collection[str], id_: object = None) -> Turn | None:
    """A turn, if the role is the user or the assistant and there is text."""
    text = "\n".join(texts)
    if not isinstance(role, str) or role not in SPEAKERS or not text.strip():
        return None
    # The id is only compared, never shown, so it needs no cleaning.
    return Turn(SPEAKERS[role], text, id_ if isinstance(id_, str) else None)


def texts_of(content: object, kinds: Collection[str] = ("text",)) -> Iterator[str]:
    """The texts of a message, without tool calls, tool results, reasoning and images."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") in kinds:
                text = block.get("text")
                if isinstance(text, str):
                    yield text


def part_texts(content: object) -> Iterator[str]:
    """The texts of a message in the form of Google's API, which Gemini CLI and Qwen Code store:
    a text, a part or a list of both. Parts with calls, results, images and thoughts have none."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("thought") is not True:
            text = part.get("text")
            if isinstance(text, str):
                yield text


def without_inserted(text: str) -> str:
    """A message without what Gemini CLI and Qwen Code add to it: the output of hooks and the
    content of files that the user named with `@`. They are in the text of the user's message."""
    return _INSERTED.sub("", text)


def folded(text: str) -> str:
    """The text on one line, in characters that can be stored."""
    return " ".join(_NOT_WRITABLE.sub(_REPLACEMENT, text).split())


def clean_text(value: object) -> str | None:
    """A value that can be shown in a listing; None for anything but text."""
    return folded(value) or None if isinstance(value, str) else None


def parse_time(value: object) -> datetime | None:
    """A time as hosts write it: ISO 8601, or a number of seconds or milliseconds."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
        # `bool` is a subclass of `int`.
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) > _MILLISECONDS else value
            at = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        # A time without a zone is taken as UTC.
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        # Not a date, or one that the platform's calendar does not reach.
        return None
