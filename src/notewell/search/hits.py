"""From ranked chunks to hits: passages with lines, snippet and citation."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from notewell.core import (
    ChunkLines,
    Passage,
    apply_quotas,
    merge_passages,
    ranking,
    snippet,
    widen_passages,
    without_markers,
)
from notewell.types import Hit, ScoreParts, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.search.candidates import Candidates, SearchContext

REACH_LINES = 80
"""How far around a hit lines are fetched; `widen_passages` has hardly room for more."""


class _HitContext(NamedTuple):
    """What the hits of one answer have in common."""

    candidates: Candidates
    context: SearchContext
    vector_ranks: Mapping[int, int]
    text_ranks: Mapping[int, int]


def make_hits(
    view: IndexView,
    ranked: Sequence[tuple[Candidate, StoredChunk]],
    candidates: Candidates,
    context: SearchContext,
) -> tuple[Hit, ...]:
    """Passages around chunks that come best first, as many as were requested."""
    options = context.options
    by_id = {chunk.id: (candidate, chunk) for candidate, chunk in ranked}
    own_lines = _lines_by_note(chunk for _, chunk in ranked)
    # Quotas are applied to passages, not to chunks: neighbouring chunks make one hit.
    sources = {chunk.path: chunk.source for _, chunk in ranked}
    passages = apply_quotas(
        merge_passages(
            [(chunk.id, chunk.path, chunk.span) for _, chunk in ranked], own_lines, len(ranked)
        ),
        lambda passage: sources[passage.path],
        options.quota,
        options.max_results,
    )
    # Fetched after the quotas, for the few passages that are shown.
    lines = _lines_by_note(chunk for passage in passages for chunk in _around(view, passage))
    for passage in passages:
        # A note that consists of pieces of one long line has no whole lines to show.
        lines.setdefault(passage.path, ChunkLines(()))
    widen_passages(passages, lines)
    common = _HitContext(
        candidates, context, ranking.ranks(candidates.vectors), ranking.ranks(candidates.texts)
    )
    return tuple(
        _hit(passage, lines[passage.path], by_id[passage.best], common) for passage in passages
    )


def _lines_by_note(chunks: Iterable[StoredChunk]) -> dict[str, ChunkLines]:
    grouped: dict[str, list[tuple[Span, str]]] = {}
    for chunk in chunks:
        lines = grouped.setdefault(chunk.path, [])
        # A piece is a part of one long line: it has no whole lines to join with others.
        if not chunk.piece:
            lines.append((chunk.span, chunk.text))
    return {path: ChunkLines(lines) for path, lines in grouped.items()}


def _around(view: IndexView, passage: Passage) -> list[StoredChunk]:
    first, last = passage.start_line - REACH_LINES, passage.end_line + REACH_LINES
    return view.around(passage.path, first, last)


def _hit(
    passage: Passage, lines: ChunkLines, best: tuple[Candidate, StoredChunk], common: _HitContext
) -> Hit:
    candidate, chunk = best
    # `_lines_by_note` leaves pieces out, so `lines` cannot have this text.
    text = chunk.text if chunk.piece else lines.text(passage.start_line, passage.end_line)
    return Hit(
        id=_chunk_key(chunk, common.context.facts.model),
        path=chunk.path,
        span=Span(passage.start_line, passage.end_line),
        score=round(candidate.score, 4),
        snippet=_snippet(text, chunk, common),
        source=chunk.source,
        heading=chunk.heading,
        parts=ScoreParts(
            candidate.vector,
            candidate.text,
            common.vector_ranks.get(chunk.id),
            common.text_ranks.get(chunk.id),
            candidate.decay,
            candidate.recency,
            candidate.rerank,
        ),
        chars=len(text),
    )


def _snippet(text: str, chunk: StoredChunk, common: _HitContext) -> str:
    """Around the words that matched; if none did, the chunk whose vector is near."""
    source = without_markers(text if common.text_ranks.get(chunk.id) else chunk.text)
    return snippet(source, common.candidates.worth, common.context.options.snippet_chars)


def _chunk_key(chunk: StoredChunk, model: str) -> str:
    """A chunk's public id: the same for the same text in the same place under the same model."""
    span = chunk.span
    key = f"{chunk.source}:{chunk.path}:{span.start_line}:{span.end_line}:{chunk.digest}:{model}"
    return hashlib.sha256(key.encode()).hexdigest()
