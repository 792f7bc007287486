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

from notewell.records import NamedTuple

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


class _Said(NamedTuple):
    """What the transcripts among the candidates contain."""

    lines: frozenset[str]
    pieces: frozenset[str]
    """Of messages that are longer than a chunk."""

    def has_piece(self, text: str) -> bool:
        """A session note shortens a very long message: of its last piece, the beginning counts."""
        begin = text.removesuffix(" …")
        return text in self.pieces or any(piece.startswith(begin) for piece in self.pieces)


def without_copies(ranked: Sequence[Ranked], relevant: Collection[Candidate]) -> list[Ranked]:
    """The same order without the chunks of session notes whose transcript is among them, and is
    relevant enough to be shown."""
    spoken = [
        chunk
        for candidate, chunk in ranked
        if chunk.source == "sessions" and candidate in relevant
    ]
    if not spoken:
        return list(ranked)
    said = _Said(
        frozenset(line for chunk in spoken if not chunk.piece for line in chunk.text.split("\n")),
        frozenset(chunk.text for chunk in spoken if chunk.piece),
    )
    # One message that is in both is enough: a note is of one conversation.
    notes = {
        chunk.path
        for _, chunk in ranked
        if chunk.source != "sessions" and not said.lines.isdisjoint(_messages(chunk))
    }
    return [
        (candidate, chunk)
        for candidate, chunk in ranked
        if chunk.source == "sessions" or not _is_copy(chunk, notes, said)
    ]


def _is_copy(chunk: StoredChunk, notes: Collection[str], said: _Said) -> bool:
    if chunk.piece:
        return said.has_piece(chunk.text)
    return chunk.path in notes and bool(_messages(chunk))


def _messages(chunk: StoredChunk) -> list[str]:
    """The messages of a chunk that has nothing else, except for the head of a session note."""
    lines = [line for line in chunk.text.split("\n") if line.strip()]
    messages = [line for line in lines if line.startswith(_SPOKEN)]
    is_pure = all(line.startswith(_SPOKEN) or _HEAD.match(line) for line in lines)
    return messages if is_pure else []
