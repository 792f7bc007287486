"""Which embedder an index is synced and searched with, and when another one takes its place.

    requested embedder ──refuses, or fails twice──▶ fallback ──requested one answers──▶ requested

Vectors of two models are never mixed, so each change builds a new index. Three rules protect the
vectors that are there, because they cost time or money:

- They are replaced only by vectors: an embedder must answer one request first.
- A fallback replaces them only if the cache keeps them, so that a failed request loses none.
- While a fallback is in use, a sync asks the requested embedder again, but not more often than
  `ReturnPause` says. A search never does: it must not wait for a provider that is down.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from notewell.errors import (
    EmbedderTrouble,
    FallbackNotUsed,
    IndexTrouble,
    NoWorkingEmbedder,
    VectorsPending,
)
from notewell.ports import PROBE_TEXT, ModelFacts, Prepares
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.embedders import EmbedderSelection
    from notewell.index import Identity
    from notewell.ports import Embedder
    from notewell.sync import Indexer, ProgressCallback, SyncReport
    from notewell.types import Fallback

FIRST_PAUSE_S = 300.0
LONGEST_PAUSE_S = 3600.0
"""An hour: a provider that was down for a night is used again before anybody waits for it."""


@dataclass(slots=True)
class ReturnPause:
    """When the requested embedder is asked again: after 5, 10, 20, 40 and then 60 minutes. The
    first sync of a process asks at once."""

    _pause_s: float = 0.0
    _over_at: float = 0.0
    _returned_at: float | None = None

    def is_over(self, now: float) -> bool:
        return now >= self._over_at

    def failed(self, now: float) -> None:
        # One that fails soon after it has returned is asked less and less often, or the index
        # would be rebuilt to and fro.
        if self._returned_at is not None and now - self._returned_at >= LONGEST_PAUSE_S:
            self._pause_s = 0.0
        self._returned_at = None
        self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
        self._over_at = now + self._pause_s

    def returned(self, now: float) -> None:
        self._returned_at = now


class SwitchingIndexer:
    """An `Indexer`, and the embedder that it uses now."""

    def __init__(self, indexer: Indexer, selection: EmbedderSelection) -> None:
        self.indexer = indexer
        self._selection = selection
        # If the settings name one embedder, there is nothing to find out from the index.
        self._is_settled = not (selection.names_fallback or selection.is_automatic)
        self._keeps_maker = False
        """The embedder of the index is in use, although `auto` has found another one."""
        # A second thread waits until the first has found out, or it would use the wrong embedder.
        self._settling = threading.Lock()
        self._pause = ReturnPause()

    def embedder(self) -> Embedder:
        """The embedder in use. The first call finds out whether the fallback made the index."""
        with self._settling:
            if not self._is_settled:
                # Set before the index is opened: a damaged index is not opened again for each
                # question.
                self._is_settled = True
                with suppress(IndexTrouble):
                    self._settle()
        return self.indexer.embedder

    def _settle(self) -> None:
        index = self.indexer.index_facts()
        made_by = index.identity.provider if index else ""
        chosen = self._selection.embedder
        self.indexer.embedder = self._selection.keep_fallback(made_by) or chosen
        if index is None or not index.has_vectors or self.indexer.embedder is not chosen:
            return
        first = self._kept_first(index.identity)
        if first is not None:
            self.indexer.embedder = first
            return
        maker = self._selection.keep_maker(maker_of(index.identity))
        if maker is not None:
            self.indexer.embedder, self._keeps_maker = maker, True

    def _kept_first(self, identity: Identity) -> Embedder | None:
        """The requested embedder if it made the index, and its vectors would not survive the
        fallback that was chosen because it lacks something."""
        if self.fallback() is None:
            return None
        from notewell.sync import why_not_kept

        reason = why_not_kept(self.indexer.store)
        return self._selection.keep_first(identity.provider, reason) if reason else None

    def fallback(self) -> Fallback | None:
        """The embedder that is used in place of the requested one."""
        decision = self._selection.decision
        if decision is None or not decision.fell_back:
            return None
        from notewell.engines.status import embedder_fallback

        return embedder_fallback(decision)

    # -- a sync ----------------------------------------------------------------------------------

    def sync(
        self,
        *,
        force: bool,
        vectors: bool,
        everything: bool,
        ask_embedder: bool,
        progress: ProgressCallback,
    ) -> SyncReport:
        """An embedder that fails is replaced by the fallback, if the settings name one and it
        works. With `ask_embedder`, one that has nothing to do must answer a request: otherwise
        nobody learns that the provider now refuses the key."""
        self.embedder()
        is_back = vectors and self._returned_to_first()
        if force and self._keeps_maker:
            # A new index is requested: it is built with what `auto` has found.
            self.indexer.embedder, self._keeps_maker = self._selection.choose_again(), False
        run = partial(
            self._run, vectors=vectors, everything=everything, progress=progress, ask=ask_embedder
        )
        report = self._or_fallback(run(force=force, has_answered=is_back), run, progress)
        report.fallback = self.fallback() if vectors else None
        return report

    def _returned_to_first(self) -> bool:
        """Whether the requested embedder has answered, and is in use again. One question shows
        that; building a new index to find it out would be expensive."""
        now = self.indexer.monotonic_s()
        if self.indexer.keyword_only or self.fallback() is None or not self._pause.is_over(now):
            return False
        first = self._selection.return_to_first()
        if first is None:
            self._pause.failed(self.indexer.monotonic_s())
            return False
        self.indexer.embedder = first
        self._pause.returned(now)
        return True

    def _or_fallback(
        self, report: SyncReport, run: Callable[..., SyncReport], progress: ProgressCallback
    ) -> SyncReport:
        """The report of the fallback, if the embedder in use has failed for good."""
        troubles: list[EmbedderTrouble] = []
        while isinstance(report.trouble, EmbedderTrouble) and self._may_fall_back(report.trouble):
            fallback = self._selection.fallback_after(report.trouble)
            if fallback is not None:
                trouble = self._replacement_trouble(fallback, progress, stands_in=True)
                if trouble is not None:
                    troubles = [trouble]
                    break
                self._selection.use_fallback(report.trouble)
                self._pause.failed(self.indexer.monotonic_s())
                self.indexer.embedder = fallback
            # Not with `force` again: what the first run indexed is still good.
            report = run(has_answered=fallback is not None).after(report)
        other = self._other_maker(self.indexer.facts())
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
        ask: bool,
        has_answered: bool = False,
    ) -> SyncReport:
        """A sync that keeps the vectors of another model until the embedder in use has shown that
        it works: an index without vectors would replace them."""
        embedder = self.indexer.embedder
        made = None if force else self._other_maker(self.indexer.facts())
        trouble = None
        if made is not None and vectors and not has_answered:
            stands_in = self.fallback() is not None
            trouble = self._replacement_trouble(embedder, progress, stands_in=stands_in)
            has_answered = trouble is None
        if made is None or (vectors and trouble is None):
            run = partial(self.indexer.run, everything=everything, progress=progress)
            ask = ask and vectors and not has_answered and self._is_remote()
            return self._synced(run, force=force, vectors=vectors, ask=ask)
        maker = self._selection.maker(made, "run `notewell index`")
        # A copy: other threads go on searching with the embedder in use.
        indexer = replace(self.indexer, embedder=maker)
        report = indexer.run(vectors=False, everything=everything, progress=progress)
        report.trouble = trouble
        return report

    def _synced(
        self, run: Callable[..., SyncReport], *, force: bool, vectors: bool, ask: bool
    ) -> SyncReport:
        computed = self.indexer.tally.misses
        report = run(force=force, vectors=vectors)
        is_used = self.indexer.tally.misses > computed
        if ask and not is_used and report.trouble is None:
            report.trouble = _trouble_of(self.indexer.embedder, lambda _: None)
        if is_used and report.trouble is None:
            self._selection.succeeded()
        return report

    def _is_remote(self) -> bool:
        """Whether a provider can refuse what worked before. An embedder that was given may be a
        remote one."""
        decision = self._selection.decision
        remote = decision is None or decision.endpoint is not None
        return remote and not self.indexer.keyword_only

    def _replacement_trouble(
        self, embedder: Embedder, progress: ProgressCallback, *, stands_in: bool
    ) -> EmbedderTrouble | None:
        """Why an embedder must not take over the index; None: it has answered, and the cache has
        the vectors that it replaces if it only `stands_in` for their maker."""
        from notewell.sync import keep_vectors, why_not_kept

        store = self.indexer.store
        made = self._other_maker(embedder.facts) if stands_in else None
        reason = why_not_kept(store) if made else None
        if made and reason:
            return FallbackNotUsed(embedder.facts.provider, made.model, reason)
        trouble = _trouble_of(embedder, progress)
        if made and trouble is None:
            keep_vectors(store, made)
        return trouble

    def _other_maker(self, facts: ModelFacts) -> ModelFacts | None:
        """The model of the vectors in the index, if it is another one than that of `facts`."""
        if self.indexer.keyword_only:
            return None
        with suppress(IndexTrouble):
            index = self.indexer.index_facts()
            made = maker_of(index.identity) if index and index.has_vectors else facts
            if (made.provider, made.model) != (facts.provider, facts.model):
                return made
        return None

    def _kept_model(self) -> str | None:
        with suppress(IndexTrouble):
            index = self.indexer.index_facts()
            return index.identity.model if index and index.has_vectors else None
        return None


def maker_of(identity: Identity) -> ModelFacts:
    """What an index says about the model that made it."""
    return ModelFacts(
        identity.provider,
        identity.model,
        identity.dims,
        identity.chunk_tokens,
        endpoint_key=identity.endpoint_key,
        masking=identity.redaction.partition("+sent")[2],
    )


def _trouble_of(embedder: Embedder, progress: ProgressCallback) -> EmbedderTrouble | None:
    """Why an embedder cannot compute vectors; None if it can."""
    from notewell.sync import downloaded

    try:
        if isinstance(embedder, Prepares) and embedder.missing() is not None:
            embedder.prepare(lambda have, size: progress(downloaded(have, size)))
        # As a document: a server that loads its model first has more time for that.
        embedder.embed([PROBE_TEXT], "document")
    except EmbedderTrouble as trouble:
        return trouble
    return None
