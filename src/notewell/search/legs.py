"""Asking twice: the words and the meaning, each for the chunks it thinks best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from notewell.core import TextQuery, ranking, text_query, text_scores, useful_terms
from notewell.errors import EmbedderTrouble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from notewell.core import TextMatch
    from notewell.index import IndexView
    from notewell.ports import Embedder, ModelFacts, Vectors
    from notewell.search.settings import SearchOptions
    from notewell.types import Mode


@dataclass(slots=True)
class Asked:
    """What each leg found, and why a leg found nothing."""

    query: TextQuery
    texts: dict[int, float] = field(default_factory=dict)
    vectors: dict[int, float] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)
    exact: set[int] = field(default_factory=set)
    worth: dict[str, float] = field(default_factory=dict)
    """What each term of the question is worth."""
    mode: Mode = "keyword"
    notice: str | None = None
    """Why the mode is less than hybrid."""
    degraded: bool = False
    """The mode is less than what was asked for."""

    @property
    def legs(self) -> ranking.LegScores:
        return ranking.LegScores(self.texts, self.vectors, self.cosines, frozenset(self.exact))


@dataclass(frozen=True, slots=True)
class Meaning:
    """The question as a vector, or the reason why there is none."""

    vector: Vectors | None = None
    notice: str | None = None
    degraded: bool = False


def meaning_of(
    look: Callable[[], AbstractContextManager[IndexView | None]],
    question: str,
    embedder: Embedder,
    settings: SearchOptions,
) -> Meaning:
    """Embeds with no snapshot open: a slow provider must not hold up other readers."""
    if settings.keyword_only:
        return Meaning()
    with look() as view:
        unasked = _why_unasked(view, question, embedder) if view else Meaning()
    if unasked is not None:
        return unasked
    try:
        return Meaning(embedder.embed([question], "query")[0])
    except EmbedderTrouble as trouble:
        return Meaning(notice=str(trouble), degraded=True)


def _why_unasked(view: IndexView, question: str, embedder: Embedder) -> Meaning | None:
    """What makes a vector of no use here; None where it is worth computing."""
    facts = embedder.facts
    if not facts.reads(question):
        return Meaning(notice=f"{facts.model} reads Latin scripts only")
    identity, waiting = view.identity(), view.waiting()
    if (identity.provider, identity.model) != (facts.provider, facts.model):
        notice = f"the index holds vectors of {identity.model}: run `notewell index`"
        return Meaning(notice=notice, degraded=True)
    if view.has_vectors():
        return None
    if not waiting:
        return Meaning(
            notice=f"{facts.model} reads Latin scripts only, and the notes are in others"
        )
    missing = embedder.missing() or "run `notewell index`"
    return Meaning(notice=f"none of {waiting} chunks has a vector yet: {missing}", degraded=True)


def ask(
    view: IndexView,
    question: str,
    meaning: Meaning,
    facts: ModelFacts,
    settings: SearchOptions,
    also: Sequence[int] = (),
) -> Asked:
    """`also` names chunks that are to be judged even where neither leg would have found them."""
    query = text_query(question)
    query = useful_terms(query, view.having(query.terms))
    asked = Asked(query, notice=meaning.notice, degraded=meaning.degraded)
    _ask_words(view, settings, asked, also)
    if meaning.vector is not None:
        _ask_vectors(view, meaning.vector, facts, settings, asked, also)
    return asked


def _ask_words(
    view: IndexView, settings: SearchOptions, asked: Asked, also: Sequence[int]
) -> None:
    query = asked.query
    matches, stats = view.matching(query, settings.sources, settings.candidates)
    found: dict[int, TextMatch] = {match.chunk_id: match for match in matches}
    if also:
        named, _ = view.matching(query, settings.sources, len(also), also)
        found |= {match.chunk_id: match for match in named}
    if not found:
        return
    worth = text_scores.query_weights(query, stats)
    asked.worth = dict(zip(query.terms, worth.terms, strict=True))
    asked.exact = {one.chunk_id for one in found.values() if text_scores.is_exact(one, query)}
    places = view.places(found)
    for match in text_scores.with_neighbours(found.values(), places):
        asked.texts[match.chunk_id] = text_scores.text_score(match, stats, worth)


def _ask_vectors(
    view: IndexView,
    vector: Vectors,
    facts: ModelFacts,
    settings: SearchOptions,
    asked: Asked,
    also: Sequence[int],
) -> None:
    identity, waiting = view.identity(), view.waiting()
    if (identity.model, identity.dims) != (facts.model, len(vector)):
        asked.degraded = True  # Another index was published while the question was embedded.
        asked.notice = f"the index now holds vectors of {identity.model}: ask again"
        return
    near = view.nearest(vector, settings.sources, settings.candidates)
    asked.cosines = view.cosines(vector, [*near, *asked.texts, *also])
    asked.vectors = {
        chunk_id: ranking.vector_score(cosine, facts) for chunk_id, cosine in asked.cosines.items()
    }
    asked.degraded = waiting > 0
    asked.mode = "partial" if asked.degraded else "hybrid"
    if asked.degraded:
        asked.notice = f"{waiting} chunks have no vector yet"
