"""Doing what the plan says: the words of the notes become searchable.

Everything here happens under the writer's lease and takes a moment; vectors follow (see `fill`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.core import ChunkLimits, chunk
from notewell.errors import IndexUnreadable, NoteUnreadable
from notewell.index import MustRebuild, UpToDate
from notewell.sync.gc_pause import uncollected
from notewell.sync.plan import SyncPlan, compare, plan_sync, settled_stat
from notewell.sync.report import Progress, SyncReport
from notewell.types import Ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.index import Identity, IndexWriter
    from notewell.sync.report import ProgressCallback
    from notewell.sync.source import TextSource
    from notewell.sync.vector_reuse import KnownVectors

NOTES_AT_ONCE = 200  # Notes a transaction: fsyncs are dear.
VECTORS_AT_ONCE = 400


@dataclass(frozen=True, slots=True)
class TextSync:
    """One run: reads the `sources`, writes through `writer`, tells `report`."""

    sources: Sequence[TextSource]
    writer: IndexWriter
    known_vectors: KnownVectors
    wanted: Identity
    reads: Callable[[str], bool]
    """Whether the model can read a text at all: what it cannot, it shall not judge."""
    now_ns: Callable[[], int]
    progress: ProgressCallback

    def run(self, *, force: bool) -> SyncReport:
        state = self.writer.open_current(force=force)
        try:
            if isinstance(state, UpToDate):
                state = compare(self.writer.view.identity(), self.wanted, force=force)
            if isinstance(state, UpToDate):
                return self._bring_up_to_date()
        except IndexUnreadable as error:
            state = self.writer.set_aside(error)
        return self._rebuild(state)

    def _bring_up_to_date(self) -> SyncReport:
        report = SyncReport()
        for source in self.sources:
            self._take_in(source, report)
        if report.written or report.forgotten:
            self.writer.finish()
        return report

    def _take_in(self, source: TextSource, report: SyncReport) -> None:
        with uncollected():
            todo, digests = self._look(source, report)
        self._write_notes(source, todo, digests, report)

    def _look(self, source: TextSource, report: SyncReport) -> tuple[SyncPlan, dict[str, str]]:
        """What is to be done, and the digests of the notes to read as they were indexed. What
        else is known of all the notes ends here: a hundred thousand are a burden to carry."""
        known = self.writer.view.notes(source.name)
        scan = source.scan({path: note.stat for path, note in known.items()})
        todo = plan_sync(scan, known)
        report.ignored += scan.ignored
        report.unreadable += scan.unreadable
        report.unchanged += todo.unchanged
        return todo, {path: known[path].digest for path in todo.read if path in known}

    def _rebuild(self, reason: MustRebuild) -> SyncReport:
        report = SyncReport(rebuilt=reason)
        self.writer.start_generation(self.wanted)
        for source in self.sources:
            self._take_in(source, report)
        self._reuse_known_vectors()
        self.writer.publish()
        return report

    def _write_notes(
        self, source: TextSource, todo: SyncPlan, digests: Mapping[str, str], report: SyncReport
    ) -> None:
        for start in range(0, len(todo.read), NOTES_AT_ONCE):
            group = todo.read[start : start + NOTES_AT_ONCE]
            with self.writer.transaction():
                for path in group:
                    self._write_note(source, path, digests.get(path), report)
            label = "notes" if source.name == "memory" else source.name
            self.progress(Progress(start + len(group), len(todo.read), label))
        if todo.forget:
            with self.writer.transaction():
                self.writer.forget(todo.forget)
        report.forgotten += len(todo.forget)

    def _write_note(
        self, source: TextSource, path: str, before: str | None, report: SyncReport
    ) -> None:
        try:
            note = source.read(path)
        except NoteUnreadable as error:
            report.unreadable.append(Ignored(path, error.why))
            return
        report.repaired += (Ignored(path, repair) for repair in note.repairs)
        stat = settled_stat(note.stat, self.now_ns())
        if note.digest == before:
            report.unchanged += 1
            self.writer.note_seen(path, source.name, note.digest, stat, note.day)
            return
        limits = ChunkLimits(self.wanted.chunk_tokens, self.wanted.chunk_overlap)
        chunks = chunk(note.text, limits, plain=source.name == "sessions")
        self.writer.replace(path, source.name, note.digest, stat, chunks, note.day)
        self.writer.mark_unread(path, [one.digest for one in chunks if not self.reads(one.text)])
        report.written += 1

    def _reuse_known_vectors(self) -> None:
        """Vectors already paid for go in before readers see the new index."""
        import numpy as np

        from notewell.embedders import is_sound

        last = 0
        while chunks := self.writer.view.waiting_for_vectors(VECTORS_AT_ONCE, after=last):
            last = chunks[-1].id
            known = self.known_vectors.vectors(chunks)
            usable = [
                one
                for one in chunks
                if one.digest in known and is_sound(known[one.digest], self.wanted.dims)
            ]
            if usable:
                with self.writer.transaction():
                    vectors = np.stack([known[one.digest] for one in usable])
                    self.writer.add_vectors(usable, vectors)
