"""From ranked chunks to hits: passages, their lines, a snippet, and the score in parts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from notewell.core import (
    ChunkLines,
    Extent,
    FoundChunk,
    LinePart,
    LineScores,
    Passage,
    add_answers,
    apply_quotas,
    merge_passages,
    pack_hits,
    ranking,
    score_lines,
    short_sha256,
    snippet,
    widen_passages,
    without_markers,
)
from notewell.core.speakers import is_about_user
from notewell.last_values import LastValues
from notewell.limits import ANSWER_CHARS
from notewell.records import NamedTuple, deferred
from notewell.search.utterances import question_before, utterance
from notewell.search.windows import best_window, from_best_window, line_nearness
from notewell.types import Hit, ScoredLines, ScoreParts, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.search.candidates import Candidates, SearchContext
    from notewell.search.settings import SearchOptions
    from notewell.search.windows import LineNearness
    from notewell.types import SessionFacts

SCORED_HITS = 24
"""The lines of so many hits are scored; a later hit shows its snippet, if there is room."""

KEPT_CHARS = 1_000_000
"""Lines of so many characters of notes are kept, with their words: 10 MB at most, in all memories
of a process."""

REACH_LINES = 80
"""How far around a hit lines are fetched; `widen_passages` has hardly room for more."""


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
    is_about_user: bool


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
    around = _chunks_around(view, passages)
    lines = {path: _kept_lines(of_note) for path, of_note in around.items()}
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
        [chunk for path in spoken for chunk in around[path]],
        max((candidate.score for candidate, _ in ranked), default=0.0),
        nearness,
        is_about_user(context.question),
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
    return {path: _lines(of_note) for path, of_note in grouped.items()}


def _lines(chunks: Sequence[StoredChunk]) -> ChunkLines:
    """Of one note."""
    pieces = [chunk for chunk in chunks if chunk.piece]
    return ChunkLines(
        ((chunk.span, chunk.text) for chunk in chunks if not chunk.piece),
        ((chunk.span.start_line, LinePart(chunk.offset, chunk.text)) for chunk in pieces),
    )


_kept = LastValues[ChunkLines](KEPT_CHARS)


def _kept_lines(chunks: tuple[StoredChunk, ...]) -> ChunkLines:
    """The key is all that the lines are made of, so that a change of the note makes others."""
    chars = sum([len(chunk.text) for chunk in chunks])
    return _kept.get(chunks, chars, lambda: _lines(chunks))


def _chunks_around(
    view: IndexView, passages: Sequence[Passage]
) -> dict[str, tuple[StoredChunk, ...]]:
    """By note, the chunks of the passages and those near them."""
    around: dict[str, tuple[StoredChunk, ...]] = {}
    for passage in passages:
        first, last = passage.start_line - REACH_LINES, passage.end_line + REACH_LINES
        found = tuple(view.around(passage.path, first, last))
        known = around.get(passage.path, found)
        # Of two passages in a long note, each has others around it.
        around[passage.path] = known if found == known else tuple(dict.fromkeys(known + found))
    return around


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
    show = partial(_snippet, passage, text, chunk, common, weights)
    is_said = chunk.source == "sessions"
    return Hit(
        _chunk_key(chunk, common.context.facts.model),
        chunk.path,
        Span(passage.start_line, passage.end_line),
        round(candidate.score, 4),
        deferred(show),
        chunk.source,
        chunk.heading or question_before(chunk, passage.start_line, common.spoken),
        ScoreParts(
            candidate.vector,
            candidate.text,
            common.vector_ranks.of(chunk.id),
            common.text_ranks.of(chunk.id),
            candidate.decay,
            candidate.recency,
            candidate.rerank,
            candidate.echo,
            candidate.speaker,
            best_window(chunk, common.candidates, common.context),
        ),
        len(text),
        utterance(chunk, show(), text, common.spoken, common.sessions) if is_said else None,
        _scored_lines(passage, lines, best, common, weights) if scored else (),
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
        common.is_about_user,
    )
    span = Span(passage.start_line, passage.end_line)
    return score_lines(lines, span, scores, passage.part)


def _snippet(
    passage: Passage,
    text: str,
    chunk: StoredChunk,
    common: _HitContext,
    weights: Mapping[str, float],
) -> str:
    """Around the words that matched; if none did, from the best window of the chunk."""
    chars = common.context.options.snippet_chars
    has_words = chunk.id in common.candidates.texts
    source = without_markers(text)
    if not has_words:
        source = from_best_window(chunk, common.candidates, chars)
    if not has_words or passage.part or chunk.piece:
        weights = common.candidates.worth_in(source)
    return snippet(source, weights, chars)


def _chunk_key(chunk: StoredChunk, model: str) -> str:
    """A chunk's public id: the same for the same text in the same place under the same model."""
    span = chunk.span
    key = f"{chunk.source}:{chunk.path}:{span.start_line}:{span.end_line}:{chunk.digest}:{model}"
    return short_sha256(key)
