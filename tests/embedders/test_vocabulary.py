from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notewell.embedders.vocabulary import BLOCK_BYTES, SEARCHES, VocabularyFile

if TYPE_CHECKING:
    from pathlib import Path


def test_a_searched_piece_has_the_number_of_its_line(weights_folder: Path) -> None:
    path = weights_folder / "vocab.txt"
    pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert len(set(pieces)) == len(pieces)
    # The first and the last line, and so many between that every block has several.
    numbers = [*range(0, len(pieces), 97), len(pieces) - 1]
    assert len(numbers) > 4 * path.stat().st_size / BLOCK_BYTES
    for start in range(0, len(numbers), SEARCHES):
        some = numbers[start : start + SEARCHES]
        vocabulary = VocabularyFile(path)
        assert [vocabulary.get(pieces[number]) for number in some] == some


@pytest.mark.parametrize("end", ["", "\n"])
def test_searching_and_the_dictionary_give_the_same_numbers(tmp_path: Path, end: str) -> None:
    (tmp_path / "vocab.txt").write_text(f"[UNK]\n记忆\n##s\n\u2028\nnotes{end}", encoding="utf-8")
    vocabulary = VocabularyFile(tmp_path / "vocab.txt")
    asked = ["[UNK]", "记忆", "##s", "\u2028", "notes", "记", "note", "otes", "", "\n"]
    expected = [0, 1, 2, 3, 4, None, None, None, None, None]
    for _ in range(SEARCHES // len(asked) + 2):
        assert [vocabulary.get(piece) for piece in asked] == expected


def test_a_damaged_piece_is_unknown_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"[UNK]\n\xff\xfe\nnotes\n")
    vocabulary = VocabularyFile(tmp_path / "vocab.txt")
    for _ in range(SEARCHES + 1):
        assert (vocabulary.get("notes"), vocabulary.get("note")) == (2, None)
