"""Everything in one generation, listed: for a page that shows it all, never for a search.

Each question reads rows of every note, and all but one leave the texts alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.index.records import EMBEDDED, ListedNote, OutlinedChunk, PlacedChunk
from notewell.index.sqlite.connect import our_errors, select
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    import apsw

    from notewell.index.sqlite.vectors import VectorDriver
    from notewell.ports import Vectors


class SqliteInventory:
    """Valid as long as the snapshot that it was asked of."""

    def __init__(self, db: apsw.Connection, path: Path, driver: VectorDriver) -> None:
        self._db = db
        self._path = path
        self._driver = driver

    def notes(self) -> list[ListedNote]:
        """All of them, by path."""
        rows = self._select(
            "SELECT files.path, files.source, size, mtime, day, count(chunks.id), "
            "coalesce(max(end_line), 0) FROM files "
            "LEFT JOIN chunks ON chunks.path = files.path GROUP BY files.path ORDER BY files.path"
        )
        return [ListedNote(*row) for row in rows]

    def outline(self, path: str) -> list[OutlinedChunk]:
        """The chunks of a note, in order, without what they say."""
        rows = self._select(
            "SELECT start_line, end_line, heading, embedded FROM chunks "
            "WHERE path = ? ORDER BY start_line, id",
            (path,),
        )
        return [
            OutlinedChunk(Span(start, end), heading, embedded == EMBEDDED)
            for start, end, heading, embedded in rows
        ]

    def chars(self) -> dict[str, int]:
        """How many characters the chunks of each note have. This one reads every text."""
        rows = self._select("SELECT path, sum(length(text)) FROM chunks GROUP BY path")
        return dict(rows)

    def placed(self) -> list[PlacedChunk]:
        """The chunks that have a vector, by place: an index built in another order is told the
        same way."""
        rows = self._select(
            "SELECT id, path, source, start_line FROM chunks WHERE embedded = ? "
            "ORDER BY path, start_line, end_line, hash",
            (EMBEDDED,),
        )
        return [PlacedChunk(*row) for row in rows]

    def last_id(self) -> int:
        """Of the newest chunk; a number that is given out once, so that anything new raises it."""
        ((found,),) = self._select("SELECT coalesce(max(id), 0) FROM chunks")
        return int(found)

    def vectors(self, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        """The vectors of these chunks, ascending by id; one that is gone is left out."""
        with our_errors(self._path):
            return self._driver.stored(self._db, ids)

    def _select(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with our_errors(self._path):
            return select(self._db, sql, values)
