"""Everything that is read from one generation, at one moment."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from notewell.core import TextMatch, TextStats
from notewell.errors import IndexUnreadable
from notewell.index.records import EMBEDDED, Counts, Identity, IndexedNote, StoredChunk
from notewell.index.sqlite.connect import our_errors, select
from notewell.index.sqlite.schema import META_KEY
from notewell.types import NoteStat, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date
    from pathlib import Path

    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from notewell.core import TextQuery
    from notewell.index.sqlite.inventory import SqliteInventory
    from notewell.index.sqlite.vectors import VectorDriver, VectorReader

BODY, HEADING, NAME = 1, 2, 3  # Columns of chunks_fts; 0 is the source.
_SOURCE_MARK = "_"
_RANK = "bm25(0.0, 1.0, 0.6, 0.4)"


class SqliteView:
    """Questions to one generation; valid while the transaction it was made in lasts."""

    def __init__(
        self,
        db: apsw.Connection,
        path: Path,
        driver: VectorDriver,
        vectors: Callable[[], VectorReader],
    ) -> None:
        self._db = db
        self.path = path
        self._driver = driver
        self._vectors = vectors

    @property
    def generation(self) -> str:
        return self.path.name

    # -- what is in it ---------------------------------------------------------------------------

    def identity(self) -> Identity:
        told = self._meta(META_KEY)
        if told is None:
            raise IndexUnreadable(str(self.path), "it does not say what it was made with")
        try:
            return Identity(**(told | {"sources": tuple(told["sources"])}))
        except (TypeError, KeyError) as error:
            raise IndexUnreadable(str(self.path), f"its description is odd: {error}") from error

    def _meta(self, key: str) -> dict[str, Any] | None:
        rows = self._select("SELECT value FROM meta WHERE key = ?", (key,))
        try:
            return cast("dict[str, Any]", json.loads(rows[0][0])) if rows else None
        except ValueError as error:
            raise IndexUnreadable(str(self.path), f"meta {key!r} is not JSON") from error

    def counts(self) -> Counts:
        files = dict(self._select("SELECT source, count(*) FROM files GROUP BY source"))
        chunks = self._chunks_by_source(tuple(files))
        total, waiting = sum(chunks.values()), self.waiting()
        return Counts(
            files=sum(files.values()),
            chunks=total,
            embedded=total - waiting - self._unread(),
            waiting=waiting,
            by_source={name: (files[name], chunks.get(name, 0)) for name in sorted(files)},
        )

    def _chunks_by_source(self, sources: Sequence[str]) -> dict[str, int]:
        """Read off the index of places: every sync counts, and to walk through the chunks
        themselves is to read the text of all notes."""
        if len(sources) == 1:
            return {sources[0]: self._count("SELECT count(*) FROM chunks")}
        return dict(
            self._select(
                "SELECT files.source, count(*) FROM files "
                "CROSS JOIN chunks ON chunks.path = files.path GROUP BY files.source"
            )
        )

    def is_empty(self) -> bool:
        return not self._select("SELECT 1 FROM chunks LIMIT 1")

    def has_vectors(self) -> bool:
        oldest = self._select("SELECT embedded FROM chunks ORDER BY id LIMIT 1")
        if oldest == [(EMBEDDED,)]:  # Vectors come to the oldest first.
            return True
        # Counted: to look for one among a million without is to read the text of all.
        return self._count("SELECT count(*) FROM chunks") > self.waiting() + self._unread()

    def waiting(self) -> int:
        """How many chunks wait for a vector; read off their own index, not off all chunks."""
        return self._count("SELECT count(*) FROM chunks WHERE embedded = 0")

    def _unread(self) -> int:
        return self._count("SELECT count(*) FROM chunks WHERE embedded = 2")

    def _count(self, sql: str) -> int:
        return int(self._select(sql)[0][0])

    def notes(self, source: str | None = None) -> dict[str, IndexedNote]:
        """What was indexed, of one source or of all."""
        known = "SELECT path, size, mtime, ctime, inode, hash FROM files WHERE ? IN (source, '')"
        with our_errors(self.path):
            # Row by row: a list of them all would set off the garbage collector again and again.
            rows = cast("Iterable[tuple[Any, ...]]", self._db.execute(known, (source or "",)))
            return {
                path: IndexedNote(NoteStat(size, mtime, ctime, int(inode)), digest)
                for path, size, mtime, ctime, inode, digest in rows
            }

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        rows = self._select(
            f"SELECT {_CHUNK} FROM chunks WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (json.dumps(list(ids)),),
        )
        return {row[0]: _stored(row) for row in rows}

    def places(self, ids: Iterable[int]) -> dict[int, tuple[str, Span]]:
        """Which lines of which note each chunk is."""
        rows = self._select(
            "SELECT id, path, start_line, end_line FROM chunks "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {chunk_id: (path, Span(start, end)) for chunk_id, path, start, end in rows}

    def days(self, paths: Iterable[str]) -> dict[str, date]:
        """The days of these files, where their names do not say them."""
        from datetime import date

        rows = self._select(
            "SELECT path, day FROM files WHERE day IS NOT NULL "
            "AND path IN (SELECT value FROM json_each(?))",
            (json.dumps(list(paths)),),
        )
        return {path: date.fromisoformat(day) for path, day in rows}

    def chunks_of(self, path: str) -> list[int]:
        """The chunks of a note, in order."""
        rows = self._select(
            "SELECT id FROM chunks WHERE path = ? ORDER BY start_line, id", (path,)
        )
        return [chunk_id for (chunk_id,) in rows]

    def around(self, path: str, first: int, last: int) -> list[StoredChunk]:
        """The chunks of a note that begin in these lines, in order."""
        rows = self._select(
            f"SELECT {_CHUNK} FROM chunks "  # noqa: S608
            "WHERE path = ? AND start_line BETWEEN ? AND ? ORDER BY start_line, id",
            (path, first, last),
        )
        return [_stored(row) for row in rows]

    def waiting_for_vectors(self, limit: int, after: int = 0) -> list[StoredChunk]:
        """Chunks without a vector, oldest first."""
        rows = self._select(
            "SELECT id FROM chunks WHERE embedded = 0 AND id > ? ORDER BY id LIMIT ?",
            (after, limit),
        )
        found = self.chunks(row[0] for row in rows)
        return [found[row[0]] for row in rows]

    def vectors_of(self, paths: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of these notes' chunks, by the digest of their text."""
        digests = dict(
            self._select(
                "SELECT id, hash FROM chunks WHERE embedded = 1 "
                "AND path IN (SELECT value FROM json_each(?))",
                (json.dumps(list(paths)),),
            )
        )
        with our_errors(self.path):
            found, vectors = self._driver.stored(self._db, list(digests))
        return {digests[chunk_id]: row for chunk_id, row in zip(found, vectors, strict=True)}

    def inventory(self) -> SqliteInventory:
        """Everything in it, listed."""
        from notewell.index.sqlite.inventory import SqliteInventory

        return SqliteInventory(self._db, self.path, self._driver)

    def _select(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with our_errors(self.path):
            return select(self._db, sql, values)

    # -- the two legs ----------------------------------------------------------------------------

    def matching(
        self,
        query: TextQuery,
        sources: Sequence[str],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> tuple[list[TextMatch], TextStats]:
        """The chunks with the best BM25, and what their exact score is computed from.

        `among` looks at these chunks alone.
        """
        if not query.terms or not sources:
            return [], TextStats(0, 0.0, ())
        named = None if among is None else json.dumps(list(among))
        rows = self._select(
            "SELECT rowid, notewell_counts(chunks_fts, ?) FROM chunks_fts "
            "WHERE chunks_fts MATCH ? AND rank MATCH ? "
            "AND (? IS NULL OR rowid IN (SELECT value FROM json_each(?))) ORDER BY rank LIMIT ?",
            (len(sources), _match_expression(query, sources), _RANK, named, named, limit),
        )
        chunks, words, matches = 0, 0, []
        for chunk_id, told in rows:
            body, heading, name, gaps, length, chunks, words = json.loads(told)
            fields = (tuple(body), tuple(heading), tuple(name))
            matches.append(TextMatch(chunk_id, *fields, length, tuple(gaps)))
        having = self.having(query.terms)
        frequencies = tuple(having.get(term, 0) for term in query.terms)
        return matches, TextStats(chunks, words / max(1, chunks), frequencies)

    def having(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each of the terms; those that no chunk has are left out."""
        rows = self._select(
            "SELECT term, doc FROM chunks_words WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(terms),),
        )
        return dict(rows)

    def nearest(self, vector: NDArray[np.float32], sources: Sequence[str], k: int) -> list[int]:
        near = self._vectors().nearest(self._db, vector, sources, k)
        return [chunk_id for chunk_id, _ in near]

    def cosines(self, vector: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
        """Exact, and the same to the last digit wherever a row happens to be stored."""
        import numpy as np

        found, rows = self._driver.stored(self._db, ids)
        products = rows.astype(np.float64) * vector.astype(np.float64)
        exact = products.sum(axis=1).round(9)
        return dict(zip(found, exact.tolist(), strict=True))

    @property
    def answered_by(self) -> str:
        """Which way the last vector query went."""
        return self._vectors().answered_by


_CHUNK = "id, path, source, start_line, end_line, hash, heading, text, piece"


def _stored(row: tuple[Any, ...]) -> StoredChunk:
    chunk_id, path, source, start, end, digest, heading, text, piece = row
    return StoredChunk(
        chunk_id, path, source, Span(start, end), digest, heading, text, bool(piece)
    )


def register_counts(db: apsw.Connection) -> None:
    """Teach FTS5 to hand over how often each term stands where, for the rows it returns."""
    db.register_fts5_function("notewell_counts", _counts)


def _counts(api: apsw.FTS5ExtensionApi, *values: apsw.SQLiteValue) -> str:
    # The sources come first in the expression (see _match_expression); they are no terms.
    sources = cast("int", values[0])
    places = [api.phrase_locations(phrase) for phrase in range(sources, api.phrase_count)]
    fields = [[len(place[field]) for place in places] for field in (BODY, HEADING, NAME)]
    body = [place[BODY] for place in places]
    gaps = [_gap(one, following) for one, following in pairwise(body)]
    told = [*fields, gaps, api.column_size(BODY), api.row_count, api.column_total_size(BODY)]
    return json.dumps(told)


def _gap(one: Sequence[int], other: Sequence[int]) -> int:
    """How far the nearest two places of two terms are apart; 0 where one has no place."""
    least, i, j = 0, 0, 0
    while i < len(one) and j < len(other):
        gap = abs(one[i] - other[j])
        least = min(least, gap) if least else gap
        i, j = (i + 1, j) if one[i] < other[j] else (i, j + 1)
    return least


def source_word(source: str) -> str:
    """The word a chunk's source is found by; no word of a text begins with an underscore."""
    return f"{_SOURCE_MARK}{source}"


def _match_expression(query: TextQuery, sources: Sequence[str]) -> str:
    """Only quoted words reach FTS5; its operators and column filters are ours alone."""
    wanted = " OR ".join(_quoted(source_word(source)) for source in sources)
    terms = " OR ".join(_quoted(term) for term in query.terms)
    return f"source : ({wanted}) AND {{body heading name}} : ({terms})"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
