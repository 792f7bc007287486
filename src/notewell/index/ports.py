"""The storage seam: what a store of indexes has to do. START HERE to add a storage engine.

    IndexStore      one index of one agent: hands out views, the writer, leases and the cache
    IndexView       read-only questions to one generation at one moment
    IndexInventory  lists everything of a view, for a page; a search never uses it
    IndexWriter     changes the index; there is one at a time

`index/sqlite/` is the implementation in use, `notewell.testing.InMemoryIndexStore` is the second
one, and `tests/contracts/test_index_store.py` is the suite that every implementation has to pass.

The contract, besides the signatures:

- A *generation* is one complete index, named by an opaque string. Readers see the published
  generation only. `start_generation` begins another one, which nobody sees before `publish`.
- A view is consistent: it shows one committed state and keeps showing it until it is closed.
- A transaction that raises leaves the state from before it.
- Chunk ids are integers that ascend with age and are never given out twice in one generation.
- Words come from `notewell.core.chunk_words`, those of a path from `index_words`. A store must not
  split text into words by itself, because queries and snippets are split by the same function.
- A lease has a holder. If it is not acquired in time, `IndexBusy` names the holder.
- A thread must not open a view inside another view: a store may serialise its views.
- A store may keep the indexes of many agents; an `IndexStore` is the part of one agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from notewell.ports import VectorCache

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from notewell.core import TextMatches, TextQuery, TextStats, WindowCosines
    from notewell.errors import IndexUnreadable
    from notewell.index.findings import (
        StepCallback,
        StoreAudit,
        StoreFinding,
        StorePart,
        StoreRepair,
    )
    from notewell.index.records import (
        ChunkFacts,
        ChunkRun,
        Counts,
        Identity,
        IndexedNote,
        ListedNote,
        MustRebuild,
        OutlinedChunk,
        PlacedChunk,
        StoredChunk,
        StoreFacts,
        UpToDate,
    )
    from notewell.ports import CosineScale, ModelFacts, Vectors, WindowedVector
    from notewell.types import Chunk, NoteStat, SessionFacts, Source


class IndexStore(Protocol):
    """The index of one agent. Safe to use from several threads."""

    # -- reading ---------------------------------------------------------------------------------

    def view(self) -> AbstractContextManager[IndexView | None]:
        """One consistent view of the published generation; None if nothing was published yet."""
        ...

    def describe(self) -> StoreFacts:
        """Facts about the store. Never raises for an index that cannot be read."""
        ...

    def cache_entries(self) -> int:
        """How many vectors the cache holds, of all models. Raises `IndexTrouble`."""
        ...

    def change_mark(self) -> tuple[int, ...]:
        """Differs from an earlier mark if anything was committed since; cheap enough to poll."""
        ...

    def local_paths(self) -> Sequence[Path]:
        """Folders that the store itself writes to; a watcher must ignore them. Empty for a store
        on another machine."""
        ...

    def local_files(self) -> Sequence[Path]:
        """The files of the store on this machine, which only their owner may read. Empty for a
        store on another machine."""
        ...

    def derived_file(self, generation: str) -> Path | None:
        """A file for data that is computed from a generation. The store removes it together with
        the generation. None if the store has no place for files."""
        ...

    # -- writing ---------------------------------------------------------------------------------

    def writing(self, *, wait_s: float) -> AbstractContextManager[IndexWriter]:
        """Become the only writer. Raises `IndexBusy` after waiting `wait_s` for another one."""
        ...

    def embedding_lease(self) -> AbstractContextManager[None]:
        """Become the only one that embeds, so that no chunk is embedded, and paid for, twice."""
        ...

    def vector_cache(self, facts: ModelFacts) -> OpenVectorCache:
        """The cached vectors of one model; they outlive every generation."""
        ...

    def purge_cache(self) -> None:
        """Remove the cached vectors of texts that the published generation does not have."""
        ...

    def mark_suspect(self) -> None:
        """Record that the published generation is damaged, so that the next writer rebuilds it
        even if it does not come across the damage itself."""
        ...

    # -- checking --------------------------------------------------------------------------------

    def check(self, part: StorePart, now: datetime) -> Iterable[StoreFinding]:
        """Examine one part and change nothing. Raises `NotewellError` or `OSError` if the part
        cannot be examined."""
        ...

    def repair(self, kind: StoreRepair, *, wait_s: float, now: datetime) -> str:
        """Carry out a repair that `check` named: what was done, or an empty string if nothing was
        left to do. Raises `IndexBusy` after waiting `wait_s` for a writer."""
        ...

    def verify(
        self, audit: StoreAudit, compare: Callable[[IndexView], None], step: StepCallback
    ) -> None:
        """Compare everything in the store with itself. Calls `compare` with a view of the same
        moment, so that the caller can compare the notes with it. Changes nothing; what cannot be
        read is a disagreement, not an error."""
        ...

    def close(self) -> None: ...


class IndexView(Protocol):
    """Read-only questions to one generation; valid inside the `with` block that gave it."""

    @property
    def generation(self) -> str: ...

    # -- contents --------------------------------------------------------------------------------

    def identity(self) -> Identity: ...

    def cosine_scale(self) -> CosineScale | None:
        """As it was measured in this generation; None if it was not."""
        ...

    def outdated(self) -> str | None:
        """Why it must be rebuilt, if an older version wrote it; it answers until then."""
        ...

    def counts(self) -> Counts: ...

    def is_empty(self) -> bool: ...

    def has_vectors(self) -> bool: ...

    def waiting(self) -> int:
        """How many chunks wait for a vector."""
        ...

    def notes(self, source: str | None = None) -> dict[str, IndexedNote]:
        """The indexed notes by path, of one source or of all."""
        ...

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]: ...

    def facts(self, ids: Iterable[int]) -> dict[int, ChunkFacts]:
        """What the chunks are ranked by: for many of them, without their texts."""
        ...

    def sessions(self, paths: Iterable[str]) -> dict[str, SessionFacts]:
        """What these transcripts say of their conversations; notes are left out."""
        ...

    def folders(self) -> list[str]:
        """The folders in which the conversations took place, sorted."""
        ...

    def chunks_in(self, folders: Sequence[str]) -> list[int]:
        """The chunks of the conversations in exactly these folders."""
        ...

    def chunks_of(self, path: str) -> list[int]:
        """The chunks of a note, in order."""
        ...

    def chunks_of_notes(self, paths: Collection[str]) -> list[int]:
        """The chunks of these notes and transcripts, in any order."""
        ...

    def around(self, path: str, first: int, last: int) -> ChunkRun:
        """The chunks of a note that begin in these lines, in order."""
        ...

    def waiting_for_vectors(self, limit: int, after: int = 0) -> list[StoredChunk]:
        """Chunks without a vector and with an id above `after`, oldest first."""
        ...

    def vectors_of(self, paths: Iterable[str]) -> dict[str, WindowedVector]:
        """The vectors of these notes' chunks, by the digest of their text."""
        ...

    def inventory(self) -> IndexInventory: ...

    # -- searching -------------------------------------------------------------------------------

    def matching(
        self,
        query: TextQuery,
        sources: Sequence[str],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> tuple[TextMatches, TextStats]:
        """The chunks with the best BM25, and the counts from which their exact score is computed.
        A variant counts as its term: `TextMatches` and `TextStats` have one number for each term.

        `among` restricts the search to these chunks.
        """
        ...

    def having(self, terms: Sequence[str]) -> dict[str, int]:
        """The document frequency of each term; terms that no chunk contains are left out."""
        ...

    def nearest(self, vector: Vectors, sources: Sequence[str], k: int) -> list[int]:
        """The ids of the `k` nearest chunks, best first, ties by id. May be approximate."""
        ...

    def cosines(self, vector: Vectors, ids: Sequence[int]) -> dict[int, float]:
        """Exact, rounded to nine digits; chunks without a vector are left out."""
        ...

    def window_cosines(self, vector: Vectors, ids: Sequence[int]) -> WindowCosines:
        """Those of each window in the order of the text, from `core.window_cosines`. There may be
        more than those of `ids`."""
        ...


class IndexInventory(Protocol):
    """Everything in one generation, listed; valid as long as its view."""

    def notes(self) -> list[ListedNote]:
        """All of them, by path."""
        ...

    def outline(self, path: str) -> list[OutlinedChunk]:
        """The chunks of a note, in order, without their text."""
        ...

    def opening(self, path: str, chars: int) -> str:
        """The first characters of a note or transcript as it was indexed; empty if it is not."""
        ...

    def chars(self) -> dict[str, int]:
        """How many characters the chunks of each note have. This question reads every text."""
        ...

    def placed(self) -> list[PlacedChunk]:
        """The chunks that have a vector, ordered by place and not by id, so that an index that
        was built in another order gives the same list."""
        ...

    def last_id(self) -> int:
        """The id of the newest chunk; 0 if there is none."""
        ...

    def vectors(self, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        """The vectors of these chunks, ascending by id; missing ones are left out."""
        ...


class IndexWriter(Protocol):
    """One generation that is open for writing: the published one, or a new one until `publish`.

    `replace`, `note_seen`, `mark_unread`, `forget` and `add_vectors` are called inside
    `transaction()`.
    """

    # -- generations -----------------------------------------------------------------------------

    def open_current(self, *, force: bool = False) -> UpToDate | MustRebuild:
        """Open the published generation, or say why it cannot be used. `force` accepts that an
        index of a newer version is replaced; without it `IndexTooNew` is raised."""
        ...

    def set_aside(self, damage: IndexUnreadable) -> MustRebuild:
        """Close the damaged generation and move it away; the notes hold everything it held."""
        ...

    def start_generation(self, identity: Identity) -> None:
        """Begin a new, empty generation beside the published one."""
        ...

    def publish(self) -> None:
        """Make this generation the one that readers see: complete and durable, then visible."""
        ...

    def purge(self) -> None:
        """Publish this generation as a new one without a trace of what was removed from it, and
        remove all others: no file of the store has the text of a removed chunk afterwards.
        Raises `OldTextLeft` if one of them cannot be removed; the new one is published then."""
        ...

    def discard(self) -> None:
        """Remove all generations, the published one too: the next sync builds the first one.
        Raises `OldTextLeft`."""
        ...

    def finish(self) -> None:
        """Tidy up at the end of a sync: merge logs and segments. Answers do not change."""
        ...

    @property
    def view(self) -> IndexView:
        """What is written so far."""
        ...

    # -- changes ---------------------------------------------------------------------------------

    def transaction(self) -> AbstractContextManager[object]:
        """All of it or none of it, for readers and after a crash."""
        ...

    def replace(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        chunks: Sequence[Chunk],
        session: SessionFacts = ...,
    ) -> None:
        """Replace all chunks of a note. Chunks with the same digest keep their id and vector."""
        ...

    def note_seen(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        session: SessionFacts = ...,
    ) -> None:
        """Record the stat of a note that was read; while it stays the same, the note is not read
        again."""
        ...

    def mark_unread(self, path: str, digests: Sequence[str]) -> None:
        """The model cannot read these chunks of a note: they wait for no vector."""
        ...

    def forget(self, paths: Iterable[str]) -> None: ...

    def add_vectors(
        self, chunks: Sequence[StoredChunk], vectors: Vectors, windows: Sequence[bytes] = ...
    ) -> int:
        """Store one vector a chunk, and the windows of each, if any are given, as
        `WindowedVector` has them. Chunks that were replaced meanwhile are skipped; returns how
        many were stored. The windows go with their chunk."""
        ...

    def set_cosine_scale(self, scale: CosineScale) -> None:
        """Inside `transaction()`, too."""
        ...


# Separate from `VectorCache`, because a layer that only reads and writes vectors must not close
# it.
class OpenVectorCache(VectorCache, Protocol):
    """A vector cache that holds a resource until it is closed."""

    def close(self) -> None: ...
