"""Ask the words and the meaning, then weigh both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.core import find_times, note_date, ranking, word_set
from notewell.errors import BadRequest
from notewell.limits import MAX_QUERY_CHARS
from notewell.search.hits import Shown, make_hits
from notewell.search.legs import ask
from notewell.search.rerank import reranked
from notewell.types import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.ports import ModelFacts, Reranker
    from notewell.search.legs import Asked, Meaning
    from notewell.search.rerank import Found
    from notewell.search.settings import SearchOptions

NOTHING_NEAR = 0.2
"""Below this even the best chunk is a stranger: a lower threshold would show only noise."""


def search(
    view: IndexView | None,
    question: str,
    meaning: Meaning,
    facts: ModelFacts,
    settings: SearchOptions,
    reranker: Reranker | None = None,
) -> Answer:
    if view is None or view.is_empty():
        reason = "nothing is indexed yet: run `notewell index`"
        if view is not None:
            reason = "the index is empty: when it was made there were no notes"
        return Answer((), "keyword", facts.provider, facts.model, reason)
    asked = ask(view, question, meaning, facts, settings)
    ordered = in_order(view, question, facts, settings, asked)
    least = threshold(settings, asked)
    kept = set(ranking.above_threshold((one for one, _ in ordered), least))
    # A few times as many chunks as hits: a hit is made of several, but not of the last ones.
    found = [one for one in ordered if one[0] in kept][: settings.chunks_shown]
    found, notice = _second_look(question, found, settings, reranker)
    hits = make_hits(view, found, _shown(asked, facts, settings), settings)
    return Answer(
        hits,
        asked.mode,
        facts.provider,
        facts.model,
        None if hits else _why_empty([one for one, _ in ordered], least),
        asked.notice or notice,
        asked.degraded,
    )


def check_question(question: str) -> None:
    if not question.strip():
        raise BadRequest("the question is empty: say what to look for")
    if len(question) > MAX_QUERY_CHARS:
        raise BadRequest(
            f"a question has at most {MAX_QUERY_CHARS} characters, not {len(question)}"
        )


def in_order(
    view: IndexView,
    question: str,
    facts: ModelFacts,
    settings: SearchOptions,
    asked: Asked,
) -> list[Found]:
    """Every chunk that a leg found, best first."""
    legs = asked.legs
    share = ranking.vector_share(legs, facts, settings.fusion, settings.vector_weight)
    fused = ranking.fuse(legs, share, settings.fusion)
    chunks = view.chunks(one.chunk_id for one in fused)
    span = find_times(question, settings.today)
    days = view.days({one.path for one in chunks.values() if one.source == "sessions"})

    def timed(one: Candidate, chunk: StoredChunk) -> Candidate:
        day = days.get(chunk.path) or note_date(chunk.path)
        return ranking.with_time(one, day, settings.today, span, settings.half_life_days)

    found = [(timed(one, chunks[one.chunk_id]), chunks[one.chunk_id]) for one in fused]
    # Ties go by place, not by row: an index built in another order answers the same.
    found.sort(key=lambda one: _order(*one))
    return found


def threshold(settings: SearchOptions, asked: Asked) -> float:
    if settings.min_score is not None:
        return settings.min_score
    return ranking.default_threshold(settings.fusion, words_alone=asked.mode == "keyword")


def _second_look(
    question: str, found: list[Found], settings: SearchOptions, reranker: Reranker | None
) -> tuple[list[Found], str | None]:
    """What may change the order once the best are known: a reranker, then diversity."""
    notice = None
    if reranker is not None:
        found, notice = reranked(question, found, reranker, settings.rerank_budget_s)
    if settings.mmr_lambda is not None:
        scores = [candidate.score for candidate, _ in found]
        words = [word_set(chunk.text) for _, chunk in found]
        found = [found[at] for at in ranking.mmr_order(scores, words, settings.mmr_lambda)]
    return found, notice


def _shown(asked: Asked, facts: ModelFacts, settings: SearchOptions) -> Shown:
    return Shown(
        worth=asked.worth,
        vector_ranks=ranking.ranks(asked.vectors),
        text_ranks=ranking.ranks(asked.texts),
        model=facts.model,
        snippet_chars=settings.snippet_chars,
    )


def _order(candidate: Candidate, chunk: StoredChunk) -> tuple[float, str, int, int, str]:
    span = chunk.span
    return (-candidate.score, chunk.path, span.start_line, span.end_line, chunk.digest)


def _why_empty(candidates: Sequence[Candidate], least: float) -> str:
    if not candidates:
        return "no chunk has any of these words"
    best = ranking.best_relevance(candidates)
    if best < NOTHING_NEAR:
        return "no chunk has these words, and none means something near"
    return (
        f"{len(candidates)} chunks came near, the best with a score of {best:.2f}, below the "
        f"least score of {least:.2f}: ask for less with --min-score"
    )
