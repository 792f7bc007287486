"""Keeping the index at what the notes say: a whole sync, or a quick look before a search.

    run        plan, write the words, then fill in the vectors: as long as it takes
    catch_up   what was saved a moment ago, if that is little; a search does not wait for more

One thread of a process writes words at a time and one fills in vectors; a second caller waits and
then finds little left to do. Between processes the leases of the index see to it.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from notewell.core import VERSION as WORDS_VERSION
from notewell.embedders import CacheTally
from notewell.errors import IndexBusy, IndexTrouble
from notewell.index import Identity
from notewell.ports import ReportsWaiting
from notewell.sync.gc_pause import uncollected
from notewell.sync.plan import behind
from notewell.sync.report import Progress, SyncReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from notewell.index import IndexedNote, IndexStore
    from notewell.notes import NoteStore
    from notewell.ports import Embedder, ModelFacts
    from notewell.sessions import DeltaLimits, Transcripts
    from notewell.sync.source import TextSource
    from notewell.types import Scan

CATCH_UP_NOTES = 32
"""More changed notes than this are a checkout or a move, not somebody writing."""
CATCH_UP_CHUNKS = 8
"""So many chunks are embedded on the way; about half a second with the embedded model."""
CATCH_UP_WAIT_S = 0.2
LOOK_SHARE = 10
"""Looking at the notes takes at most a tenth of the time: a scan of 10 000 files takes long enough
not to be done for every search of a busy process."""


@dataclass(slots=True)
class Indexer:
    """The index of one memory and what it is kept from."""

    notes: NoteStore
    transcripts: tuple[Transcripts, DeltaLimits] | None
    """And how much must be new in one; None: transcripts are not searched."""
    redact_notes: Callable[[str], str] | None
    redaction: str
    """Tells redacted text of different rules or keys apart."""
    store: IndexStore
    embedder: Embedder
    chunk_tokens: int
    chunk_overlap: int
    vector_driver: str
    keyword_only: bool
    now_ns: Callable[[], int]
    monotonic_s: Callable[[], float]
    lease_wait_s: float
    tally: CacheTally = field(default_factory=CacheTally)
    _writing: threading.Lock = field(default_factory=threading.Lock)
    _filling: threading.Lock = field(default_factory=threading.Lock)
    _look_again_at: float = 0.0

    @property
    def sources(self) -> tuple[str, ...]:
        return ("memory", "sessions") if self.transcripts else ("memory",)

    def text_sources(self, *, everything: bool) -> list[TextSource]:
        """`everything` takes in transcripts that have hardly grown, too."""
        from notewell.sync.source import notes_source, sessions_source

        now = self.now_ns()
        sources = [notes_source(self.notes, self.redact_notes, everything=everything, now_ns=now)]
        if self.transcripts:
            sources.append(sessions_source(*self.transcripts, everything=everything))
        return sources

    # -- what the index should be made with ------------------------------------------------------

    def facts(self) -> ModelFacts:
        """Where the embedder cannot say now how long its vectors are, the index knows: it must
        not be rebuilt because a provider is down."""
        facts = self.embedder.facts
        if facts.dims:
            return facts
        with suppress(IndexTrouble), self.store.view() as view:
            found = view.identity() if view else None
            if found and (found.provider, found.model) == (facts.provider, facts.model):
                return replace(facts, dims=found.dims)
        return facts

    def wanted(self, facts: ModelFacts) -> Identity:
        return Identity(
            provider=facts.provider,
            model=facts.model,
            dims=facts.dims,
            chunk_tokens=min(self.chunk_tokens, facts.chunk_tokens),
            chunk_overlap=self.chunk_overlap,
            sources=self.sources,
            words_version=WORDS_VERSION,
            vector_driver=self.vector_driver,
            redaction=self.redaction,
            endpoint_key=facts.endpoint_key,
        )

    # -- a whole sync ----------------------------------------------------------------------------

    def run(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        told = progress or (lambda _: None)
        return self._run(
            force=force, everything=True, vectors=vectors, told=told, wait_s=self.lease_wait_s
        )

    def _run(
        self,
        *,
        force: bool,
        everything: bool,
        vectors: bool,
        told: Callable[[Progress], None],
        wait_s: float,
        turn_s: float = -1,
    ) -> SyncReport:
        """`wait_s` for other processes, `turn_s` for other threads of this one; -1 is for ever."""
        # A search needs neither a Markdown parser nor a cache.
        from notewell.embedders import Cached
        from notewell.sync.apply import TextSync
        from notewell.sync.embed_pending import PendingEmbedder
        from notewell.sync.vector_reuse import KnownVectors

        facts = self.facts()
        wanted = self.wanted(facts)
        cache = self.store.vector_cache(facts)
        try:
            with self._alone(self._writing, turn_s), self.store.writing(wait_s=wait_s) as writer:
                sources = self.text_sources(everything=everything)
                paid = KnownVectors(self.store, cache, wanted, self.tally)
                text = TextSync(sources, writer, paid, wanted, facts.reads, self.now_ns, told)
                report = text.run(force=force)
            if vectors and not self.keyword_only:
                cached = Cached(self.embedder, cache, self.tally)
                with self._alone(self._filling, turn_s), self._telling(told):
                    PendingEmbedder(self.store, cached, wanted, wait_s, told).run(report)
            return self._counted(report)
        finally:
            cache.close()

    @contextmanager
    def _alone(self, lock: threading.Lock, turn_s: float) -> Iterator[None]:
        if not lock.acquire(timeout=turn_s):
            raise IndexBusy(self.store.describe().place, "a sync of this very process", turn_s)
        try:
            yield
        finally:
            lock.release()

    def _counted(self, report: SyncReport) -> SyncReport:
        with self.store.view() as view:
            if view is not None:
                counts = view.counts()
                report.chunks = counts.chunks
                report.vectors_waiting = counts.waiting
        return report

    def _telling(self, told: Callable[[Progress], None]) -> AbstractContextManager[None]:
        """An embedder that waits for somebody else, as for a batch job, says so meanwhile."""
        if not isinstance(self.embedder, ReportsWaiting):
            return nullcontext()
        return self.embedder.reporting(
            lambda waiting: told(Progress(waiting.done, waiting.total, waiting.what))
        )

    # -- a quick look ----------------------------------------------------------------------------

    def look_again(self) -> None:
        """Somebody knows that a note has just changed."""
        self._look_again_at = 0.0

    def catch_up(self, *, vectors: bool) -> str | None:
        """Take in what was saved a moment ago; what is left over is told in words."""
        if self.monotonic_s() < self._look_again_at:
            return None
        changed = self._changed()
        if not changed:
            return None
        if changed > CATCH_UP_NOTES:
            return f"{changed} notes have changed since the last sync: run `notewell index`"
        try:
            report = self._take_in(vectors=False)
            if vectors and 0 < report.vectors_waiting <= CATCH_UP_CHUNKS:
                self._take_in(vectors=True)
        except IndexTrouble as trouble:
            number = "a note has" if changed == 1 else f"{changed} notes have"
            return f"{number} changed and could not be taken in: {trouble}"
        return None

    def _take_in(self, *, vectors: bool) -> SyncReport:
        return self._run(
            force=False,
            everything=False,
            vectors=vectors,
            told=lambda _: None,
            wait_s=CATCH_UP_WAIT_S,
            turn_s=CATCH_UP_WAIT_S,
        )

    def _changed(self) -> int:
        """How many files differ from the index; 0 where there is none to differ from."""
        started = self.monotonic_s()
        wanted = self.wanted(self.facts())  # Looks into the index itself, so not while we do.
        with uncollected():
            with self.store.view() as view:
                if view is None or view.identity() != wanted:
                    return 0  # Building an index takes longer than a search may.
                known = {source: view.notes(source) for source in self.sources}
            changed = sum(behind(scan, known[name]) for name, scan in self.scans(known).items())
        ended = self.monotonic_s()
        self._look_again_at = ended + LOOK_SHARE * (ended - started)
        return changed

    def read(self, path: str) -> str:
        """The text of a note or transcript, as it is on disk now."""
        if self.transcripts is not None and path.endswith(self.transcripts[0].suffixes):
            return self.transcripts[0].read(path).text
        return self.notes.read(path).text

    def scans(self, known: Mapping[str, Mapping[str, IndexedNote]]) -> dict[str, Scan]:
        """What is there now, by source, given what is indexed of each."""
        return {
            source.name: source.scan(
                {path: note.stat for path, note in known.get(source.name, {}).items()}
            )
            for source in self.text_sources(everything=False)
        }
