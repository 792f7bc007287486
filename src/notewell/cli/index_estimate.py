"""How long a first index takes: measured with the user's own notes, on this machine.

Nearly all of the time goes to the vectors. So a few chunks are embedded and thrown away, and the
time is scaled by the bytes of all notes. Nothing is written.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from notewell.errors import EmbedderTrouble, NotewellError
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.memory import Memory
    from notewell.notes import NoteStore
    from notewell.ports import Embedder
    from notewell.types import FoundNote

ON_THIS_MACHINE = ("embedded", "multilingual")
"""Providers that a sample can be given to: it costs nothing and leaves the machine in no way."""
SAMPLE_NOTES = 8
SAMPLE_CHUNKS = 32
CHUNKS_AT_ONCE = 8
ENOUGH_S = 1.0
"""A slow machine shows that it is slow with fewer chunks."""


@dataclass(frozen=True, slots=True)
class IndexRate:
    """What was measured."""

    chunks: int
    bytes: int
    """Of text, in these chunks."""
    seconds: float

    def seconds_for(self, size: int) -> float:
        return self.seconds * size / max(self.bytes, 1)


def measure_rate(
    memory: Memory,
    notes: NoteStore,
    found: Mapping[str, FoundNote],
    now_s: Callable[[], float] = time.monotonic,
) -> IndexRate | None:
    """None if nothing can be said: no text, or an embedder elsewhere, whose speed is its own."""
    embedder = memory.indexer.embedder
    if embedder.facts.provider not in ON_THIS_MACHINE or embedder.missing() is not None:
        return None
    texts = _sample_texts(memory, notes, _spread(sorted(found), SAMPLE_NOTES))[:SAMPLE_CHUNKS]
    if not texts:
        return None
    try:
        return _timed(embedder, texts, now_s)
    except EmbedderTrouble:
        return None  # The index will report it, and find words meanwhile.


def _timed(embedder: Embedder, texts: Sequence[str], now_s: Callable[[], float]) -> IndexRate:
    embedder.embed(texts[:1], "document")  # Loads the model.
    started_s, done, size = now_s(), 0, 0
    while done < len(texts) and (done == 0 or now_s() - started_s < ENOUGH_S):
        some = texts[done : done + CHUNKS_AT_ONCE]
        embedder.embed(some, "document")
        done += len(some)
        size += sum(len(text.encode()) for text in some)
    return IndexRate(done, size, now_s() - started_s)


def _sample_texts(memory: Memory, notes: NoteStore, paths: Sequence[str]) -> list[str]:
    from notewell.core import ChunkLimits, chunk

    indexer = memory.indexer
    tokens = min(indexer.chunk_tokens, indexer.embedder.facts.chunk_tokens)
    limits = ChunkLimits(tokens, indexer.chunk_overlap)
    texts = []
    for path in paths:
        try:
            text = notes.read(path).text
        except NotewellError:  # The index will name it.
            continue
        texts.append([piece.text for piece in chunk(text, limits)])
    # A few chunks of each note: one long note says little about the others.
    share = -(-SAMPLE_CHUNKS // max(len(texts), 1))
    return [piece for pieces in texts for piece in pieces[:share]]


def _spread(paths: Sequence[str], number: int) -> list[str]:
    """So many of them, evenly from the first to the last."""
    if len(paths) <= number:
        return list(paths)
    return [paths[index * len(paths) // number] for index in range(number)]
