"""Carrying out the plan: the words of the notes become searchable.

Everything here runs while the writer's lease is held and takes a moment. Vectors follow without
that lease (see `embed_pending`), except those that are already known: a rebuild takes them over
before readers see the new index.

    the published index    has all vectors, unless it was built with another model; found by note
    the cache              has the newest, of every model and of notes that moved; found by digest

The cache alone is not enough: it keeps 50 000 vectors, so that a rebuild of a million chunks would
compute, and pay for, nineteen of twenty again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core import ChunkLimits, chunk, has_windows, split_text
from notewell.errors import IndexTrouble, IndexUnreadable, NoteUnreadable
from notewell.index import MustRebuild, UpToDate
from notewell.ports import WindowedVector
from notewell.records import dataclass
from notewell.sync.plan import (
    Progress,
    SyncInterrupted,
    SyncPlan,
    SyncReport,
    compare,
    gc_paused,
    plan_sync,
    settled_stat,
)
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from notewell.embedders import CacheTally
    from notewell.index import Identity, IndexStore, IndexWriter, StoredChunk
    from notewell.ports import VectorCache
    from notewell.sync.plan import ProgressCallback, TextSource

NOTES_AT_ONCE = 200  # Notes in one transaction: each commit costs an fsync.
BYTES_AT_ONCE = 2_000_000  # Or so much text, about a third of a second: a hook has little time.
VECTORS_AT_ONCE = 400


@dataclass(frozen=True, slots=True)
class TextSync:
    """One run: reads the `sources` and writes through `writer`."""

    sources: Sequence[TextSource]
    writer: IndexWriter
    known_vectors: KnownVectors
    wanted: Identity
    reads: Callable[[str], bool]
    """Whether the model can read a text; one that it cannot read gets no vector."""
    now_ns: Callable[[], int]
    on_progress: ProgressCallback

    def run(self, *, force: bool) -> SyncReport:
        state = self.writer.open_current(force=force)
        try:
            if isinstance(state, UpToDate):
                state = compare(self.writer.view.identity(), self.wanted, force=force)
            if isinstance(state, UpToDate):
                return self._bring_up_to_date()
        except IndexUnreadable as error:
            # Damage may show only when its page is read, in the middle of the update.
            state = self.writer.set_aside(error)
        return self._rebuild(state)

    def _bring_up_to_date(self) -> SyncReport:
        report = SyncReport()
        for source in self.sources:
            self._index_source(source, report)
        if report.written or report.forgotten:
            self.writer.finish()
        return report

    def _rebuild(self, reason: MustRebuild) -> SyncReport:
        report = SyncReport(rebuilt=reason)
        self.writer.start_generation(self.wanted)
        if reason.kind == "first":
            return self._build_first(report)
        for source in self.sources:
            self._index_source(source, report)
        # Before `publish`, so that a rebuild with the same model answers as well as the old index.
        self._add_known_vectors()
        self.writer.publish()
        return report

    def _build_first(self, report: SyncReport) -> SyncReport:
        """Where there was no index, some notes are better than none: they are published before all
        of them are written, and at the latest when the sync is interrupted. The next one goes
        on."""
        is_published = False

        def publish() -> None:
            nonlocal is_published
            if not is_published:
                self.writer.publish()
                is_published = True

        try:
            for source in self.sources:
                self._index_source(source, report, before_next=publish)
        except SyncInterrupted:
            publish()
            raise
        self._add_known_vectors()
        if is_published:
            self.writer.finish()
        else:
            self.writer.publish()
        return report

    # -- notes -----------------------------------------------------------------------------------

    def _index_source(
        self,
        source: TextSource,
        report: SyncReport,
        before_next: Callable[[], None] = lambda: None,
    ) -> None:
        """`before_next` is called between two transactions."""
        with gc_paused():
            plan, digests = self._plan(source, report)
        for done in self._write_notes(source, plan, digests, report):
            if done < len(plan.read):
                before_next()
            label = "notes" if source.name == "memory" else source.name
            self.on_progress(Progress(done, len(plan.read), label))

    def _plan(self, source: TextSource, report: SyncReport) -> tuple[SyncPlan, dict[str, str]]:
        """What to do, and the indexed digests of the notes to read. Everything else that is known
        about the notes is freed here: with 100 000 notes it takes much memory."""
        indexed = self.writer.view.notes(source.name)
        scan = source.scan({path: note.stat for path, note in indexed.items()})
        plan = plan_sync(scan, indexed)
        report.ignored += scan.ignored
        report.unreadable += scan.unreadable
        report.unchanged += plan.unchanged
        return plan, {path: indexed[path].digest for path in plan.read if path in indexed}

    def _write_notes(
        self, source: TextSource, plan: SyncPlan, digests: Mapping[str, str], report: SyncReport
    ) -> Iterator[int]:
        """After each transaction: how many notes are done."""
        done = 0
        while done < len(plan.read):
            group = plan.read[done : done + NOTES_AT_ONCE]
            with self.writer.transaction():
                done += self._write_group(source, group, digests, report)
            yield done
        if plan.forget:
            with self.writer.transaction():
                self.writer.forget(plan.forget)
        report.forgotten += len(plan.forget)

    def _write_group(
        self,
        source: TextSource,
        group: Sequence[str],
        digests: Mapping[str, str],
        report: SyncReport,
    ) -> int:
        """Write the notes of one transaction; how many were enough for it."""
        written_bytes = 0
        for number, path in enumerate(group, start=1):
            written_bytes += self._write_note(source, path, digests.get(path), report)
            if written_bytes >= BYTES_AT_ONCE:
                return number
        return len(group)

    def _write_note(
        self, source: TextSource, path: str, old_digest: str | None, report: SyncReport
    ) -> int:
        """How many bytes were read."""
        try:
            note = source.read(path)
        except NoteUnreadable as error:
            report.unreadable.append(Ignored(path, error.why))
            return 0
        report.repaired += (Ignored(path, repair) for repair in note.repairs)
        if note.left_out:
            report.ignored += (Ignored(path, note.left_out),)
        stat = settled_stat(note.stat, self.now_ns())
        if note.digest == old_digest:
            # Touched, not changed. The new stat spares the next sync from reading it again.
            report.unchanged += 1
            self.writer.note_seen(path, source.name, note.digest, stat, note.session)
            return note.stat.size
        limits = ChunkLimits(self.wanted.chunk_tokens, self.wanted.chunk_overlap)
        chunks = chunk(note.text, limits, is_spoken=source.name == "sessions")
        if note.said_at:
            chunks = [
                piece._replace(said_at=note.said_at[piece.span.start_line - 1]) for piece in chunks
            ]
        self.writer.replace(path, source.name, note.digest, stat, chunks, note.session)
        unread = [piece.digest for piece in chunks if not self.reads(piece.text)]
        self.writer.mark_unread(path, unread)
        report.written += 1
        return note.stat.size

    # -- vectors ---------------------------------------------------------------------------------

    def _add_known_vectors(self) -> None:
        import numpy as np

        from notewell.embedders import is_sound

        last_id = 0
        while chunks := self.writer.view.waiting_for_vectors(VECTORS_AT_ONCE, after=last_id):
            last_id = chunks[-1].id
            known = self.known_vectors.vectors(chunks)
            # A cached vector may be older than a fix of its provider: it is checked again.
            usable = [
                chunk
                for chunk in chunks
                if chunk.digest in known and is_sound(known[chunk.digest].vector, self.wanted.dims)
            ]
            if usable:
                with self.writer.transaction():
                    vectors = np.stack([known[chunk.digest].vector for chunk in usable])
                    windows = [known[chunk.digest].windows for chunk in usable]
                    self.writer.add_vectors(usable, vectors, windows)


class KnownVectors:
    """Vectors that were computed before, by the digest of their text."""

    def __init__(
        self,
        published: IndexStore,
        cache: VectorCache,
        wanted: Identity,
        tally: CacheTally,
        *,
        with_windows: bool = False,
        outgoing: Callable[[Sequence[str]], list[str]] | None = None,
    ) -> None:
        """`with_windows`: the model gives windows vectors, so that a chunk needs them, too.
        `outgoing`: what is sent of a text; a chunk with a secret is embedded without it, so that
        no vector of its own text may be used."""
        self._outgoing = outgoing
        self._with_windows = with_windows
        self._published: IndexStore | None = published
        self._cache = cache
        self._wanted = wanted
        self._tally = tally

    def vectors(self, chunks: Sequence[StoredChunk]) -> dict[str, WindowedVector]:
        if self._outgoing is not None:
            texts = [split_text(one.heading, one.text).text for one in chunks]
            sent = self._outgoing(texts)
            chunks = [one for one, t, s in zip(chunks, texts, sent, strict=True) if t == s]
        vectors = self._from_index(chunks)
        if self._outgoing is not None:
            clean = {one.digest for one in chunks}
            vectors = {digest: one for digest, one in vectors.items() if digest in clean}
        vectors |= self._from_cache([one.digest for one in chunks if one.digest not in vectors])
        if self._with_windows:
            counts = {one.digest: window_count(one) for one in chunks}
            dims = self._wanted.dims
            vectors = {
                digest: one
                for digest, one in vectors.items()
                if has_windows(one.windows, counts.get(digest, 0), dims)
            }
        # No misses: what is missing here is counted when it is embedded.
        self._tally.add(hits=len(vectors), misses=0)
        return vectors

    def _from_cache(self, digests: Sequence[str]) -> dict[str, WindowedVector]:
        windows = self._cache.windows(digests) if self._with_windows else {}
        return {
            digest: WindowedVector(vector, windows.get(digest, b""))
            for digest, vector in self._cache.get(digests).items()
        }

    def _from_index(self, chunks: Sequence[StoredChunk]) -> dict[str, WindowedVector]:
        """Opens a view for each group of chunks: searches of this process wait for an open one."""
        if self._published is None:
            return {}
        try:
            with self._published.view() as view:
                if view is not None and _has_same_vectors(view.identity(), self._wanted):
                    return view.vectors_of({chunk.path for chunk in chunks})
        except IndexTrouble:
            pass  # It is being replaced, perhaps because it is damaged: the cache has to do.
        # Once is enough: it has another model, or it is unreadable, for all further groups, too.
        self._published = None
        return {}


def window_count(chunk: StoredChunk) -> int:
    return len(split_text(chunk.heading, chunk.text).windows)


_VECTOR_FIELDS = ("provider", "model", "dims", "endpoint_key")


def _has_same_vectors(found: Identity, wanted: Identity) -> bool:
    is_same = all(getattr(found, name) == getattr(wanted, name) for name in _VECTOR_FIELDS)
    # Vectors of masked texts fit only texts that are masked alike; those of other texts fit every
    # text that is sent as it is, and `KnownVectors` asks for no other.
    found_masking = found.redaction.partition("+")[2]
    if found_masking and found_masking != wanted.redaction.partition("+")[2]:
        return False
    return is_same and found.is_readable_with(wanted.driver)
