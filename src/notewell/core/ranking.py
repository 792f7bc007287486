"""Two opinions about a chunk become one.

weighted   both scores as shares of what is possible, added by weight; the default
rrf        the places alone: 1 / (60 + place) in each leg, added by weight
seed       OpenClaw's documented formula: 0.7 · cosine + 0.3 / (1 + place among the words)

Which one and why is measured: docs/ranking.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from notewell.core.times import decay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

    from notewell.core.times import TimeSpan
    from notewell.ports import ModelFacts

Fusion: TypeAlias = Literal["weighted", "rrf", "seed"]
FUSIONS: tuple[Fusion, ...] = ("weighted", "rrf", "seed")

SEED_VECTOR_WEIGHT = 0.7
RRF_PLACES = 60
"""The constant of the paper (Cormack, Clarke, Büttcher 2009): the first places are not all."""

BEND = 3.0
STRANGERS = 0.02

UNSURE, SURE = 0.65, 0.85
"""The vector score of the nearest chunk at which the vectors get their least and their most say.
On documentation and code the nearest is seldom below .8, in conversations seldom above .7, and
there the words are right more often."""


class Legs(NamedTuple):
    """What each leg says, by chunk."""

    texts: Mapping[int, float]
    vectors: Mapping[int, float]
    """Empty where nobody asked the vectors."""
    cosines: Mapping[int, float]
    exact: frozenset[int]


class Candidate(NamedTuple):
    """One chunk and what each leg says of it; `None` where a leg has no opinion."""

    chunk_id: int
    relevance: float
    """What both legs say together: the threshold looks at this."""
    vector: float | None
    text: float | None
    exact: bool
    """It has everything that was asked for: no threshold may hide it."""
    decay: float = 1.0
    recency: float = 1.0
    rerank: float | None = None

    @property
    def score(self) -> float:
        """Relevance and time: the order is by this."""
        if self.rerank is not None:
            return self.rerank
        return min(1.0, self.relevance * self.decay * self.recency)


def vector_score(cosine: float, facts: ModelFacts) -> float:
    """Where a cosine lies between what this model gives to strangers and to twins.

    Below the floor a sliver is left, so that even strangers have an order.
    """
    floor = facts.cosine_floor
    if cosine <= floor:
        return STRANGERS * max(0.0, 1 + cosine) / (1 + floor)
    nearness = (cosine - floor) / (facts.cosine_ceiling - floor)
    return STRANGERS + (1 - STRANGERS) * min(1.0, nearness)


def vector_share(legs: Legs, facts: ModelFacts, fusion: Fusion, wanted: float | None) -> float:
    """How much the vectors have to say: as wanted, else the more the nearer the nearest chunk."""
    if not legs.vectors:
        return 0.0
    if wanted is not None:
        return wanted
    if fusion == "seed":
        return SEED_VECTOR_WEIGHT
    sureness = (max(legs.vectors.values()) - UNSURE) / (SURE - UNSURE)
    least, most = facts.vector_weight, facts.vector_weight_sure
    return least + (most - least) * min(1.0, max(0.0, sureness))


def fuse(legs: Legs, vector_weight: float, fusion: Fusion = "weighted") -> list[Candidate]:
    """Weigh the legs against each other. A leg that did not see a chunk gives it 0."""
    vector_part, text_part, scale = _PARTS[fusion](legs)
    return [
        Candidate(
            chunk_id,
            scale(
                vector_weight * vector_part.get(chunk_id, 0.0)
                + (1 - vector_weight) * text_part.get(chunk_id, 0.0)
            ),
            legs.vectors.get(chunk_id),
            legs.texts.get(chunk_id),
            chunk_id in legs.exact,
        )
        for chunk_id in legs.texts.keys() | legs.vectors.keys()
    ]


_Parts: TypeAlias = "tuple[Mapping[int, float], Mapping[int, float], Callable[[float], float]]"


def _weighted(legs: Legs) -> _Parts:
    return legs.vectors, legs.texts, _confidence


def _rrf(legs: Legs) -> _Parts:
    return _by_place(legs.vectors), _by_place(legs.texts), float


def _seed(legs: Legs) -> _Parts:
    texts = {chunk_id: 1 / place for chunk_id, place in ranks(legs.texts).items()}
    return {chunk_id: max(0.0, value) for chunk_id, value in legs.cosines.items()}, texts, float


_PARTS: dict[Fusion, Callable[[Legs], _Parts]] = {
    "weighted": _weighted,
    "rrf": _rrf,
    "seed": _seed,
}


def _by_place(scores: Mapping[int, float]) -> dict[int, float]:
    """The first place is worth 1, so that the sum stays a score."""
    first = RRF_PLACES + 1
    return {chunk_id: first / (RRF_PLACES + place) for chunk_id, place in ranks(scores).items()}


def _confidence(share: float) -> float:
    """Bend the scale, without changing any order, so that 0.35 means "perhaps".

    Over two LoCoMo workspaces 99 of 100 hits that held the evidence had a share above .20, and the
    best hit for a question about the other workspace .18 in the middle. 0.35 lies at .12, below
    both: a doubtful hit costs an agent a glance, a hidden one the answer.
    """
    return share * (1 + BEND) / (1 + BEND * share)


def ranks(scores: Mapping[int, float]) -> dict[int, int]:
    """The place of each chunk in its leg, from 1; equals share theirs."""
    order = sorted(scores.values(), reverse=True)
    first = {score: place for place, score in reversed(list(enumerate(order, start=1)))}
    return {chunk_id: first[score] for chunk_id, score in scores.items()}


# -- order --------------------------------------------------------------------------------------

MIN_SCORE = 0.35

FADED = 0.95
"""What age leaves of a score at least. Of two notes that say the same the newer comes first, no
more: the original lets age take everything, and finds nothing older than three months."""

TIME_ASKED = 0.25
NEAR_DAYS = 7.0
"""A note of the time that a question names gains a quarter, one a week off an eighth."""

MMR_LAMBDA = 0.7
"""The original's: seven parts relevance, three parts being unlike what is already there."""


def above(candidates: Iterable[Candidate], min_score: float) -> list[Candidate]:
    return [one for one in candidates if one.exact or one.relevance >= min_score]


def default_threshold(fusion: Fusion, *, words_alone: bool) -> float:
    """What a chunk must reach where nobody said otherwise.

    Words alone cannot tell a weak match from a question put differently, so they hide nothing that
    they found: with a threshold a quarter of MemDaily's Chinese questions got no answer. Places
    alone (rrf) say nothing about how good the first one is.
    """
    return 0.0 if words_alone or fusion == "rrf" else MIN_SCORE


def best_relevance(candidates: Sequence[Candidate]) -> float:
    return max((one.relevance for one in candidates), default=0.0)


def timed(
    candidate: Candidate,
    day: date | None,
    today: date,
    asked: TimeSpan | None,
    half_life_days: float | None,
) -> Candidate:
    """What time does to a chunk: a dated note fades a little, one of the time asked for gains.

    Both only order; the threshold was passed before. Notes without a date neither fade nor gain.
    """
    if day is None:
        return candidate
    recency = 1.0
    if asked is not None:
        recency += TIME_ASKED / (1 + asked.distance_days(day) / NEAR_DAYS)
        return candidate._replace(recency=recency)
    if half_life_days is None:
        return candidate
    left = decay((today - day).days, half_life_days, floor=0.0)
    return candidate._replace(decay=FADED + (1 - FADED) * left)


def diverse(
    scores: Sequence[float], words: Sequence[frozenset[str]], weight: float = MMR_LAMBDA
) -> list[int]:
    """The order, as positions, in which each further one is both good and unlike those before it.

    Maximal marginal relevance (Carbonell, Goldstein 1998), by the Jaccard similarity of words.
    """
    left = list(range(len(scores)))
    likeness = [0.0] * len(scores)
    order: list[int] = []
    while left:
        gain = [weight * scores[one] - (1 - weight) * likeness[one] for one in left]
        best = left[gain.index(max(gain))]
        left.remove(best)
        order.append(best)
        for one in left:
            likeness[one] = max(likeness[one], _jaccard(words[one], words[best]))
    return order


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0
