"""The built-in engine: an index of the notes, kept up to date by an `Indexer`.

    sync_before_search ─▶ search: facts of the index, prepare, one view, Answer

The view needs nothing but the index: no settings, no embedder and no key. So a service can give
that part to processes that only read (`StoreSearcher`).

Which embedder is in use, the requested one or its fallback, `switching.py` decides.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from notewell.engines.switching import SwitchingIndexer
from notewell.records import NamedTuple, replace
from notewell.search import RUN_INDEX, QuestionCache, SearchOptions, prepare, search
from notewell.types import Notice, being_built

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from notewell.embedders import EmbedderSelection
    from notewell.engines.protocol import SearchElsewhere
    from notewell.engines.status import Probe, Status
    from notewell.errors import NotewellError
    from notewell.index import IndexStore
    from notewell.notes import ExtraPath
    from notewell.ports import Embedder, Reranker
    from notewell.search import Question, SearchContext, SearchSettings
    from notewell.sync import Indexer, ProgressCallback, SyncOutcome, SyncRecord, SyncReport
    from notewell.types import Answer, Fallback


OLDER = "the index that answers was built by an older version"
RUN = RUN_INDEX.text
OTHER_DRIVER = "sqlite-vec is not used, `segments` is"


class ViewAnswer(NamedTuple):
    answer: Answer
    is_outdated: bool
    """An older version built the index."""


def search_store(
    store: IndexStore, context: SearchContext, reranker: Reranker | None = None
) -> ViewAnswer:
    """In one view of what is published now."""
    with store.view() as view:
        answer = search(view, context, reranker)
        return ViewAnswer(answer, view is not None and view.outdated() is not None)


class BuiltinEngine:
    name = "builtin"

    def __init__(
        self,
        indexer: Indexer,
        selection: EmbedderSelection,
        settings: SearchSettings,
        agent: str,
        reranker: Reranker | None,
        *,
        sync_on_search: bool = True,
        extra_paths: Sequence[ExtraPath] = (),
        zone: tzinfo | None = None,
        open_record: Callable[[], SyncRecord],
        search_elsewhere: SearchElsewhere | None = None,
    ) -> None:
        self.indexer = indexer
        self.reranker = reranker
        self._selection = selection
        self._settings = settings
        self._questions = QuestionCache(settings.cached_questions)
        self._agent = agent
        self._sync_on_search = sync_on_search
        self._extra_paths = extra_paths
        self._zone = zone
        """Whose "yesterday" a question means; None: the system's."""
        self._switching = SwitchingIndexer(indexer, selection)
        # A function: a search without trouble does not read the record.
        self._open_record = open_record
        self._search_elsewhere = search_elsewhere

    @cached_property
    def record(self) -> SyncRecord:
        """How the last sync ended, in this process or in another; see `sync.record`."""
        return self._open_record()

    def close(self) -> None:
        self.indexer.store.close()
        self._selection.close()

    # -- searching -------------------------------------------------------------------------------

    def sync_before_search(self, question: Question) -> Notice | None:
        """Index the few notes that were saved a moment ago. If there are too many, the last
        published index answers, and the notice says so."""
        # The index may belong to the fallback: syncing with the other embedder would rebuild it.
        self.embedder()
        if not self._sync_on_search:
            return None
        return self.indexer.catch_up(vectors=not self._is_by_words(question))

    def search(self, question: Question) -> Answer:
        context = self.prepare(question)
        answer, is_outdated = self._found(context)
        if is_outdated:
            answer = answer.with_notice(self._outdated())
        if not answer.has_index and (doing := self._indexing()):
            answer = replace(answer, reason=doing)
        # No vector was asked for, so neither embedder nor driver matters.
        if context.options.keyword_only:
            return answer
        fallback = self._fallback()
        if fallback is not None:
            answer = replace(answer, fallback=fallback).with_notice(fallback.notice)
        problem = self.indexer.driver_problem
        if problem is None:
            return answer
        return answer.with_notice(
            Notice(f"{OTHER_DRIVER}: {problem}", f"{OTHER_DRIVER}; `notewell status` says why")
        )

    def _found(self, context: SearchContext) -> ViewAnswer:
        # A reranker is an object of this process.
        if self._search_elsewhere is not None and self.reranker is None:
            found = self._search_elsewhere(context)
            if found is not None:
                return found
        return search_store(self.indexer.store, context, self.reranker)

    def _indexing(self) -> str | None:
        """What is done about a missing index; None if nobody does anything."""
        progress = self.indexer.progress
        if progress is not None:
            return f"the notes are being indexed now{progress.so_far}: ask again in a moment"
        if self.indexer.store.describe().holder is not None:
            return "another process indexes the notes now: ask again in a moment"
        return None

    def _outdated(self) -> Notice:
        built = self.indexer.store.describe().notes_built
        text = RUN if built is None else being_built(built)
        return Notice.same(f"{OLDER}: {text}")

    def prepare(self, question: Question) -> SearchContext:
        """Embeds the question; see `search.prepare`."""
        embedder, options = self.embedder(), self.options(question)
        index = None if options.keyword_only else self.indexer.index_facts()
        return prepare(index, question.text, embedder, options, self._questions, self._next_step)

    def _next_step(self) -> Notice:
        """What helps if the index lacks vectors: the failure of the last sync names the cause,
        such as a refused key."""
        progress = self.indexer.progress
        if progress is not None:
            what = "being computed" if progress.label == "vectors" else "computed after the words"
            return Notice.same(f"they are {what}{progress.so_far}")
        failure = self.record.read().failure
        if failure is None or failure.kind != "embedder":
            return RUN_INDEX
        notice = Notice(_with_index(failure.text), _with_index(failure.public))
        return notice.after("the last sync failed")

    def options(self, question: Question) -> SearchOptions:
        """The settings, changed by what the question says itself."""
        settings, weighing = self._settings, question.weighing
        now = datetime.fromtimestamp(self.indexer.now_ns() / 1e9, UTC).astimezone(self._zone)
        return SearchOptions(
            today=now.date(),
            max_results=(
                settings.max_results if question.max_results is None else question.max_results
            ),
            min_score=_or(question.min_score, settings.min_score),
            # A caller that chooses words, or their weight, asks for them.
            hybrid=settings.hybrid or question.keyword_only or weighing.vector_weight is not None,
            fusion=weighing.fusion or settings.fusion,
            vector_weight=_or(weighing.vector_weight, settings.vector_weight),
            candidate_multiplier=settings.candidate_multiplier,
            mmr_lambda=_or(weighing.mmr_lambda, settings.mmr_lambda),
            # A half-life of 0 switches ageing off; the ranking knows that as None.
            half_life_days=_or(weighing.half_life_days, settings.half_life_days) or None,
            sources=_sources(self.indexer.sources, question),
            hides_private=question.hides_private,
            folder=question.folder,
            running_session=question.running_session,
            filters=question.filters,
            keyword_only=self._is_by_words(question),
        )

    def _is_by_words(self, question: Question) -> bool:
        return question.keyword_only or self._settings.keyword_only

    def get(self, path: str) -> str:
        return self.indexer.read(path)

    # -- the embedder in use ---------------------------------------------------------------------

    def embedder(self) -> Embedder:
        """The embedder in use."""
        return self._switching.embedder()

    def _fallback(self) -> Fallback | None:
        """The embedder that is used in place of the requested one, why, and since when."""
        fallback = self._switching.fallback()
        if fallback is None:
            return None
        from notewell.engines.status import as_recorded

        return as_recorded(fallback, self.record.read())

    def probe(self) -> Probe:
        """Ask the embedder for one vector, and the index for the chunks near it. If a fallback is
        in use, the requested embedder is asked, too."""
        from notewell.engines.status import probe

        embedder = self.embedder()
        is_fallback = self._switching.fallback() is not None
        requested = self._selection.first_choice() if is_fallback else None
        return probe(embedder, self.indexer, requested)

    # -- sync and status -------------------------------------------------------------------------

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        ask_embedder: bool = False,
        progress: ProgressCallback,
    ) -> SyncReport:
        """With `ask_embedder`, a run that needs no vector asks a remote embedder for one all the
        same."""
        return self._switching.sync(
            force=force,
            vectors=vectors,
            everything=everything,
            ask_embedder=ask_embedder,
            progress=progress,
        )

    def outcome(self, trouble: NotewellError | None, *, vectors: bool) -> SyncOutcome:
        """How a sync ended, with what the embedder can tell about it."""
        from notewell.embedders import batch_facts_of
        from notewell.sync import SyncOutcome

        batch = batch_facts_of(self.indexer.embedder)
        return SyncOutcome(
            trouble,
            vectors and not self.indexer.keyword_only,
            self._selection.decision,
            batch_failures=batch.failures if batch else 0,
            batch_off_because=batch.off_because if batch else None,
            batch_text=(batch.last_failure if batch else None) or "",
        )

    def check(self) -> None:
        """Nothing to check: no other program is needed. A search reports a damaged index."""

    def status(self) -> Status:
        from notewell.engines.status import status_of

        self.embedder()
        return status_of(self.indexer, self._extra_paths, self._agent, self._selection.decision)


def _sources(sources: tuple[str, ...], question: Question) -> tuple[str, ...]:
    if not question.hides_private:
        return sources
    return tuple(source for source in sources if source != "sessions")


def _with_index(failure: str) -> str:
    """A failure, and the command that tries again, unless the failure names it."""
    return failure if "`notewell index`" in failure else f"{failure}; then {RUN_INDEX.text}"


def _or(value: float | None, default: float | None) -> float | None:
    return default if value is None else value
