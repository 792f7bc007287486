"""Writes the words of chunks into blocks, and joins small blocks; the layout is in `postings`.

Changes are collected and written once for each transaction: the words of many chunks share rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from notewell.index.postgres.postings import (
    BLOCK_SLOTS,
    SLOT_SHIFT,
    SLOTS,
    bucket_of,
    merged,
    new_slots,
    pack_slots,
    pack_words,
    places_in,
    unpack_slots,
    unpack_words,
)
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.index.postgres.generations import GenerationRows
    from notewell.index.postgres.postings import Places, SlotTable

OPEN_SLOTS = 64
"""A block with fewer slots takes new chunks. A larger one does not: all of its rows would be
written again for each new chunk."""
SMALL_BLOCK = BLOCK_SLOTS // 2
"""Blocks with fewer chunks are joined when there are many of them."""
SPARE_BLOCKS = 8


class _NewChunk(NamedTuple):
    id: int
    source: str
    fields: tuple[Sequence[str], ...]
    """The tokens of body, heading and name."""

    def slot_row(self) -> tuple[int, str, int, int]:
        words = sum(map(len, self.fields)) + 1
        return self.id, self.source, len(self.fields[0]), words


class TextWriter:
    """The changes of one transaction to the keyword index of one generation."""

    def __init__(self, rows: GenerationRows) -> None:
        self._rows = rows
        self._added: list[_NewChunk] = []
        self._removed: dict[int, set[int]] = {}

    def add(self, chunk_id: int, source: str, fields: tuple[Sequence[str], ...]) -> None:
        self._added.append(_NewChunk(chunk_id, source, fields))

    def remove(self, removed: Iterable[tuple[int, int]]) -> None:
        """Chunks and their blocks."""
        for chunk_id, block in removed:
            self._removed.setdefault(block, set()).add(chunk_id)

    def write(self) -> dict[int, int]:
        """Returns the block of each new chunk."""
        if not self._added and not self._removed:
            return {}
        last = self._last_block()
        tables = self._slots({*self._removed, *([last] if self._added and last >= 0 else [])})
        for block, ids in self._removed.items():
            table = tables[block]
            table["id"][np.isin(table["id"], list(ids))] = 0
        blocks = self._place(tables, last)
        self._write_words(tables, blocks)
        empty = [block for block, table in tables.items() if not table["id"].any()]
        self._rows.delete_blocks(empty)
        self._rows.put_postings(
            [
                (SLOTS, block, pack_slots(table))
                for block, table in tables.items()
                if block not in empty
            ]
        )
        self._added.clear()
        self._removed.clear()
        return blocks

    def _last_block(self) -> int:
        ((last,),) = self._rows.select(
            "SELECT coalesce(max(block), -1) FROM notewell.postings WHERE {own} AND bucket = 0"
        )
        return int(last)

    def _slots(self, blocks: set[int]) -> dict[int, SlotTable]:
        rows = self._rows.postings([SLOTS], blocks)
        return {block: unpack_slots(data) for block, _, data in rows}

    def _place(self, tables: dict[int, SlotTable], last: int) -> dict[int, int]:
        """Give each new chunk a slot; `tables` gets them, and the new blocks."""
        blocks: dict[int, int] = {}
        todo = self._added
        while todo:
            table = tables.get(last)
            if table is None or len(table) >= OPEN_SLOTS or not table["id"].any():
                last += 1
                table = new_slots([])
            fitting, todo = todo[: BLOCK_SLOTS - len(table)], todo[BLOCK_SLOTS - len(table) :]
            tables[last] = np.concatenate([table, new_slots([one.slot_row() for one in fitting])])
            blocks |= {one.id: last for one in fitting}
        return blocks

    def _write_words(self, tables: Mapping[int, SlotTable], blocks: Mapping[int, int]) -> None:
        slots = {
            block: {int(one): slot for slot, one in enumerate(tables[block]["id"])}
            for block in set(blocks.values())
        }
        new: dict[tuple[int, int], dict[str, list[int]]] = {}
        for chunk in self._added:
            block = blocks[chunk.id]
            for word, places in _words_of(chunk, slots[block][chunk.id]).items():
                row = new.setdefault((bucket_of(word), block), {})
                row.setdefault(word, []).extend(places)
        old = {
            (bucket, block): unpack_words(data)
            for block, bucket, data in self._rows.postings(
                sorted({bucket for bucket, _ in new}), set(blocks.values())
            )
        }
        self._rows.put_postings(
            [
                (bucket, block, pack_words(merged(old.get((bucket, block), {}), words, gone)))
                for (bucket, block), words in new.items()
                for gone in [tables[block]["id"] == 0]
            ]
        )

    # -- joining blocks --------------------------------------------------------------------------

    def join_blocks(self, chunks: int, *, everything: bool = False) -> None:
        """Write small blocks together, if there are many; each search reads all of them.
        `everything`: also remove what is left of removed chunks, from every block."""
        ((count,),) = self._rows.select(
            "SELECT count(*) FROM notewell.postings WHERE {own} AND bucket = 0"
        )
        if not everything and count <= SPARE_BLOCKS + chunks // SMALL_BLOCK:
            return
        tables = {
            block: unpack_slots(data) for block, _, data in self._rows.postings([SLOTS], None)
        }
        number = max(tables, default=-1)
        for group in _groups(tables, everything=everything):
            number += 1
            self._join(number, {block: tables[block] for block in group})

    def _join(self, number: int, tables: Mapping[int, SlotTable]) -> None:
        """Write these blocks as one, without their removed chunks."""
        start, kept = 0, []
        words: dict[int, dict[str, list[Places]]] = {}
        moved: dict[int, Any] = {}
        for block, table in tables.items():
            used = table["id"] != 0
            # For each old slot the new one; those of removed chunks are never looked up.
            moved[block] = np.cumsum(used) - 1 + start
            kept.append(table[used])
            start += int(used.sum())
        for block, bucket, data in self._rows.postings(None, tables):
            if bucket == SLOTS:
                continue
            row = words.setdefault(bucket, {})
            for word, places in unpack_words(data).items():
                slots = places >> SLOT_SHIFT
                used = tables[block]["id"][slots] != 0
                in_slot = places[used] & ((1 << SLOT_SHIFT) - 1)
                slots = moved[block][slots[used]].astype(np.uint32) << SLOT_SHIFT
                if len(slots):
                    row.setdefault(word, []).append(slots | in_slot)
        self._rows.delete_blocks(list(tables))
        table = np.concatenate(kept)
        packed = [
            (bucket, number, pack_words({one: np.sort(np.concatenate(row[one])) for one in row}))
            for bucket, row in words.items()
            if row
        ]
        self._rows.put_postings([*packed, (SLOTS, number, pack_slots(table))])
        self._rows.execute(
            "UPDATE notewell.chunks SET block = %s WHERE {own} AND id = ANY(%s)",
            (number, [int(one) for one in table["id"]]),
        )


def _words_of(chunk: _NewChunk, slot: int) -> dict[str, list[int]]:
    words: dict[str, list[int]] = {}
    for field, tokens in enumerate(chunk.fields):
        positions: dict[str, list[int]] = {}
        for position, token in enumerate(tokens):
            positions.setdefault(token, []).append(position)
        for token, at in positions.items():
            words.setdefault(token, []).extend(places_in(slot, field, at))
    return words


def _groups(tables: Mapping[int, SlotTable], *, everything: bool) -> list[list[int]]:
    """Which blocks become one."""
    sizes = {block: int(np.count_nonzero(table["id"])) for block, table in tables.items()}
    groups: list[list[int]] = []
    room = 0
    for block, size in sorted(sizes.items()):
        if size >= SMALL_BLOCK:
            if everything and size < len(tables[block]):
                groups.append([block])
            continue
        if size > room:
            groups.append([])
            room = BLOCK_SLOTS
        groups[-1].append(block)
        room -= size
    # One block alone is written again only to remove what is left of removed chunks.
    return [
        group
        for group in groups
        if len(group) > 1 or (everything and any(sizes[one] < len(tables[one]) for one in group))
    ]
