"""How much the vector leg counts against the keyword leg, for each chunk of a search.

    set by the user                       that weight
    most chunks found are code            `code`
    query and chunk in different scripts  `across_scripts`: they have no words in common
    both in the same, not Latin           `same_script`, `same_script_long` for a long chunk
    both Latin                            `least` to `sure`: the more, the nearer the nearest chunk

The numbers are those of the model, `ModelFacts.weights`. Where it has none, the last line counts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from notewell.core.windows import is_code, is_long
from notewell.records import NamedTuple
from notewell.scripts import script_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.core.ranking import Fusion, LegScores
    from notewell.ports import ModelFacts
    from notewell.scripts import Script

SEED_WEIGHT = 0.7

UNSURE, SURE = 0.83, 1.0
"""The vector score of the nearest chunk at which the weight is `least` and `sure`. In
documentation the nearest chunk is nearer than in conversations, and in those the keyword leg is
right more often."""

KEPT_KINDS = 4096
"""The next question finds many of the same chunks. About 4 MB of text at most."""


def vector_weights(
    legs: LegScores,
    facts: ModelFacts,
    query: str,
    texts: Mapping[int, str],
    fusion: Fusion = "weighted",
    requested: float | None = None,
) -> dict[int, float]:
    """By the id of the chunk. `texts` are those of all chunks that a leg found."""
    usual = _usual_weight(legs, facts, fusion, requested)
    weights = facts.weights
    is_set = requested is not None or fusion == "seed"
    if is_set or not legs.vectors or weights.is_one_for_all:
        return dict.fromkeys(texts, usual)
    kinds = {chunk_id: _kind(text) for chunk_id, text in texts.items()}
    if weights.code is not None and _most_are_code(kinds.values()):
        return dict.fromkeys(texts, weights.code)
    script = script_of(query)
    by_kind = {kind: _by_kind(script, kind, facts, usual) for kind in set(kinds.values())}
    return {chunk_id: by_kind[kind] for chunk_id, kind in kinds.items()}


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


def _by_kind(query: Script, chunk: _Kind, facts: ModelFacts, usual: float) -> float:
    weights = facts.weights
    weight = weights.same_script  # A chunk that the model cannot read: its words decide.
    if chunk.script in facts.scripts:
        if query != chunk.script:
            weight = weights.across_scripts
        elif query == "latin":
            weight = None
        elif chunk.is_long and weights.same_script_long is not None:
            weight = weights.same_script_long
    return usual if weight is None else weight


class _Kind(NamedTuple):
    is_code: bool
    is_long: bool
    script: Script


@lru_cache(maxsize=KEPT_KINDS)
def _kind(text: str) -> _Kind:
    return _Kind(is_code(text), is_long(text), script_of(text))


def _most_are_code(kinds: Iterable[_Kind]) -> bool:
    code = [kind.is_code for kind in kinds]
    return 2 * sum(code) > len(code)
