"""The expected numbers are those of the `tokenizers` package with the model's own tokenizer.json.

The two agreed on every one of 24 113 texts (20 million pieces; English, Chinese, Russian, code)
and, under Python 3.11, on every code point but 503 rare ones, 384 of them combining marks, for
which Python's Unicode tables and those of that package differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.embedders import wordpiece
from notewell.embedders.wordpiece import WordPiece

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = 100
WORDS = ["[UNK]", "[CLS]", "[SEP]", "note", "##s", "##book", "n", "##o", "##t", "##e", ",", "日"]
SMALL = {word: number for number, word in enumerate(WORDS)}

# Letters the small vocabulary knows, marks, accents, white space and things to be removed.
CHARS = st.sampled_from([*"notesbk NOTESBK,.$_\t\n", "日", "é", "\u0301", "\u200b", "\x00", "Σ"])
TEXTS = st.text(CHARS, max_size=200) | st.text(max_size=50)


@pytest.fixture(scope="module")
def tokenizer(weights_folder: Path) -> WordPiece:
    return WordPiece.load(weights_folder / "vocab.txt", weights_folder / "traditional.tsv")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Naïve,", [15743, 1010]),
        ("When did we ship the router?", [2043, 2106, 2057, 2911, 1996, 2799, 2099, 1029]),
        ("embed_texts(s) -> V", [7861, 8270, 1035, 6981, 1006, 1055, 1007, 1011, 1028, 1058]),
        ("costs $4.50 + 20% ~", [5366, 1002, 1018, 1012, 2753, 1009, 2322, 1003, 1066]),
        ("don’t “quote” — it…", [2123, 1521, 1056, 1523, 14686, 1524, 1517, 2009, 1529]),
        ("Привет, мир!", [1194, 16856, 10325, 25529, 15290, 22919, 1010, 1191, 10325, 16856, 999]),
        ("한국어", [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]),
        ("İstanbul ß ﬁ", [9960, 1096, 1984]),
    ],
)
def test_text_becomes_the_numbers_the_model_was_trained_on(
    tokenizer: WordPiece, text: str, expected: list[int]
) -> None:
    assert tokenizer.pieces(text) == expected


def test_traditional_and_simplified_chinese_are_the_same_words(tokenizer: WordPiece) -> None:
    simplified = tokenizer.pieces("我们什么时候发布了数据库？")
    assert simplified == tokenizer.pieces("我們什麼時候發布了數據庫？")
    # Four words of two characters or three, not nine characters; all of them have rows.
    assert len(simplified) <= 8
    assert UNKNOWN not in simplified


def test_a_sigma_at_the_end_of_a_word_is_lowered_like_any_other(tokenizer: WordPiece) -> None:
    assert tokenizer.pieces("ΟΔΟΣ Σ") == [1169, 29722, 29730, 29733, 1173]


def test_control_characters_vanish_and_exotic_spaces_separate(tokenizer: WordPiece) -> None:
    text = "zero\u200bwidth\x00\x07 a\u00a0b\u3000c"
    assert tokenizer.pieces(text) == [5717, 9148, 11927, 2232, 1037, 1038, 1039]
    assert tokenizer.pieces("tab\tnew\nline\r\nend\x0bvt") == [21628, 2047, 2240, 2203, 2615, 2102]


def test_a_character_too_new_for_this_python_is_unknown_but_not_lost(tokenizer: WordPiece) -> None:
    assert tokenizer.pieces("\U0001fae8 ok") == [UNKNOWN, 7929]


def test_a_word_past_a_hundred_characters_is_unknown(tokenizer: WordPiece) -> None:
    assert tokenizer.pieces("x" * 100) == [22038] + [20348] * 49
    assert tokenizer.pieces("x" * 101) == [UNKNOWN]


def test_the_names_of_special_pieces_in_a_text_are_only_text(tokenizer: WordPiece) -> None:
    assert tokenizer.pieces("[SEP] [MASK]") == [1031, 19802, 1033, 1031, 7308, 1033]


def test_the_longest_piece_wins_and_one_that_fits_nowhere_spoils_the_word() -> None:
    tokenizer = WordPiece(SMALL)
    assert tokenizer.pieces("Notebook notes") == [3, 5, 3, 4]
    assert tokenizer.pieces("not notz") == [6, 7, 8, 0]


CHINESE = SMALL | {w: n for n, w in enumerate(["记", "忆", "记忆", "体", "记忆力强"], len(SMALL))}
TRADITIONAL = {"記": "记", "憶": "忆", "體": "体"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("记忆", ["记忆"]),
        ("记忆体", ["记忆", "体"]),
        ("記憶體", ["记忆", "体"]),
        ("记忆力强", ["记忆力强"]),
        ("记忆力", ["记忆", "[UNK]"]),
        ("体记忆note记", ["体", "记忆", "note", "记"]),
        ("记\u200b忆,记 忆", ["记忆", ",", "记", "忆"]),
    ],
)
def test_chinese_is_cut_into_the_longest_known_words(text: str, expected: list[str]) -> None:
    tokenizer = WordPiece(CHINESE, TRADITIONAL)
    assert tokenizer.pieces(text) == [CHINESE[piece] for piece in expected]


def test_both_tables_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(CHINESE) + "\n", encoding="utf-8")
    (tmp_path / "traditional.tsv").write_text("記\t记\n憶\t忆\n", encoding="utf-8")
    tokenizer = WordPiece.load(tmp_path / "vocab.txt", tmp_path / "traditional.tsv")
    assert tokenizer.pieces("記憶") == [CHINESE["记忆"]]


def test_a_long_run_of_chinese_takes_time_in_proportion() -> None:
    assert len(WordPiece(CHINESE, TRADITIONAL).pieces("記憶體" * 50_000)) == 100_000


@given(TEXTS, TEXTS)
def test_words_do_not_depend_on_their_neighbours(left: str, right: str) -> None:
    tokenizer = WordPiece(SMALL)
    both = tokenizer.pieces(f"{left} {right}")
    assert both == WordPiece(SMALL).pieces(left) + WordPiece(SMALL).pieces(right)
    assert all(0 <= number < len(WORDS) for number in both)


@given(st.lists(TEXTS, max_size=10))
def test_what_is_remembered_changes_no_answer(texts: list[str]) -> None:
    tokenizer = WordPiece(SMALL)
    first = [tokenizer.pieces(text) for text in texts]
    assert [tokenizer.pieces(text) for text in texts] == first


def test_no_more_words_are_remembered_than_allowed() -> None:
    tokenizer = WordPiece(SMALL)
    tokenizer.pieces(" ".join(f"n{n}" for n in range(wordpiece.CACHED_WORDS + 10)))
    tokenizer.pieces("日" * (wordpiece.CACHED_WORD_CHARS + 1))
    assert len(tokenizer._cache) == 10
