"""Who said what a hit shows, when, and where: for hits in conversations.

A line of a transcript begins with its speaker, but a snippet may begin in the middle of a line,
and a part of a long message has no beginning at all. So the speaker of the first line that is
shown is a fact of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.types import NO_SESSION, SPEAKERS, Utterance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.index import StoredChunk
    from notewell.types import SessionFacts

QUESTION_CHARS = 120
COMPARED_CHARS = 40
"""Enough of a snippet to find it in its text."""


def utterance(
    chunk: StoredChunk,
    shown: str,
    text: str,
    around: Iterable[StoredChunk],
    sessions: Mapping[str, SessionFacts],
) -> Utterance | None:
    """The origin of what is `shown` of a text; None for a note. `around` has the chunks near it,
    among them all parts of a long message."""
    if chunk.source != "sessions":
        return None
    line = text[_line_start(text, shown) :]
    if chunk.piece:
        # All parts have the number of the line; the first part has its beginning.
        place = (chunk.path, chunk.span)
        parts = (one for one in around if one.piece and (one.path, one.span) == place)
        line = next((one.text for one in parts if _speaker(one.text)), "")
    facts = sessions.get(chunk.path, NO_SESSION)
    return Utterance(_speaker(line), chunk.said_at, facts.host, facts.folder)


def question_before(chunk: StoredChunk, first: int, around: Iterable[StoredChunk]) -> str:
    """What the user asked, for a hit that begins with the answer in line `first`; else nothing.

    It is shown and not indexed: with the words of the question, each part of a long answer would
    come before what the user said."""
    if chunk.source != "sessions":
        return ""
    lines: dict[int, str] = {}
    for one in around:
        if one.path == chunk.path:
            for number, line in enumerate(one.text.split("\n"), start=one.span.start_line):
                # Of a long message, the first part.
                lines.setdefault(number, line)
    if lines.get(first, "").startswith("User: "):
        return ""
    asked = (lines[number] for number in sorted(lines, reverse=True) if number < first)
    return _shortened(next((line for line in asked if line.startswith("User: ")), ""))


def _shortened(question: str) -> str:
    if len(question) <= QUESTION_CHARS:
        return question
    return f"{question[:QUESTION_CHARS].rpartition(' ')[0]} …"


def _line_start(text: str, shown: str) -> int:
    begin = shown.lstrip("…")[:COMPARED_CHARS].rstrip("…")
    return text.rfind("\n", 0, max(0, text.find(begin))) + 1


def _speaker(line: str) -> str | None:
    return next((name for name in SPEAKERS if line.startswith(f"{name}: ")), None)
