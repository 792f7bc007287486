"""The layout of the keyword index: many words in one row.

A row for each word of each chunk would need a hundred times the rows, and each of them repeats
tenant, agent and the header of a row. Here the words of up to 1024 chunks are a *block*, and a row
has the words of one *bucket* of a block:

    block   chunks, each in a slot: 0 … 1023
    bucket  0         the slots of the block: chunk id, source, number of words; id 0 is removed
            1         the words that mark a language
            2 … 257   all other words, by their hash

A search reads the buckets of its words and bucket 0, of all blocks: in a memory of a hundred
chunks a row for each word. A place of a word is one number:

    slot, 10 bits │ field, 2 bits │ position in the field, 20 bits

A removed chunk is removed from its slot; its places stay until their row is written again, and
count for nothing. This module does no I/O.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from notewell.types import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BLOCK_SLOTS = 1024
SLOTS, MARKERS, FIRST_WORDS, WORD_BUCKETS = 0, 1, 2, 256
BODY, HEADING, NAME = 0, 1, 2
SLOT_SHIFT, FIELD_SHIFT = 22, 20
LAST_POSITION = (1 << FIELD_SHIFT) - 1
"""A chunk has fewer words than that; a longer one would have its last words at one place."""
SOURCES: tuple[str, ...] = get_args(Source)

Places: TypeAlias = NDArray[np.uint32]
SlotTable: TypeAlias = NDArray[np.void]

SLOT_TYPE = np.dtype([("id", "<u4"), ("source", "u1"), ("body", "<u4"), ("words", "<u4")])
"""`body`: words in the text; `words`: in all fields, and one more for the source, which the SQLite
store counts as a word. Both engines then have the same lengths."""

_MARKER = "·"


def bucket_of(token: str) -> int:
    if token.endswith(_MARKER):
        return MARKERS
    return FIRST_WORDS + zlib.crc32(token.encode()) % WORD_BUCKETS


def places_in(slot: int, field: int, positions: Iterable[int]) -> list[int]:
    base = slot << SLOT_SHIFT | field << FIELD_SHIFT
    return [base | min(position, LAST_POSITION) for position in positions]


# -- a row of words ------------------------------------------------------------------------------


def pack_words(words: Mapping[str, Places]) -> bytes:
    """How many words, how many places each has, all places, all words."""
    counts = np.array([len(places) for places in words.values()], "<u4")
    head = np.array([len(words)], "<u4").tobytes() + counts.tobytes()
    places = b"".join(one.astype("<u4").tobytes() for one in words.values())
    return head + places + " ".join(words).encode()


def unpack_words(data: bytes) -> dict[str, Places]:
    """The words of a row, with their places, ascending."""
    number = int.from_bytes(data[:4], "little")
    counts = np.frombuffer(data, "<u4", number, 4)
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if number else 0
    first = 4 + 4 * number
    places = np.frombuffer(data, "<u4", total, first)
    words = data[first + 4 * total :].decode().split(" ")
    return dict(zip(words, np.split(places, ends[:-1]), strict=True)) if number else {}


def merged(
    old: Mapping[str, Places], new: Mapping[str, Sequence[int]], removed: NDArray[np.bool_]
) -> dict[str, Places]:
    """The words of a row after a change; `removed` says which slots are no longer used."""
    words: dict[str, Places] = {}
    for word, places in old.items():
        kept = places[~removed[places >> SLOT_SHIFT]]
        if len(kept) or word in new:
            words[word] = kept
    for word, numbers in new.items():
        added = np.array(numbers, np.uint32)
        words[word] = np.concatenate([words[word], added]) if word in words else added
    return {word: np.sort(words[word]) for word in sorted(words)}


# -- the slots of a block ------------------------------------------------------------------------


def pack_slots(slots: SlotTable) -> bytes:
    return slots.tobytes()


def unpack_slots(data: bytes) -> SlotTable:
    return np.frombuffer(data, SLOT_TYPE).copy()


def new_slots(rows: Sequence[tuple[int, str, int, int]]) -> SlotTable:
    """Of chunks: id, source, words in the body, words in all fields."""
    return np.array(
        [(one, SOURCES.index(source), body, words) for one, source, body, words in rows], SLOT_TYPE
    )
