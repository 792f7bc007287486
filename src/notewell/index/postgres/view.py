"""Queries to one generation at one moment: contents, keyword search, vector search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.core import unit_rows, window_cosines
from notewell.index.postgres.generations import LAYOUT
from notewell.index.postgres.half_vectors import count_wrong_halves, nearest_candidates
from notewell.index.postgres.text_reader import TextIndex, TextReader
from notewell.index.postgres.vectors import exact_cosines, nearest_ids, read_vectors
from notewell.index.records import ChunkRun, Counts, IndexedNote, StoredChunk
from notewell.types import NoteStat, SessionFacts, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from notewell.core import TextMatches, TextQuery, TextStats, WindowCosines
    from notewell.index.postgres.generations import Generation, GenerationRows
    from notewell.index.postgres.inventory import PostgresInventory
    from notewell.index.postgres.memo import StateMemo
    from notewell.index.records import ChunkFacts, Identity
    from notewell.ports import CosineScale, Vectors, WindowedVector

SMALL_MEMORY = 256
"""Chunks. All rows of such a memory are read at once: a search needs most of them, and one
statement takes less of the server than five."""

CHUNK_COLUMNS = (
    "id, path, source, start_line, end_line, digest, heading, text, piece, said_at, line_offset"
)


class PostgresView:
    """See `IndexView`. Valid while the transaction that it was made in lasts."""

    def __init__(
        self,
        rows: GenerationRows,
        generation: Callable[[], Generation],
        memo: Callable[[], StateMemo],
    ) -> None:
        """A view of a writer reads its generation anew for each question, and has a new memo each
        time: what it reads may change while it is open."""
        self._rows = rows
        self._generation = generation
        self._memo = memo

    @property
    def generation(self) -> str:
        return self._generation().name

    # -- contents --------------------------------------------------------------------------------

    def identity(self) -> Identity:
        return self._generation().identity()

    def cosine_scale(self) -> CosineScale | None:
        return self._generation().cosine_scale()

    def outdated(self) -> str | None:
        layout = self._generation().layout
        return f"its layout is {layout}, now {LAYOUT}" if layout < LAYOUT else None

    def counts(self) -> Counts:
        generation = self._generation()
        files = dict(self._select(_COUNTED.format(table="files")))
        chunks = dict(self._select(_COUNTED.format(table="chunks")))
        return Counts(
            files=sum(files.values()),
            chunks=generation.chunks,
            embedded=generation.embedded,
            waiting=generation.waiting,
            by_source={name: (files[name], chunks.get(name, 0)) for name in sorted(files)},
        )

    def is_empty(self) -> bool:
        return not self._generation().chunks

    def has_vectors(self) -> bool:
        return self._generation().embedded > 0

    def waiting(self) -> int:
        return self._generation().waiting

    def notes(self, source: str | None = None) -> dict[str, IndexedNote]:
        known = self._memo().notes
        name = source or ""
        if name not in known:
            rows = self._select(
                "SELECT path, size, mtime, ctime, inode, digest FROM notewell.files "
                "WHERE {own} AND %s IN (source, '')",
                (name,),
            )
            known[name] = {
                path: IndexedNote(NoteStat(size, mtime, ctime, int(inode)), digest)
                for path, size, mtime, ctime, inode, digest in rows
            }
        return dict(known[name])

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        wanted, memo = list(ids), self._memo()
        self._read_small(memo)
        missing = [one for one in wanted if one not in memo.chunks]
        if missing and not memo.has_all_chunks:
            memo.chunks |= self._chunks_where("AND id = ANY(%s)", (missing,))
        return {one: memo.chunks[one] for one in wanted if one in memo.chunks}

    def _read_small(self, memo: StateMemo) -> None:
        """Reads all chunks of a small memory."""
        if not memo.has_all_chunks and self._generation().chunks <= SMALL_MEMORY:
            memo.chunks = self._chunks_where()
            memo.has_all_chunks = True

    def _chunks_where(
        self, condition: str = "", values: Sequence[Any] = ()
    ) -> dict[int, StoredChunk]:
        rows = self._select(
            f"SELECT {CHUNK_COLUMNS} FROM notewell.chunks WHERE {{own}} {condition}",  # noqa: S608
            values,
        )
        return {row[0]: stored_chunk(row) for row in rows}

    def facts(self, ids: Iterable[int]) -> dict[int, ChunkFacts]:
        return {one: chunk.facts for one, chunk in self.chunks(ids).items()}

    def sessions(self, paths: Iterable[str]) -> dict[str, SessionFacts]:
        from datetime import date

        rows = self._select(
            "SELECT path, day, folder, host FROM notewell.files WHERE {own} "
            "AND source = 'sessions' AND path = ANY(%s)",
            (list(paths),),
        )
        return {
            path: SessionFacts(date.fromisoformat(day) if day else None, folder, host)
            for path, day, folder, host in rows
        }

    def folders(self) -> list[str]:
        rows = self._select(
            "SELECT DISTINCT folder FROM notewell.files WHERE {own} AND folder IS NOT NULL"
        )
        return sorted(folder for (folder,) in rows)

    def chunks_in(self, folders: Sequence[str]) -> list[int]:
        rows = self._select(
            "SELECT path FROM notewell.files WHERE {own} AND folder = ANY(%s)", (list(folders),)
        )
        return sorted(self.chunks_of_notes([path for (path,) in rows]))

    def chunks_of_notes(self, paths: Collection[str]) -> list[int]:
        rows = self._select(
            "SELECT id FROM notewell.chunks WHERE {own} AND path = ANY(%s)", (list(paths),)
        )
        return [one for (one,) in rows]

    def chunks_of(self, path: str) -> list[int]:
        return [chunk.id for chunk in self._of_path(path)]

    def around(self, path: str, first: int, last: int) -> ChunkRun:
        return ChunkRun(self._of_path(path, first, last))

    def _of_path(self, path: str, first: int = 0, last: int | None = None) -> list[StoredChunk]:
        """The chunks of a note that begin in these lines, in order."""
        memo = self._memo()
        self._read_small(memo)
        if memo.has_all_chunks:
            found = [
                one
                for one in memo.chunks.values()
                if one.path == path
                and first <= one.span.start_line
                and (last is None or one.span.start_line <= last)
            ]
        else:
            found = list(
                self._chunks_where(
                    "AND path = %s AND start_line >= %s "
                    "AND (%s::int4 IS NULL OR start_line <= %s)",
                    (path, first, last, last),
                ).values()
            )
        return sorted(found, key=lambda one: (one.span.start_line, one.id))

    def waiting_for_vectors(self, limit: int, after: int = 0) -> list[StoredChunk]:
        found = self._chunks_where(
            "AND state = 0 AND id > %s ORDER BY id LIMIT %s", (after, limit)
        )
        return [found[one] for one in sorted(found)]

    def vectors_of(self, paths: Iterable[str]) -> dict[str, WindowedVector]:
        digests = dict(
            self._select(
                "SELECT id, digest FROM notewell.chunks WHERE {own} AND state = 1 "
                "AND path = ANY(%s)",
                (list(paths),),
            )
        )
        # Not kept: a rebuild asks for the vectors of all notes, each once.
        found = read_vectors(self._rows, list(digests))
        return {digests[one]: vector for one, vector in found.items()}

    def inventory(self) -> PostgresInventory:
        from notewell.index.postgres.inventory import PostgresInventory

        return PostgresInventory(self._rows, lambda: self.identity().dims)

    def _select(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._rows.select(sql, values)

    # -- for `verify` ----------------------------------------------------------------------------

    def states(self) -> dict[int, int]:
        """The state of each chunk."""
        return dict(self._select("SELECT id, state FROM notewell.chunks WHERE {own} ORDER BY id"))

    def all_postings(self) -> list[tuple[int, int, bytes]]:
        return self._rows.postings(None, None)

    def wrong_halves(self) -> int:
        return count_wrong_halves(self._rows) if self._generation().has_halves else 0

    def stored_vectors(self, ids: Sequence[int]) -> dict[int, WindowedVector]:
        """Not kept: these are the vectors of all chunks, piece by piece."""
        return read_vectors(self._rows, ids)

    # -- searching -------------------------------------------------------------------------------

    def _text(self) -> TextReader:
        memo = self._memo()
        if memo.text is None:
            memo.text = TextIndex()
        return TextReader(memo.text, lambda buckets: self._rows.postings(buckets, None))

    def matching(
        self,
        query: TextQuery,
        sources: Sequence[str],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> tuple[TextMatches, TextStats]:
        return self._text().matching(query, sources, limit, among)

    def having(self, terms: Sequence[str]) -> dict[str, int]:
        return self._text().having(terms)

    def nearest(self, vector: Vectors, sources: Sequence[str], k: int) -> list[int]:
        generation = self._generation()
        # Here, and not by the server: a vector of another length is an error of the embedder.
        unit = unit_rows(vector[None], generation.identity().dims)[0]
        if k < 1:
            return []
        if generation.chunks > SMALL_MEMORY and not generation.has_halves:
            return nearest_ids(self._rows, unit, sources, k)
        memo = self._memo()
        if generation.has_halves:
            ids = nearest_candidates(self._rows, unit, sources, k)
        else:
            self._read_small(memo)
            ids = [one for one, chunk in memo.chunks.items() if chunk.source in sources]
        cosines = exact_cosines(unit, self._vectors(ids, memo), ids)
        return sorted(cosines, key=lambda one: (-cosines[one], one))[:k]

    def cosines(self, vector: Vectors, ids: Sequence[int]) -> dict[int, float]:
        return exact_cosines(vector, self._vectors(ids, self._memo()), ids)

    def window_cosines(self, vector: Vectors, ids: Sequence[int]) -> WindowCosines:
        known = self._vectors(ids, self._memo())
        rows = {one: known[one] for one in ids}
        return window_cosines(
            vector, {one: row.windows for one, row in rows.items() if row and row.windows}
        )

    def _vectors(self, ids: Sequence[int], memo: StateMemo) -> dict[int, WindowedVector | None]:
        known = memo.vectors
        if not memo.has_all_vectors and self._generation().chunks <= SMALL_MEMORY:
            known |= read_vectors(self._rows, None)
            memo.has_all_vectors = True
        missing = [one for one in ids if one not in known]
        if missing:
            found = {} if memo.has_all_vectors else read_vectors(self._rows, missing)
            # In one step: another thread must not take what is not read yet for missing.
            known |= dict.fromkeys(missing) | found
        return known


_COUNTED = "SELECT source, count(*) FROM notewell.{table} WHERE {{own}} GROUP BY source"


def stored_chunk(row: tuple[Any, ...]) -> StoredChunk:
    one, path, source, start, end, *others = row
    return StoredChunk(one, path, source, Span(start, end), *others)
