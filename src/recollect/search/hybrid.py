"""Ask the words and the meaning, then weigh both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from recollect.core import ranking
from recollect.core.errors import BadRequest, EmbedderTrouble
from recollect.core.limits import (
    CANDIDATES,
    MAX_QUERY_CHARS,
    MAX_RESULTS,
    SNIPPET_CHARS,
)
from recollect.core.querying import TextQuery, text_query, worth_asking
from recollect.core.times import asked_times, note_date
from recollect.search.hits import Shown, make_hits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from recollect.core.ports import Embedder
    from recollect.core.ranking import Candidate, TextStats
    from recollect.core.types import Hit
    from recollect.index import Snapshot, StoredChunk

Mode: TypeAlias = Literal["hybrid", "partial", "keyword"]

NOTHING_NEAR = 0.2
"""Below this even the best chunk is a stranger: a lower threshold would show only noise."""

LEAST_CANDIDATES = 96
"""At least this many chunks a leg are looked at: a hit is made of several, and FTS5's own order is
only nearly ours."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How to ask and how much to return."""

    today: date
    """The day the question is asked on."""
    max_results: int = 6
    min_score: float | None = None
    """None leaves it to `ranking.default_threshold`; a number is obeyed."""
    vector_weight: float | None = None
    """The vector leg's share; None takes what was measured for the model."""
    candidate_multiplier: int = 4
    snippet_chars: int = SNIPPET_CHARS
    sources: tuple[str, ...] = ("memory",)
    keyword_only: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.max_results <= MAX_RESULTS:
            raise BadRequest(f"max results must be 1 to {MAX_RESULTS}, not {self.max_results}")
        if self.min_score is not None and not 0 <= self.min_score <= 1:
            raise BadRequest(f"the least score must be 0 to 1, not {self.min_score}")

    @property
    def chunks_shown(self) -> int:
        return self.max_results * self.candidate_multiplier

    @property
    def candidates(self) -> int:
        return min(CANDIDATES, max(LEAST_CANDIDATES, self.chunks_shown))


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found."""

    hits: tuple[Hit, ...]
    mode: Mode
    provider: str
    model: str
    reason: str | None = None
    """Why there are no hits."""
    notice: str | None = None
    """Why the mode is less than hybrid."""
    degraded: bool = False
    """The mode is less than what was asked for."""


@dataclass(slots=True)
class _Legs:
    """What each leg found."""

    texts: dict[int, float] = field(default_factory=dict)
    vectors: dict[int, float] = field(default_factory=dict)
    exact: set[int] = field(default_factory=set)
    stats: TextStats | None = None
    mode: Mode = "keyword"
    notice: str | None = None
    degraded: bool = False


def search(
    snapshot: Snapshot | None, question: str, embedder: Embedder, settings: SearchSettings
) -> Answer:
    if not question.strip():
        raise BadRequest("the question is empty: say what to look for")
    if len(question) > MAX_QUERY_CHARS:
        raise BadRequest(
            f"a question has at most {MAX_QUERY_CHARS} characters, not {len(question)}"
        )
    facts = embedder.facts
    if snapshot is None or snapshot.is_empty():
        reason = "nothing is indexed yet: run `recollect index`"
        return Answer((), "keyword", facts.provider, facts.model, reason)
    query = text_query(question)
    query = worth_asking(query, snapshot.having(query.terms))
    legs = _Legs()
    _ask_words(snapshot, query, settings, legs)
    _ask_meaning(snapshot, question, embedder, settings, legs)
    return _weigh(snapshot, question, query, embedder, settings, legs)


def _ask_words(
    snapshot: Snapshot, query: TextQuery, settings: SearchSettings, legs: _Legs
) -> None:
    matches, legs.stats = snapshot.matching(query, settings.sources, settings.candidates)
    for match in matches:
        legs.texts[match.chunk_id] = ranking.text_score(match, legs.stats)
        if ranking.is_exact(match, query):
            legs.exact.add(match.chunk_id)


def _ask_meaning(
    snapshot: Snapshot,
    question: str,
    embedder: Embedder,
    settings: SearchSettings,
    legs: _Legs,
) -> None:
    """The vector leg, or the reason why there is none."""
    facts = embedder.facts
    if settings.keyword_only:
        return
    if not facts.reads(question):
        legs.notice = f"{facts.model} reads Latin scripts only"
        return
    identity, waiting = snapshot.identity(), snapshot.waiting()
    legs.degraded = True
    if (identity.provider, identity.model) != (facts.provider, facts.model):
        legs.notice = f"the index holds vectors of {identity.model}: run `recollect index`"
        return
    if not snapshot.has_vectors():
        legs.degraded = waiting > 0
        missing = embedder.missing() or "run `recollect index`"
        legs.notice = (
            f"none of {waiting} chunks has a vector yet: {missing}"
            if waiting
            else f"{facts.model} reads Latin scripts only, and the notes are in others"
        )
        return
    try:
        vector = embedder.embed([question], "query")[0]
    except EmbedderTrouble as trouble:
        legs.notice = str(trouble)
        return
    near = snapshot.nearest(vector, settings.sources, settings.candidates)
    for chunk_id, cosine in snapshot.cosines(vector, [*near, *legs.texts]).items():
        legs.vectors[chunk_id] = ranking.vector_score(cosine, facts)
    legs.degraded = waiting > 0
    legs.mode = "partial" if legs.degraded else "hybrid"
    if legs.degraded:
        legs.notice = f"{waiting} chunks have no vector yet"


def _weigh(
    snapshot: Snapshot,
    question: str,
    query: TextQuery,
    embedder: Embedder,
    settings: SearchSettings,
    legs: _Legs,
) -> Answer:
    facts = embedder.facts
    asked = asked_times(question, settings.today)
    share = settings.vector_weight if settings.vector_weight is not None else facts.vector_weight
    if legs.mode == "keyword":
        share = 0.0
    fused = ranking.fuse(legs.texts, legs.vectors, frozenset(legs.exact), share)
    chunks = snapshot.chunks(one.chunk_id for one in fused)
    candidates = [
        ranking.timed(one, note_date(chunks[one.chunk_id].path), settings.today, asked)
        for one in fused
    ]
    # Ties go by place, not by row: an index built in another order answers the same.
    candidates.sort(key=lambda one: _order(one, chunks[one.chunk_id]))
    least = settings.min_score
    if least is None:
        least = ranking.default_threshold(words_alone=legs.mode == "keyword")
    kept = ranking.above(candidates, least)
    shown = Shown(
        worth=_worth(query, legs.stats),
        vector_ranks=ranking.ranks(legs.vectors),
        text_ranks=ranking.ranks(legs.texts),
        model=facts.model,
        snippet_chars=settings.snippet_chars,
    )
    # A few times as many chunks as hits: a hit is made of several, but not of the last ones.
    found = [(one, chunks[one.chunk_id]) for one in kept[: settings.chunks_shown]]
    hits = make_hits(snapshot, found, shown, settings.max_results)
    reason = None if hits else _why_empty(candidates, least)
    return Answer(hits, legs.mode, facts.provider, facts.model, reason, legs.notice, legs.degraded)


def _order(candidate: Candidate, chunk: StoredChunk) -> tuple[float, str, int, int, str]:
    span = chunk.span
    return (-candidate.score, chunk.path, span.start_line, span.end_line, chunk.digest)


def _worth(query: TextQuery, stats: TextStats | None) -> dict[str, float]:
    if stats is None or not stats.having:
        return {}
    return {term: ranking.idf(stats, number) for number, term in enumerate(query.terms)}


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
