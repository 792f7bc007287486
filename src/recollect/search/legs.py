"""Asking twice: the words and the meaning, each for the chunks it thinks best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from recollect.core import fusion, text_scores
from recollect.core.errors import EmbedderTrouble
from recollect.core.querying import TextQuery, text_query, worth_asking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.ports import Embedder
    from recollect.core.text_scores import TextMatch
    from recollect.index import Snapshot
    from recollect.search.settings import SearchSettings

Mode: TypeAlias = Literal["hybrid", "partial", "keyword"]


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
    def legs(self) -> fusion.Legs:
        return fusion.Legs(self.texts, self.vectors, self.cosines, frozenset(self.exact))


def ask(
    snapshot: Snapshot,
    question: str,
    embedder: Embedder,
    settings: SearchSettings,
    also: Sequence[int] = (),
) -> Asked:
    """`also` names chunks that are to be judged even where neither leg would have found them."""
    query = text_query(question)
    query = worth_asking(query, snapshot.having(query.terms))
    asked = Asked(query)
    _ask_words(snapshot, settings, asked, also)
    _ask_meaning(snapshot, question, embedder, settings, asked, also)
    return asked


def _ask_words(
    snapshot: Snapshot, settings: SearchSettings, asked: Asked, also: Sequence[int]
) -> None:
    query = asked.query
    matches, stats = snapshot.matching(query, settings.sources, settings.candidates)
    found: dict[int, TextMatch] = {match.chunk_id: match for match in matches}
    if also:
        named, _ = snapshot.matching(query, settings.sources, len(also), also)
        found |= {match.chunk_id: match for match in named}
    if not found:
        return
    worth = text_scores.worth_of(query, stats)
    asked.worth = dict(zip(query.terms, worth.terms, strict=True))
    asked.exact = {one.chunk_id for one in found.values() if text_scores.is_exact(one, query)}
    places = snapshot.places(found)
    for match in text_scores.with_neighbours(found.values(), places):
        asked.texts[match.chunk_id] = text_scores.text_score(match, stats, worth)


def _ask_meaning(
    snapshot: Snapshot,
    question: str,
    embedder: Embedder,
    settings: SearchSettings,
    asked: Asked,
    also: Sequence[int],
) -> None:
    """The vector leg, or the reason why there is none."""
    facts = embedder.facts
    if settings.keyword_only:
        return
    if not facts.reads(question):
        asked.notice = f"{facts.model} reads Latin scripts only"
        return
    identity, waiting = snapshot.identity(), snapshot.waiting()
    asked.degraded = True
    if (identity.provider, identity.model) != (facts.provider, facts.model):
        asked.notice = f"the index holds vectors of {identity.model}: run `recollect index`"
        return
    if not snapshot.has_vectors():
        asked.degraded = waiting > 0
        missing = embedder.missing() or "run `recollect index`"
        asked.notice = (
            f"none of {waiting} chunks has a vector yet: {missing}"
            if waiting
            else f"{facts.model} reads Latin scripts only, and the notes are in others"
        )
        return
    try:
        vector = embedder.embed([question], "query")[0]
    except EmbedderTrouble as trouble:
        asked.notice = str(trouble)
        return
    near = snapshot.nearest(vector, settings.sources, settings.candidates)
    asked.cosines = snapshot.cosines(vector, [*near, *asked.texts, *also])
    asked.vectors = {
        chunk_id: fusion.vector_score(cosine, facts) for chunk_id, cosine in asked.cosines.items()
    }
    asked.degraded = waiting > 0
    asked.mode = "partial" if asked.degraded else "hybrid"
    if asked.degraded:
        asked.notice = f"{waiting} chunks have no vector yet"
