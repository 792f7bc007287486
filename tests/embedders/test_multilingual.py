"""The multilingual model: a small one of our own always, the real one where it was pulled."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from notewell.embedders import multilingual, weights
from notewell.embedders.multilingual import MODEL, MultilingualEmbedder
from notewell.embedders.sentencepiece import SentencePiece
from notewell.errors import EmbedderFailed, EmbedderMissing

# What the makers' own program gives for these texts.
PIECES = {
    "When did we ship the new router?": [1226, 438, 237, 11543, 12, 484, 5741, 71, 21],
    "我们什么时候发布了新的路由器？": [
        *(6, 3604, 420, 386, 8251, 40462, 127, 9162, 716, 1585, 1113, 21),
    ],
    "我們決定把資料庫搬到另一台伺服器。": [
        *(6, 1800, 7085, 832, 2901, 8103, 13208, 210, 8946, 1106, 30566, 1251, 1113, 27),
    ],
    "新しいルーターはいつ出荷しましたか。": [
        *(6, 16819, 17043, 77945, 11014, 434, 8510, 422, 628, 217, 27),
    ],
    "새 라우터를 언제 출시했습니까?": [
        *(24613, 6, 97475, 10232, 882, 125344, 61390, 69806, 30287, 6115, 50854, 21),
    ],
    "متى شحنا جهاز التوجيه الجديد؟": [
        *(16292, 3643, 6, 106032, 668, 79724, 350, 85218, 52304, 50654),
    ],
    "Когда мы выпустили новый маршрутизатор?": [
        *(15379, 6836, 79209, 391, 26056, 57656, 95235, 21),
    ],
    "¿Cuándo enviamos el nuevo enrutador?": [
        *(723, 13610, 72140, 55339, 981, 72, 7126, 46, 14780, 5406, 21),
    ],
    "Wann haben wir die Größe geändert?": [52187, 1104, 1564, 86, 21883, 61481, 21],
    "เราส่งเราเตอร์ใหม่เมื่อไหร่": [
        *(6, 25214, 14533, 25214, 21056, 7742, 7243, 90902, 4890, 10018),
    ],
    "Yeni yönlendiriciyi ne zaman gönderdik?": [
        *(15359, 85137, 5576, 2828, 198, 3235, 100892, 158, 21),
    ],
    "Ｆｕｌｌ\u3000ｗｉｄｔｈ～ ﬁne ½": [17004, 16050, 890, 1668, 32259],
    "tab\tand\nnew line\u200bhere": [8868, 17, 484, 1754, 827],
    "日本語😀👍のメモ": [71578, 0, 41405, 3813],
    "def open_memory(path: str) -> Memory:": [
        *(18554, 1913, 77, 95992, 44, 11122, 23, 10707, 14, 55, 65, 40945, 23),
    ],
}
BEGINNINGS = {
    "When did we ship the new router?": [-0.0124, 0.0230, -0.0308, -0.0042, 0.0691, -0.0842],
    "我们什么时候发布了新的路由器？": [-0.0412, -0.0284, 0.0499, 0.0294, 0.0761, -0.0941],
    "Когда мы выпустили новый маршрутизатор?": [
        *(-0.0322, -0.0286, -0.0026, -0.0061, 0.0293, -0.0806),
    ],
}


# -- the arithmetic, with weights of our own -----------------------------------------------------


@pytest.fixture(scope="module")
def small() -> multilingual._Encoder:
    """Seventeen pieces and random weights of the real shapes."""
    encoder = multilingual._Encoder.__new__(multilingual._Encoder)
    random = np.random.default_rng(3)
    encoder._arrays = {
        name: (random.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32)
        for name, shape in multilingual._shapes().items()
    }
    encoder._table = random.integers(0, 64, (17, 1, 512), dtype=np.uint8)
    encoder._finish()
    return encoder


def _by_hand(encoder: multilingual._Encoder, numbers: list[int]) -> Any:
    """The model written down piece by piece, in 64 bits."""
    arrays = {name: array.astype(np.float64) for name, array in encoder._arrays.items()}

    def even(row: Any, gain: Any, shift: Any) -> Any:
        return (row - row.mean()) / math.sqrt(row.var() + 1e-12) * gain + shift

    def joined(name: str) -> Any:
        return np.concatenate([arrays[f"{name}{order}"] for order in (2, 3, 5)])

    rows = [encoder._table[n % 17, n // 17] * arrays["scale"][n % 17] for n in numbers]
    rows = [row + arrays["lo"][n % 17] for row, n in zip(rows, numbers, strict=True)]
    narrow = [
        np.concatenate([row @ arrays[f"proj{o}"] + arrays[f"proj_b{o}"] for o in (2, 3, 5)])
        for row in rows
    ]
    narrow = [even(row, joined("ln_g"), joined("ln_b")) for row in narrow]
    branches = []
    for number, (order, before) in enumerate([(2, 0), (3, 1), (5, 2)]):
        own = [row[number * 256 : (number + 1) * 256] for row in narrow]
        for layer in ("1", "2"):
            padded = [np.zeros(256)] * before + own + [np.zeros(256)] * (order - 1 - before)
            windows = [np.concatenate(padded[at : at + order]) for at in range(len(own))]
            weight, bias = arrays[f"w{layer}_{order}"], arrays[f"b{layer}_{order}"]
            seen = [np.maximum(window @ weight + bias, 0) for window in windows]
            own = [old + new for old, new in zip(own, seen, strict=True)]
        branches.append(own)
    wide = [np.concatenate(parts) for parts in zip(rows, *branches, strict=True)]
    wide = [even(row, arrays["ln_g"], arrays["ln_b"]) for row in wide]
    pooled = sum(row @ arrays["cnn_W"] + arrays["cnn_b"] for row in wide) / math.sqrt(len(wide))
    middle = np.maximum(pooled @ arrays["d0"], 0) @ arrays["d1"] + pooled @ arrays["p1"]
    middle = np.maximum(middle, 0)
    out = np.tanh(np.maximum(middle @ arrays["d2"], 0) @ arrays["d3"] + middle @ arrays["p3"])
    return out / np.linalg.norm(out)


@pytest.mark.parametrize("numbers", [[1, 2], [1, 5, 2], [1, *range(3, 17), 3, 3, 2]])
def test_the_matrices_do_what_is_written_down_piece_by_piece(
    small: multilingual._Encoder, numbers: list[int]
) -> None:
    vector = small._vector_of(numbers)
    assert np.allclose(vector, _by_hand(small, numbers), atol=1e-4)


def test_weights_that_end_early_are_refused(tmp_path: Path) -> None:
    table = 17 * 7530 * 512
    for size in (1, table + 100):
        with (tmp_path / "weights.bin").open("wb") as file:
            file.truncate(size)
        with pytest.raises(ValueError, match="ends"):
            multilingual._mapped(tmp_path / "weights.bin")


def test_missing_weights_name_the_folder_and_the_next_step(tmp_path: Path) -> None:
    embedder = MultilingualEmbedder(tmp_path / "pulled")
    assert str(embedder.missing()).endswith("run `notewell model pull use-multilingual-v3`")
    with pytest.raises(EmbedderMissing, match=r"pulled.*notewell model pull use-"):
        embedder.embed(["hello"], "query")
    assert embedder.embed([], "query").shape == (0, 512)


def test_files_of_the_right_size_and_another_content_are_not_loaded(tmp_path: Path) -> None:
    for file in MODEL.files:
        with (tmp_path / file.name).open("wb") as empty:
            empty.truncate(file.size)
    embedder = MultilingualEmbedder(tmp_path)
    assert embedder.missing() is None
    with pytest.raises(EmbedderMissing, match=r"weights\.bin is damaged"):
        embedder.embed(["hello"], "document")
    with pytest.raises(EmbedderFailed, match="does not load"):
        multilingual._Encoder(tmp_path)


def test_importing_and_opening_loads_nothing_heavy() -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from notewell.embedders.multilingual import MultilingualEmbedder\n"
        "MultilingualEmbedder(Path()).missing(); "
        "print({'numpy', 'threadpoolctl', 'httpx2', 'xllamacpp'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


# -- the real one --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder() -> Path:
    """NOTEWELL_TEST_MODELS names where it was pulled to."""
    pulled = Path(os.environ.get("NOTEWELL_TEST_MODELS", "/nowhere")) / MODEL.name
    defect = weights.problem(pulled, MODEL)
    if defect and os.environ.get("CI"):
        pytest.fail(f"{defect}, and `./check` should have fetched it")
    if defect:
        pytest.skip(f"{defect}: pull it and set NOTEWELL_TEST_MODELS")
    return pulled


@pytest.fixture(scope="module")
def embedder(folder: Path) -> MultilingualEmbedder:
    return MultilingualEmbedder(folder)


@pytest.mark.parametrize("text", PIECES)
def test_texts_of_many_languages_have_the_makers_pieces(folder: Path, text: str) -> None:
    assert SentencePiece.load(folder / "sp.model").pieces(text) == PIECES[text]


def test_vectors_are_those_of_the_reference(embedder: MultilingualEmbedder) -> None:
    vectors = embedder.embed(list(BEGINNINGS), "document")
    assert np.allclose(vectors[:, :6], list(BEGINNINGS.values()), atol=2e-4)


def test_an_answer_in_another_language_is_nearer_than_something_else(
    embedder: MultilingualEmbedder,
) -> None:
    (question,) = embedder.embed(["When did we ship the router?"], "query")
    answer, other = embedder.embed(
        ["新路由器于三月三日发布。", "西红柿需要阳光和大量的水。"], "document"
    )
    assert question @ answer > question @ other + 0.1
    assert question @ answer > embedder.facts.cosine_floor


def test_vectors_have_the_promised_shape_and_length(embedder: MultilingualEmbedder) -> None:
    texts = ["a", "", "\x00", "日本語のメモ", "\ud800", "word " * 30_000]
    vectors = embedder.embed(texts, "document")
    assert vectors.shape == (6, embedder.facts.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_threads_may_share_one_embedder_and_neighbours_do_not_matter(folder: Path) -> None:
    embedder = MultilingualEmbedder(folder)
    texts = ["我们发布了路由器", "other"]
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: embedder.embed(texts, "document"), range(8)))
    # Not bit by bit: where an array lies in memory decides how its sums are rounded.
    assert all(np.allclose(vectors[0], other, atol=1e-6) for other in vectors)
    assert np.allclose(embedder.embed(texts[:1], "query")[0], vectors[0][0], atol=1e-6)
