"""START HERE: `search` turns a question into an answer, inside one view of the index.

    SearchContext ─▶ collect ─▶ rank: fusion, time, speakers, echoes ─▶ threshold ─▶ reranker, MMR
                                                                       ─▶ make_hits

Answers without a hit say why. `absent.py` says why a single note is no hit.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from notewell.core import find_times, note_date, ranking, word_set
from notewell.core.nearness import near_limit
from notewell.core.nearness import nearness as memory_nearness
from notewell.core.speakers import is_about_user, speaker_factor
from notewell.core.vector_weights import vector_weights
from notewell.scripts import has_words_in, script_of_question
from notewell.search.candidates import collect
from notewell.search.copies import without_copies
from notewell.search.echoes import DISCOUNT, find_echoes, folded
from notewell.search.hits import make_hits
from notewell.types import Answer, Nearness

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.ports import Reranker
    from notewell.search.candidates import Candidates, SearchContext
    from notewell.search.settings import SearchOptions
    from notewell.types import Notice

    Ranked = tuple[Candidate, StoredChunk]

TIE = 0.01
"""Between scores that are this near, what is noted comes before what was merely said."""

PRIVATE_ONLY = "only transcripts are searched, and they are for private conversations"


def search(
    view: IndexView | None, context: SearchContext, reranker: Reranker | None = None
) -> Answer:
    facts, options = context.facts, context.options
    if view is None or view.is_empty():
        reason = "nothing is indexed yet: run `notewell index`"
        if view is not None:
            reason = "the index is empty: when it was made there were no notes"
        has_index = view is not None
        return Answer((), "keyword", facts.provider, facts.model, reason, has_index=has_index)
    if not options.sources:
        return Answer((), "keyword", facts.provider, facts.model, PRIVATE_ONLY)
    candidates = collect(view, context)
    ranked = rank(view, context, candidates)
    near, least = nearness(context, candidates, ranked), threshold(options, candidates)
    ranked = without_repeats(ranked, context, candidates)
    # By relevance, not by score: age may move a chunk down, but must not hide it. A hit merges
    # several chunks, so more chunks than hits are kept, but not the weakest ones.
    best = [pair for pair in ranked if pair[0].passes(least)][: options.chunks_shown]
    if near is not None and near.is_far:
        best = []
    best, notice = _reordered(context.question, best, options, reranker)
    hits = make_hits(view, best, candidates, context)
    answer = Answer(
        hits,
        candidates.mode,
        facts.provider,
        facts.model,
        None if hits else _why_empty([candidate for candidate, _ in ranked], least, near),
        degraded=candidates.degraded,
        nearness=near,
    )
    for remark in (candidates.notice or notice, candidates.folder_notice):
        answer = answer.with_notice(remark) if remark else answer
    return answer


def rank(view: IndexView, context: SearchContext, candidates: Candidates) -> list[Ranked]:
    """Every chunk that a leg found, best first."""
    options, legs = context.options, candidates.legs
    weight = options.vector_weight if options.hybrid else 1.0
    chunks = view.chunks(legs.chunk_ids())
    texts = {chunk_id: chunk.text for chunk_id, chunk in chunks.items()}
    weights = vector_weights(legs, context.facts, context.question, texts, options.fusion, weight)
    relevances = ranking.fuse(legs, weights, options.fusion)
    days = _days(view, chunks.values())
    factors = _time_factors(context, set(days.values()))
    echoes = find_echoes(chunks, context.question, candidates.query.terms)
    speakers = _speaker_factors(context.question, chunks)
    vector_of, text_of, exact = legs.vectors.get, legs.texts.get, legs.exact
    found = [
        ranking.Candidate(
            chunk_id,
            relevance,
            vector_of(chunk_id),
            text_of(chunk_id),
            chunk_id in exact,
            *factors[days[chunk_id]],
            DISCOUNT if chunk_id in echoes else 1.0,
            speakers.get(chunk_id, 1.0),
        )
        for chunk_id, relevance in relevances.items()
        # The legs have dropped them already, unless `also` named one.
        if chunk_id not in candidates.hidden
    ]
    return _in_order([(candidate, chunks[candidate[0]]) for candidate in found])


def _speaker_factors(question: str, chunks: Mapping[int, StoredChunk]) -> dict[int, float]:
    """None for a question that is not about the user."""
    if not is_about_user(question):
        return {}
    return {number: speaker_factor(chunk.text, chunk.source) for number, chunk in chunks.items()}


def _in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Best first. Among notes alone, or conversations alone, this is the order of the scores; ties
    go by place, not by row id: an index built in another order gives the same answer."""
    keyed = []
    for number, (candidate, chunk) in enumerate(ranked):
        score = candidate.score
        _, path, source, span, digest, *_ = chunk
        keyed.append(
            (-round(score / TIE), source == "sessions", -score, path, span, digest, number)
        )
    keyed.sort()
    return [ranked[key[-1]] for key in keyed]


def _days(view: IndexView, chunks: Collection[StoredChunk]) -> dict[int, date | None]:
    """When the lines of each chunk were said: a session may last for weeks. A note has its day in
    its name."""
    spoken = {chunk.path for chunk in chunks if chunk.source == "sessions"}
    sessions = view.sessions(spoken) if spoken else {}
    of_path = {
        path: (sessions[path].day if path in sessions else None) or note_date(path)
        for path in {chunk.path for chunk in chunks}
    }
    return {
        chunk.id: date.fromisoformat(chunk.said_at[:10]) if chunk.said_at else of_path[chunk.path]
        for chunk in chunks
    }


def _time_factors(
    context: SearchContext, days: Collection[date | None]
) -> dict[date | None, ranking.TimeFactors]:
    today, half_life = context.options.today, context.options.half_life_days
    span = find_times(context.question, today)
    return {day: ranking.time_factors(day, today, span, half_life) for day in days}


def without_repeats(
    ranked: list[Ranked], context: SearchContext, candidates: Candidates
) -> list[Ranked]:
    """Conversations that repeat the question and say nothing else are shown once, and so is what
    a session note copies from a transcript."""
    ranked = without_copied(ranked, threshold(context.options, candidates))
    if all(candidate.echo == 1.0 for candidate, _ in ranked):
        return ranked
    kept = folded(ranked, context.question, candidates.query.terms, _age)
    return _in_order(kept)


def without_copied(ranked: list[Ranked], least: float) -> list[Ranked]:
    """A transcript that is not relevant enough to be shown must not hide its session note."""
    if all(chunk.source != "sessions" for _, chunk in ranked):
        return ranked
    return without_copies(
        ranked, set(ranking.above_threshold((candidate for candidate, _ in ranked), least))
    )


def _age(chunk: StoredChunk) -> tuple[str, str]:
    return chunk.said_at or str(note_date(chunk.path) or ""), chunk.path


def threshold(options: SearchOptions, candidates: Candidates) -> float:
    if options.min_score is not None:
        return options.min_score
    return ranking.default_threshold(options.fusion, words_alone=candidates.mode == "keyword")


def nearness(
    context: SearchContext, candidates: Candidates, ranked: Sequence[Ranked]
) -> Nearness | None:
    """How near the memory is, and the limit for it, if one applies."""
    # Only a model that was measured across scripts says how near they are.
    across_scripts = (
        context.facts.weights.across_scripts is not None
        and _nearest_is_across_scripts(context.question, ranked)
    )
    value = memory_nearness(candidates.legs, across_scripts=across_scripts)
    if value is None:
        return None
    words_alone = candidates.mode == "keyword"
    # A cosine on an unknown scale says nothing, and a chunk without a vector may be nearer.
    has_scale = words_alone or (context.facts.has_scale and candidates.mode != "partial")
    if context.options.min_score is not None or not has_scale:
        return Nearness(value)
    limit = near_limit(candidates.chunks, words_alone=words_alone, across_scripts=across_scripts)
    return Nearness(value, limit)


def _nearest_is_across_scripts(question: str, ranked: Sequence[Ranked]) -> bool:
    with_vector = [(one.vector, chunk.text) for one, chunk in ranked if one.vector is not None]
    if not with_vector:
        return False
    _, text = max(with_vector)
    return not has_words_in(script_of_question(question), text)


def _why_empty(candidates: Sequence[Candidate], least: float, near: Nearness | None) -> str:
    if near is None or not candidates:
        return "no chunk contains any of these words"
    if near.is_far:
        return (
            f"nothing is near this question (nearness {near.value:.2f}, {near.limit:.2f} is "
            "needed); a minimum score of 0 shows the nearest"
        )
    best = ranking.best_relevance(candidates)
    return (
        f"{len(candidates)} candidates; the best score {best:.2f} is below the minimum "
        f"{least:.2f}: ask with a lower minimum score"
    )


# -- after the ranking: reranker and diversity ---------------------------------------------------


def _reordered(
    question: str, ranked: list[Ranked], options: SearchOptions, reranker: Reranker | None
) -> tuple[list[Ranked], Notice | None]:
    """What may change the order of the best chunks: a reranker, then MMR."""
    notice = None
    if reranker is not None:
        from notewell.search.rerank import reranked  # Most searches have no reranker.

        ranked, notice = reranked(question, ranked, reranker, options.rerank_budget_s)
    if options.mmr_lambda is not None:
        scores = [candidate.score for candidate, _ in ranked]
        words = [word_set(chunk.text) for _, chunk in ranked]
        ranked = [ranked[at] for at in ranking.mmr_order(scores, words, options.mmr_lambda)]
    return ranked, notice
