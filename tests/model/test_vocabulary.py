"""The vocabulary: English pieces where they were, then Chinese ones, each once."""

from __future__ import annotations

from model.dictionary import Entry
from model.vocabulary import build, frequencies, longest_matches, traditional_characters

FOLDING = {"東": "东", "國": "国"}
ENTRIES = [
    Entry("東西", "东西", ("east and west",)),
    Entry("東西", "东西", ("thing", "stuff")),
    Entry("中國", "中国", ("China", "Middle Kingdom")),
    Entry("北京", "北京", ("Beijing, capital of China",)),
    Entry("國", "国", ("the country",)),
    Entry("偶見詞", "偶见词", ("rare word",)),
]
JIEBA = "东西 900 n\n中国 5000 ns\n北京 4000 ns\n偶见词 1 n\n東西 100 n\nT恤 9 n\n"


def test_traditional_characters_fold_to_one_that_does_not_fold_further() -> None:
    found = traditional_characters("東\t东\n乾\t干 乾\n甲\t乙\n乙\t丙\n詞語\t词语\n")
    assert found == {"東": "东", "甲": "丙", "乙": "丙"}


def test_frequencies_are_counted_after_folding() -> None:
    assert frequencies(JIEBA, FOLDING) == {"东西": 1000, "中国": 5000, "北京": 4000, "偶见词": 1}


def test_new_pieces_follow_the_old_ones_and_none_comes_twice() -> None:
    found = build(
        ("[PAD]", "the", "国"), ENTRIES, frequencies(JIEBA, FOLDING), FOLDING, ["中國見"]
    )
    assert found.pieces[:3] == ("[PAD]", "the", "国")
    assert len(set(found.pieces)) == len(found.pieces)
    assert set(found.pieces[3:]) == set("东西中北京偶见词見") | {"东西", "中国", "北京"}
    # The words of our own texts count: all are in the list, one is in the text.
    assert found.pieces[-3:] == ("中国", "北京", "东西")


def test_every_han_piece_has_its_meanings_main_reading_first() -> None:
    found = build(("国",), ENTRIES, frequencies(JIEBA, FOLDING), FOLDING, [])
    assert found.glosses["东西"] == ["thing", "stuff", "east and west"]
    assert found.glosses["北京"] == ["Beijing"]
    assert found.glosses["国"] == ["country"]
    assert found.glosses["西"] == []


def test_runs_are_cut_into_the_longest_words() -> None:
    assert longest_matches("中国人在北京", {"中国", "中国人", "北京"}) == ["中国人", "在", "北京"]
