"""Keeping the index equal to the notes: a whole sync, or a quick one before a search.

    run        plan, write the words, then embed what waits: as long as it takes
    catch_up   index what was saved a moment ago, if that is little; a search waits for no more

In a process one thread at a time writes words and one embeds; a second caller waits and then finds
little left to do. Between processes the leases of the store do the same.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeGuard, cast

from notewell.core import VERSION as WORDS_VERSION
from notewell.embedders import CacheTally
from notewell.errors import EmbedderTrouble, IndexBusy, IndexTrouble
from notewell.index import Identity, IndexFacts
from notewell.ports import MasksSecrets, Prepares, ReportsWaiting
from notewell.records import dataclass, field, replace
from notewell.sync.look import LookedResult, LookSchedule
from notewell.sync.plan import Progress, SyncReport, TextSource, behind, gc_paused
from notewell.sync.text_sources import no_sessions, notes_source, sessions_source
from notewell.types import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from notewell.embedders import BatchFacts
    from notewell.index import IndexedNote, IndexStore, IndexView
    from notewell.notes import NoteStore
    from notewell.ports import Embedder, ModelFacts
    from notewell.sessions import DeltaLimits, TranscriptSource
    from notewell.types import Ignored, Scan

CATCH_UP_NOTES = 32
"""More changed notes than this come from a checkout or a move, not from writing."""
CATCH_UP_CHUNKS = 8
"""A search embeds at most so many chunks; about half a second with the embedded model."""
CATCH_UP_WAIT_S = 0.2
WORDS_STEP_S = 0.05
"""How often a search that waits for the first words looks whether there are some."""


@dataclass(slots=True)
class Indexer:
    """The index of one memory, and the sources it is built from."""

    notes: NoteStore
    indexes_notes: bool
    """False: transcripts alone are indexed; notes can still be read and written."""
    open_transcripts: Callable[[], TranscriptSource | None]
    """Called until there are some: the first conversation may be kept at any time."""
    delta_limits: DeltaLimits | None
    """How much must be new in a transcript; None: every change counts."""
    redact_notes: Callable[[str], str] | None
    redaction: str
    """Identifies the rules and the key of the redaction; another value rebuilds the index."""
    store: IndexStore
    embedder: Embedder
    chunk_tokens: int
    chunk_overlap: int
    vector_driver: str
    """The one in use, which stores the vectors of a new index."""
    driver_problem: str | None
    """Why the vector driver is not the one that the settings name."""
    keyword_only: bool
    now_ns: Callable[[], int]
    monotonic_s: Callable[[], float]
    lease_wait_s: float
    configured_sources: tuple[str, ...] = ()
    """What the settings name; empty: what is searched. It is part of what an index is built with.
    Conversations that hooks keep are searched besides, so that the first one that is kept does not
    rebuild the index."""
    requested_driver: str = ""
    """The vector driver that the settings name; empty: the one in use."""
    kept: Path | None = None
    """The folder of kept conversations, if they are searched. It may not be there yet."""
    look_file: Path | None = None
    """Where the time of the last look is recorded; see `sync.look`."""
    tally: CacheTally = field(default_factory=CacheTally)
    _writing: threading.Lock = field(default_factory=threading.Lock)
    _embedding: threading.Lock = field(default_factory=threading.Lock)
    # A tuple that is replaced as a whole, so it needs no lock.
    _known_facts: tuple[tuple[int, ...], IndexFacts | None] | None = None
    """The facts of the index, with the change mark of the store from before they were read."""
    _transcripts: TranscriptSource | None = None
    _unlisted: tuple[Ignored, ...] = ()
    """Folders that the last look could not list."""
    _looks: LookSchedule | None = None
    _looked_at: int | None = None
    """The change mark of the notes from before the last look that left nothing to index."""
    _left: Notice | None = None
    """What the last look left to a whole sync."""
    _running: dict[int, Progress] = field(default_factory=dict)
    """How far each whole sync is, by its thread."""

    def __post_init__(self) -> None:
        self._looks = LookSchedule(self.now_ns, self.monotonic_s, self.look_file)

    @property
    def transcripts(self) -> TranscriptSource | None:
        """None: transcripts are not searched, or nothing is kept yet."""
        if self._transcripts is None:
            self._transcripts = self.open_transcripts()
        return self._transcripts

    @property
    def sources(self) -> tuple[str, ...]:
        """What is searched."""
        notes = ("memory",) if self.indexes_notes else ()
        return (*notes, "sessions") if self.transcripts else notes

    def text_sources(self, *, everything: bool) -> list[TextSource]:
        """`everything` includes transcripts that have hardly grown."""
        now, sources = self.now_ns(), []
        if self.indexes_notes:
            redact = self.redact_notes
            sources.append(notes_source(self.notes, redact, everything=everything, now_ns=now))
        if transcripts := self.transcripts:
            limits = None if everything else self.delta_limits
            sources.append(sessions_source(transcripts, limits))
        return sources

    # -- what the index should be built with -----------------------------------------------------

    def facts(self) -> ModelFacts:
        """The facts of the model. If the embedder does not know the length of its vectors now, the
        index does: it must not be rebuilt because a provider is down."""
        facts = self.embedder.facts
        if facts.dims:
            return facts
        with suppress(IndexTrouble):
            index = self.index_facts()
            identity = index.identity if index else None
            if identity and (identity.provider, identity.model) == (facts.provider, facts.model):
                return replace(facts, dims=identity.dims)
        return facts

    def index_facts(self) -> IndexFacts | None:
        """What is in the published index; None if there is none. A search decides from these facts
        whether to embed its question, so no view stays open while a provider answers."""
        mark, known = self.store.change_mark(), self._known_facts
        # The scan before a search has just read them, unless something was written meanwhile.
        if known is not None and known[0] == mark:
            return known[1]
        with self.store.view() as view:
            return self._learned(mark, view)

    def _learned(self, mark: tuple[int, ...], view: IndexView | None) -> IndexFacts | None:
        facts = None
        if view is not None:
            identity = view.identity()
            is_readable = identity.is_readable_with(self.vector_driver)
            facts = IndexFacts(
                view.generation,
                identity,
                view.waiting(),
                view.has_vectors(),
                is_readable,
                view.cosine_scale(),
                view.outdated(),
            )
        self._known_facts = (mark, facts)
        return facts

    def _published(self) -> Identity | None:
        with suppress(IndexTrouble):  # Whoever opens the index reports it.
            index = self.index_facts()
            return index.identity if index else None
        return None

    def wanted(self, facts: ModelFacts, published: Identity | None) -> Identity:
        """What an index must be built with. The vectors of the published one stay with the driver
        that stores them, if this process can read them: otherwise two processes, of which one
        lacks a library, would rebuild the index for each other."""
        requested, stored_by = self.requested_driver or self.vector_driver, self.vector_driver
        if (
            published is not None
            and published.vector_driver == requested
            and published.is_readable_with(self.vector_driver)
        ):
            stored_by = published.stored_by
        return Identity(
            provider=facts.provider,
            model=facts.model,
            dims=facts.dims,
            chunk_tokens=min(self.chunk_tokens, facts.chunk_tokens),
            chunk_overlap=self.chunk_overlap,
            sources=self.configured_sources or self.sources,
            words_version=WORDS_VERSION,
            vector_driver=requested,
            stored_by=stored_by,
            redaction=f"{self.redaction}+sent{facts.masking}" if facts.masking else self.redaction,
            endpoint_key=facts.endpoint_key,
        )

    # -- a whole sync ----------------------------------------------------------------------------

    def run(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        thread = threading.get_ident()
        self._running[thread] = Progress(0, 0, "notes")

        def on_progress(now: Progress) -> None:
            self._running[thread] = now
            if progress is not None:
                progress(now)

        try:
            return self._run_whole(
                force=force, vectors=vectors, everything=everything, on_progress=on_progress
            )
        finally:
            del self._running[thread]

    @property
    def progress(self) -> Progress | None:
        """How far the sync is that runs in this process; None if none runs."""
        # Several threads may ask for a sync, but one at a time does its work.
        return max(list(self._running.values()), key=lambda one: one.total, default=None)

    def wait_for_words(self, timeout_s: float) -> None:
        """While a thread of this process builds the first index, until it has published some of
        it, or for that long."""
        until_s = time.monotonic() + timeout_s
        while self.progress is not None and self.index_facts() is None:
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return
            time.sleep(min(left_s, WORDS_STEP_S))

    def _run_whole(
        self,
        *,
        force: bool,
        vectors: bool,
        everything: bool,
        on_progress: Callable[[Progress], None],
    ) -> SyncReport:
        run = partial(
            self._run, everything=everything, on_progress=on_progress, wait_s=self.lease_wait_s
        )
        embedder = self.embedder
        if not vectors or self.keyword_only:
            return run(force=force, vectors=False)
        if not _needs_download(embedder):
            report = run(force=force, vectors=True)
            if not self._learned_dims_late(report):
                return report
            # The first request taught how long the vectors are: this builds an index for them.
            again = run(force=False, vectors=True)
            again.rebuilt = report.rebuilt or again.rebuilt
            return again
        # Words first: they are searchable while the model is downloaded.
        words = run(force=force, vectors=False)
        try:
            embedder.prepare(lambda have, size: on_progress(downloaded(have, size)))
        except EmbedderTrouble as trouble:
            words.trouble = trouble
            return words
        # Only now the facts of the model are complete, so this may build a new index.
        report = run(force=False, vectors=True)
        report.rebuilt = words.rebuilt or report.rebuilt
        return report

    def _learned_dims_late(self, report: SyncReport) -> bool:
        """Whether the index was built before the length of its vectors was known. A server that
        loads its model first may answer the texts, but not the short question before them."""
        if not isinstance(report.trouble, EmbedderTrouble) or self.embedder.facts.dims == 0:
            return False
        index = self.index_facts()
        return index is not None and index.identity.dims == 0

    def _run(
        self,
        *,
        force: bool,
        everything: bool,
        vectors: bool,
        on_progress: Callable[[Progress], None],
        wait_s: float,
        thread_wait_s: float = -1,
    ) -> SyncReport:
        """Waits `wait_s` for other processes and `thread_wait_s` for other threads of this one;
        -1 is without limit."""
        # Imported here: a search needs neither a Markdown parser nor a cache.
        from notewell.embedders import Cached, batch_facts_of
        from notewell.sync.apply import KnownVectors, TextSync
        from notewell.sync.embed_pending import PendingEmbedder

        facts = self.facts()
        wanted = self.wanted(facts, None if force else self._published())
        cache = self.store.vector_cache(facts)
        try:
            with (
                self._alone(self._writing, thread_wait_s),
                self.store.writing(wait_s=wait_s) as writer,
            ):
                # Listed while the lease is held: a list from before it may be older than the
                # index that another process has just written.
                at_s = self.now_ns() / 1e9
                sources = self.text_sources(everything=everything)
                if all(source.name != "sessions" for source in sources):
                    # Kept conversations that are no longer searched leave the index.
                    sources.append(no_sessions())
                known = KnownVectors(
                    self.store,
                    cache,
                    wanted,
                    self.tally,
                    with_windows=facts.window_share > 0,
                    outgoing=_outgoing(self.embedder, facts),
                )
                text = TextSync(
                    sources, writer, known, wanted, facts.reads, self.now_ns, on_progress
                )
                report = text.run(force=force)
            self.looks.confirm_sync(at_s)
            self._left = None
            # After the writer lease is released: embedding may take hours.
            if vectors and not self.keyword_only:
                cached = Cached(self.embedder, cache, self.tally)
                before = batch_facts_of(self.embedder)
                with self._alone(self._embedding, thread_wait_s), self._reporting(on_progress):
                    PendingEmbedder(self.store, cached, wanted, wait_s, on_progress).run(report)
                report.batch_failure = _batch_failure(before, batch_facts_of(self.embedder))
            return self._counted(report)
        # The cache holds a file open; on Windows that would block a repair.
        finally:
            cache.close()

    @contextmanager
    def _alone(self, lock: threading.Lock, wait_s: float) -> Iterator[None]:
        if not lock.acquire(timeout=wait_s):
            raise IndexBusy(self.store.describe().place, "another sync of this process", wait_s)
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

    def _reporting(self, on_progress: Callable[[Progress], None]) -> AbstractContextManager[None]:
        """An embedder that waits for a remote batch job reports its progress."""
        if not isinstance(self.embedder, ReportsWaiting):
            return nullcontext()
        return self.embedder.reporting(
            lambda waiting: on_progress(Progress(waiting.done, waiting.total, waiting.what))
        )

    # -- the quick sync before a search ----------------------------------------------------------

    @property
    def looks(self) -> LookSchedule:
        """When the notes are compared with the index."""
        return cast("LookSchedule", self._looks)  # `__post_init__` has set it.

    def look_again(self) -> None:
        """The next `catch_up` scans at once: the caller knows that a note has just changed."""
        self.looks.request()

    def catch_up(self, *, vectors: bool) -> Notice | None:
        """Index what was saved a moment ago. Returns a notice if something is left, or may be."""
        if self._is_marked():
            self.looks.request()
        if self.looks.is_recent():
            return self._left
        if last := self.looks.postpone():
            return last.notice(self.now_ns() / 1e9)
        return self.look(vectors=vectors).notice

    def _is_marked(self) -> bool:
        """Whether another process has changed a note since the last look. A folder does not say;
        there, a look follows the last one soon enough."""
        mark = self.notes.change_mark()
        return mark is not None and mark != self._looked_at

    def look(self, *, vectors: bool) -> LookedResult:
        """Compare all notes with the index, and index those that changed, if they are few."""
        begun, took_s, changed, mark = self.looks.compare(self._changed, self.notes.change_mark)
        if not isinstance(changed, int):
            return LookedResult(0, changed)
        notice = self._index_changed(changed, vectors=vectors) if changed else None
        notice = notice or _unread_notice(self._unlisted)
        if notice is None:
            # Only now: a search of another thread must not miss what is being indexed here.
            self._looked_at, self._left = mark, None
            self.looks.confirm(begun, took_s)
        elif self._unlisted:
            # Nobody knows what has changed in there: each answer says so, until it can be listed.
            self.looks.request()
        elif changed > CATCH_UP_NOTES:
            self._left = notice
            self.looks.rest(begun, took_s)
        return LookedResult(changed, notice)

    def _index_changed(self, changed: int, *, vectors: bool) -> Notice | None:
        if changed > CATCH_UP_NOTES:
            text = f"{changed} notes have changed since the last sync: run `notewell index`"
            if self.progress is not None:
                text = f"{changed} notes are being indexed and are not found yet"
            return Notice.same(text)
        try:
            # Words first: how many chunks wait decides whether this search embeds them.
            report = self._index_few(vectors=False)
            if vectors and 0 < report.vectors_waiting <= CATCH_UP_CHUNKS:
                self._index_few(vectors=True)
            if report.unreadable:
                return _unread_notice(report.unreadable)
        except IndexTrouble as trouble:
            number = "a note has" if changed == 1 else f"{changed} notes have"
            text = f"{number} changed and could not be indexed"
            return Notice(f"{text}: {trouble}", f"{text}: {trouble.public_text()}")
        return None

    def _index_few(self, *, vectors: bool) -> SyncReport:
        return self._run(
            force=False,
            everything=False,
            vectors=vectors,
            on_progress=lambda _: None,
            # A search does not wait for a long sync: it answers from what is indexed.
            wait_s=CATCH_UP_WAIT_S,
            thread_wait_s=CATCH_UP_WAIT_S,
        )

    def _changed(self) -> int | Notice | None:
        """See `NotesCompared.changed`."""
        # Before the view below is open: `facts` may open one itself, and there is one at a time.
        facts = self.facts()
        with gc_paused():
            # Before the view: if something is written meanwhile, the facts are read again.
            mark = self.store.change_mark()
            with self.store.view() as view:
                index = self._learned(mark, view)
                if view is None or index is None:
                    return _NO_INDEX_YET
                # A rebuild takes longer than a search may wait.
                if index.outdated or index.identity != self.wanted(facts, index.identity):
                    return None
                indexed = {source: view.notes(source) for source in self.sources}
            scans = self.scans(indexed)
            self._unlisted = tuple(one for scan in scans.values() for one in scan.unreadable)
            return sum(behind(scan, indexed[name]) for name, scan in scans.items())

    def read(self, path: str) -> str:
        """The text of a note or transcript, as it is on disk now."""
        transcripts = self.transcripts
        if transcripts is not None and path.endswith(transcripts.suffixes):
            return transcripts.read(path).text
        return self.notes.read(path).text

    def scans(self, indexed: Mapping[str, Mapping[str, IndexedNote]]) -> dict[str, Scan]:
        """What is on disk now, by source, given what is indexed of each."""
        return {
            source.name: source.scan(
                {path: note.stat for path, note in indexed.get(source.name, {}).items()}
            )
            for source in self.text_sources(everything=False)
        }


_NO_INDEX_YET = Notice.same(
    "the notes were indexed for the first time while this search ran, and what was saved since "
    "then may be missing: ask again in a moment"
)
"""For an answer that has an index, although there was none a moment before."""


def _unread_notice(unread: Sequence[Ignored]) -> Notice | None:
    """That the answer may lack something; a remote reader gets no reason of our machine."""
    if not unread:
        return None
    first, more = unread[0], f" and {len(unread) - 1} more" if unread[1:] else ""
    lacks = "their last changes are not in this answer"
    return Notice(
        f"{first.path}{more} could not be read ({first.why}): {lacks}",
        f"some notes could not be read: {lacks}",
    )


def _batch_failure(before: BatchFacts | None, after: BatchFacts | None) -> str | None:
    """Why a batch job failed meanwhile; None if none did."""
    if before is None or after is None or after.failed_jobs == before.failed_jobs:
        return None
    return after.off_because or after.last_failure


def _outgoing(
    embedder: Embedder, facts: ModelFacts
) -> Callable[[Sequence[str]], list[str]] | None:
    return embedder.outgoing if facts.masking and isinstance(embedder, MasksSecrets) else None


def _needs_download(embedder: Embedder) -> TypeGuard[Prepares]:
    return isinstance(embedder, Prepares) and embedder.missing() is not None


def downloaded(have: int, size: int) -> Progress:
    """How much of a model is there."""
    return Progress(have >> 20, size >> 20, "MiB of the model")
