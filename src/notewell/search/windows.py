"""How near each line of the hits is in meaning: the vector score of the window that it is in.

A hit has one vector score, that of its best chunk. Its lines differ: the vectors of the windows
say which of them answer, also where no word of the question stands. Lines that were added around
a chunk have windows of their own, in the chunks that they belong to.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from notewell.core import Extent, find_windows, ranking, without_markers
from notewell.core.window_codes import NO_WINDOWS
from notewell.records import NamedTuple
from notewell.types import Span, WindowScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core import Passage, WindowCosines
    from notewell.core.windows import WindowPlaces
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
    windows: WindowCosines = NO_WINDOWS
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
    chunks: dict[int, StoredChunk] = {}
    for passage in passages:
        first, last = passage.start_line, passage.end_line
        for chunk in around[passage.path]:
            start_line, end_line = chunk.span
            if start_line <= last and end_line >= first:
                chunks[chunk.id] = chunk
    others = [one for one in chunks if one not in candidates.vectors]
    windows = view.window_cosines(context.vector, others) if others else NO_WINDOWS
    return NearChunks(tuple(chunks.values()), windows)


def line_nearness(
    near: NearChunks, context: SearchContext, candidates: Candidates
) -> LineNearness:
    by_path: dict[str, dict[int, list[tuple[Extent, float]]]] = {}
    # The windows of all chunks: where each is, in which note, and its cosine.
    places: list[tuple[dict[int, list[tuple[Extent, float]]], Sequence[tuple[int, Extent]]]] = []
    cosines: list[float] = []
    for chunk in near.chunks:
        lines = by_path.setdefault(chunk.path, {})
        of_chunk, own = _cosines(chunk, near.windows, candidates)
        places += [(lines, one) for one in of_chunk[: len(own)]]
        cosines += own[: len(of_chunk)]
    scores = ranking.vector_scores(cosines, context.facts)
    for (lines, of_window), score in zip(places, scores, strict=True):
        for line, extent in of_window:
            if line in lines:
                lines[line].append((extent, score))
            else:
                lines[line] = [(extent, score)]
    return LineNearness(by_path, fsum(scores) / len(scores) if scores else 0.0)


def _cosines(
    chunk: StoredChunk, windows: WindowCosines, candidates: Candidates
) -> tuple[WindowPlaces, Sequence[float]]:
    """The windows of a chunk, and the cosine of each."""
    if cosines := candidates.windows.windows_of(chunk.id) or windows.windows_of(chunk.id):
        return chunk.window_places, cosines
    # It is one window by itself. If it is no candidate either, its lines are typical.
    cosine = candidates.cosines.get(chunk.id)
    if cosine is None:
        return (), ()
    extent = Extent(chunk.offset, chunk.offset + len(chunk.text)) if chunk.piece else WHOLE_LINE
    lines = range(chunk.span.start_line, chunk.span.end_line + 1)
    return ([(line, extent) for line in lines],), (cosine,)


# -- the best window of a chunk ------------------------------------------------------------------


def best_window(
    chunk: StoredChunk, candidates: Candidates, context: SearchContext
) -> WindowScore | None:
    """None for a chunk without windows."""
    cosines = candidates.windows.windows_of(chunk.id)
    if not cosines:
        return None
    best = max(cosines)
    places = chunk.window_places[cosines.index(best) :]
    if not places:
        return None
    span = Span(places[0][0][0], places[0][-1][0])
    return WindowScore(span, ranking.vector_score(best, context.facts))


def from_best_window(chunk: StoredChunk, candidates: Candidates, chars: int) -> str:
    """So many characters of the chunk that begin with its best window; more before it, if the
    rest is shorter."""
    text = without_markers(chunk.text)
    cosines = candidates.windows.windows_of(chunk.id)
    if not cosines:
        return text
    windows = find_windows(text)[cosines.index(max(cosines)) :]
    start = windows[0].start if windows else 0
    first = min(start, max(0, len(text) - chars))
    # From the beginning of a line, unless the line is longer than the snippet.
    line = text.rfind("\n", 0, first + 1) + 1
    return text[line if start - line < chars // 2 else first :]
