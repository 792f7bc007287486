"""Weights survive a file: rounded ones exactly, others as near as their levels allow."""

from pathlib import Path

import numpy as np
from model.architecture import WEIGHT_LEVELS, WORD_LEVELS, WORDS
from tests.model.numpy_encoder import small_state

from model import checkpoint


def test_what_was_saved_is_saved_again_without_loss(tmp_path: Path) -> None:
    first, second = tmp_path / "one.npz", tmp_path / "two.npz"
    checkpoint.save(first, small_state())
    once = checkpoint.load(first)
    checkpoint.save(second, once)
    twice = checkpoint.load(second)
    assert list(once) == list(small_state())
    assert all(np.allclose(once[name], twice[name], rtol=1e-6) for name in once)
    assert {path.name for path in tmp_path.iterdir()} == {"one.npz", "two.npz"}


def test_matrices_have_their_levels_and_the_rest_stays(tmp_path: Path) -> None:
    state, path = small_state(), tmp_path / "weights.npz"
    checkpoint.save(path, state)
    loaded = checkpoint.load(path)
    for name, value in state.items():
        if value.ndim == 1 or "position" in name or "token_type" in name:
            assert np.array_equal(loaded[name], value)
            continue
        levels = WORD_LEVELS if name == WORDS else WEIGHT_LEVELS
        step = np.abs(value).max(axis=1, keepdims=True) / levels
        assert (np.abs(loaded[name] - value) <= step / 2 * 1.001).all()


def test_more_levels_are_nearer(tmp_path: Path) -> None:
    state, name = small_state(), "encoder.layer.0.output.dense.weight"
    errors = []
    for levels in (WEIGHT_LEVELS, WORD_LEVELS):
        checkpoint.save(tmp_path / "weights.npz", state, levels=levels)
        loaded = checkpoint.load(tmp_path / "weights.npz")
        errors.append(np.abs(loaded[name] - state[name]).mean())
    assert errors[1] < errors[0]
