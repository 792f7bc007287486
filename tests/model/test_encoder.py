"""What the encoder makes of the states of a model: a small one with random weights."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
from model.graph import write_onnx
from tests.model.numpy_encoder import rounded_states, small_state

from notewell.core import has_windows, window_cosines
from notewell.embedders import encoder as module
from notewell.embedders.encoder import Encoder
from notewell.errors import EmbedderFailed
from notewell.ports import SplitText, Window

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.ports import Vectors

WORDS = ["[UNK]", "[CLS]", "[SEP]", "note", "garden", "router", "路由器", "路", ":", *"abcdefgh"]
UNKNOWN, FIRST, LAST, NOTE, GARDEN, ROUTER, CHINESE = range(7)
STATE = small_state(words=len(WORDS))
DIMS = 48


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    write_onnx(STATE, folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    (folder / "traditional.tsv").write_text("邊\t边\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return Encoder(folder)


def _unit(row: Vectors) -> Vectors:
    unit: Vectors = row / np.linalg.norm(row)
    return unit


def _states(*pieces: int) -> Vectors:
    return rounded_states(STATE, [FIRST, *pieces, LAST])


def test_the_vector_of_a_text_is_the_first_state(encoder: Encoder) -> None:
    vector = encoder.vector("note garden 路由器", "document")
    assert np.allclose(vector, _unit(_states(NOTE, GARDEN, CHINESE)[0]), atol=1e-4)


def test_a_question_has_the_prefix_before_it(encoder: Encoder) -> None:
    prefix = encoder._pieces.pieces(module.QUERY_PREFIX)
    vector = encoder.vector("note", "query")
    assert np.allclose(vector, _unit(_states(*prefix, NOTE)[0]), atol=1e-4)


def test_the_first_run_and_later_ones_give_the_same_bits(folder: Path) -> None:
    fresh = Encoder(folder)
    vectors = [fresh.vector("note garden router", "document") for _ in range(3)]
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[1], vectors[2])


def test_a_window_is_the_mean_of_its_states_in_the_pass_over_the_text(encoder: Encoder) -> None:
    text = "garden\n\nnote note\nrouter 路由器"
    split = SplitText(text, "garden", (Window(8, 17), Window(18, 28)))
    vector, windows = encoder.windowed(split)
    states = _states(GARDEN, NOTE, NOTE, ROUTER, CHINESE)
    assert np.array_equal(vector, encoder.vector(text, "document"))
    assert has_windows(windows, 2, DIMS)
    for row, mean in enumerate((states[2:4].mean(axis=0), states[4:6].mean(axis=0))):
        (cosines,) = window_cosines(_unit(mean), {1: windows}).values()
        assert cosines[row] > 0.999


def test_a_word_over_the_edge_of_a_window_is_cut_there(encoder: Encoder) -> None:
    split = SplitText("notegarden", "", (Window(0, 4), Window(4, 10)))
    ids, spans = module.window_ids(split, encoder._pieces)
    assert (ids, spans) == ([NOTE, GARDEN], [(0, 1), (1, 2)])


def test_a_short_text_has_no_windows(encoder: Encoder) -> None:
    assert encoder.windowed(SplitText("note", "", ())).windows == b""


def test_a_text_longer_than_the_model_reads_is_the_mean_of_equal_parts(encoder: Encoder) -> None:
    long = encoder.vector("note " * 300 + "garden " * 300, "document")
    halves = [_unit(_states(*[piece] * 300)[0]) for piece in (NOTE, GARDEN)]
    assert np.allclose(long, _unit(halves[0] + halves[1]), atol=1e-3)


def test_a_window_in_two_parts_is_the_mean_over_both(encoder: Encoder) -> None:
    text = "note " * 290 + "router " * 20 + "garden " * 290
    start, end = text.index("router"), text.index("garden")
    _, windows = encoder.windowed(SplitText(text, "", (Window(0, start), Window(start, end - 1))))
    parts = _states(*[NOTE] * 290, *[ROUTER] * 10), _states(*[ROUTER] * 10, *[GARDEN] * 290)
    mean = np.concatenate([parts[0][291:301], parts[1][1:11]]).mean(axis=0)
    (cosines,) = window_cosines(_unit(mean), {1: windows}).values()
    assert cosines[1] > 0.999


def test_a_window_without_a_state_is_as_near_as_the_text(encoder: Encoder) -> None:
    text = "note " * (module.MAX_PARTS * 510) + "router \x00"
    split = SplitText(text, "", (Window(0, 4), Window(text.index("router"), len(text) - 2)))
    vector, windows = encoder.windowed(split)
    (cosines,) = window_cosines(vector, {1: windows}).values()
    assert cosines[1] > 0.999
    vector, windows = encoder.windowed(SplitText("note \x00", "", (Window(0, 4), Window(5, 6))))
    (cosines,) = window_cosines(vector, {1: windows}).values()
    assert cosines[1] > 0.999


def test_a_long_question_keeps_its_prefix_in_every_part(encoder: Encoder) -> None:
    long, short = (encoder.vector("note " * count, "query") for count in (800, 400))
    assert np.allclose(long, short, atol=1e-5)


@pytest.mark.parametrize(
    ("count", "lengths"), [(0, [0]), (1, [1]), (10, [10]), (11, [6, 5]), (1000, [10] * 8)]
)
def test_parts_are_few_and_equal(count: int, lengths: list[int]) -> None:
    assert [len(part) for part in module._parts(range(count), 10)] == lengths


def test_threads_may_share_an_encoder(folder: Path) -> None:
    fresh = Encoder(folder)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: fresh.vector("note garden", "document"), range(8)))
    assert all(np.array_equal(vectors[0], other) for other in vectors)


def test_what_the_runtime_raises_becomes_our_own_error(
    tmp_path: Path, folder: Path, encoder: Encoder
) -> None:
    for file in folder.iterdir():
        if file.name != "model.onnx":
            (tmp_path / file.name).symlink_to(file)
    with pytest.raises(EmbedderFailed, match="does not load"):
        Encoder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model at all")
    with pytest.raises(EmbedderFailed, match="does not load"):
        Encoder(tmp_path)
    with pytest.raises(EmbedderFailed, match="did not run"):
        encoder._run([10**9])
