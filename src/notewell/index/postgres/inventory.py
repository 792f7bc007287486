"""Queries that read rows of every note: lists, outlines and the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from notewell.index.postgres.vectors import read_vectors
from notewell.index.records import EMBEDDED, ListedNote, OutlinedChunk, PlacedChunk
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.index.postgres.generations import GenerationRows
    from notewell.ports import Vectors


class PostgresInventory:
    """See `IndexInventory`. Each query reads rows of every note, so a search uses none of them."""

    def __init__(self, rows: GenerationRows, dims: Callable[[], int]) -> None:
        self._rows = rows
        self._dims = dims

    def notes(self) -> list[ListedNote]:
        sizes = {
            path: (chunks, last)
            for path, chunks, last in self._rows.select(
                "SELECT path, count(*), max(end_line) FROM notewell.chunks WHERE {own} "
                "GROUP BY path"
            )
        }
        rows = self._rows.select(
            "SELECT path, source, size, mtime, day FROM notewell.files WHERE {own} ORDER BY path"
        )
        return [ListedNote(*(*row, *sizes.get(row[0], (0, 0)))) for row in rows]

    def outline(self, path: str) -> list[OutlinedChunk]:
        rows = self._rows.select(
            "SELECT start_line, end_line, heading, state FROM notewell.chunks "
            "WHERE {own} AND path = %s ORDER BY start_line, id",
            (path,),
        )
        return [
            OutlinedChunk(Span(start, end), heading, state == EMBEDDED)
            for start, end, heading, state in rows
        ]

    def opening(self, path: str, chars: int) -> str:
        rows = self._rows.select(
            "SELECT left(text, %s) FROM notewell.chunks "
            "WHERE {own} AND path = %s ORDER BY start_line, id LIMIT 1",
            (chars, path),
        )
        return "".join(text for (text,) in rows)

    def chars(self) -> dict[str, int]:
        return dict(
            self._rows.select(
                "SELECT path, sum(length(text)) FROM notewell.chunks WHERE {own} GROUP BY path"
            )
        )

    def placed(self) -> list[PlacedChunk]:
        rows = self._rows.select(
            "SELECT id, path, source, start_line FROM notewell.chunks "
            "WHERE {own} AND state = 1 ORDER BY path, start_line, end_line, digest"
        )
        return [PlacedChunk(*row) for row in rows]

    def last_id(self) -> int:
        ((last_id,),) = self._rows.select(
            "SELECT coalesce(max(id), 0) FROM notewell.chunks WHERE {own}"
        )
        return int(last_id)

    def vectors(self, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        found = read_vectors(self._rows, ids)
        if not found:
            return [], np.empty((0, self._dims()), np.float32)
        return list(found), np.stack([one.vector for one in found.values()])
