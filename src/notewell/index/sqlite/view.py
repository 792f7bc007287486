"""Queries to one generation at one moment: contents, keyword search, vector search."""

from __future__ import annotations

import json
import sys
from array import array
from sys import intern
from typing import TYPE_CHECKING, Any, cast, get_args

import apsw

from notewell.core import TextMatches, TextStats, window_cosines
from notewell.errors import IndexUnreadable
from notewell.index.records import (
    EMBEDDED,
    ChunkFacts,
    ChunkRun,
    Counts,
    Identity,
    IndexedNote,
    StoredChunk,
)
from notewell.index.sqlite.connect import our_errors, select
from notewell.index.sqlite.full_text import (
    BEST_CHUNKS,
    COUNTS_OF_CHUNKS,
    TermCounter,
    Totals,
    match_expression,
    source_word,
)
from notewell.index.sqlite.inventory import SqliteInventory
from notewell.index.sqlite.postings import (
    LEAST_ROWS,
    MOST_PLACES,
    MOST_ROWS,
    as_matches,
    best_chunks,
)
from notewell.index.sqlite.schema import META_KEY, SCALE_KEY, SCHEMA
from notewell.ports import CosineScale, WindowedVector
from notewell.types import NoteStat, SessionFacts, Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from notewell.core import TextQuery, WindowCosines
    from notewell.index.sqlite.memo import ReadMemo
    from notewell.index.sqlite.postings import PostingReader
    from notewell.index.sqlite.vectors import VectorDriver, VectorReader


NO_MATCHES = TextMatches.of([])
_SOURCE_WORDS = {source: source_word(source) for source in get_args(Source)}
SHORT_NOTE = 64
"""Chunks. Of a longer note, those around a hit are selected."""


def stored_identity(db: apsw.Connection, path: Path) -> Identity:
    """What a generation was built with."""
    rows = select(db, "SELECT value FROM meta WHERE key = ?", (META_KEY,))
    if not rows:
        raise IndexUnreadable(str(path), "it does not say what it was built with")
    try:
        fields = cast("dict[str, Any]", json.loads(rows[0][0]))
        return Identity(**(fields | {"sources": tuple(fields["sources"])}))
    except ValueError as error:
        raise IndexUnreadable(str(path), f"meta {META_KEY!r} is not JSON") from error
    except (TypeError, KeyError) as error:
        raise IndexUnreadable(str(path), f"its description is invalid: {error}") from error


def driver_of(identity: Identity, own: VectorDriver) -> VectorDriver:
    """The driver for an index: the one that stores its vectors, if that is one of this process;
    otherwise the vectors are not read."""
    if identity.driver == own.name or not identity.is_readable_with(own.name):
        return own
    from notewell.index.sqlite.segments import SegmentDriver

    return SegmentDriver()


def driver_in(db: apsw.Connection, path: Path, own: VectorDriver) -> VectorDriver:
    """The same for the generation that is open."""
    try:
        return driver_of(stored_identity(db, path), own)
    except (apsw.Error, IndexUnreadable):
        # Whoever reads the description next reports it, and marks the index as damaged.
        return own


class SqliteView:
    """See `IndexView`. Valid while the transaction that it was made in lasts."""

    def __init__(
        self,
        db: apsw.Connection,
        path: Path,
        driver: VectorDriver,
        vectors: Callable[[], VectorReader],
        memo: ReadMemo | None = None,
    ) -> None:
        """`driver` is the one of the index; see `driver_of`. A view of a writer has no `memo`:
        what it reads may change while it is open."""
        # The view does not own the connection; whoever opened the transaction closes it.
        self._db = db
        self.path = path
        self._driver = driver
        self._vectors = vectors
        self._memo = memo

    @property
    def generation(self) -> str:
        return self.path.name

    # -- contents --------------------------------------------------------------------------------

    def identity(self) -> Identity:
        with our_errors(self.path):
            return stored_identity(self._db, self.path)

    def cosine_scale(self) -> CosineScale | None:
        rows = self._select("SELECT value FROM meta WHERE key = ?", (SCALE_KEY,))
        try:
            return CosineScale(**json.loads(rows[0][0])) if rows else None
        except (ValueError, TypeError) as error:
            raise IndexUnreadable(str(self.path), f"meta {SCALE_KEY!r}: {error}") from error

    def outdated(self) -> str | None:
        schema = None if self._memo is None else self._memo.schema
        if schema is None:
            with our_errors(self.path):
                schema = int(self._db.pragma("user_version"))
            if self._memo is not None:
                self._memo.schema = schema
        return f"its schema is {schema}, now {SCHEMA}" if schema < SCHEMA else None

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
        """Counted in the index `chunks_by_place`: every sync counts, and counting the rows of
        `chunks` would read the text of all notes."""
        # With one source the join would only repeat the plain count.
        if len(sources) == 1:
            return {sources[0]: self._count("SELECT count(*) FROM chunks")}
        return dict(
            self._select(
                "SELECT files.source, count(*) FROM files "
                "CROSS JOIN chunks ON chunks.path = files.path GROUP BY files.source"
            )
        )

    def is_empty(self) -> bool:
        known = None if self._memo is None else self._memo.is_empty
        if known is None:
            known = not self._select("SELECT 1 FROM chunks LIMIT 1")
            if self._memo is not None:
                self._memo.is_empty = known
        return known

    def has_vectors(self) -> bool:
        oldest = self._select("SELECT embedded FROM chunks ORDER BY id LIMIT 1")
        if oldest == [(EMBEDDED,)]:  # The oldest chunk gets its vector first.
            return True
        # By counting: searching for one embedded row would read the text of all chunks.
        return self._count("SELECT count(*) FROM chunks") > self.waiting() + self._unread()

    def waiting(self) -> int:
        """Counted in the partial index `chunks_without_vector`."""
        return self._count("SELECT count(*) FROM chunks WHERE embedded = 0")

    def _unread(self) -> int:
        return self._count("SELECT count(*) FROM chunks WHERE embedded = 2")

    def _count(self, sql: str) -> int:
        return int(self._select(sql)[0][0])

    def notes(self, source: str | None = None) -> dict[str, IndexedNote]:
        # An empty source selects all notes, so that one statement serves both cases.
        sql = "SELECT path, size, mtime, ctime, inode, hash FROM files WHERE ? IN (source, '')"
        with our_errors(self.path):
            # Row by row: a list of all rows would trigger the garbage collector repeatedly.
            rows = cast("Iterable[tuple[Any, ...]]", self._db.execute(sql, (source or "",)))
            return {
                path: IndexedNote(NoteStat(size, mtime, ctime, int(inode)), digest)
                for path, size, mtime, ctime, inode, digest in rows
            }

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        wanted = list(ids)
        # What is kept is read once in this view, or in an earlier one of the same state.
        known = {} if self._memo is None else self._memo.chunks
        missing = [chunk_id for chunk_id in wanted if chunk_id not in known]
        if missing:
            known |= {row[0]: _stored(row) for row in self._rows_of(missing)}
        return {chunk_id: known[chunk_id] for chunk_id in wanted if chunk_id in known}

    def _rows_of(self, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        # One array: the number of bound values in a statement is limited. Sorted, so that
        # neighbours are read from one page.
        return self._select(
            f"SELECT {_CHUNK} FROM carray(?) CROSS JOIN chunks ON id = value",  # noqa: S608
            (apsw.carray(array("q", sorted(set(ids)))),),
        )

    def facts(self, ids: Iterable[int]) -> dict[int, ChunkFacts]:
        wanted = list(ids)
        known = {} if self._memo is None else self._memo.facts
        try:
            return {chunk_id: known[chunk_id] for chunk_id in wanted}
        except KeyError:
            missing = [chunk_id for chunk_id in wanted if chunk_id not in known]
        known |= {one: chunk.facts for one, chunk in self.chunks(missing).items()}
        return {chunk_id: known[chunk_id] for chunk_id in wanted if chunk_id in known}

    def sessions(self, paths: Iterable[str]) -> dict[str, SessionFacts]:
        from datetime import date

        rows = self._select(
            "SELECT path, day, folder, host FROM files WHERE source = 'sessions' "
            "AND path IN (SELECT value FROM json_each(?))",
            (json.dumps(list(paths)),),
        )
        return {
            path: SessionFacts(date.fromisoformat(day) if day else None, folder, host)
            for path, day, folder, host in rows
        }

    def folders(self) -> list[str]:
        rows = self._select(
            "SELECT DISTINCT folder FROM files WHERE folder IS NOT NULL ORDER BY folder"
        )
        return [folder for (folder,) in rows]

    def chunks_in(self, folders: Sequence[str]) -> list[int]:
        rows = self._select(
            "SELECT chunks.id FROM files CROSS JOIN chunks ON chunks.path = files.path "
            "WHERE files.folder IN (SELECT value FROM json_each(?)) ORDER BY chunks.id",
            (json.dumps(list(folders)),),
        )
        return [chunk_id for (chunk_id,) in rows]

    def digests(self) -> list[str]:
        """Of the text of each chunk."""
        return [digest for (digest,) in self._select("SELECT DISTINCT hash FROM chunks")]

    def chunks_of(self, path: str) -> list[int]:
        rows = self._select(
            "SELECT id FROM chunks WHERE path = ? ORDER BY start_line, id", (path,)
        )
        return [chunk_id for (chunk_id,) in rows]

    def chunks_of_notes(self, paths: Collection[str]) -> list[int]:
        rows = self._select(
            "SELECT id FROM chunks WHERE path IN (SELECT value FROM json_each(?))",
            (json.dumps(list(paths)),),
        )
        return [chunk_id for (chunk_id,) in rows]

    def around(self, path: str, first: int, last: int) -> ChunkRun:
        starts = self._starts_in(path)
        if self._memo is not None and starts and first <= starts[0][1] and last >= starts[-1][1]:
            run = self._memo.notes.get(path)
            if run is None:
                run = ChunkRun(self.chunks([chunk_id for chunk_id, _ in starts]).values())
                self._memo.notes[path] = run
            return run
        if starts is None:
            rows = self._select(
                "SELECT id FROM chunks "
                "WHERE path = ? AND start_line BETWEEN ? AND ? ORDER BY start_line, id",
                (path, first, last),
            )
            ids = [chunk_id for (chunk_id,) in rows]
        else:
            ids = [chunk_id for chunk_id, line in starts if first <= line <= last]
        return ChunkRun(self.chunks(ids).values())

    def _starts_in(self, path: str) -> Sequence[tuple[int, int]] | None:
        """The chunks of a note and the lines where they begin, in this order; None if there are
        many."""
        if self._memo is None:
            return None
        known = self._memo.starts
        if path not in known:
            rows = self._select(
                "SELECT id, start_line FROM chunks WHERE path = ? ORDER BY start_line, id LIMIT ?",
                (path, SHORT_NOTE + 1),
            )
            known[path] = cast("list[tuple[int, int]]", rows) if len(rows) <= SHORT_NOTE else None
        return known[path]

    def waiting_for_vectors(self, limit: int, after: int = 0) -> list[StoredChunk]:
        rows = self._select(
            "SELECT id FROM chunks WHERE embedded = 0 AND id > ? ORDER BY id LIMIT ?",
            (after, limit),
        )
        chunks = self.chunks(row[0] for row in rows)
        return [chunks[row[0]] for row in rows]

    def vectors_of(self, paths: Iterable[str]) -> dict[str, WindowedVector]:
        digests = dict(
            self._select(
                "SELECT id, hash FROM chunks WHERE embedded = 1 "
                "AND path IN (SELECT value FROM json_each(?))",
                (json.dumps(list(paths)),),
            )
        )
        with our_errors(self.path):
            ids, vectors = self._driver.stored(self._db, list(digests))
        windows = self._windows(ids)
        return {
            digests[chunk_id]: WindowedVector(row, windows.get(chunk_id, b""))
            for chunk_id, row in zip(ids, vectors, strict=True)
        }

    def inventory(self) -> SqliteInventory:
        return SqliteInventory(self._db, self.path, self._driver)

    def _select(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with our_errors(self.path):
            return select(self._db, sql, values)

    # -- searching -------------------------------------------------------------------------------

    def matching(
        self,
        query: TextQuery,
        sources: Sequence[str],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> tuple[TextMatches, TextStats]:
        if not query.terms or not sources:
            return NO_MATCHES, TextStats(0, 0.0, ())
        filters = self._filters(sources)
        # Of all sources: a term must weigh the same whichever source is searched.
        having = self.having(query.forms)
        found = None
        if self._memo is not None and among is None and not filters:
            found = self._kept_lists(query, having, self._memo.postings(self._db), limit)
        matches, totals = found or self._counted(query, filters, limit, among)
        chunks, words = (totals.chunks, totals.body_words) if matches else (0, 0)
        sums = [sum([having.get(form, 0) for form in group]) for group in query.groups]
        # A chunk is in one language, so nearly none has two forms of a term. Without a match the
        # number of chunks is not known.
        frequencies = [min(chunks, number) for number in sums] if matches else sums
        return matches, TextStats(chunks, words / max(1, chunks), tuple(frequencies))

    def _counted(
        self, query: TextQuery, filters: Sequence[str], limit: int, among: Sequence[int] | None
    ) -> tuple[TextMatches, Totals]:
        """FTS5 ranks all matches, and counts in the best."""
        expression = match_expression(query, filters)
        only = None if among is None else json.dumps(list(among))
        rows = self._select(BEST_CHUNKS, (expression, only, only, limit))
        ids, counter = [chunk_id for (chunk_id,) in rows], TermCounter(query, len(filters))
        if ids:  # carray does not accept an empty array.
            chosen = apsw.carray(array("q", ids))
            self._select(COUNTS_OF_CHUNKS, (apsw.pyobject(counter), expression, chosen))
        return counter.matches(ids), counter.totals

    def _kept_lists(
        self, query: TextQuery, having: Mapping[str, int], reader: PostingReader, limit: int
    ) -> tuple[TextMatches, Totals] | None:
        """The same from lists of words that are kept; None if FTS5 is quicker."""
        places = sum(having.values())
        # numpy is not loaded for words alone.
        if LEAST_ROWS < places <= MOST_ROWS and "numpy" in sys.modules:
            found = self._long_lists(query, having, reader, limit)
            if found is not None:
                return found
        if places <= MOST_PLACES:
            return self._short_lists(query, having, reader, limit)
        return None

    def _long_lists(
        self, query: TextQuery, having: Mapping[str, int], reader: PostingReader, limit: int
    ) -> tuple[TextMatches, Totals] | None:
        with our_errors(self.path):
            postings = reader.arrays(having)
            if postings is None:
                return None
            from notewell.index.sqlite.posting_arrays import matches_in

            return matches_in(query, postings, limit), reader.totals()

    def _short_lists(
        self, query: TextQuery, having: Mapping[str, int], reader: PostingReader, limit: int
    ) -> tuple[TextMatches, Totals]:
        with our_errors(self.path):
            postings = {form: reader.posting(form, having.get(form, 0)) for form in query.forms}
            ids = best_chunks(postings, having, reader)
            if not ids:
                return NO_MATCHES, Totals(0, 0, 0)
            return as_matches(query, postings, ids, limit, reader), reader.totals()

    def _filters(self, sources: Sequence[str]) -> Sequence[str]:
        """The sources to search, or none if the index has no others."""
        others = [word for source, word in _SOURCE_WORDS.items() if source not in sources]
        return sources if self.having(others) else ()

    def having(self, terms: Sequence[str]) -> dict[str, int]:
        known = {} if self._memo is None else self._memo.having
        missing = [term for term in terms if term not in known]
        if missing:
            known |= dict.fromkeys(missing, 0)
            known |= self._select(
                "SELECT term, doc FROM chunks_words "
                "WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(missing),),
            )
        return {term: known[term] for term in terms if known[term]}

    def nearest(self, vector: NDArray[np.float32], sources: Sequence[str], k: int) -> list[int]:
        near = self._vectors().nearest(self._db, vector, sources, k)
        return list(dict(near))

    def cosines(self, vector: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
        return self._vectors().cosines(self._db, vector, ids)

    def window_cosines(self, vector: NDArray[np.float32], ids: Sequence[int]) -> WindowCosines:
        table = None if self._memo is None else self._memo.window_table(self._db, len(vector))
        if table is None:
            return window_cosines(vector, self._windows(ids))
        return table.cosines(vector)

    def _windows(self, ids: Sequence[int]) -> dict[int, bytes]:
        known = {} if self._memo is None else self._memo.windows
        missing = sorted([chunk_id for chunk_id in ids if chunk_id not in known])
        if missing:  # carray does not accept an empty array.
            known |= dict.fromkeys(missing, b"")
            known |= self._select(
                "SELECT id, codes FROM carray(?) CROSS JOIN chunk_windows ON id = value",
                (apsw.carray(array("q", missing)),),
            )
        return {chunk_id: known[chunk_id] for chunk_id in ids if known[chunk_id]}

    @property
    def answered_by(self) -> str:
        """How the last vector query was answered; see `VectorReader`."""
        return self._vectors().answered_by


_CHUNK = "id, path, source, start_line, end_line, hash, heading, text, piece, said_at, line_offset"


def _stored(row: tuple[Any, ...]) -> StoredChunk:
    chunk_id, path, source, start, end, digest, heading, text, piece, said_at, offset = row
    return StoredChunk(
        chunk_id,
        intern(path),  # Chunks of one note share it.
        source,
        Span(start, end),
        digest,
        heading,
        text,
        bool(piece),
        said_at,
        offset,
    )
