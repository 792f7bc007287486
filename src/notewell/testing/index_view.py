"""What an index in memory holds, and the questions to it; see `index_store`.

A committed state is immutable: a transaction works on a copy. That is how a view stays consistent
while a writer goes on.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from notewell.core import TextMatch, TextMatches, TextStats, unit_rows, window_cosines
from notewell.index import (
    EMBEDDED,
    WAITING,
    ChunkRun,
    Counts,
    IndexedNote,
    ListedNote,
    OutlinedChunk,
    PlacedChunk,
    StoredChunk,
)
from notewell.ports import WindowedVector
from notewell.records import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from notewell.core import TextQuery, WindowCosines
    from notewell.index import ChunkFacts, Identity
    from notewell.ports import CosineScale, Vectors
    from notewell.types import SessionFacts, Source

FIELD_WEIGHTS = (1.0, 0.6, 0.4)
"""Body, heading and name of the note, as in the SQLite store."""
K1, B = 1.2, 0.75  # The usual BM25 constants; FTS5 has the same.
# The words of `core` are separated by spaces; a word may still contain a character that ends a
# word for FTS5. Splitting here in the same way keeps phrases of such words comparable.
_TOKEN = re.compile(r"[0-9a-z_\u0080-\U0010ffff]+")


class IndexedFile(NamedTuple):
    source: Source
    indexed: IndexedNote
    session: SessionFacts


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One chunk, its tokens by field, and its vector."""

    chunk: StoredChunk
    fields: tuple[tuple[str, ...], ...]
    state: int = WAITING
    vector: Vectors | None = None
    windows: bytes = b""

    @property
    def length(self) -> int:
        # One more for the source, which FTS5 stores as a word, too.
        return sum(map(len, self.fields)) + 1


@dataclass(slots=True)
class IndexState:
    """One generation at one moment. Nobody changes it after the commit."""

    generation: str
    identity: Identity
    cosine_scale: CosineScale | None = None
    notes: dict[str, IndexedFile] = field(default_factory=dict)
    rows: dict[int, IndexRow] = field(default_factory=dict)
    last_id: int = 0
    """Ids are never given out twice, not even after the newest chunk was removed."""

    def copy(self) -> IndexState:
        return replace(self, notes=dict(self.notes), rows=dict(self.rows))

    def of_path(self, path: str) -> list[IndexRow]:
        rows = [row for row in self.rows.values() if row.chunk.path == path]
        return sorted(rows, key=lambda row: (row.chunk.span.start_line, row.chunk.id))


class InMemoryView:
    def __init__(self, state: IndexState) -> None:
        self._state = state

    @property
    def generation(self) -> str:
        return self._state.generation

    def identity(self) -> Identity:
        return self._state.identity

    def cosine_scale(self) -> CosineScale | None:
        return self._state.cosine_scale

    def outdated(self) -> None:
        """An index in memory is as old as its process."""

    def counts(self) -> Counts:
        notes, rows = self._state.notes.values(), self._state.rows.values()
        states = [row.state for row in rows]
        return Counts(
            files=len(notes),
            chunks=len(rows),
            embedded=states.count(EMBEDDED),
            waiting=states.count(WAITING),
            by_source={
                source: (
                    sum(note.source == source for note in notes),
                    sum(row.chunk.source == source for row in rows),
                )
                for source in sorted({note.source for note in notes})
            },
        )

    def is_empty(self) -> bool:
        return not self._state.rows

    def has_vectors(self) -> bool:
        return any(row.state == EMBEDDED for row in self._state.rows.values())

    def waiting(self) -> int:
        return sum(row.state == WAITING for row in self._state.rows.values())

    def notes(self, source: str | None = None) -> dict[str, IndexedNote]:
        return {
            path: note.indexed
            for path, note in self._state.notes.items()
            if source in (None, note.source)
        }

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        rows = self._state.rows
        return {chunk_id: rows[chunk_id].chunk for chunk_id in ids if chunk_id in rows}

    def facts(self, ids: Iterable[int]) -> dict[int, ChunkFacts]:
        return {one: chunk.facts for one, chunk in self.chunks(ids).items()}

    def sessions(self, paths: Iterable[str]) -> dict[str, SessionFacts]:
        notes = self._state.notes
        return {
            path: notes[path].session
            for path in paths
            if path in notes and notes[path].source == "sessions"
        }

    def folders(self) -> list[str]:
        folders = {note.session.folder for note in self._state.notes.values()}
        return sorted(folder for folder in folders if folder is not None)

    def chunks_in(self, folders: Sequence[str]) -> list[int]:
        notes = self._state.notes
        return sorted(
            chunk_id
            for chunk_id, row in self._state.rows.items()
            if notes[row.chunk.path].session.folder in folders
        )

    def chunks_of(self, path: str) -> list[int]:
        return [row.chunk.id for row in self._state.of_path(path)]

    def chunks_of_notes(self, paths: Collection[str]) -> list[int]:
        return [chunk_id for path in paths for chunk_id in self.chunks_of(path)]

    def around(self, path: str, first: int, last: int) -> ChunkRun:
        chunks = (row.chunk for row in self._state.of_path(path))
        return ChunkRun(chunk for chunk in chunks if first <= chunk.span.start_line <= last)

    def waiting_for_vectors(self, limit: int, after: int = 0) -> list[StoredChunk]:
        rows = (self._state.rows[chunk_id] for chunk_id in sorted(self._state.rows))
        chunks = [row.chunk for row in rows if row.state == WAITING and row.chunk.id > after]
        return chunks[:limit]

    def vectors_of(self, paths: Iterable[str]) -> dict[str, WindowedVector]:
        # By digest: a note that is moved finds its vectors under its new path.
        wanted = set(paths)
        return {
            row.chunk.digest: WindowedVector(row.vector, row.windows)
            for row in self._state.rows.values()
            if row.chunk.path in wanted and row.vector is not None
        }

    def inventory(self) -> InMemoryInventory:
        return InMemoryInventory(self._state)

    # -- searching -------------------------------------------------------------------------------

    def matching(
        self,
        query: TextQuery,
        sources: Sequence[str],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> tuple[TextMatches, TextStats]:
        if not query.terms or not sources:
            return TextMatches.of([]), TextStats(0, 0.0, ())
        positions = {
            chunk_id: [[_positions(group, one) for one in row.fields] for group in query.groups]
            for chunk_id, row in self._state.rows.items()
        }
        found = self.having(query.forms)
        # A chunk is in one language: nearly none has two forms of a term.
        having = [
            min(len(positions), sum(found.get(form, 0) for form in group))
            for group in query.groups
        ]
        hits = [
            chunk_id
            for chunk_id, at in positions.items()
            if self._state.rows[chunk_id].chunk.source in sources
            and (among is None or chunk_id in among)
            and any(any(term) for term in at)
        ]
        if not hits:
            return TextMatches.of([]), TextStats(0, 0.0, tuple(having))
        # Ties by id, so that two stores give the same order.
        hits.sort(key=lambda one: (-self._bm25(one, positions[one], having), one))
        matches = [self._match(one, positions[one]) for one in hits[:limit]]
        rows = self._state.rows.values()
        words = sum(len(row.fields[0]) for row in rows)
        return TextMatches.of(matches), TextStats(len(rows), words / len(rows), tuple(having))

    def _bm25(self, chunk_id: int, at: list[list[list[int]]], having: list[int]) -> float:
        rows = self._state.rows
        mean = sum(row.length for row in rows.values()) / len(rows)
        # Longer chunks contain more words by chance; B says how much that counts.
        norm = K1 * (1 - B + B * rows[chunk_id].length / mean)
        score = 0.0
        for fields, number in zip(at, having, strict=True):
            # A term that more than half of the chunks contain still counts a little, as in FTS5.
            idf = max(1e-6, math.log((len(rows) - number + 0.5) / (number + 0.5)))
            count = sum(
                weight * len(places) for weight, places in zip(FIELD_WEIGHTS, fields, strict=True)
            )
            score += idf * count * (K1 + 1) / (count + norm) if count else 0.0
        return score

    def _match(self, chunk_id: int, at: list[list[list[int]]]) -> TextMatch:
        body, heading, name = (tuple(len(term[one]) for term in at) for one in range(3))
        gaps = tuple(_gap(term[0], following[0]) for term, following in pairwise(at))
        return TextMatch(
            chunk_id, body, heading, name, len(self._state.rows[chunk_id].fields[0]), gaps
        )

    def having(self, terms: Sequence[str]) -> dict[str, int]:
        counts = {
            term: sum(
                any(term in tokens for tokens in row.fields) for row in self._state.rows.values()
            )
            for term in terms
        }
        return {term: count for term, count in counts.items() if count}

    def nearest(self, vector: Vectors, sources: Sequence[str], k: int) -> list[int]:
        if k < 1:
            return []
        unit = unit_rows(vector[None], self._state.identity.dims)[0]
        ids = [one for one, row in self._state.rows.items() if row.chunk.source in sources]
        cosines = self.cosines(unit, ids)
        return sorted(cosines, key=lambda one: (-cosines[one], one))[:k]

    def cosines(self, vector: Vectors, ids: Sequence[int]) -> dict[int, float]:
        rows = self._state.rows
        vectors = {one: rows[one].vector for one in sorted(set(ids)) if one in rows}
        # In double precision, and rounded: the order must not depend on the CPU.
        query = vector.astype(np.float64)
        return {
            one: round(float((row.astype(np.float64) * query).sum()), 9)
            for one, row in vectors.items()
            if row is not None
        }

    def window_cosines(self, vector: Vectors, ids: Sequence[int]) -> WindowCosines:
        rows = self._state.rows
        packed = {one: rows[one].windows for one in ids if one in rows}
        return window_cosines(vector, {one: blob for one, blob in packed.items() if blob})


def tokens_of(words: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(words.lower()))


def _positions(group: Sequence[str], tokens: tuple[str, ...]) -> list[int]:
    """Where a term or one of its variants begins."""
    return sorted(at for form in group for at in _starts(form, tokens))


def _starts(term: str, tokens: tuple[str, ...]) -> list[int]:
    """A term of several tokens is a phrase."""
    phrase = tokens_of(term)
    size = len(phrase)
    if not size:
        return []
    return [at for at in range(len(tokens) - size + 1) if tokens[at : at + size] == phrase]


def _gap(one: list[int], other: list[int]) -> int:
    """The least distance between two terms; 0 if one of them is missing."""
    return min((abs(a - b) for a in one for b in other), default=0)


class InMemoryInventory:
    def __init__(self, state: IndexState) -> None:
        self._state = state

    def notes(self) -> list[ListedNote]:
        listed = []
        for path, note in sorted(self._state.notes.items()):
            rows = self._state.of_path(path)
            stat, first_day = note.indexed.stat, note.session.day
            day = first_day.isoformat() if first_day else None
            last = max((row.chunk.span.end_line for row in rows), default=0)
            listed.append(
                ListedNote(path, note.source, stat.size, stat.mtime_ns, day, len(rows), last)
            )
        return listed

    def outline(self, path: str) -> list[OutlinedChunk]:
        return [
            OutlinedChunk(row.chunk.span, row.chunk.heading, row.state == EMBEDDED)
            for row in self._state.of_path(path)
        ]

    def opening(self, path: str, chars: int) -> str:
        return next((row.chunk.text[:chars] for row in self._state.of_path(path)), "")

    def chars(self) -> dict[str, int]:
        chars: dict[str, int] = {}
        for row in self._state.rows.values():
            chars[row.chunk.path] = chars.get(row.chunk.path, 0) + len(row.chunk.text)
        return chars

    def placed(self) -> list[PlacedChunk]:
        chunks = [row.chunk for row in self._state.rows.values() if row.state == EMBEDDED]
        chunks.sort(key=lambda one: (one.path, one.span.start_line, one.span.end_line, one.digest))
        return [PlacedChunk(one.id, one.path, one.source, one.span.start_line) for one in chunks]

    def last_id(self) -> int:
        return max(self._state.rows, default=0)

    def vectors(self, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        rows = self._state.rows
        vectors = {one: rows[one].vector for one in sorted(set(ids)) if one in rows}
        stored = {one: vector for one, vector in vectors.items() if vector is not None}
        if not stored:
            return [], np.empty((0, self._state.identity.dims), np.float32)
        return list(stored), np.stack(list(stored.values()))
