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
from notewell.sync.report import Progress, SyncReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.index import Identity, Index, IndexReader, StoredChunk
    from notewell.ports import Embedder
    from notewell.sync.report import ProgressCallback

SETTLED_EVERY = 16_384
"""Vectors that are not settled yet are read whole by every search: of a million, 1.5 GB."""

LATE = (
    "only now is it known how long its vectors are; run `notewell index` once more, which makes "
    "an index for them: what was computed is kept"
)


@dataclass(frozen=True, slots=True)
class VectorFill:
    """One run over everything that waits."""

    index: Index
    reader: IndexReader
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
            with self.index.embedding():
                self._fill(waiting, report)
        except (EmbedderTrouble, IndexBusy) as trouble:
            report.trouble = trouble

    def waiting(self) -> int:
        with self.reader.snapshot() as snapshot:
            if snapshot is None:
                return 0
            return snapshot.waiting()

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
            with self.index.writing(wait_s=self.wait_s) as writer:
                reason = writer.open_current()
                if reason:
                    # What was damaged is out of the way now; the next sync builds a new index.
                    raise IndexUnreadable(str(self.index.folder.path), reason)
                if writer.snapshot.identity() != self.wanted:
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
        with self.index.writing(wait_s=self.wait_s) as writer:
            if writer.open_current() is None:
                writer.finish()

    def _give_up(self) -> NoReturn:
        """Chunks that wait in one place and not in another would be embedded for ever."""
        folder = self.index.folder
        if current := folder.current():
            folder.mark_suspect(current)
        raise IndexUnreadable(str(folder.path), "its parts do not fit together")

    def _next_chunks(self) -> Sequence[StoredChunk]:
        with self.reader.snapshot() as snapshot:
            if snapshot is None or snapshot.identity() != self.wanted:
                return []
            return snapshot.waiting_for_vectors(self.embedder.texts_at_once)
