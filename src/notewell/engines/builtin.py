"""Our own engine: the index of the notes, kept up and asked."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.errors import EmbedderTrouble, IndexTrouble, NotANote
from notewell.search import SearchOptions, meaning_of, search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.embedders import EmbedderSelection
    from notewell.engines.inspect import Looking
    from notewell.engines.protocol import Question
    from notewell.engines.status import Probe, Status
    from notewell.notes import ExtraPath
    from notewell.ports import Embedder, Reranker
    from notewell.search import SearchSettings
    from notewell.sync import Indexer, ProgressCallback, SyncReport
    from notewell.types import Answer


class Builtin:
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
    ) -> None:
        self.indexer = indexer
        self._selection = selection
        self._settings = settings
        self._agent = agent
        self._reranker = reranker
        self._sync_on_search = sync_on_search
        self._extra_paths = extra_paths
        self._is_settled = not selection.names_fallback

    def close(self) -> None:
        self.indexer.store.close()
        self._selection.close()

    # -- asking ----------------------------------------------------------------------------------

    def search(self, question: Question) -> Answer:
        """What was saved a moment ago is taken in first, if it is little; else the last published
        index answers and says so."""
        return next(self.compare([question]))

    def compare(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """One text, weighed in several ways, of which the first says what is asked; it is embedded
        once, so that a comparison costs no more than a search."""
        text, ways = questions[0].text, [self._search_settings(one) for one in questions]
        stale = self._catch_up(ways[0])
        look, embedder = self.indexer.store.view, self._embedder()
        meaning = meaning_of(look, text, embedder, ways[0])
        for settings in ways:
            with look() as view:
                answer = search(view, text, meaning, embedder.facts, settings, self._reranker)
            yield answer.told_too(stale) if stale else answer

    def looking(self) -> Looking:
        """What a page shows of the index."""
        from notewell.engines.inspect import Looking

        return Looking(self.indexer, self._embedder, self.get)

    def why_absent(self, question: Question, path: str) -> str:
        """Why a note is not among the hits of a question, or where it is."""
        from notewell.search import why_absent

        settings = self._search_settings(question)
        look, embedder = self.indexer.store.view, self._embedder()
        text = question.text
        meaning = meaning_of(look, text, embedder, settings)
        with look() as view:
            if view is not None and path in view.notes():
                facts = embedder.facts
                return why_absent(view, text, path, meaning, facts, settings, self._reranker)
        return self._why_not_indexed(path)

    def _why_not_indexed(self, path: str) -> str:
        scan = self.indexer.notes.scan()
        if path in scan.notes:
            return f"{path} is not indexed yet: run `notewell index`"
        for left in (*scan.ignored, *scan.unreadable):
            if left.path == path:
                return f"{path} is left out: {left.why}"
        raise NotANote(path)

    def get(self, path: str) -> str:
        sessions = self.indexer.transcripts
        if sessions is not None and path.endswith(sessions[0].suffixes):
            return sessions[0].read(path).text
        return self.indexer.notes.read(path).text

    def _search_settings(self, question: Question) -> SearchOptions:
        told, asked, way = self._settings, question, question.weighing
        now = datetime.fromtimestamp(self.indexer.now_ns() / 1e9, UTC).astimezone()
        return SearchOptions(
            today=now.date(),
            max_results=told.max_results if asked.max_results is None else asked.max_results,
            min_score=told.min_score if asked.min_score is None else asked.min_score,
            fusion=way.fusion or told.fusion,
            vector_weight=_first(way.vector_weight, told.vector_weight),
            candidate_multiplier=told.candidate_multiplier,
            mmr_lambda=_first(way.mmr_lambda, told.mmr_lambda),
            half_life_days=_first(way.half_life_days, told.half_life_days) or None,
            sources=self.indexer.sources,
            keyword_only=asked.keyword_only or told.keyword_only,
        )

    def _catch_up(self, settings: SearchOptions) -> str | None:
        self._embedder()
        if not self._sync_on_search:
            return None
        return self.indexer.catch_up(vectors=not settings.keyword_only)

    def _embedder(self) -> Embedder:
        """The one in use; looked at once whether the index was made by the fallback."""
        if not self._is_settled:
            self._is_settled = True
            with suppress(IndexTrouble), self.indexer.store.view() as view:
                made_by = view.identity().provider if view else ""
                self.indexer.embedder = (
                    self._selection.keep_fallback(made_by) or self._selection.embedder
                )
        return self.indexer.embedder

    # -- keeping up ------------------------------------------------------------------------------

    def sync(
        self, *, force: bool = False, vectors: bool = True, progress: ProgressCallback
    ) -> SyncReport:
        """An embedder that fails gives way to the fallback, if the settings name one."""
        self._try_first_again()
        report = self.indexer.run(force=force, vectors=vectors, progress=progress)
        while isinstance(report.trouble, EmbedderTrouble) and self._selection.has_second:
            self.indexer.embedder = (
                self._selection.after(report.trouble) or self._selection.embedder
            )
            report = self.indexer.run(vectors=vectors, progress=progress)
        return report

    def _try_first_again(self) -> None:
        """Where the fallback made the index, one question shows whether the first is back: to
        find that out by building a new index would be dear."""
        first = self._selection.embedder
        if self._embedder() is first:
            return
        if self._selection.is_back(first):
            self.indexer.embedder = self._selection.embedder

    def check(self) -> None:
        """Whatever happens to the index, this engine answers, if only with the reason."""

    def status(self) -> Status:
        from notewell.engines.status import status_of

        self._embedder()
        return status_of(self.indexer, self._extra_paths, self._agent, self._selection.decision)

    def probe(self) -> Probe:
        """Ask the embedder for one vector and tell what came of it."""
        from notewell.engines.status import probe

        return probe(self._embedder(), time.monotonic)


def _first(asked: float | None, told: float | None) -> float | None:
    return told if asked is None else asked
