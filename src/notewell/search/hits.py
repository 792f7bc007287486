"""From ranked chunks to hits: passages, their lines, a snippet, and the score in parts."""

from __future__ import annotations

from functools import cached_property
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
    choose_lines,
    merge_passages,
    ranking,
    score_lines,
    short_sha256,
    snippet,
    speaking,
    widen_passages,
    without_markers,
)
from notewell.core.speakers import is_about_user
from notewell.index import ChunkRun
from notewell.last_values import LastValues
from notewell.limits import ANSWER_CHARS
from notewell.records import deferred, from_rows
from notewell.search.utterances import question_before, utterance
from notewell.search.windows import best_window, from_best_window, line_nearness, near_chunks
from notewell.types import Hit, ScoredLines, ScoreParts, Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.core import Candidate
    from notewell.index import IndexView, StoredChunk
    from notewell.search.candidates import Candidates, SearchContext
    from notewell.search.settings import SearchOptions
    from notewell.search.windows import LineNearness
    from notewell.types import QuotedLines, SessionFacts, Utterance

    Ranked = tuple[Candidate, StoredChunk]

SCORED_HITS = 24
"""The lines of so many hits are scored; a later hit shows its snippet, if there is room."""

KEPT_CHARS = 4_000_000
"""Lines of so many characters of notes are kept, with their words: 40 MB at most, in all memories
of a process. The hits of a busy service are in a thousand notes."""

REACH_LINES = 80
"""How far around a hit lines are fetched; `widen_passages` has hardly room for more."""


class _AnswerContext:
    """What the hits of one answer have in common."""

    def __init__(
        self,
        view: IndexView,
        candidates: Candidates,
        context: SearchContext,
        passages: Sequence[Passage],
        around: Mapping[str, ChunkRun],
        best_score: float,
    ) -> None:
        self.candidates = candidates
        self.context = context
        self.best_score = best_score
        spoken = {path for path, run in around.items() if run and run[0].source == "sessions"}
        self.sessions: Mapping[str, SessionFacts] = view.sessions(spoken) if spoken else {}
        self.spoken = [chunk for path in spoken for chunk in around[path]]
        """The chunks of conversations around the hits."""
        # All that needs the view is read now.
        self._near = near_chunks(view, context, candidates, passages[:SCORED_HITS], around)

    @cached_property
    def vector_ranks(self) -> ranking.Ranks:
        return ranking.Ranks(self.candidates.vectors)

    @cached_property
    def text_ranks(self) -> ranking.Ranks:
        return ranking.Ranks(self.candidates.texts)

    @cached_property
    def nearness(self) -> LineNearness:
        return line_nearness(self._near, self.context, self.candidates)


class _HitDetails:
    """What a hit is made of. Most answers are shown without some of its fields: each is computed
    when it is read."""

    def __init__(
        self,
        passage: Passage,
        lines: ChunkLines,
        best: Ranked,
        common: _AnswerContext,
    ) -> None:
        self._passage = passage
        self._lines = lines
        self._candidate, self._chunk = best
        self._common = common
        self.span = Span(passage.start_line, passage.end_line)

    def id(self) -> str:
        """The same for the same text in the same place under the same model."""
        chunk, (start, end) = self._chunk, self._chunk.span
        model = self._common.context.facts.model
        key = f"{chunk.source}:{chunk.path}:{start}:{end}:{chunk.digest}:{model}"
        return short_sha256(key)

    @cached_property
    def text(self) -> str:
        passage, chunk = self._passage, self._chunk
        line = self._lines.long_line(passage.start_line) if passage.part else None
        if line and passage.part:
            # Between two runs is a text that is not known.
            return "\n".join(run.text for run in line.runs(passage.part))
        return chunk.text if chunk.piece else self._lines.text(*self.span)

    @property
    def chars(self) -> int:
        if self._passage.part or self._chunk.piece:
            return len(self.text)
        return self._lines.chars(*self.span)

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        candidates = self._common.candidates
        # In English alone, the text does not matter: it is not put together.
        return candidates.worth_in(self.text) if candidates.query.variants else candidates.worth

    @cached_property
    def snippet(self) -> str:
        """Around the words that matched; if none did, from the best window of the chunk."""
        candidates, chunk = self._common.candidates, self._chunk
        chars = self._common.context.options.snippet_chars
        has_words = chunk.id in candidates.texts
        source, weights = without_markers(self.text), self._weights
        if not has_words:
            source = from_best_window(chunk, candidates, chars)
        if not has_words or self._passage.part or chunk.piece:
            weights = candidates.worth_in(source)
        return snippet(source, weights, chars)

    def parts(self) -> ScoreParts:
        candidate, common = self._candidate, self._common
        return ScoreParts(
            candidate.vector,
            candidate.text,
            common.vector_ranks.of(self._chunk.id),
            common.text_ranks.of(self._chunk.id),
            candidate.decay,
            candidate.recency,
            candidate.rerank,
            candidate.echo,
            candidate.speaker,
            best_window(self._chunk, common.candidates, common.context),
        )

    def whole(self) -> ScoredLines:
        """For a hit whose lines are not scored."""
        return ScoredLines(self.span, self.snippet, round(self._candidate.score, 4))

    def said(self) -> Utterance | None:
        common = self._common
        return utterance(self._chunk, self.snippet, self.text, common.spoken, common.sessions)

    def scored_lines(self) -> tuple[ScoredLines, ...]:
        candidate, chunk, common = self._candidate, self._chunk, self._common
        scores = LineScores(
            candidate.score / common.best_score if common.best_score else 0.0,
            chunk.span,
            self._weights,
            _part(chunk),
            common.nearness.of(chunk.path),
            common.nearness.typical,
            is_about_user(common.context.question),
        )
        return score_lines(self._lines, self.span, scores, self._passage.part)

    def hit(self, at: int, shown: _ShownLines) -> Hit:
        chunk = self._chunk
        is_said = chunk.source == "sessions"
        return Hit(
            deferred(self.id),
            chunk.path,
            self.span,
            round(self._candidate.score, 4),
            deferred(lambda: self.snippet),
            chunk.source,
            chunk.heading or question_before(chunk, self.span.start_line, self._common.spoken),
            deferred(self.parts),
            self.chars,
            deferred(lambda: speaking(self.said(), shown.shown[at])) if is_said else None,
            deferred(lambda: shown.scored[at]),
            deferred(lambda: shown.shown[at]),
        )


class _ShownLines:
    """The lines of all hits, which share one budget."""

    def __init__(self, hits: Sequence[_HitDetails]) -> None:
        self._hits = hits

    @cached_property
    def scored(self) -> list[tuple[ScoredLines, ...]]:
        # No answer has room for lines of more hits.
        return [
            hit.scored_lines() if at < SCORED_HITS else () for at, hit in enumerate(self._hits)
        ]

    @cached_property
    def shown(self) -> list[tuple[QuotedLines, ...]]:
        groups = [
            lines or (hit.whole(),) for hit, lines in zip(self._hits, self.scored, strict=True)
        ]
        return choose_lines(groups, ANSWER_CHARS)


def make_hits(
    view: IndexView, ranked: Sequence[Ranked], candidates: Candidates, context: SearchContext
) -> tuple[Hit, ...]:
    """Passages around chunks that come best first, as many as were requested."""
    by_id = {chunk.id: (candidate, chunk) for candidate, chunk in ranked}
    sources = {chunk.path: chunk.source for _, chunk in ranked}
    passages = _passages([chunk for _, chunk in ranked], sources, context.options)
    # Fetched after the quotas, for the few passages that are shown.
    around = _chunks_around(view, passages)
    lines = {path: _kept_lines(of_note) for path, of_note in around.items()}
    widen_passages(passages, lines)
    add_answers([one for one in passages if sources[one.path] == "sessions"], lines)
    best_score = max([candidate.score for candidate, _ in ranked], default=0.0)
    common = _AnswerContext(view, candidates, context, passages, around, best_score)
    details = [
        _HitDetails(passage, lines[passage.path], by_id[passage.best], common)
        for passage in passages
    ]
    shown = _ShownLines(details)
    return tuple([one.hit(at, shown) for at, one in enumerate(details)])


def _passages(
    chunks: Sequence[StoredChunk], sources: Mapping[str, str], options: SearchOptions
) -> list[Passage]:
    ranked = from_rows(
        FoundChunk,
        [(one.id, one.path, one.span, _part(one), len(one.text)) for one in chunks],
    )
    merged = merge_passages(ranked, _NoteLines(chunks), len(ranked))
    # Quotas are applied to passages, not to chunks: neighbouring chunks make one hit.
    return apply_quotas(
        merged, lambda passage: sources[passage.path], options.quota, options.max_results
    )


def _part(chunk: StoredChunk) -> Extent | None:
    """Where a piece is in its line; None for whole lines."""
    return Extent(chunk.offset, chunk.offset + len(chunk.text)) if chunk.piece else None


class _NoteLines(dict[str, "ChunkLines"]):
    """The lines of the chunks that were found, by note; made for notes with two that are near."""

    def __init__(self, chunks: Sequence[StoredChunk]) -> None:
        super().__init__()
        self._chunks = chunks

    def __missing__(self, path: str) -> ChunkLines:
        self[path] = _lines([chunk for chunk in self._chunks if chunk.path == path])
        return self[path]


def _lines(chunks: Sequence[StoredChunk]) -> ChunkLines:
    """Of one note."""
    pieces = [chunk for chunk in chunks if chunk.piece]
    return ChunkLines(
        [chunk.lines for chunk in chunks if not chunk.piece],
        [(chunk.span.start_line, LinePart(chunk.offset, chunk.text)) for chunk in pieces],
    )


_kept = LastValues[ChunkLines](KEPT_CHARS)


def _kept_lines(chunks: ChunkRun) -> ChunkLines:
    """The key is all that the lines are made of, so that a change of the note makes others."""
    return _kept.get(chunks, chunks.chars, lambda: _lines(chunks))


def _chunks_around(view: IndexView, passages: Sequence[Passage]) -> dict[str, ChunkRun]:
    """By note, the chunks of the passages and those near them."""
    around: dict[str, ChunkRun] = {}
    for passage in passages:
        first, last = passage.start_line - REACH_LINES, passage.end_line + REACH_LINES
        found = view.around(passage.path, first, last)
        known = around.get(passage.path, found)
        # Of two passages in a long note, each has others around it.
        if found is not known and found != known:
            known = ChunkRun(dict.fromkeys(known + found))
        around[passage.path] = known
    return around
