"""An optional second look: somebody who reads question and text together puts the best first.

It has a time budget. When that runs out, or it fails, the first order stands and the answer says
so: a slow second opinion must never cost the first.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.core import Candidate
    from notewell.index import StoredChunk
    from notewell.ports import Reranker

    Found = tuple[Candidate, StoredChunk]


def reranked(
    question: str, found: Sequence[Found], reranker: Reranker, budget_s: float
) -> tuple[list[Found], str | None]:
    """The new order, or the old one and the reason why."""
    if not found:
        return [], None
    from notewell.core import embedding_text  # Most searches have no second look.

    texts = [embedding_text(chunk.heading, chunk.text) for _, chunk in found]
    call = _Call(question, texts, reranker)
    call.start()
    call.join(budget_s)
    if call.is_alive():
        return list(found), f"the reranker took longer than {budget_s:g} s: the first order stands"
    if call.trouble:
        return list(found), f"the reranker failed ({call.trouble}): the first order stands"
    judged = [
        (candidate._replace(rerank=score), chunk)
        for (candidate, chunk), score in zip(found, call.scores, strict=True)
    ]
    judged.sort(key=lambda one: -(one[0].rerank or 0.0))  # Stable: equals keep the first order.
    return judged, None


class _Call(threading.Thread):
    """A thread of its own, because nothing else can be left behind when the time is up."""

    def __init__(self, question: str, texts: Sequence[str], reranker: Reranker) -> None:
        super().__init__(name="notewell-rerank", daemon=True)
        self._question = question
        self._texts = texts
        self._reranker = reranker
        self.scores: list[float] = []
        self.trouble: str | None = None

    def run(self) -> None:
        try:
            scores = [float(one) for one in self._reranker.scores(self._question, self._texts)]
        except Exception as error:  # noqa: BLE001 - the root of a thread, and code of others
            self.trouble = f"{type(error).__name__}: {error}"
            return
        if len(scores) != len(self._texts):
            self.trouble = f"{len(scores)} scores for {len(self._texts)} texts"
        elif not all(math.isfinite(score) and 0 <= score <= 1 for score in scores):
            self.trouble = "a score outside 0..1"
        else:
            self.scores = scores
