"""The network computes what the exported file will compute."""

import numpy as np
import pytest
import torch
from model.architecture import State
from model.network import encoder_of, rounded_input, window_vectors
from tests.model.numpy_encoder import float_states, rounded_states, small_state

PIECES = [2, 17, 5, 5, 41, 63, 9, 30, 8, 3]


@pytest.fixture(scope="module")
def state() -> State:
    return small_state()


@pytest.mark.parametrize("rounded", [False, True])
def test_states_are_those_of_the_encoder_in_numpy(state: State, *, rounded: bool) -> None:
    encoder = encoder_of({name: torch.tensor(value) for name, value in state.items()})
    encoder.prepare(rounded=rounded)
    # A longer text beside it fills it up, and must change nothing.
    ids = torch.tensor([[*PIECES, 0, 0], [11] * 12])
    mask = torch.arange(12)[None] < torch.tensor([[len(PIECES)], [12]])
    with torch.no_grad():
        states = encoder(ids, mask)[0, : len(PIECES)].numpy()
    expected = (rounded_states if rounded else float_states)(state, PIECES)
    assert np.allclose(states, expected, atol=1e-3)


def test_inputs_are_rounded_as_the_graph_says() -> None:
    """See the head of model/graph.py."""
    states = np.random.default_rng(3).normal(size=(2, 5, 8)).astype(np.float32)
    states[0, 4] = 100  # Filled up: not part of the scale.
    states[1] = np.abs(states[1])
    mask = torch.tensor([[True] * 4 + [False], [True] * 5])
    near = rounded_input(torch.from_numpy(states), mask).numpy()
    for text, used, found in zip(states, (4, 5), near, strict=True):
        seen = text[:used]
        low, high = min(0, seen.min()), max(0, seen.max())
        scale = np.float32((high - low) / 255)
        zero = np.rint(-low / scale)
        levels = np.clip(np.rint(seen / scale) + zero, 0, 255)
        assert np.allclose(found[:used], (levels - zero) * scale, atol=1e-6)


def test_gradients_pass_through_rounding() -> None:
    states = torch.tensor([[[0.5, -1.0], [2.0, 0.1]]], requires_grad=True)
    rounded_input(states, torch.tensor([[True, True]])).sum().backward()
    assert states.grad.tolist() == [[[1, 1], [1, 1]]]


def test_a_window_is_the_unit_mean_of_its_states() -> None:
    states = torch.from_numpy(np.random.default_rng(4).normal(size=(2, 6, 4)))
    owners, starts, ends = (
        torch.tensor([0, 1, 1]),
        torch.tensor([1, 0, 2]),
        torch.tensor([3, 2, 6]),
    )
    vectors = window_vectors(states, owners, starts, ends)
    for vector, owner, start, end in zip(vectors, owners, starts, ends, strict=True):
        mean = states[owner, start:end].mean(0)
        assert torch.allclose(vector.double(), mean / mean.norm(), atol=1e-6)
