"""Cutting words with a vocabulary of our own; `test_multilingual.py` looks at the real one."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.embedders.sentencepiece import (
    UNKNOWN_PENALTY,
    SentencePiece,
    _plain,
    read_vocabulary,
)

NORMAL, UNKNOWN, CONTROL, USER = 1, 2, 3, 4
PIECES = [
    ("<unk>", 0.0, UNKNOWN),
    ("<s>", 0.0, CONTROL),
    ("</s>", 0.0, CONTROL),
    ("extra", 0.0, USER),
    ("▁", -2.0, NORMAL),
    ("▁ab", -3.0, NORMAL),
    ("a", -2.5, NORMAL),
    ("b", -2.5, NORMAL),
    ("ab", -4.0, NORMAL),
    ("abb", -6.0, NORMAL),
    ("bba", -5.5, NORMAL),
    ("～", -5.0, NORMAL),
]
NUMBERS = {piece: number for number, (piece, _, _) in enumerate(PIECES)}


def model_file(pieces: list[tuple[str, float, int]]) -> bytes:
    """As the makers' tool writes it; the kind is left out where it is the usual one."""
    records = []
    for piece, score, kind in pieces:
        text = piece.encode()
        record = bytes([0x0A, len(text)]) + text + b"\x15" + struct.pack("<f", score)
        if kind != NORMAL:
            record += bytes([0x18, kind])
        records.append(bytes([0x0A, len(record)]) + record)
    return b"".join(records) + b"\x12\x02\x08\x01"


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> SentencePiece:
    path = tmp_path_factory.mktemp("pieces") / "sp.model"
    path.write_bytes(model_file(PIECES))
    return SentencePiece.load(path)


def numbers(*names: str) -> list[int]:
    return [NUMBERS[name] for name in names]


def test_the_ends_are_known_and_control_words_are_text(pieces: SentencePiece) -> None:
    assert (pieces.first, pieces.last) == (1, 2)
    assert not set(pieces.pieces("a <s> extra </s>")) & {1, 2, 3}


def test_a_word_is_cut_where_the_scores_add_up_to_the_most(pieces: SentencePiece) -> None:
    # ▁ab + b + a is -8, ▁ + a + bba is -10, ▁ + abb + a is -10.5
    assert pieces.pieces("abba") == numbers("▁ab", "b", "a")
    assert pieces.pieces("abba abba") == numbers("▁ab", "b", "a") * 2


def test_spaces_of_any_kind_part_words_and_are_never_doubled(pieces: SentencePiece) -> None:
    apart = numbers("▁ab", "▁", "b")
    for space in (" ", "\t", "\n", "  ", "\u3000", "\u00a0", "\u200b", "▁", " \ufeff\u2028 "):
        assert pieces.pieces(f"{space}ab{space}b{space}") == apart
    assert pieces.pieces("") == pieces.pieces(" \n") == []


def test_wide_letters_become_plain_ones_but_the_wide_tilde_stays(pieces: SentencePiece) -> None:
    assert pieces.pieces("ａｂ～ｂ") == numbers("▁ab", "～", "b")


def test_a_run_of_unknown_characters_is_one_unknown_piece(pieces: SentencePiece) -> None:
    assert pieces.pieces("a日本b") == numbers("▁", "a", "<unk>", "b")
    assert pieces.pieces("日 本") == numbers("▁", "<unk>", "▁", "<unk>")


def test_what_is_no_text_does_no_harm(pieces: SentencePiece) -> None:
    assert pieces.pieces("a\ud800") == numbers("▁", "a", "<unk>")


def _best_score(word: str) -> float:
    """By trying every way to cut."""
    scores = {piece: score for piece, score, kind in PIECES if kind == NORMAL}
    unknown = min(scores.values()) - UNKNOWN_PENALTY
    best = float("-inf")
    for cuts in itertools.product((False, True), repeat=len(word) - 1):
        edges = [0, *(at for at, cut in enumerate(cuts, 1) if cut), len(word)]
        parts = [word[start:end] for start, end in itertools.pairwise(edges)]
        if all(part in scores or len(part) == 1 for part in parts):
            best = max(best, sum(scores.get(part, unknown) for part in parts))
    return best


@given(word=st.text("ab日", min_size=1, max_size=8))
def test_no_other_cut_scores_better(word: str, pieces: SentencePiece) -> None:
    scores = {number: score for number, (_, score, _) in enumerate(PIECES)}
    cut = pieces.pieces(word)
    unknown_chars = word.count("日")
    known = sum(scores[number] for number in cut if number != NUMBERS["<unk>"])
    worst = min(score for _, score, kind in PIECES if kind == NORMAL)
    assert known + unknown_chars * (worst - UNKNOWN_PENALTY) == pytest.approx(
        _best_score("▁" + word)
    )


@given(text=st.text("ab \n～ａ", max_size=60))
def test_the_pieces_together_are_the_text(text: str, pieces: SentencePiece) -> None:
    names = [PIECES[number][0] for number in pieces.pieces(text)]
    assert "".join(names) == "".join("▁" + word for word in _plain(text).split())


def test_words_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notewell.embedders.sentencepiece.CACHED_WORDS", 2)
    small = SentencePiece(read_vocabulary(model_file(PIECES)))
    first = small.pieces("a b ab aab " + "a" * 100)
    assert len(small._cache) <= 2
    assert small.pieces("a b ab aab " + "a" * 100) == first


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no model",
        b"\x0a\x7f",
        model_file(PIECES)[:20],
        model_file(PIECES[4:]),
        model_file(PIECES[:4]),
        b"\x0a\x05\x0b\x01a\x15\x00",
    ],
)
def test_another_file_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "sp.model").write_bytes(data)
    with pytest.raises(ValueError, match="SentencePiece model"):
        SentencePiece.load(tmp_path / "sp.model")
