"""Vectors for the chunks that wait for one: as long as it takes, a call's worth at a time.

Embedding goes on without the writer's lease, which is taken only to write, so a note saved
meanwhile does not wait. A lease of its own sees to it that no two processes embed, or pay for, the
same chunk. What a kill interrupts is taken up again by the next run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from notewell.core import embedding_text
from notewell.errors import EmbedderFailed, EmbedderTrouble, IndexBusy, IndexUnreadable
from notewell.index import MustRebuild, UpToDate
from notewell.sync.report import Progress, SyncReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.index import Identity, IndexStore, StoredChunk
    from notewell.ports import Embedder
    from notewell.sync.report import ProgressCallback

SETTLED_EVERY = 16_384
"""Vectors that are not settled yet are read whole by every search: of a million, 1.5 GB."""

LATE = (
    "only now is it known how long its vectors are; run `notewell index` once more, which makes "
    "an index for them: what was computed is kept"
)


@dataclass(frozen=True, slots=True)
class PendingEmbedder:
    """One run over everything that waits."""

    store: IndexStore
    embedder: Embedder
    wanted: Identity
    wait_s: float
    progress: ProgressCallback

    def run(self, report: SyncReport) -> None:
        """Embed until nothing waits; trouble is told, not raised: the text is already there."""
        waiting = self.waiting()
        if not waiting:
            return
        try:
            with self.store.embedding_lease():
                self._fill(waiting, report)
        except (EmbedderTrouble, IndexBusy) as trouble:
            report.trouble = trouble

    def waiting(self) -> int:
        with self.store.view() as view:
            if view is None:
                return 0
            return view.waiting()

    def _fill(self, total: int, report: SyncReport) -> None:
        unsettled = 0
        in_vain: Sequence[StoredChunk] = ()
        while chunks := self._next_chunks():
            if chunks == in_vain:
                self._give_up()
            texts = [embedding_text(one.heading, one.text) for one in chunks]
            vectors = self.embedder.embed(texts, "document")
            if self.wanted.dims == 0:
                raise EmbedderFailed(self.wanted.provider, LATE)
            with self.store.writing(wait_s=self.wait_s) as writer:
                state = writer.open_current()
                if isinstance(state, MustRebuild):
                    # A damaged index was set aside; the next sync builds a new one.
                    raise IndexUnreadable(self.store.describe().place, str(state))
                if writer.view.identity() != self.wanted:
                    return  # Somebody rebuilt the index for another model while we computed.
                with writer.transaction():
                    added = writer.add_vectors(chunks, vectors)
                unsettled += added
                if unsettled >= SETTLED_EVERY:
                    writer.finish()
                    unsettled = 0
            report.vectors_added += added
            in_vain = () if added else chunks
            self.progress(
                Progress(report.vectors_added, max(total, report.vectors_added), "vectors")
            )
        with self.store.writing(wait_s=self.wait_s) as writer:
            if isinstance(writer.open_current(), UpToDate):
                writer.finish()

    def _give_up(self) -> NoReturn:
        """Chunks that wait in one place and not in another would be embedded for ever."""
        self.store.mark_suspect()
        raise IndexUnreadable(self.store.describe().place, "its parts do not fit together")

    def _next_chunks(self) -> Sequence[StoredChunk]:
        with self.store.view() as view:
            if view is None or view.identity() != self.wanted:
                return []
            return view.waiting_for_vectors(self.embedder.texts_at_once)
