"""The share of the vectors depends on what is asked and on what was found."""

from typing import NamedTuple

import pytest

from notewell.core.ranking import Fusion, LegScores
from notewell.core.vector_weights import SURE, UNSURE, TextKind, kind_of, vector_weights
from notewell.ports import ModelFacts, VectorWeights
from notewell.records import replace

WEIGHTS = VectorWeights(0.3, 0.6, same_script=0.2, across_scripts=0.8, code=0.9)
READS: ModelFacts = ModelFacts(
    "p", "m", 2, 400, scripts=frozenset({"latin", "han"}), weights=WEIGHTS
)
PLAIN = ModelFacts("p", "m", 2, 400, weights=VectorWeights(0.3, 0.6))
ENGLISH, CHINESE, RUSSIAN = "the router was shipped", "路由器已经发布", "роутер отправлен"
CODE = "```python\ndef ship(router):\n    return router\n```"


class Chunk(NamedTuple):
    kind: TextKind


def weights_of(
    legs: LegScores,
    facts: ModelFacts,
    query: str,
    texts: dict[int, str],
    fusion: Fusion = "weighted",
    requested: float | None = None,
) -> dict[int, float]:
    chunks = {number: Chunk(kind_of(text)) for number, text in texts.items()}
    return vector_weights(legs, facts, query, chunks, fusion, requested)


def _legs(nearest: float = 0.1) -> LegScores:
    return LegScores({1: 0.5}, {1: 0.05, 2: nearest}, {}, frozenset())


@pytest.mark.parametrize(
    ("nearest", "weight"),
    [(0.1, 0.3), (UNSURE, 0.3), ((UNSURE + SURE) / 2, 0.45), (SURE, 0.6), (SURE + 0.1, 0.6)],
)
def test_the_nearer_the_nearest_chunk_the_more_the_vectors_count(
    nearest: float, weight: float
) -> None:
    for facts in (PLAIN, READS):
        weights = weights_of(_legs(nearest), facts, ENGLISH, {1: ENGLISH, 2: ENGLISH})
        assert weights == pytest.approx({1: weight, 2: weight})


def test_across_scripts_the_vectors_decide_and_within_chinese_the_words() -> None:
    texts = {1: CHINESE, 2: ENGLISH, 3: RUSSIAN}
    assert weights_of(_legs(), READS, CHINESE, texts) == {1: 0.2, 2: 0.8, 3: 0.2}
    assert weights_of(_legs(), READS, ENGLISH, texts) == {1: 0.8, 2: 0.3, 3: 0.2}
    assert weights_of(_legs(), PLAIN, CHINESE, texts) == dict.fromkeys(texts, 0.3)


def test_if_the_nearest_chunk_is_chinese_too_the_words_decide_everywhere() -> None:
    texts = {1: ENGLISH, 2: CHINESE, 3: RUSSIAN}
    assert weights_of(_legs(), READS, CHINESE, texts) == dict.fromkeys(texts, 0.2)


def test_commands_explained_in_chinese_have_the_weight_of_chinese() -> None:
    commands = "# 发布路由器\n\n`router ship --now --to everybody --at home`"
    texts = {1: CHINESE, 2: commands}
    assert weights_of(_legs(), READS, CHINESE, texts) == {1: 0.2, 2: 0.2}
    assert weights_of(_legs(), READS, f"{CHINESE} router ship", texts) == {1: 0.2, 2: 0.2}


def test_where_many_chinese_chunks_are_long_the_words_count_more_for_all_of_them() -> None:
    facts = replace(READS, weights=WEIGHTS._replace(same_script=0.4, same_script_long=0.2))
    long = CHINESE * 30
    many = {1: CHINESE, 2: ENGLISH, 3: long, 4: CHINESE}
    assert weights_of(_legs(), facts, CHINESE, many) == {1: 0.2, 2: 0.8, 3: 0.2, 4: 0.2}
    few = {1: CHINESE, 2: ENGLISH * 30, 3: CHINESE, 4: long, 5: CHINESE}
    expected = {1: 0.4, 2: 0.8, 3: 0.4, 4: 0.4, 5: 0.4}
    assert weights_of(_legs(), facts, CHINESE, few) == expected


def test_where_most_is_code_the_vectors_count_for_all_chunks() -> None:
    assert weights_of(_legs(), READS, ENGLISH, {1: CODE, 2: CODE, 3: ENGLISH}) == dict.fromkeys(
        (1, 2, 3), 0.9
    )
    few = weights_of(_legs(), READS, ENGLISH, {1: CODE, 2: ENGLISH})
    assert few == {1: 0.3, 2: 0.3}


@pytest.mark.parametrize("query", [ENGLISH, CHINESE])
def test_a_weight_that_was_set_is_obeyed(query: str) -> None:
    texts = {1: ENGLISH, 2: CHINESE, 3: CODE}
    assert set(weights_of(_legs(), READS, query, texts, requested=0.4).values()) == {0.4}
    assert set(weights_of(_legs(), READS, query, texts, "seed").values()) == {0.7}


def test_where_nobody_asked_the_vectors_they_have_no_weight() -> None:
    words = LegScores({1: 0.5}, {}, {}, frozenset())
    assert weights_of(words, READS, CHINESE, {1: ENGLISH}, requested=0.9) == {1: 0.0}
