"""A second opinion on the order of the best chunks: a reranker, under a time budget."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from notewell.core import embedding_text
from notewell.types import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.ports import Reranker
    from notewell.search.hybrid import Ranked


def reranked(
    question: str, ranked: Sequence[Ranked], reranker: Reranker, budget_s: float
) -> tuple[list[Ranked], Notice | None]:
    """The reranker's order. If it fails or takes longer than its budget: the order as it was, and
    the reason. A slow second opinion must never cost the first."""
    if not ranked:
        return [], None
    texts = [embedding_text(chunk.heading, chunk.text) for _, chunk in ranked]
    call = _RerankCall(question, texts, reranker)
    call.start()
    call.join(budget_s)
    if call.is_alive():
        text = f"the reranker took longer than {budget_s:g} s: the first order stands"
        return list(ranked), Notice.same(text)
    if call.trouble:
        text = f"the reranker failed ({call.trouble}): the first order stands"
        # The reason may be the message of a foreign exception.
        return list(ranked), Notice(text, "the reranker failed: the first order stands")
    judged = [
        (candidate._replace(rerank=score), chunk)
        for (candidate, chunk), score in zip(ranked, call.scores, strict=True)
    ]
    # The sort is stable: chunks with equal scores keep the first order.
    judged.sort(key=lambda pair: -(pair[0].rerank or 0.0))
    return judged, None


class _RerankCall(threading.Thread):
    """A daemon thread of its own: it is the only thing that can be abandoned after a timeout."""

    def __init__(self, question: str, texts: Sequence[str], reranker: Reranker) -> None:
        super().__init__(name="notewell-rerank", daemon=True)
        self._question = question
        self._texts = texts
        self._reranker = reranker
        self.scores: list[float] = []
        self.trouble: str | None = None

    def run(self) -> None:
        try:
            scores = [float(score) for score in self._reranker.scores(self._question, self._texts)]
        except Exception as error:  # noqa: BLE001 - the root of a thread, and foreign code
            self.trouble = f"{type(error).__name__}: {error}"
            return
        if len(scores) != len(self._texts):
            self.trouble = f"{len(scores)} scores for {len(self._texts)} texts"
        elif not all(math.isfinite(score) and 0 <= score <= 1 for score in scores):
            self.trouble = "a score outside 0..1"
        else:
            self.scores = scores
