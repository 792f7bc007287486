"""Queries that read rows of every note: lists, outlines and the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.index.records import EMBEDDED, ListedNote, OutlinedChunk, PlacedChunk
from notewell.index.sqlite.connect import our_errors, select
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import apsw

    from notewell.index.sqlite.vectors import VectorDriver
    from notewell.ports import Vectors


class SqliteInventory:
    """See `IndexInventory`. Each query reads rows of every note, so a search uses none of them."""

    def __init__(self, db: apsw.Connection, path: Path, driver: VectorDriver) -> None:
        self._db = db
        self._path = path
        self._driver = driver

    def notes(self) -> list[ListedNote]:
        rows = self._select(
            "SELECT files.path, files.source, size, mtime, day, count(chunks.id), "
            "coalesce(max(end_line), 0) FROM files "
            "LEFT JOIN chunks ON chunks.path = files.path GROUP BY files.path ORDER BY files.path"
        )
        return [ListedNote(*row) for row in rows]

    def outline(self, path: str) -> list[OutlinedChunk]:
        rows = self._select(
            "SELECT start_line, end_line, heading, embedded FROM chunks "
            "WHERE path = ? ORDER BY start_line, id",
            (path,),
        )
        return [
            OutlinedChunk(Span(start, end), heading, embedded == EMBEDDED)
            for start, end, heading, embedded in rows
        ]

    def opening(self, path: str, chars: int) -> str:
        rows = self._select(
            "SELECT substr(text, 1, ?) FROM chunks WHERE path = ? ORDER BY start_line, id LIMIT 1",
            (chars, path),
        )
        return "".join(text for (text,) in rows)

    def chars(self) -> dict[str, int]:
        rows = self._select("SELECT path, sum(length(text)) FROM chunks GROUP BY path")
        return dict(rows)

    def placed(self) -> list[PlacedChunk]:
        rows = self._select(
            "SELECT id, path, source, start_line FROM chunks WHERE embedded = ? "
            "ORDER BY path, start_line, end_line, hash",
            (EMBEDDED,),
        )
        return [PlacedChunk(*row) for row in rows]

    def last_id(self) -> int:
        ((last_id,),) = self._select("SELECT coalesce(max(id), 0) FROM chunks")
        return int(last_id)

    def vectors(self, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        with our_errors(self._path):
            return self._driver.stored(self._db, ids)

    def _select(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with our_errors(self._path):
            return select(self._db, sql, values)
