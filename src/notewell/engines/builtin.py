"""The built-in engine: an index of the notes, kept up to date by an `Indexer`.

    sync_before_search ─▶ search: facts of the index, prepare, one view, Answer

The engine also decides which embedder is in use: the first choice, or the fallback that made the
index while the first choice failed.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from notewell.errors import EmbedderTrouble, IndexTrouble, NoWorkingEmbedder, VectorsPending
from notewell.ports import ModelFacts, Prepares
from notewell.records import replace
from notewell.search import QuestionCache, SearchOptions, prepare, search
from notewell.types import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from notewell.embedders import EmbedderSelection
    from notewell.engines.status import Probe, Status
    from notewell.errors import NotewellError
    from notewell.index import Identity
    from notewell.notes import ExtraPath
    from notewell.ports import Embedder, Reranker
    from notewell.search import Question, SearchContext, SearchSettings
    from notewell.sync import Indexer, ProgressCallback, SyncOutcome, SyncReport
    from notewell.types import Answer, Fallback


OTHER_DRIVER = "sqlite-vec is not used, `segments` is"


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
        # If the settings name one embedder, there is nothing to find out from the index.
        self._embedder_is_settled = not (selection.names_fallback or selection.is_automatic)
        self._keeps_maker = False
        """The embedder of the index is in use, although `auto` has found another one."""
        # A second thread waits until the first has found out, or it would use the wrong embedder.
        self._settling = threading.Lock()

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
        return self.indexer.catch_up(vectors=not self.options(question).keyword_only)

    def search(self, question: Question) -> Answer:
        context = self.prepare(question)
        with self.indexer.store.view() as view:
            answer = search(view, context, self.reranker)
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

    def prepare(self, question: Question) -> SearchContext:
        """Embeds the question; see `search.prepare`."""
        embedder, options = self.embedder(), self.options(question)
        index = None if options.keyword_only else self.indexer.index_facts()
        return prepare(index, question.text, embedder, options, self._questions)

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
            keyword_only=question.keyword_only or settings.keyword_only,
        )

    def get(self, path: str) -> str:
        return self.indexer.read(path)

    # -- the embedder in use ---------------------------------------------------------------------

    def embedder(self) -> Embedder:
        """The embedder in use. The first call finds out whether the fallback made the index."""
        with self._settling:
            if not self._embedder_is_settled:
                # Set before the index is opened: a damaged index is not opened again for each
                # question.
                self._embedder_is_settled = True
                self._settle_embedder()
        return self.indexer.embedder

    def _settle_embedder(self) -> None:
        with suppress(IndexTrouble):
            index = self.indexer.index_facts()
            made_by = index.identity.provider if index else ""
            first = self._selection.embedder
            self.indexer.embedder = self._selection.keep_fallback(made_by) or first
            if index is None or not index.has_vectors or self.indexer.embedder is not first:
                return
            maker = self._selection.keep_maker(_maker(index.identity))
            if maker is not None:
                self.indexer.embedder, self._keeps_maker = maker, True

    def _fallback(self) -> Fallback | None:
        """The embedder that is used in place of the configured one."""
        decision = self._selection.decision
        if decision is None or not decision.fell_back:
            return None
        from notewell.engines.status import embedder_fallback

        return embedder_fallback(decision)

    def _try_first_again(self) -> None:
        """If the fallback made the index, one question shows whether the first embedder is back.
        Building a new index to find that out would be expensive."""
        first = self._selection.embedder
        if self.embedder() is first or self._keeps_maker:
            return
        if self._selection.is_back(first):
            self.indexer.embedder = self._selection.embedder

    def probe(self) -> Probe:
        """Ask the embedder for one vector, and the index for the chunks near it."""
        from notewell.engines.status import probe

        return probe(self.embedder(), self.indexer)

    # -- sync and status -------------------------------------------------------------------------

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        progress: ProgressCallback,
    ) -> SyncReport:
        """An embedder that fails is replaced by the fallback, if the settings name one and it
        works."""
        # Only in a sync, never in a search: a search must not wait for a provider that is down.
        self._try_first_again()
        if force and self._keeps_maker:
            # A new index is requested: it is built with what `auto` has found.
            self.indexer.embedder, self._keeps_maker = self._selection.choose_again(), False
        run = partial(self._run, vectors=vectors, everything=everything, progress=progress)
        report = self._or_fallback(run(force=force), run, progress)
        report.fallback = self._fallback() if vectors else None
        return report

    def _or_fallback(
        self, report: SyncReport, run: Callable[..., SyncReport], progress: ProgressCallback
    ) -> SyncReport:
        """The report of the fallback, if the embedder in use has failed for good."""
        troubles: list[EmbedderTrouble] = []
        while isinstance(report.trouble, EmbedderTrouble) and self._may_fall_back(report.trouble):
            fallback = self._selection.fallback_after(report.trouble)
            if fallback is not None:
                trouble = _trouble_of(fallback, progress)
                if trouble is not None:
                    troubles = [trouble]
                    break
                self._selection.use_fallback(report.trouble)
                self.indexer.embedder = fallback
            # Not with `force` again: what the first run indexed is still good.
            report = run(has_answered=fallback is not None)
        other = self._other_maker()
        if isinstance(report.trouble, EmbedderTrouble) and (troubles or other):
            kept = self._kept_model()
            report.trouble = NoWorkingEmbedder([report.trouble, *troubles], kept)
        return report

    def _may_fall_back(self, trouble: EmbedderTrouble) -> bool:
        # A job that is under way is no failure, and its texts are paid for.
        is_pending = isinstance(trouble, VectorsPending)
        return self._selection.has_second and not self._keeps_maker and not is_pending

    # -- vectors are replaced only by vectors ----------------------------------------------------

    def _run(
        self,
        *,
        force: bool = False,
        vectors: bool,
        everything: bool,
        progress: ProgressCallback,
        has_answered: bool = False,
    ) -> SyncReport:
        """A sync that keeps the vectors of another model until the embedder in use has shown that
        it works: an index without vectors would replace them, and they cost time or money."""
        made = None if force else self._other_maker()
        trouble = None
        if made is not None and vectors and not has_answered:
            trouble = _trouble_of(self.indexer.embedder, progress)
        if made is None or (vectors and trouble is None):
            return self.indexer.run(
                force=force, vectors=vectors, everything=everything, progress=progress
            )
        maker = self._selection.maker(made, "run `notewell index`")
        # A copy: other threads go on searching with the embedder in use.
        indexer = replace(self.indexer, embedder=maker)
        report = indexer.run(vectors=False, everything=everything, progress=progress)
        report.trouble = trouble
        return report

    def _other_maker(self) -> ModelFacts | None:
        """The model of the vectors in the index, if it is not the one in use."""
        if self.indexer.keyword_only:
            return None
        facts = self.indexer.facts()
        with suppress(IndexTrouble):
            index = self.indexer.index_facts()
            made = _maker(index.identity) if index and index.has_vectors else facts
            if (made.provider, made.model) != (facts.provider, facts.model):
                return made
        return None

    def _kept_model(self) -> str | None:
        with suppress(IndexTrouble):
            index = self.indexer.index_facts()
            return index.identity.model if index and index.has_vectors else None
        return None

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


def _maker(identity: Identity) -> ModelFacts:
    """What an index says about the model that made it."""
    return ModelFacts(
        identity.provider,
        identity.model,
        identity.dims,
        identity.chunk_tokens,
        endpoint_key=identity.endpoint_key,
    )


def _sources(sources: tuple[str, ...], question: Question) -> tuple[str, ...]:
    if not question.hides_private:
        return sources
    return tuple(source for source in sources if source != "sessions")


def _trouble_of(embedder: Embedder, progress: ProgressCallback) -> EmbedderTrouble | None:
    """Why an embedder cannot compute vectors; None if it can."""
    from notewell.sync import downloaded

    try:
        if isinstance(embedder, Prepares) and embedder.missing() is not None:
            embedder.prepare(lambda have, size: progress(downloaded(have, size)))
        # As a document: a server that loads its model first has more time for that.
        embedder.embed(["Is anybody there?"], "document")
    except EmbedderTrouble as trouble:
        return trouble
    return None


def _or(value: float | None, default: float | None) -> float | None:
    return default if value is None else value
