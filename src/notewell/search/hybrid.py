"""START HERE: `search` turns a question into an answer, inside one view of the index.

    SearchContext ─▶ collect ─▶ rank: fusion, time, echoes ─▶ threshold ─▶ reranker, MMR
                                                                       ─▶ make_hits

Answers without a hit say why. `absent.py` says why a single note is no hit.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from notewell.core import (
    ChunkLines,
    Extent,
    FoundChunk,
    HitText,
    LinePart,
    LineScores,
    Passage,
    add_answers,
    apply_quotas,
    find_times,
    merge_passages,
    note_date,
    pack_hits,
    ranking,
    score_lines,
    short_sha256,
    snippet,
    widen_passages,
    without_markers,
    word_set,
)
from notewell.limits import ANSWER_CHARS
from notewell.records import NamedTuple
from notewell.search.candidates import collect
from notewell.search.copies import without_copies
from notewell.search.echoes import DISCOUNT, folded, is_echo
from notewell.search.utterances import question_before, utterance
from notewell.search.windows import best_window, from_best_window, line_nearness
from notewell.types import Answer, Hit, Nearness, ScoredLines, ScoreParts, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.ports import Reranker
    from notewell.search.candidates import Candidates, SearchContext
    from notewell.search.settings import SearchOptions
    from notewell.search.windows import LineNearness
    from notewell.types import Notice, SessionFacts

    Ranked = tuple[Candidate, StoredChunk]

TIE = 0.01
"""Between scores that are this near, what is noted comes before what was merely said."""

PRIVATE_ONLY = "only transcripts are searched, and they are for private conversations"

SCORED_HITS = 24
"""The lines of so many hits are scored; a later hit shows its snippet, if there is room."""

REACH_LINES = 80
"""How far around a hit lines are fetched; `widen_passages` has hardly room for more."""


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
    ranked = without_repeats(rank(view, context, candidates), context, candidates)
    near, least = nearness(context, candidates), threshold(options, candidates)
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
    share = ranking.vector_share(legs, context.facts, options.fusion, weight)
    fused = ranking.fuse(legs, share, options.fusion)
    chunks = view.chunks(candidate.chunk_id for candidate in fused)
    span = find_times(context.question, options.today)
    spoken = {chunk.path for chunk in chunks.values() if chunk.source == "sessions"}
    sessions = view.sessions(spoken) if spoken else {}

    @cache
    def factors(day: date | None) -> ranking.TimeFactors:
        return ranking.time_factors(day, options.today, span, options.half_life_days)

    ranked: list[Ranked] = []
    for candidate in fused:
        # The legs have dropped them already, unless `also` named one.
        if candidate.chunk_id in candidates.hidden:
            continue
        chunk = chunks[candidate.chunk_id]
        echoes = is_echo(chunk.text, context.question, candidates.query.terms)
        time = factors(_day(chunk, sessions))
        ranked.append((candidate.weighed(time, DISCOUNT if echoes else 1.0), chunk))
    # Ties go by place, not by row id: an index built in another order gives the same answer.
    ranked.sort(key=lambda pair: _order(*pair))
    return ranked


def _day(chunk: StoredChunk, sessions: Mapping[str, SessionFacts]) -> date | None:
    """When the lines were said: a session may last for weeks. A note has its day in its name."""
    if chunk.said_at:
        return date.fromisoformat(chunk.said_at[:10])
    session = sessions.get(chunk.path)
    return (session.day if session else None) or note_date(chunk.path)


def without_repeats(
    ranked: list[Ranked], context: SearchContext, candidates: Candidates
) -> list[Ranked]:
    """Conversations that repeat the question and say nothing else are shown once, and so is what
    a session note copies from a transcript."""
    ranked = without_copied(ranked, threshold(context.options, candidates))
    if all(candidate.echo == 1.0 for candidate, _ in ranked):
        return ranked
    kept = folded(ranked, context.question, candidates.query.terms, _age)
    return sorted(kept, key=lambda pair: _order(*pair))


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


def nearness(context: SearchContext, candidates: Candidates) -> Nearness | None:
    """How near the memory is, and the limit for it, if one applies."""
    value = ranking.nearness(candidates.legs)
    if value is None:
        return None
    words_alone = candidates.mode == "keyword"
    # A cosine on an unknown scale says nothing, and a chunk without a vector may be nearer.
    has_scale = words_alone or (context.facts.has_scale and candidates.mode != "partial")
    if context.options.min_score is not None or not has_scale:
        return Nearness(value)
    return Nearness(value, ranking.near_limit(candidates.chunks, words_alone=words_alone))


def _order(candidate: Candidate, chunk: StoredChunk) -> tuple[float, bool, float, str, Span, str]:
    # Among notes alone, or conversations alone, this is the order of the scores.
    score = candidate.score
    tie = -round(score / TIE)
    is_said = chunk.source == "sessions"
    return (tie, is_said, -score, chunk.path, chunk.span, chunk.digest)


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


# -- from ranked chunks to hits -----------------------------------------------------------------


class _HitContext(NamedTuple):
    """What the hits of one answer have in common."""

    candidates: Candidates
    context: SearchContext
    vector_ranks: ranking.Ranks
    text_ranks: ranking.Ranks
    sessions: Mapping[str, SessionFacts]
    spoken: Sequence[StoredChunk]
    """The chunks of conversations around the hits."""
    best_score: float
    nearness: LineNearness


def make_hits(
    view: IndexView,
    ranked: Sequence[tuple[Candidate, StoredChunk]],
    candidates: Candidates,
    context: SearchContext,
) -> tuple[Hit, ...]:
    """Passages around chunks that come best first, as many as were requested."""
    by_id = {chunk.id: (candidate, chunk) for candidate, chunk in ranked}
    sources = {chunk.path: chunk.source for _, chunk in ranked}
    passages = _passages([chunk for _, chunk in ranked], sources, context.options)
    # Fetched after the quotas, for the few passages that are shown.
    around = [chunk for passage in passages for chunk in _around(view, passage)]
    lines = _lines_by_note(around)
    widen_passages(passages, lines)
    spoken = {passage.path for passage in passages if sources[passage.path] == "sessions"}
    add_answers([passage for passage in passages if passage.path in spoken], lines)
    nearness = line_nearness(view, context, candidates, passages[:SCORED_HITS], around)
    common = _HitContext(
        candidates,
        context,
        ranking.Ranks(candidates.vectors),
        ranking.Ranks(candidates.texts),
        view.sessions(spoken) if spoken else {},
        [chunk for chunk in around if chunk.path in spoken],
        max((candidate.score for candidate, _ in ranked), default=0.0),
        nearness,
    )
    hits = [
        # No answer has room for lines of more hits.
        _hit(passage, lines[passage.path], by_id[passage.best], common, scored=at < SCORED_HITS)
        for at, passage in enumerate(passages)
    ]
    return pack_hits(hits, ANSWER_CHARS)


def _passages(
    chunks: Sequence[StoredChunk], sources: Mapping[str, str], options: SearchOptions
) -> list[Passage]:
    ranked = [FoundChunk(chunk.id, chunk.path, chunk.span, _part(chunk)) for chunk in chunks]
    merged = merge_passages(ranked, _lines_by_note(chunks), len(ranked))
    # Quotas are applied to passages, not to chunks: neighbouring chunks make one hit.
    return apply_quotas(
        merged, lambda passage: sources[passage.path], options.quota, options.max_results
    )


def _part(chunk: StoredChunk) -> Extent | None:
    """Where a piece is in its line; None for whole lines."""
    return Extent(chunk.offset, chunk.offset + len(chunk.text)) if chunk.piece else None


def _lines_by_note(chunks: Iterable[StoredChunk]) -> dict[str, ChunkLines]:
    grouped: dict[str, list[StoredChunk]] = {}
    for chunk in chunks:
        grouped.setdefault(chunk.path, []).append(chunk)
    return {
        path: ChunkLines(
            ((chunk.span, chunk.text) for chunk in of_note if not chunk.piece),
            (
                (chunk.span.start_line, LinePart(chunk.offset, chunk.text))
                for chunk in of_note
                if chunk.piece
            ),
        )
        for path, of_note in grouped.items()
    }


def _around(view: IndexView, passage: Passage) -> list[StoredChunk]:
    first, last = passage.start_line - REACH_LINES, passage.end_line + REACH_LINES
    return view.around(passage.path, first, last)


def _hit(
    passage: Passage,
    lines: ChunkLines,
    best: tuple[Candidate, StoredChunk],
    common: _HitContext,
    *,
    scored: bool,
) -> Hit:
    candidate, chunk = best
    text = _text(passage, lines, chunk)
    weights = common.candidates.worth_in(text)
    whole = None
    if not passage.part and not chunk.piece:
        whole = HitText(lines, Span(passage.start_line, passage.end_line), frozenset(weights))
    shown = _snippet(text, chunk, common, weights, whole)
    return Hit(
        id=_chunk_key(chunk, common.context.facts.model),
        path=chunk.path,
        span=Span(passage.start_line, passage.end_line),
        score=round(candidate.score, 4),
        snippet=shown,
        source=chunk.source,
        heading=chunk.heading or question_before(chunk, passage.start_line, common.spoken),
        parts=ScoreParts(
            candidate.vector,
            candidate.text,
            common.vector_ranks.of(chunk.id),
            common.text_ranks.of(chunk.id),
            candidate.decay,
            candidate.recency,
            candidate.rerank,
            candidate.echo,
            best_window(chunk, common.candidates, common.context),
        ),
        chars=len(text),
        said=utterance(chunk, shown, text, common.spoken, common.sessions),
        lines=_scored_lines(passage, lines, best, common, weights, whole) if scored else (),
    )


def _text(passage: Passage, lines: ChunkLines, chunk: StoredChunk) -> str:
    line = lines.long_line(passage.start_line) if passage.part else None
    if line and passage.part:
        # Between two runs is a text that is not known.
        return "\n".join(run.text for run in line.runs(passage.part))
    return chunk.text if chunk.piece else lines.text(passage.start_line, passage.end_line)


def _scored_lines(
    passage: Passage,
    lines: ChunkLines,
    best: tuple[Candidate, StoredChunk],
    common: _HitContext,
    weights: Mapping[str, float],
    whole: HitText | None,
) -> tuple[ScoredLines, ...]:
    candidate, chunk = best
    near = common.nearness
    scores = LineScores(
        candidate.score / common.best_score if common.best_score else 0.0,
        chunk.span,
        weights,
        _part(chunk),
        near.of(chunk.path),
        near.typical,
    )
    span = Span(passage.start_line, passage.end_line)
    return score_lines(lines, span, scores, passage.part, whole)


def _snippet(
    text: str,
    chunk: StoredChunk,
    common: _HitContext,
    weights: Mapping[str, float],
    whole: HitText | None,
) -> str:
    """Around the words that matched; if none did, from the best window of the chunk."""
    chars = common.context.options.snippet_chars
    if chunk.id not in common.candidates.texts:
        source = from_best_window(chunk, common.candidates, chars)
        return snippet(source, common.candidates.worth_in(source), chars)
    if whole is None:
        source = without_markers(text)
        return snippet(source, common.candidates.worth_in(source), chars)
    source, places = whole.own()
    return snippet(source, weights, chars, places)


def _chunk_key(chunk: StoredChunk, model: str) -> str:
    """A chunk's public id: the same for the same text in the same place under the same model."""
    span = chunk.span
    key = f"{chunk.source}:{chunk.path}:{span.start_line}:{span.end_line}:{chunk.digest}:{model}"
    return short_sha256(key)
