"""From ranked chunks to what the asker sees: passages with lines, snippet and citation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.core import (
    ChunkLines,
    Passage,
    apply_quotas,
    merge_passages,
    snippet,
    widen_passages,
    without_markers,
)
from notewell.types import Hit, ScoreParts, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.search.settings import SearchOptions

REACH_LINES = 80
"""How far around a hit lines are looked up: more hardly fit in what it may be widened by."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the making of a hit needs to know about the question."""

    worth: Mapping[str, float]
    """What each term of the question is worth, for the snippet."""
    vector_ranks: Mapping[int, int]
    text_ranks: Mapping[int, int]
    model: str
    snippet_chars: int


def make_hits(
    view: IndexView,
    found: Sequence[tuple[Candidate, StoredChunk]],
    shown: Shown,
    settings: SearchOptions,
) -> tuple[Hit, ...]:
    """Passages around chunks that are given best first, as many as were asked for."""
    by_id = {chunk.id: (candidate, chunk) for candidate, chunk in found}
    known = _lines_by_note(chunk for _, chunk in found)
    sources = {chunk.path: chunk.source for _, chunk in found}
    passages = apply_quotas(
        merge_passages(
            [(chunk.id, chunk.path, chunk.span) for _, chunk in found], known, len(found)
        ),
        lambda passage: sources[passage.path],
        settings.quota,
        settings.max_results,
    )
    around = _lines_by_note(chunk for passage in passages for chunk in _around(view, passage))
    for passage in passages:
        around.setdefault(passage.path, ChunkLines(()))
    widen_passages(passages, around)
    return tuple(
        _hit(passage, around[passage.path], by_id[passage.best], shown) for passage in passages
    )


def _lines_by_note(chunks: Iterable[StoredChunk]) -> dict[str, ChunkLines]:
    grouped: dict[str, list[tuple[Span, str]]] = {}
    for chunk in chunks:
        lines = grouped.setdefault(chunk.path, [])
        if not chunk.piece:
            lines.append((chunk.span, chunk.text))
    return {path: ChunkLines(lines) for path, lines in grouped.items()}


def _around(view: IndexView, passage: Passage) -> list[StoredChunk]:
    first, last = passage.start_line - REACH_LINES, passage.end_line + REACH_LINES
    return view.around(passage.path, first, last)


def _hit(
    passage: Passage, lines: ChunkLines, best: tuple[Candidate, StoredChunk], shown: Shown
) -> Hit:
    candidate, chunk = best
    text = chunk.text if chunk.piece else lines.text(passage.start_line, passage.end_line)
    return Hit(
        id=_chunk_key(chunk, shown.model),
        path=chunk.path,
        span=Span(passage.start_line, passage.end_line),
        score=round(candidate.score, 4),
        snippet=_snippet(text, chunk, shown),
        source=chunk.source,
        heading=chunk.heading,
        parts=ScoreParts(
            candidate.vector,
            candidate.text,
            shown.vector_ranks.get(chunk.id),
            shown.text_ranks.get(chunk.id),
            candidate.decay,
            candidate.recency,
            candidate.rerank,
        ),
        chars=len(text),
    )


def _snippet(text: str, chunk: StoredChunk, shown: Shown) -> str:
    """Around the words that matched; where none did, the chunk that means something near."""
    source = without_markers(text if shown.text_ranks.get(chunk.id) else chunk.text)
    return snippet(source, shown.worth, shown.snippet_chars)


def _chunk_key(chunk: StoredChunk, model: str) -> str:
    """A chunk's name outside: the same text in the same place under the same model."""
    span = chunk.span
    told = f"{chunk.source}:{chunk.path}:{span.start_line}:{span.end_line}:{chunk.digest}:{model}"
    return hashlib.sha256(told.encode()).hexdigest()
