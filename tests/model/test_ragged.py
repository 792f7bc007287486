"""Texts of different lengths become batches, and know their windows."""

from typing import Any

import numpy as np
import pytest
import torch
from model.ragged import CLS, SEP, Ragged, Windowed, joined
from numpy.typing import NDArray

ARRAYS: dict[str, NDArray[Any]] = {
    "x.ids": np.array([1, 2, 3, 4, 5, 6], np.uint16),
    "x.lengths": np.array([2, 0, 4], np.uint16),
    "x.heads": np.array([0, 0, 1], np.uint16),
    "x.windows": np.array([[0, 0, 2], [2, 1, 2], [2, 2, 4]], np.int32),
}


@pytest.fixture
def texts() -> Ragged:
    return Ragged.load(ARRAYS, "x", "cpu")


def test_a_text_is_between_cls_and_sep_and_filled_up(texts: Ragged) -> None:
    ids, mask = texts.batch(torch.tensor([2, 0, 1]), limit=10)
    assert ids.tolist() == [
        [CLS, 3, 4, 5, 6, SEP, 0, 0],
        [CLS, 1, 2, SEP, 0, 0, 0, 0],
        [CLS, SEP, 0, 0, 0, 0, 0, 0],
    ]
    assert mask.sum(1).tolist() == [6, 4, 2]


def test_a_long_text_is_cut_and_a_prefix_stands_before_it(texts: Ragged) -> None:
    ids, mask = texts.batch(torch.tensor([2, 0]), limit=3, before=[8, 9])
    assert ids.tolist() == [[CLS, 8, 9, 3, 4, 5, SEP, 0], [CLS, 8, 9, 1, 2, SEP, 0, 0]]
    assert mask.sum(1).tolist() == [7, 6]


def test_joined_texts_keep_their_order(texts: Ragged) -> None:
    both = joined([texts, texts])
    assert both.lengths.tolist() == [2, 0, 4, 2, 0, 4]
    assert both.batch(torch.tensor([3]), 10).ids[0, :4].tolist() == [CLS, 1, 2, SEP]


def test_a_text_has_the_windows_that_end_within_the_limit() -> None:
    windowed = Windowed.load(ARRAYS, "x", "cpu")
    windows, owners = windowed.of(torch.tensor([2, 1, 0]), limit=4)
    assert windows.tolist() == [1, 2, 0]
    assert owners.tolist() == [0, 0, 2]
    windows, _ = windowed.of(torch.tensor([2]), limit=3)
    assert windows.tolist() == [1]
