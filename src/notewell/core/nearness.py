"""Whether anything in a memory is near a query.

A search always has a best chunk. For a question about something else it is better to say that
nothing is near than to show it. `notewell eval --strangers` measures this.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.core.ranking import LegScores

NEAR_BY_VECTORS = 0.6
"""The share of the vector leg in the nearness. Of .5 to .7, all are within .01 of each other."""

NEAR = 0.3
NEAR_WORDS_ALONE = 0.1
NEAR_ACROSS_SCRIPTS = 0.22
"""With less nothing is near, in a memory of `USUAL_CHUNKS`. `notewell eval --strangers` prints
what other values would do. Across scripts the vectors decide alone: no word can be in common."""

USUAL_CHUNKS = 128
NEAR_PER_DOUBLING = 0.005
NEAR_PER_HALVING = 0.02
"""Among more chunks the nearest is nearer by chance, and among few it is seldom near. With .01 a
doubling, LongMemEval's 2000 chunks lose 2 of 121 answers, with this none. In a memory of a few
notes, an answer in quite other words than its question must pass."""


def near_limit(chunks: int, *, words_alone: bool, across_scripts: bool = False) -> float:
    """The nearness below which nothing is near, in a memory of so many chunks."""
    doublings = log2(max(1, chunks) / USUAL_CHUNKS)
    step = NEAR_PER_DOUBLING if doublings > 0 else NEAR_PER_HALVING
    near = NEAR_ACROSS_SCRIPTS if across_scripts else NEAR
    return max(0.0, (NEAR_WORDS_ALONE if words_alone else near) + step * doublings)


def nearness(legs: LegScores, *, across_scripts: bool = False) -> float | None:
    """How near a memory is to a query: the best of each leg, which may be of different chunks.
    None if no chunk was compared. `across_scripts`: the chunk with the nearest vector is in
    another script than the query.

    Not the best fused score: that is high for a chunk with one rare word of the query, and its
    share of vectors depends on the query. In LoCoMo workspaces, at .5 % of the answers lost, the
    best of both legs refuses .82 of the questions about other workspaces, the fused score .75, the
    vectors alone .64, the words alone .51.
    """
    if legs.exact:
        return 1.0
    if not legs.texts and not legs.vectors:
        return None
    words, vectors = (max(leg.values(), default=0.0) for leg in (legs.texts, legs.vectors))
    if not legs.vectors:
        return words
    share = 1.0 if across_scripts else NEAR_BY_VECTORS
    return share * vectors + (1 - share) * words
