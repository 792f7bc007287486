"""Embedding the chunks that wait for a vector, one call's worth at a time, as long as it takes.

The writer's lease is held only to write, not while embedding, so a note that is saved meanwhile
does not wait. A lease of its own makes sure that no two processes embed, or pay for, the same
chunk. The next run continues where a killed one stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from notewell.core import split_text
from notewell.errors import EmbedderFailed, EmbedderTrouble, IndexBusy, IndexUnreadable
from notewell.index import MustRebuild, UpToDate
from notewell.records import dataclass
from notewell.sync.plan import Progress, SyncReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.embedders import Cached
    from notewell.index import Identity, IndexStore, StoredChunk
    from notewell.ports import WindowedVector
    from notewell.sync.plan import ProgressCallback

SETTLED_EVERY = 16_384
"""Every search reads all vectors that are not merged yet: of a million, 1.5 GB."""

DIMS_LATE = (
    "the length of its vectors became known only now; run `notewell index` once more, which "
    "builds an index for them: the computed vectors are kept"
)


@dataclass(frozen=True, slots=True)
class PendingEmbedder:
    """One run over everything that waits."""

    store: IndexStore
    embedder: Cached
    wanted: Identity
    wait_s: float
    on_progress: ProgressCallback

    def run(self, report: SyncReport) -> None:
        """Embed until nothing waits. Trouble is put into the report and not raised: the text is
        searchable already."""
        waiting = self.waiting()
        if not waiting and not self._lacks_scale():
            return
        try:
            # Waits for nobody: another process that embeds is already doing this work.
            with self.store.embedding_lease():
                if waiting:
                    self._embed_all(waiting, report)
                if self._lacks_scale():
                    self._measure_scale()
        except (EmbedderTrouble, IndexBusy) as trouble:
            report.trouble = trouble

    def _lacks_scale(self) -> bool:
        if not self.embedder.facts.measures_scale:
            return False
        from notewell.sync.scale import lacks_scale  # Imported late: embedded models need none.

        return lacks_scale(self.store, self.wanted)

    def _measure_scale(self) -> None:
        from notewell.sync.scale import measure_scale

        measure_scale(self.store, self.embedder, self.wanted, wait_s=self.wait_s)

    def waiting(self) -> int:
        with self.store.view() as view:
            return view.waiting() if view else 0

    def _embed_all(self, total: int, report: SyncReport) -> None:
        unmerged = 0
        in_vain: Sequence[StoredChunk] = ()
        while chunks := self._next_chunks():
            if chunks == in_vain:
                self._give_up()
            texts = [split_text(chunk.heading, chunk.text) for chunk in chunks]
            vectors = self.embedder.embed_windows(texts)
            if self.wanted.dims == 0:
                raise EmbedderFailed(self.wanted.provider, DIMS_LATE)
            added = self._write(chunks, vectors, unmerged)
            if added is None:
                return
            unmerged = (unmerged + added) if unmerged + added < SETTLED_EVERY else 0
            report.vectors_added += added
            in_vain = () if added else chunks
            # Notes that were saved meanwhile may have brought more chunks than there were.
            total = max(total, report.vectors_added)
            self.on_progress(Progress(report.vectors_added, total, "vectors"))
        with self.store.writing(wait_s=self.wait_s) as writer:
            if isinstance(writer.open_current(), UpToDate):
                writer.finish()

    def _write(
        self, chunks: Sequence[StoredChunk], vectors: Sequence[WindowedVector], unmerged: int
    ) -> int | None:
        """How many vectors were stored; None if the index is no longer the one they are for."""
        import numpy as np

        with self.store.writing(wait_s=self.wait_s) as writer:
            state = writer.open_current()
            if isinstance(state, MustRebuild):
                # A damaged index was set aside; the next sync builds a new one.
                raise IndexUnreadable(self.store.describe().place, str(state))
            if writer.view.identity() != self.wanted:
                return None  # Another process rebuilt the index for another model meanwhile.
            rows = np.stack([one.vector for one in vectors])
            with writer.transaction():
                added = writer.add_vectors(chunks, rows, [one.windows for one in vectors])
            if unmerged + added >= SETTLED_EVERY:
                writer.finish()
        return added

    def _give_up(self) -> NoReturn:
        """The same chunks wait although their vectors were written: the index contradicts itself,
        and this loop would embed them for ever."""
        self.store.mark_suspect()
        raise IndexUnreadable(self.store.describe().place, "its parts do not fit together")

    def _next_chunks(self) -> Sequence[StoredChunk]:
        with self.store.view() as view:
            if view is None or view.identity() != self.wanted:
                return []
            return view.waiting_for_vectors(self.embedder.texts_at_once)
