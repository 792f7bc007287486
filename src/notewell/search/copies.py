"""Copies: session notes of conversations that are searched themselves.

A session note has the last messages of a conversation, word for word. If the conversation is kept
and searched too, each passage would be shown twice, and something else not at all. Then the
transcript is shown: it has what was said before and after.

A chunk is a copy if it has messages and the head of a session note, and nothing else: what a user
wrote down in other words, or added to a session note, is no copy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from notewell.core import Candidate
    from notewell.index import StoredChunk

    Ranked = tuple[Candidate, StoredChunk]

_SPOKEN = ("User: ", "Assistant: ")
# What a session note has besides its messages.
_HEAD = re.compile(
    r"# Session \d|## Conversation$|- (?:session|host|folder|closed by|continues): `"
)


def without_copies(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The same order without the chunks of session notes whose transcript is among them."""
    said = {
        line
        for _, chunk in ranked
        if chunk.source == "sessions"
        for line in chunk.text.split("\n")
        if line.startswith(_SPOKEN)
    }
    if not said:
        return list(ranked)
    # One line that is in both is enough: a note is of one conversation.
    copies = {chunk.path for _, chunk in ranked if _is_of_session_note(chunk, said)}
    return [
        (candidate, chunk)
        for candidate, chunk in ranked
        if chunk.path not in copies or not _is_of_session_note(chunk)
    ]


def _is_of_session_note(chunk: StoredChunk, said: Collection[str] = ()) -> bool:
    """Whether a chunk has messages and nothing else; of those of `said`, if it is given, one."""
    if chunk.source == "sessions":
        return False
    lines = [line for line in chunk.text.split("\n") if line.strip()]
    messages = [line for line in lines if line.startswith(_SPOKEN)]
    if not messages or not all(line in messages or _HEAD.match(line) for line in lines):
        return False
    return not said or any(line in said for line in messages)
