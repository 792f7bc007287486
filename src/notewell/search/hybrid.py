"""START HERE: `search` turns a question into an answer, inside one view of the index.

    SearchContext ─▶ collect ─▶ rank: fusion, time, speakers, echoes ─▶ threshold ─▶ reranker, MMR
                                                                       ─▶ make_hits

Answers without a hit say why. `absent.py` says why a single note is no hit.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from notewell.core import find_times, note_date, ranking, word_set
from notewell.core.nearness import near_limit
from notewell.core.nearness import nearness as memory_nearness
from notewell.core.speakers import is_about_user, speaker_factor
from notewell.core.vector_weights import vector_weights
from notewell.scripts import script_of_question
from notewell.search.candidates import collect
from notewell.search.copies import without_copies
from notewell.search.echoes import DISCOUNT, find_echoes, folded
from notewell.search.hits import make_hits
from notewell.types import Answer, Nearness

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from notewell.core import Candidate, Filters
    from notewell.core.times import TimeSpan
    from notewell.index import ChunkFacts, IndexView, StoredChunk
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
    if not context.question:
        from notewell.search.newest import newest  # Few questions have filters alone.

        return newest(view, context)
    candidates = collect(view, context)
    order = RankedChunks(view, context, candidates)
    near = nearness(context, candidates, order.facts)
    least = threshold(options, candidates)
    # By relevance, not by score: age may move a chunk down, but must not hide it. A hit merges
    # several chunks, so more chunks than hits are kept, but not the weakest ones.
    if order.may_repeat:
        ranked = without_repeats(list(order), context, candidates)
        best = [pair for pair in ranked if pair[0].passes(least)][: options.chunks_shown]
    else:
        best = order.best(least, options.chunks_shown)
    if near is not None and near.is_far:
        best = []
    best, notice = _reordered(context.question, best, options, reranker)
    hits = make_hits(view, best, candidates, context)
    answer = Answer(
        hits,
        candidates.mode,
        facts.provider,
        facts.model,
        None if hits else why_empty(order.relevances, least, near, options.filters),
        degraded=candidates.degraded,
        nearness=near,
    )
    for remark in (candidates.notice or notice, candidates.folder_notice):
        answer = answer.with_notice(remark) if remark else answer
    return answer


def rank(view: IndexView, context: SearchContext, candidates: Candidates) -> list[Ranked]:
    """Every chunk that a leg found, best first."""
    return list(RankedChunks(view, context, candidates))


class RankedChunks:
    """The same. Only what may be shown is put in order, and a text is read, and a candidate made,
    of the best of it."""

    def __init__(self, view: IndexView, context: SearchContext, candidates: Candidates) -> None:
        options, legs, question = context.options, candidates.legs, context.question
        weight = options.vector_weight if options.hybrid else 1.0
        facts = view.facts(legs.chunk_ids())
        weights = vector_weights(legs, context.facts, question, facts, options.fusion, weight)
        self._view, self._legs = view, legs
        self._question, self._options = question, options
        self._relevances = ranking.fuse(legs, weights, options.fusion)
        for chunk_id in candidates.named:
            self._relevances[chunk_id] = 1.0
        # The legs have dropped them already, unless `also` named one.
        for chunk_id in candidates.hidden & self._relevances.keys():
            del facts[chunk_id], self._relevances[chunk_id]
        self.facts = facts
        self._has_sessions = "sessions" in [one.source for one in facts.values()]
        self._session_days = _session_days(view, facts.values()) if self._has_sessions else {}
        spoken = [one.id for one in facts.values() if one.has_user]
        self._echoes = find_echoes(view.chunks(spoken).values(), question, candidates.query.terms)
        self._speakers = _speaker_factors(facts.values()) if is_about_user(question) else {}
        self._factors: dict[date | None, ranking.TimeFactors] = {}
        self.may_repeat = self._has_sessions or bool(self._echoes)
        """Whether `without_repeats` could leave something out."""

    def __iter__(self) -> Iterator[Ranked]:
        return iter(_in_order(self._ranked(sorted(self.facts))))

    @property
    def relevances(self) -> Collection[float]:
        return self._relevances.values()

    def best(self, least: float, limit: int) -> list[Ranked]:
        """The first ones that are relevant enough (see `Candidate.passes`), if nothing may repeat:
        among notes alone, the order is that of the scores, so only these are scored."""
        facts, exact = self.facts, self._legs.exact
        relevant = {
            one: value for one, value in self._relevances.items() if value >= least or one in exact
        }
        # One of the two is 1, so the product is that of `Candidate.score`.
        times = {
            day: decay * recency
            for day in {facts[one].day for one in relevant}
            for decay, recency in (self._time_factors(day),)
        }
        scores = [value * times[facts[one].day] for one, value in relevant.items()]
        if self._speakers:
            scores = [
                score * self._speakers[one] for one, score in zip(relevant, scores, strict=True)
            ]
        keyed = [
            (-score if score < 1.0 else -1.0, facts[one].order, one)
            for one, score in zip(relevant, scores, strict=True)
        ]
        keyed.sort()
        return self._ranked([one for _, _, one in keyed[:limit]])

    def _ranked(self, ids: Sequence[int]) -> list[Ranked]:
        chunks = self._view.chunks(ids)
        return [(self._candidate(one), chunks[one]) for one in ids]

    def _candidate(self, chunk_id: int) -> Candidate:
        return ranking.Candidate(
            chunk_id,
            self._relevances[chunk_id],
            self._legs.vectors.get(chunk_id),
            self._legs.texts.get(chunk_id),
            chunk_id in self._legs.exact,
            *self._time_factors(self._session_days.get(chunk_id) or self.facts[chunk_id].day),
            DISCOUNT if chunk_id in self._echoes else 1.0,
            self._speakers.get(chunk_id, 1.0),
        )

    def _time_factors(self, day: date | None) -> ranking.TimeFactors:
        factors = self._factors.get(day)
        if factors is None:
            self._factors[day] = factors = ranking.time_factors(day, *self._times)
        return factors

    @cached_property
    def _times(self) -> tuple[date, TimeSpan | None, float | None]:
        """What a day is weighed by: today, the time that the question names, and the half-life."""
        today = self._options.today
        return today, find_times(self._question, today), self._options.half_life_days


def _speaker_factors(chunks: Iterable[ChunkFacts]) -> dict[int, float]:
    """For a question about the user."""
    return {one.id: speaker_factor(one.source, has_user=one.has_user) for one in chunks}


def _in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Best first. Among notes alone, or conversations alone, this is the order of the scores; ties
    go by place, not by row id: an index built in another order gives the same answer."""
    keyed = []
    for number, (candidate, chunk) in enumerate(ranked):
        score = candidate.score
        keyed.append(
            (-round(score / TIE), chunk.source == "sessions", -score, chunk.facts.order, number)
        )
    keyed.sort()
    return [ranked[key[-1]] for key in keyed]


def _session_days(view: IndexView, chunks: Collection[ChunkFacts]) -> dict[int, date]:
    """When conversations began whose lines have no time: of a session that lasts for weeks, each
    chunk has its own day. A note has its day in its name."""
    untimed = {
        one.id: one.place[0] for one in chunks if one.source == "sessions" and not one.is_timed
    }
    sessions = view.sessions(set(untimed.values())) if untimed else {}
    days = {path: session.day for path, session in sessions.items() if session.day is not None}
    return {chunk_id: days[path] for chunk_id, path in untimed.items() if path in days}


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
    context: SearchContext, candidates: Candidates, found: Mapping[int, ChunkFacts]
) -> Nearness | None:
    """How near the memory is, and the limit for it, if one applies. `found` are the chunks that a
    leg found."""
    # Only a model that was measured across scripts says how near they are.
    across_scripts = (
        context.facts.weights.across_scripts is not None
        and _nearest_is_across_scripts(context.question, candidates.vectors, found)
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


def _nearest_is_across_scripts(
    question: str, vectors: Mapping[int, float], found: Mapping[int, ChunkFacts]
) -> bool:
    scores = {chunk_id: score for chunk_id, score in vectors.items() if chunk_id in found}
    if not scores:
        return False
    best = max(scores.values())
    # Of equal ones always the same.
    nearest = max(
        [found[one] for one, score in scores.items() if score == best], key=lambda one: one.order
    )
    return not nearest.kind.has_words_in(script_of_question(question))


def why_empty(
    relevances: Collection[float],
    least: float,
    near: Nearness | None,
    filters: Filters | None = None,
) -> str:
    if filters is None:
        return _why_empty(relevances, least, near)
    if not relevances:
        return f"nothing that fits {filters} has any of these words"
    return f"among what fits {filters}: {_why_empty(relevances, least, near)}"


def _why_empty(relevances: Collection[float], least: float, near: Nearness | None) -> str:
    if near is None or not relevances:
        return "no chunk contains any of these words"
    if near.is_far:
        return (
            f"nothing is near this question (nearness {near.value:.2f}, {near.limit:.2f} is "
            "needed); a minimum score of 0 shows the nearest"
        )
    best = max(relevances)
    return (
        f"{len(relevances)} candidates; the best score {best:.2f} is below the minimum "
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
