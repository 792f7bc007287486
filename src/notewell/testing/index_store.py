"""An index in memory: the second implementation of `IndexStore`.

It is exact where SQLite approximates, scans where SQLite has indexes, and is lost when the process
ends. It keeps the contract otherwise, so that a test of search or sync needs no disk, and so that
the contract is more than a description of SQLite.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.core import chunk_words, index_words, unit_rows, without_markers
from notewell.errors import IndexBusy, IndexUnreadable
from notewell.index import (
    EMBEDDED,
    UNREAD,
    WAITING,
    IndexedNote,
    MustRebuild,
    StoredChunk,
    StoreFacts,
    UpToDate,
)
from notewell.ports import WindowedVector
from notewell.records import dataclass, replace
from notewell.testing.index_view import IndexedFile, IndexRow, IndexState, InMemoryView, tokens_of
from notewell.types import NO_SESSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell.index import (
        Identity,
        IndexView,
        StoreAudit,
        StoreFinding,
        StorePart,
        StoreRepair,
    )
    from notewell.ports import CosineScale, ModelFacts, Vectors
    from notewell.types import Chunk, NoteStat, SessionFacts, Source

CACHE_ENTRIES = 50_000


@dataclass(slots=True)
class _Committed:
    """What readers see, and what a writer replaces."""

    now_s: Callable[[], float]
    state: IndexState | None = None
    suspect: str | None = None
    """The name of a generation that a reader reported as damaged."""
    generations: int = 0
    commits: int = 0
    written_at_s: float | None = None

    def next_generation(self) -> str:
        self.generations += 1
        return f"generation-{self.generations}"

    def commit(self, state: IndexState | None) -> None:
        self.state = state
        self.commits += 1
        self.written_at_s = self.now_s()


class InMemoryIndexStore:
    """See `IndexStore`. Share one object to share the index; threads may use it."""

    def __init__(self, place: str = "memory", *, now_s: Callable[[], float] = time.time) -> None:
        self._place = place
        self._committed = _Committed(now_s)
        # Two leases, as in SQLite: embedding takes minutes, and notes are written meanwhile.
        self._writer, self._embedder = _ProcessLease(place), _ProcessLease(place)
        self._cache: dict[tuple[str, str, str, str], WindowedVector] = {}

    # -- reading ---------------------------------------------------------------------------------

    @contextmanager
    def view(self) -> Iterator[InMemoryView | None]:
        state = self._committed.state
        yield None if state is None else InMemoryView(state)

    def describe(self) -> StoreFacts:
        state = self._committed.state
        size = sum(len(row.chunk.text) for row in state.rows.values()) if state else 0
        suspect = None
        # A mark of an older generation is void: that generation was replaced.
        if state is not None and state.generation == self._committed.suspect:
            suspect = IndexUnreadable(self._place, "it was reported as damaged")
        return StoreFacts(
            place=self._place,
            generation=state.generation if state else None,
            size_bytes=size,
            written_at_s=self._committed.written_at_s,
            holder=self._writer.holder or self._embedder.holder,
            generation_bytes=size,
            suspect=suspect,
        )

    def cache_entries(self) -> int:
        return len(self._cache)

    def change_mark(self) -> tuple[int, ...]:
        return (self._committed.commits,)

    def local_paths(self) -> Sequence[Path]:
        return ()

    def local_files(self) -> Sequence[Path]:
        return ()

    def derived_file(self, generation: str) -> Path | None:
        return None

    # -- writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *, wait_s: float) -> Iterator[_InMemoryWriter]:
        with self._writer.held(wait_s):
            yield _InMemoryWriter(self._committed, self.describe)

    @contextmanager
    def embedding_lease(self) -> Iterator[None]:
        # Without a wait: whoever embeds now embeds the same chunks.
        with self._embedder.held(0):
            yield

    def purge_cache(self) -> None:
        state = self._committed.state
        in_use = {row.chunk.digest for row in state.rows.values()} if state else set()
        for key in [key for key in self._cache if key[-1] not in in_use]:
            del self._cache[key]

    def vector_cache(self, facts: ModelFacts) -> _InMemoryCache:
        return _InMemoryCache(self._cache, facts)

    def mark_suspect(self) -> None:
        state = self._committed.state
        self._committed.suspect = state.generation if state else None

    def close(self) -> None:
        """Nothing is held open; the index stays for the next user of this object."""

    # -- checking --------------------------------------------------------------------------------

    def check(self, part: StorePart, now: datetime) -> Iterator[StoreFinding]:
        return iter(())

    def repair(self, kind: StoreRepair, *, wait_s: float, now: datetime) -> str:
        return ""

    def verify(
        self,
        audit: StoreAudit,
        compare: Callable[[IndexView], None],
        step: Callable[[str, int, int], None],
    ) -> None:
        state = self._committed.state
        if state is None:
            audit.differs("index", self._place, "there is no index: run `notewell index`")
            return
        audit.generation, audit.cached = state.generation, len(self._cache)
        with audit.part("index", state.generation):
            compare(InMemoryView(state))
        states = [row.state for row in state.rows.values()]
        audit.chunks = len(states)
        audit.embedded = states.count(EMBEDDED)
        audit.waiting, audit.unread = states.count(WAITING), states.count(UNREAD)
        for number, row in enumerate(state.rows.values(), 1):
            where = f"{row.chunk.path}:{row.chunk.span.start_line}"
            if row.chunk.path not in state.notes:
                audit.differs("chunk", where, "a chunk of an unknown note")
            # The invariant that the audit of SQLite checks, too.
            if (row.vector is not None) != (row.state == EMBEDDED):
                audit.differs("vector", where, "its vector and its mark differ")
            step("vectors", number, len(states))


class _ProcessLease:
    """A lease between the threads of one process."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._lock = threading.Lock()
        self.holder: str | None = None

    @contextmanager
    def held(self, wait_s: float) -> Iterator[None]:
        if not self._lock.acquire(timeout=max(0.0, wait_s)):
            raise IndexBusy(self._place, self.holder or "another thread", wait_s)
        self.holder = f"thread {threading.current_thread().name}"
        try:
            yield
        finally:
            self.holder = None
            self._lock.release()


class _InMemoryCache:
    """The vectors of one model; the oldest go first."""

    def __init__(
        self, entries: dict[tuple[str, str, str, str], WindowedVector], facts: ModelFacts
    ) -> None:
        self._entries = entries
        self._facts = facts
        self._model = (facts.provider, facts.model, facts.endpoint_key)

    def get(self, digests: Sequence[str]) -> Mapping[str, Vectors]:
        return {digest: entry.vector for digest, entry in self._found(digests).items()}

    def windows(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        found = self._found(digests).items()
        return {digest: entry.windows for digest, entry in found if entry.windows}

    def _found(self, digests: Sequence[str]) -> Mapping[str, WindowedVector]:
        entries = {digest: self._entries.get((*self._model, digest)) for digest in digests}
        return {
            digest: entry
            for digest, entry in entries.items()
            # A model can be asked for another length; vectors of two lengths never mix.
            if entry is not None and entry.vector.size == self._facts.dims
        }

    def put(
        self, vectors: Mapping[str, Vectors], windows: Mapping[str, bytes] | None = None
    ) -> None:
        for digest, vector in vectors.items():
            self._entries.pop((*self._model, digest), None)  # What is put again is new again.
            own = (windows or {}).get(digest, b"")
            self._entries[(*self._model, digest)] = WindowedVector(vector.astype("<f4"), own)
        while len(self._entries) > CACHE_ENTRIES:
            del self._entries[next(iter(self._entries))]

    def close(self) -> None:
        """Nothing is held open."""


class _InMemoryWriter:
    def __init__(self, committed: _Committed, describe: Callable[[], StoreFacts]) -> None:
        self._committed = committed
        self._describe = describe
        self._state: IndexState | None = None
        self._is_published = False

    def open_current(self, *, force: bool = False) -> UpToDate | MustRebuild:
        suspect = self._describe().suspect
        if self._committed.state is None:
            return MustRebuild("first")
        if suspect is not None:
            return self.set_aside(suspect)
        self._state, self._is_published = self._committed.state, True
        return UpToDate()

    def set_aside(self, damage: IndexUnreadable) -> MustRebuild:
        self._state = None
        # At once, not with the next generation: readers must not use a damaged one meanwhile.
        self._committed.commit(None)
        return MustRebuild("damaged", f"the old index was damaged ({damage.why})")

    def start_generation(self, identity: Identity) -> None:
        self._state, self._is_published = (
            IndexState(self._committed.next_generation(), identity),
            False,
        )

    def publish(self) -> None:
        self._committed.commit(self._open)
        self._is_published = True

    def purge(self) -> None:
        name = self._committed.next_generation()
        self._state = replace(self._open, generation=name)
        self._committed.commit(self._state)

    def discard(self) -> None:
        self._state = self._committed.state = None

    def finish(self) -> None:
        """There are no logs to merge."""

    @property
    def _open(self) -> IndexState:
        if self._state is None:
            raise RuntimeError("no generation is open for writing")
        return self._state

    @property
    def view(self) -> InMemoryView:
        return InMemoryView(self._open)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        before = self._open
        # Shallow: rows are immutable and are replaced, never changed.
        self._state = before.copy()
        try:
            yield
        # Also for KeyboardInterrupt: half a transaction must not stay.
        except BaseException:
            self._state = before
            raise
        # A new generation stays invisible until `publish`.
        if self._is_published:
            self._committed.commit(self._state)

    # -- changes ---------------------------------------------------------------------------------

    def replace(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        chunks: Sequence[Chunk],
        session: SessionFacts = NO_SESSION,
    ) -> None:
        state = self._open
        old: dict[str, list[int]] = {}
        # Descending, so that `pop` below gives the oldest of equal chunks first.
        for row in sorted(state.of_path(path), key=lambda row: -row.chunk.id):
            old.setdefault(row.chunk.digest, []).append(row.chunk.id)
        name = tokens_of(index_words(path))
        for chunk in chunks:
            if same := old.get(chunk.digest):
                row = state.rows[same.pop()]
                # A chunk that only moved keeps its id and its vector: nothing is embedded again.
                moved = row.chunk._replace(
                    span=chunk.span, piece=chunk.piece, said_at=chunk.said_at, offset=chunk.offset
                )
                state.rows[moved.id] = replace(row, chunk=moved)
            else:
                self._insert(path, source, chunk, name)
        for ids in old.values():
            for chunk_id in ids:
                del state.rows[chunk_id]
        self.note_seen(path, source, digest, stat, session)

    def _insert(self, path: str, source: Source, chunk: Chunk, name: tuple[str, ...]) -> None:
        state = self._open
        state.last_id += 1
        stored = StoredChunk(
            state.last_id,
            path,
            source,
            chunk.span,
            chunk.digest,
            chunk.heading,
            chunk.text,
            chunk.piece,
            chunk.said_at,
            chunk.offset,
        )
        # Markers of our own entries are no words of the note.
        body, heading = map(tokens_of, chunk_words(without_markers(chunk.text), chunk.heading))
        state.rows[stored.id] = IndexRow(stored, (body, heading, name))

    def note_seen(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        session: SessionFacts = NO_SESSION,
    ) -> None:
        self._open.notes[path] = IndexedFile(source, IndexedNote(stat, digest), session)

    def mark_unread(self, path: str, digests: Sequence[str]) -> None:
        rows = self._open.rows
        for row in self._open.of_path(path):
            if row.state == WAITING and row.chunk.digest in digests:
                rows[row.chunk.id] = replace(row, state=UNREAD)

    def set_cosine_scale(self, scale: CosineScale) -> None:
        self._open.cosine_scale = scale

    def forget(self, paths: Iterable[str]) -> None:
        for path in paths:
            for row in self._open.of_path(path):
                del self._open.rows[row.chunk.id]
            self._open.notes.pop(path, None)

    def add_vectors(
        self, chunks: Sequence[StoredChunk], vectors: Vectors, windows: Sequence[bytes] = ()
    ) -> int:
        rows = self._open.rows
        unit = unit_rows(vectors, self._open.identity.dims)
        added = 0
        packed = windows or [b""] * len(chunks)
        for chunk, vector, own in zip(chunks, unit, packed, strict=True):
            row = rows.get(chunk.id)
            # The note may have changed while its old text was being embedded.
            if row and row.state == WAITING and row.chunk.digest == chunk.digest:
                rows[chunk.id] = replace(row, state=EMBEDDED, vector=vector, windows=own)
                added += 1
        return added
