"""How much the vector leg counts against the keyword leg, for each chunk of a search.

    set by the user                       that weight
    most chunks found are code            `code`
    no words in the script of the query   `across_scripts`: none can be in common; not if the
                                          nearest chunk has some
    words in that script, not Latin       `same_script`; `same_script_long` if many are long
    both Latin                            `least` to `sure`: the more, the nearer the nearest chunk

The numbers are those of the model, `ModelFacts.weights`. Where it has none, the last line counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from notewell.core.windows import is_code, is_long
from notewell.records import NamedTuple
from notewell.scripts import has_words_in, script_of, script_of_question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.core.ranking import Fusion, LegScores
    from notewell.ports import ModelFacts, VectorWeights
    from notewell.scripts import Script

SEED_WEIGHT = 0.7

UNSURE, SURE = 0.83, 1.0
"""The vector score of the nearest chunk at which the weight is `least` and `sure`. In
documentation the nearest chunk is nearer than in conversations, and in those the keyword leg is
right more often."""

MOST = 0.5
MANY = 1 / 3
"""Of long paragraphs, every second chunk is the short rest of one."""


class WithKind(Protocol):
    """A chunk, which knows its kind."""

    @property
    def kind(self) -> TextKind: ...


def vector_weights(
    legs: LegScores,
    facts: ModelFacts,
    query: str,
    chunks: Mapping[int, WithKind],
    fusion: Fusion = "weighted",
    requested: float | None = None,
) -> dict[int, float]:
    """By the id of the chunk. `chunks` are all that a leg found."""
    usual = _usual_weight(legs, facts, fusion, requested)
    weights = facts.weights
    is_set = requested is not None or fusion == "seed"
    if is_set or not legs.vectors or weights.is_one_for_all:
        return dict.fromkeys(chunks, usual)
    kinds = {chunk_id: chunk.kind for chunk_id, chunk in chunks.items()}
    if weights.code is not None and _share(kind.is_code for kind in kinds.values()) > MOST:
        return dict.fromkeys(chunks, weights.code)
    script = script_of_question(query)
    same_script = _same_script_weight(weights, script, kinds.values())
    nearest = kinds[max(legs.vectors, key=legs.vectors.__getitem__)]
    # A chunk that the model cannot read has no vector: its words decide.
    by_kind = {
        kind: _by_kind(kind, nearest, script, weights, same_script)
        if kind.script in facts.scripts
        else same_script
        for kind in set(kinds.values())
    }
    return {
        chunk_id: usual if (weight := by_kind[kind]) is None else weight
        for chunk_id, kind in kinds.items()
    }


def _usual_weight(
    legs: LegScores, facts: ModelFacts, fusion: Fusion, requested: float | None
) -> float:
    if not legs.vectors:
        return 0.0
    if requested is not None:
        return requested
    if fusion == "seed":
        return SEED_WEIGHT
    certainty = (max(legs.vectors.values()) - UNSURE) / (SURE - UNSURE)
    least, sure = facts.weights.least, facts.weights.sure
    return least + ((least if sure is None else sure) - least) * min(1.0, max(0.0, certainty))


def _same_script_weight(
    weights: VectorWeights, query: Script, kinds: Iterable[TextKind]
) -> float | None:
    """One for all chunks in the script of the query: with another weight for the short ones among
    long ones, the end of a long paragraph would rise above its middle."""
    if weights.same_script_long is None:
        return weights.same_script
    share = _share(kind.is_long for kind in kinds if kind.has_words_in(query))
    return weights.same_script_long if share >= MANY else weights.same_script


def _by_kind(
    chunk: TextKind,
    nearest: TextKind,
    query: Script,
    weights: VectorWeights,
    same_script: float | None,
) -> float | None:
    """Where even the nearest chunk has words in the script of the query, the others gain nothing:
    commands in Chinese documentation would rise above the text around them."""
    if chunk.has_words_in(query):
        return None if query == "latin" else same_script
    if nearest.has_words_in(query) and query != "latin":
        return same_script
    return weights.across_scripts


class TextKind(NamedTuple):
    """What a text is, as far as the weights depend on it."""

    is_code: bool
    is_long: bool
    script: Script
    has_chinese: bool

    def has_words_in(self, script: Script) -> bool:
        return self.has_chinese if script == "han" else self.script == script


def kind_of(text: str) -> TextKind:
    return TextKind(is_code(text), is_long(text), script_of(text), has_words_in("han", text))


def _share(properties: Iterable[bool]) -> float:
    found = list(properties)
    return sum(found) / len(found) if found else 0.0
