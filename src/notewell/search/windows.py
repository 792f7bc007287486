"""How near each line of the hits is in meaning: the vector score of the window that it is in.

A hit has one vector score, that of its best chunk. Its lines differ: the vectors of the windows
say which of them answer, also where no word of the question stands. Lines that were added around
a chunk have windows of their own, in the chunks that they belong to.
"""

from __future__ import annotations

from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING

from notewell.core import Extent, find_windows, vector_score, window_places, without_markers
from notewell.records import NamedTuple
from notewell.types import Span, WindowScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core import Passage
    from notewell.index import IndexView, StoredChunk
    from notewell.search.candidates import Candidates, SearchContext

    ScoredExtents = Mapping[int, Sequence[tuple[Extent, float]]]
    """By line: characters of it, and their vector score."""

WHOLE_LINE = Extent(0, 10**9)


class LineNearness(NamedTuple):
    """The vector scores of the lines of an answer."""

    by_path: Mapping[str, ScoredExtents]
    typical: float = 0.0
    """For lines without a vector: neither near nor far among those of the answer."""

    def of(self, path: str) -> ScoredExtents:
        return self.by_path.get(path, {})


class NearChunks(NamedTuple):
    """The chunks of the passages of an answer."""

    chunks: Sequence[StoredChunk] = ()
    windows: Mapping[int, Sequence[float]] = MappingProxyType({})
    """The cosines of their windows, of those that are no candidates."""


def near_chunks(
    view: IndexView,
    context: SearchContext,
    candidates: Candidates,
    passages: Sequence[Passage],
    around: Mapping[str, Iterable[StoredChunk]],
) -> NearChunks:
    """None if the model has no windows, or the question no vector. `around` has the chunks near
    the passages, by note."""
    if context.vector is None or not context.facts.window_share or not candidates.vectors:
        return NearChunks()
    chunks = {
        chunk.id: chunk
        for passage in passages
        for chunk in around[passage.path]
        if _is_in(chunk, passage)
    }
    others = [one for one in chunks if one not in candidates.vectors]
    windows = view.window_cosines(context.vector, others) if others else {}
    return NearChunks(tuple(chunks.values()), windows)


def line_nearness(
    near: NearChunks, context: SearchContext, candidates: Candidates
) -> LineNearness:
    by_path: dict[str, dict[int, list[tuple[Extent, float]]]] = {}
    scores: list[float] = []
    for chunk in near.chunks:
        lines = by_path.setdefault(chunk.path, {})
        for places, cosine in _cosines(chunk, near.windows, candidates):
            score = vector_score(cosine, context.facts)
            scores.append(score)
            for line, extent in places:
                if line in lines:
                    lines[line].append((extent, score))
                else:
                    lines[line] = [(extent, score)]
    return LineNearness(by_path, fsum(scores) / len(scores) if scores else 0.0)


def _is_in(chunk: StoredChunk, passage: Passage) -> bool:
    start_line, end_line = chunk.span
    return start_line <= passage.end_line and end_line >= passage.start_line


def _cosines(
    chunk: StoredChunk, windows: Mapping[int, Sequence[float]], candidates: Candidates
) -> Iterable[tuple[Iterable[tuple[int, Extent]], float]]:
    if cosines := candidates.windows.get(chunk.id) or windows.get(chunk.id):
        return zip(_places(chunk), cosines, strict=False)
    # It is one window by itself. If it is no candidate either, its lines are typical.
    cosine = candidates.cosines.get(chunk.id)
    if cosine is None:
        return ()
    extent = Extent(chunk.offset, chunk.offset + len(chunk.text)) if chunk.piece else WHOLE_LINE
    lines = range(chunk.span.start_line, chunk.span.end_line + 1)
    return (([(line, extent) for line in lines], cosine),)


def _places(chunk: StoredChunk) -> Sequence[Sequence[tuple[int, Extent]]]:
    """Of each window. If the index has another number of windows, which only damage explains,
    `notewell verify` reports it."""
    return window_places(chunk.text, chunk.span.start_line, chunk.offset)


# -- the best window of a chunk ------------------------------------------------------------------


def best_window(
    chunk: StoredChunk, candidates: Candidates, context: SearchContext
) -> WindowScore | None:
    """None for a chunk without windows."""
    cosines = candidates.windows.get(chunk.id)
    if not cosines:
        return None
    best = max(cosines)
    places = _places(chunk)[cosines.index(best) :]
    if not places:
        return None
    span = Span(places[0][0][0], places[0][-1][0])
    return WindowScore(span, vector_score(best, context.facts))


def from_best_window(chunk: StoredChunk, candidates: Candidates, chars: int) -> str:
    """So many characters of the chunk that begin with its best window; more before it, if the
    rest is shorter."""
    text = without_markers(chunk.text)
    cosines = candidates.windows.get(chunk.id)
    if not cosines:
        return text
    windows = find_windows(text)[cosines.index(max(cosines)) :]
    start = windows[0].start if windows else 0
    first = min(start, max(0, len(text) - chars))
    # From the beginning of a line, unless the line is longer than the snippet.
    line = text.rfind("\n", 0, first + 1) + 1
    return text[line if start - line < chars // 2 else first :]
