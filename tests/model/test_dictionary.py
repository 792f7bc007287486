"""The dictionary gives meanings, and words in Chinese for English sentences."""

from __future__ import annotations

from random import Random

import pytest
from model.code_switching import attested, candidates, code_switched
from model.dictionary import Entry, Gloss, entries, glosses
from model.parallel import Parallel

CEDICT = """# CC-CEDICT
上海 上海 [Shang4 hai3] /Shanghai, municipality in east China, abbr. to 滬|沪[Hu4]/
朋友 朋友 [peng2 you5] /friend/CL:個|个[ge4],位[wei4]/
匹配 匹配 [pi3 pei4] /to mate or marry/to match/matching/
比賽 比赛 [bi3 sai4] /competition (sports etc)/match; contest/CL:場|场[chang3]/
洋火 洋火 [yang2 huo3] /(coll.) matches/
們 们 [men5] /variant of 門|门/
3P 3P [san1 P] /(slang) threesome/
"""


def test_an_entry_is_what_a_word_means() -> None:
    assert entries(CEDICT) == [
        Entry("上海", "上海", ("Shanghai, municipality in east China",)),
        Entry("朋友", "朋友", ("friend",)),
        Entry("匹配", "匹配", ("to mate or marry", "to match", "matching")),
        Entry("比賽", "比赛", ("competition", "match", "contest")),
        Entry("洋火", "洋火", ("matches",)),
    ]


def test_a_gloss_is_the_first_two_meanings_in_either_script() -> None:
    found = glosses(entries(CEDICT) * 50, Random(1))
    assert Gloss("朋友", "friend") in found
    assert Gloss("比赛", "competition; match") in found
    assert Gloss("比賽", "competition; match") in found
    assert 0.1 < sum(gloss.zh == "比賽" for gloss in found) / 50 < 0.4


COUNTS = {"比赛": 5000, "匹配": 100, "洋火": 5, "朋友": 9000}


def test_the_dictionary_prefers_frequent_words() -> None:
    words = candidates(entries(CEDICT), COUNTS)
    assert words["match"] == ["比赛", "匹配"]
    assert words["matches"] == ["洋火", "比赛", "匹配"]


def test_the_parallel_texts_choose_the_translation() -> None:
    lines = [Parallel(f"It matches rule {n}.", f"它匹配規則{n}。", "t", "t") for n in range(3)]
    words = attested(candidates(entries(CEDICT), COUNTS), lines, {"規": "规"})
    assert words["matches"] == ["匹配"]
    assert words["friend"] == ["朋友"]


def test_a_common_word_that_is_never_translated_so_is_left_in_english() -> None:
    words = {"are": ["公亩"], "friend": ["朋友"]}
    lines = [Parallel("They are friends.", f"他们是好友{n}。", "t", "t") for n in range(30)]
    assert attested(words, lines[:5], {}) == words
    assert attested(words, lines, {}) == {}


@pytest.mark.parametrize(
    ("share", "mixed"), [(0.0, "The friends went home."), (0.5001, "The 朋友去 home.")]
)
def test_a_share_of_the_words_is_switched(share: float, mixed: str) -> None:
    words = {"friend": ["朋友"], "go": ["去"]}

    class Middle(Random):
        def random(self) -> float:
            return 0.5

    assert code_switched("The friends went home.", words, share, Middle()) == mixed


def test_nearly_all_chinese_loses_english_articles() -> None:
    found = {
        code_switched("the friend of the friend", {"friend": ["朋友"]}, 1.0, Random(seed))
        for seed in range(30)
    }
    assert "朋友朋友" in found
