"""The exported graph computes what its documentation says, on the runtime that ships."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from model.architecture import WEIGHT_LEVELS, Floats, State, rounded
from model.graph import GRAPH_FILE, WEIGHTS_FILE, write_onnx
from numpy.typing import NDArray
from tests.model.numpy_encoder import float_states, rounded_states, small_state

PIECES = [2, 17, 5, 5, 41, 63, 9, 30, 8, 3]


@pytest.fixture(scope="module")
def state() -> State:
    return small_state()


@pytest.fixture(scope="module")
def session(
    state: State, tmp_path_factory: pytest.TempPathFactory
) -> onnxruntime.InferenceSession:
    folder = tmp_path_factory.mktemp("model")
    write_onnx(state, folder)
    return onnxruntime.InferenceSession(folder / GRAPH_FILE, providers=["CPUExecutionProvider"])


def _states(session: onnxruntime.InferenceSession, pieces: list[int]) -> Floats:
    (states,) = session.run(["states"], {"input_ids": np.array([pieces], dtype=np.int64)})
    rows: Floats = states[0]
    return rows


def _cosines(one: Floats, other: Floats) -> NDArray[np.float32]:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosines: NDArray[np.float32] = (one * other).sum(axis=1) / lengths
    return cosines


def test_the_graph_rounds_as_documented(
    state: State, session: onnxruntime.InferenceSession
) -> None:
    assert np.allclose(_states(session, PIECES), rounded_states(state, PIECES), atol=1e-4)


def test_rounding_costs_little(state: State, session: onnxruntime.InferenceSession) -> None:
    assert _cosines(_states(session, PIECES), float_states(state, PIECES)).min() > 0.99


@pytest.mark.parametrize("count", [1, 2, 512])
def test_a_text_has_one_to_512_pieces(session: onnxruntime.InferenceSession, count: int) -> None:
    states = _states(session, [2] * count)
    assert states.shape == (count, 48)
    assert np.isfinite(states).all()


def test_no_sum_of_two_products_leaves_16_bits() -> None:
    assert 2 * 255 * WEIGHT_LEVELS < 2**15


def test_a_row_of_zeros_stays_zeros() -> None:
    levels, scales = rounded(np.array([[0, 0], [3, -6]], dtype=np.float32), 64)
    assert levels.tolist() == [[0, 0], [32, -64]]
    assert np.isfinite(scales).all()


def test_the_same_weights_give_the_same_files(state: State, tmp_path: Path) -> None:
    contents = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        write_onnx(state, folder)
        contents.append([(folder / file).read_bytes() for file in (GRAPH_FILE, WEIGHTS_FILE)])
    assert contents[0] == contents[1]
