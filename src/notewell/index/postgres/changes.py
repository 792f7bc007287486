"""What one transaction of a writer changes; see `writer`.

New rows are collected and written at the end, or when something asks for them: a statement for
each chunk would cost more than the chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.core import chunk_words, without_markers
from notewell.index.postgres.generations import GenerationRows
from notewell.index.postgres.half_vectors import LARGE_MEMORY, copy_halves, remove_halves
from notewell.index.postgres.text_writer import TextWriter
from notewell.index.postgres.vectors import vector_text
from notewell.index.records import EMBEDDED, UNREAD, WAITING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.index.postgres.generations import Generation
    from notewell.index.records import StoredChunk
    from notewell.ports import Vectors
    from notewell.postgres import Scope, Transaction
    from notewell.types import Chunk, Source


class IndexChanges:
    """What one transaction changes."""

    def __init__(self, transaction: Transaction, scope: Scope, generation: Generation) -> None:
        self.transaction = transaction
        self._scope = scope
        self.generation = generation
        """As it was at the beginning."""
        self.number = generation.number
        self.rows = GenerationRows(transaction, scope, generation.number)
        self.text = TextWriter(self.rows)
        self.files: dict[str, tuple[Any, ...]] = {}
        self._new: dict[int, tuple[Any, ...]] = {}
        self._moved: list[tuple[Any, ...]] = []
        self._last_id = generation.last_id
        self._counts = {WAITING: 0, EMBEDDED: 0, UNREAD: 0}
        """How many chunks more there are of each state."""
        self._embedded = generation.embedded

    def chunks_of(self, path: str) -> dict[str, list[int]]:
        """The chunks of a note by digest; of equal chunks the oldest comes last."""
        if path in self.files:  # Written before, in this transaction.
            self.write()
        old: dict[str, list[int]] = {}
        rows = self.rows.select(
            "SELECT id, digest FROM notewell.chunks WHERE {own} AND path = %s", (path,)
        )
        for chunk_id, digest in sorted(rows, reverse=True):
            old.setdefault(digest, []).append(chunk_id)
        return old

    def move(self, chunk_id: int, chunk: Chunk) -> None:
        # Equal digest, equal text: its words and its vector stay, only the lines have changed.
        self._moved.append((chunk_id, *chunk.span, chunk.piece, chunk.offset, chunk.said_at))

    def insert(self, path: str, source: Source, name: Sequence[str], chunk: Chunk) -> None:
        self._last_id += 1
        # The marker of an entry is ours, not the user's: its id must not match a query.
        text, heading = _storable(chunk.text), _storable(chunk.heading)
        words = chunk_words(without_markers(text), heading)
        fields = (words.body.split(), words.heading.split(), name)
        self.text.add(self._last_id, source, fields)
        self._new[self._last_id] = (
            self._last_id,
            path,
            source,
            *chunk.span,
            chunk.digest,
            heading,
            text,
            chunk.piece,
            chunk.offset,
            chunk.said_at,
        )
        self._counts[WAITING] += 1

    def remove(self, ids: Sequence[int]) -> None:
        if not ids:
            return
        self.rows.execute("DELETE FROM notewell.vectors WHERE {own} AND id = ANY(%s)", (ids,))
        if self.generation.has_halves:
            remove_halves(self.rows, ids)
        removed = self.rows.select(
            "DELETE FROM notewell.chunks WHERE {own} AND id = ANY(%s) RETURNING id, block, state",
            (ids,),
        )
        self.text.remove((chunk_id, block) for chunk_id, block, _ in removed)
        for _, _, state in removed:
            self._counts[state] -= 1
            self._embedded -= state == EMBEDDED

    def mark_unread(self, path: str, digests: Sequence[str]) -> None:
        self.write()
        # Only chunks that wait: one that has a vector keeps it.
        changed = self.rows.execute(
            "UPDATE notewell.chunks SET state = %s WHERE {own} AND path = %s AND state = %s "
            "AND digest = ANY(%s)",
            (UNREAD, path, WAITING, list(digests)),
        )
        self._counts[WAITING] -= changed
        self._counts[UNREAD] += changed

    def add_vectors(
        self, chunks: Sequence[StoredChunk], unit: Vectors, windows: Sequence[bytes]
    ) -> int:
        self.write()
        # By id and digest: a chunk may have been replaced while its text was being embedded.
        waiting = dict(
            self.rows.select(
                "SELECT id, digest FROM notewell.chunks WHERE {own} AND state = 0 "
                "AND id = ANY(%s)",
                ([chunk.id for chunk in chunks],),
            )
        )
        rows = [
            (chunk.id, chunk.source, vector_text(vector), own)
            for chunk, vector, own in zip(chunks, unit, windows, strict=True)
            if waiting.get(chunk.id) == chunk.digest
        ]
        self.rows.insert("vectors", "id source vector windows", "int8 text vector bytea", rows)
        if self.generation.has_halves:
            copy_halves(self.rows, [row[0] for row in rows])
        self.rows.execute(
            "UPDATE notewell.chunks SET state = %s WHERE {own} AND id = ANY(%s)",
            (EMBEDDED, [row[0] for row in rows]),
        )
        self._counts[WAITING] -= len(rows)
        self._counts[EMBEDDED] += len(rows)
        self._embedded += len(rows)
        return len(rows)

    # -- writing ---------------------------------------------------------------------------------

    def write(self) -> None:
        """Write what was collected."""
        blocks = self.text.write()
        self.rows.insert(
            "chunks",
            "id path source start_line end_line digest heading text piece line_offset said_at "
            "block",
            "int8 text text int4 int4 text text text bool int4 text int4",
            [(*row, blocks[chunk_id]) for chunk_id, row in self._new.items()],
        )
        if self._moved:
            ids, starts, ends, pieces, offsets, times = map(list, zip(*self._moved, strict=True))
            self.rows.execute(
                "UPDATE notewell.chunks SET start_line = new.start_line, end_line = new.end_line, "
                "piece = new.piece, line_offset = new.line_offset, said_at = new.said_at "
                "FROM unnest(%s::int8[], %s::int4[], %s::int4[], %s::bool[], %s::int4[], "
                "%s::text[]) AS new (id, start_line, end_line, piece, line_offset, said_at) "
                "WHERE {own} AND chunks.id = new.id",
                (ids, starts, ends, pieces, offsets, times),
            )
        self.rows.insert(
            "files",
            "path source digest size mtime ctime inode day folder host",
            "text text text int8 int8 int8 text text text text",
            list(self.files.values()),
        )
        self._new.clear()
        self._moved.clear()
        self.files.clear()
        self._count()

    def _count(self) -> None:
        """The numbers in the row of the generation are always those of its chunks."""
        if any(self._counts.values()) or self._last_id != self.generation.last_id:
            self._own_rows().execute(
                "UPDATE notewell.generations SET last_id = %s, chunks = chunks + %s, "
                "waiting = waiting + %s, unread = unread + %s WHERE {own}",
                (
                    self._last_id,
                    sum(self._counts.values()),
                    self._counts[WAITING],
                    self._counts[UNREAD],
                ),
            )
            self._counts = dict.fromkeys(self._counts, 0)

    def end(self) -> None:
        self.write()
        rows, has_halves = self._own_rows(), self.generation.has_halves
        if not has_halves and self._embedded >= LARGE_MEMORY:
            copy_halves(rows, None)
            has_halves = True
        rows.execute(
            "UPDATE notewell.generations SET commits = commits + 1, written_at = now(), "
            "half_commits = CASE WHEN %s THEN commits + 1 END WHERE {own}",
            (has_halves,),
        )

    def _own_rows(self) -> GenerationRows:
        """With the number that the generation has now; a purge gives it a new one."""
        return GenerationRows(self.transaction, self._scope, self.number)


def _storable(text: str) -> str:
    """PostgreSQL keeps no NUL. Notes have none, transcripts may."""
    return text.replace("\0", "\ufffd")
