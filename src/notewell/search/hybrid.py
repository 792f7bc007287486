"""START HERE: `search` turns a question into an answer, inside one view of the index.

    SearchContext ─▶ collect ─▶ rank: fusion, time ─▶ threshold ─▶ reranker, MMR ─▶ make_hits

`why_absent` runs the same steps for a note that is not among the hits, and says where it dropped
out.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from notewell.core import find_times, note_date, ranking, word_set
from notewell.errors import BadRequest
from notewell.limits import MAX_QUERY_CHARS
from notewell.search.candidates import collect
from notewell.search.hits import make_hits
from notewell.types import Answer, Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.ports import Reranker
    from notewell.search.candidates import Candidates, SearchContext
    from notewell.search.settings import SearchOptions

    Ranked = tuple[Candidate, StoredChunk]

NOTHING_NEAR = 0.2
"""If even the best chunk is below this, a lower threshold would only show noise."""


def check_question(question: str) -> None:
    if not question.strip():
        raise BadRequest("the question is empty: say what to look for")
    if len(question) > MAX_QUERY_CHARS:
        raise BadRequest(
            f"a question has at most {MAX_QUERY_CHARS} characters, not {len(question)}"
        )


def search(
    view: IndexView | None, context: SearchContext, reranker: Reranker | None = None
) -> Answer:
    facts, options = context.facts, context.options
    if view is None or view.is_empty():
        reason = "nothing is indexed yet: run `notewell index`"
        if view is not None:
            reason = "the index is empty: when it was made there were no notes"
        return Answer((), "keyword", facts.provider, facts.model, reason)
    candidates = collect(view, context)
    ranked = rank(view, context, candidates)
    least = threshold(options, candidates)
    # By relevance, not by score: age may move a chunk down, but must not hide it.
    kept = set(ranking.above_threshold((candidate for candidate, _ in ranked), least))
    # A hit merges several chunks, so more chunks than hits are kept, but not the weakest ones.
    best = [pair for pair in ranked if pair[0] in kept][: options.chunks_shown]
    best, notice = _reordered(context.question, best, options, reranker)
    hits = make_hits(view, best, candidates, context)
    answer = Answer(
        hits,
        candidates.mode,
        facts.provider,
        facts.model,
        None if hits else _why_empty([candidate for candidate, _ in ranked], least),
        degraded=candidates.degraded,
    )
    notice = candidates.notice or notice
    return answer.with_notice(notice) if notice else answer


def rank(view: IndexView, context: SearchContext, candidates: Candidates) -> list[Ranked]:
    """Every chunk that a leg found, best first."""
    options, legs = context.options, candidates.legs
    share = ranking.vector_share(legs, context.facts, options.fusion, options.vector_weight)
    fused = ranking.fuse(legs, share, options.fusion)
    chunks = view.chunks(candidate.chunk_id for candidate in fused)
    span = find_times(context.question, options.today)
    days = view.days({chunk.path for chunk in chunks.values() if chunk.source == "sessions"})

    def timed(candidate: Candidate, chunk: StoredChunk) -> Candidate:
        # A transcript has its day in the index, a note in its file name.
        day = days.get(chunk.path) or note_date(chunk.path)
        return ranking.with_time(candidate, day, options.today, span, options.half_life_days)

    ranked = [
        (timed(candidate, chunks[candidate.chunk_id]), chunks[candidate.chunk_id])
        for candidate in fused
    ]
    # Ties go by place, not by row id: an index built in another order gives the same answer.
    ranked.sort(key=lambda pair: _order(*pair))
    return ranked


def threshold(options: SearchOptions, candidates: Candidates) -> float:
    if options.min_score is not None:
        return options.min_score
    return ranking.default_threshold(options.fusion, words_alone=candidates.mode == "keyword")


def _order(candidate: Candidate, chunk: StoredChunk) -> tuple[float, str, int, int, str]:
    span = chunk.span
    return (-candidate.score, chunk.path, span.start_line, span.end_line, chunk.digest)


def _why_empty(candidates: Sequence[Candidate], least: float) -> str:
    if not candidates:
        return "no chunk contains any of these words"
    best = ranking.best_relevance(candidates)
    if best < NOTHING_NEAR:
        return "no chunk contains these words, and none is similar in meaning"
    return (
        f"{len(candidates)} candidates; the best score {best:.2f} is below the minimum "
        f"{least:.2f}: lower it with --min-score"
    )


# -- after the ranking: reranker and diversity ---------------------------------------------------


def _reordered(
    question: str, ranked: list[Ranked], options: SearchOptions, reranker: Reranker | None
) -> tuple[list[Ranked], Notice | None]:
    """What may change the order of the best chunks: a reranker, then MMR."""
    notice = None
    if reranker is not None:
        ranked, notice = reranked(question, ranked, reranker, options.rerank_budget_s)
    if options.mmr_lambda is not None:
        scores = [candidate.score for candidate, _ in ranked]
        words = [word_set(chunk.text) for _, chunk in ranked]
        ranked = [ranked[at] for at in ranking.mmr_order(scores, words, options.mmr_lambda)]
    return ranked, notice


def reranked(
    question: str, ranked: Sequence[Ranked], reranker: Reranker, budget_s: float
) -> tuple[list[Ranked], Notice | None]:
    """The reranker's order. If it fails or takes longer than its budget: the order as it was, and
    the reason. A slow second opinion must never cost the first."""
    if not ranked:
        return [], None
    from notewell.core import embedding_text  # Most searches have no reranker.

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


# -- why a note is not among the hits ------------------------------------------------------------


def why_absent(
    view: IndexView, context: SearchContext, path: str, reranker: Reranker | None = None
) -> str:
    """Where the best chunk of an indexed note ranks, and what it lacks to be a hit."""
    ids = view.chunks_of(path)
    if not ids:
        return f"{path} is indexed, but has no text to find"
    # Both legs score the note's own chunks, however far behind they are.
    candidates = collect(view, context, also=ids)
    ranked = rank(view, context, candidates)
    own = [(place, pair) for place, pair in enumerate(ranked, start=1) if pair[1].path == path]
    if not own:
        return f"{path} {_why_no_candidate(candidates)}"
    shown = [hit for hit in search(view, context, reranker).hits if hit.path == path]
    if shown:
        return f"{path} is among the hits: {', '.join(hit.citation for hit in shown)}"
    place, (candidate, chunk) = own[0]
    scores = f"{path}: its best lines are {chunk.span}, {_leg_scores(candidate, candidates)}"
    least = threshold(context.options, candidates)
    if not candidate.exact and candidate.relevance < least:
        relevance = f"a relevance of {candidate.relevance:.2f}"
        return f"{scores}; {relevance} is below the minimum {least:.2f}"
    return (
        f"{scores}; with {candidate.score:.2f} they come at place {place} of {len(ranked)} "
        f"chunks, behind those that fill the {context.options.max_results} hits: ask for more "
        "with --max-results"
    )


def _why_no_candidate(candidates: Candidates) -> str:
    if candidates.mode == "keyword":
        return (
            f"has none of the words of the question: {', '.join(candidates.query.terms) or 'none'}"
        )
    return "has none of the words of the question, and no vector to compare"


def _leg_scores(candidate: Candidate, candidates: Candidates) -> str:
    words = "none of the words" if candidate.text is None else f"words {candidate.text:.2f}"
    if candidates.mode == "keyword":
        return words
    if candidate.vector is None:
        return f"{words}, no vector yet"
    return f"{words}, meaning {candidate.vector:.2f}"
