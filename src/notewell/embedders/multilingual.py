"""A model for texts that `notewell-embed` cannot read, and for queries across languages.

    text ──▶ pieces ──▶ a row for each ──▶ convolutions ──▶ sum ──▶ dense layers ──▶ length 1

The model is Google's universal-sentence-encoder-multilingual v3 (16 languages, 512 dimensions)
with its embedding table quantized to six bits. It has no attention: convolutions look at windows
of 2, 3 and 5 pieces and the rest is a sum, so a few matrix products of numpy run it three times as
fast as the attention model in `encoder.py`.

Making the object costs nothing. The first `embed` maps the weights into memory; of the 66 MB of
rows only those of occurring pieces are read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from notewell.embedders import weights
from notewell.embedders.lazy_model import PROVIDER, LazyModel
from notewell.embedders.vectors import unit_vector
from notewell.errors import EmbedderFailed
from notewell.ports import ModelFacts, VectorWeights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from notewell.ports import Kind, Lacking, Vectors

MODEL = weights.USE_MULTILINGUAL_V3

FACTS = ModelFacts(
    provider=PROVIDER,
    model="use-multilingual-v3-6bit",
    dims=512,
    chunk_tokens=400,
    weights=VectorWeights(0.4),
    # Measured on ten question sets (Chinese, English and across both): the median cosine of a
    # passage that does not answer was .03 to .25, and half of the answers were between .25 and
    # .5. With this floor, ceiling and weight a cosine of .13 alone passes the threshold, and a
    # Chinese query finds its English answer among the first ten hits in 94 % of the cases; with
    # .08, .6 and .35 it was 69 %.
    cosine_floor=0.0,
    cosine_ceiling=0.45,
)

MAX_PIECES = 4096
"""A chunk of 1600 characters has at most 1600; a longer text is cut off here."""

MAX_CHARS = MAX_PIECES * 16
"""No piece is longer than 16 characters, so characters after these are never needed."""

EPSILON = 1e-12
"""Prevents a division by zero in the layer normalisation; the value of the original model."""

TEXTS_AT_ONCE = 8
"""Well under a second of one core: the most work that a kill can lose."""

PULL = f"run `notewell model pull {MODEL.name}`"


class MultilingualEmbedder:
    """Uses the weights in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._model = LazyModel(MODEL, folder, _Encoder, PULL)

    @property
    def facts(self) -> ModelFacts:
        return FACTS

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    def missing(self) -> Lacking | None:
        return self._model.missing()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """The model was trained with the same input for both kinds."""
        import numpy as np

        if not texts:
            return np.empty((0, FACTS.dims), dtype=np.float32)
        model = self._model.get(kind)
        return np.stack([model.vector(text) for text in texts])


class _Encoder:
    """The network on numpy arrays. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        from notewell.embedders.sentencepiece import SentencePiece

        try:
            self._pieces = SentencePiece.load(folder / "sp.model")
            self._table, self._arrays = _mapped(folder / "weights.bin")
        except (OSError, ValueError) as error:
            raise EmbedderFailed(PROVIDER, f"the model does not load: {error}") from error
        self._finish()

    def _finish(self) -> None:
        from threadpoolctl import (
            ThreadpoolController,  # After numpy is loaded: it finds the BLAS in use.
        )

        # The three branches have the same first layer; concatenated, it is one matrix product.
        self._proj = self._side_by_side("proj")
        self._proj_b = self._side_by_side("proj_b")
        self._proj_gain = self._side_by_side("ln_g")
        self._proj_shift = self._side_by_side("ln_b")
        self._blas = ThreadpoolController()

    def _side_by_side(self, name: str) -> Vectors:
        import numpy as np

        return np.concatenate([self._arrays[f"{name}{order}"] for order in ORDERS], axis=-1)

    def vector(self, text: str) -> Vectors:
        """One text in each run: its vector does not depend on the other texts of a call."""
        numbers = self._pieces.pieces(text[:MAX_CHARS])[: MAX_PIECES - 2]
        return self._vector_of([self._pieces.first, *numbers, self._pieces.last])

    def _vector_of(self, numbers: list[int]) -> Vectors:
        # BLAS threads spin while they wait for each other: on two cores, one of them busy, two
        # threads embedded 12 chunks a second and a single thread 75.
        with self._blas.limit(limits=1, user_api="blas"):
            return unit_vector(self._dense(self._pooled(self._rows(numbers))), PROVIDER)

    def _rows(self, numbers: list[int]) -> Vectors:
        """Dequantized: the table has 17 parts, piece n in part n modulo 17, each with a scale."""
        import numpy as np

        part, row = np.array(numbers) % PARTS, np.array(numbers) // PARTS
        scale, lowest = self._arrays["scale"][part, None], self._arrays["lo"][part, None]
        rows: Vectors = self._table[part, row].astype(np.float32) * scale + lowest
        return rows

    def _pooled(self, rows: Vectors) -> Vectors:
        """The rows and the three branches, summed over the text and divided by the root of its
        length."""
        import numpy as np

        arrays, count = self._arrays, len(rows)
        narrow = rows @ self._proj + self._proj_b
        start = _layer_norm(narrow, self._proj_gain, self._proj_shift)
        branches = np.split(start, len(ORDERS), axis=1)
        features = [rows]
        for order, own in zip(ORDERS, branches, strict=True):
            for layer in ("1", "2"):
                weight, bias = arrays[f"w{layer}_{order}"], arrays[f"b{layer}_{order}"]
                own = own + np.maximum(_convolve(own, weight, order) + bias, 0)  # noqa: PLW2901
            features.append(own)
        normed = _layer_norm(np.concatenate(features, axis=1), arrays["ln_g"], arrays["ln_b"])
        # The layer is linear, so the sum can come first: one row instead of hundreds.
        summed: Vectors = normed.sum(axis=0) @ arrays["cnn_W"] + count * arrays["cnn_b"]
        return summed / np.float32(math.sqrt(count))

    def _dense(self, pooled: Vectors) -> Vectors:
        """Two blocks of two layers, each with a residual connection."""
        import numpy as np

        arrays = self._arrays
        inner = np.maximum(pooled @ arrays["d0"], 0)
        middle = np.maximum(pooled @ arrays["p1"] + inner @ arrays["d1"], 0)
        inner = np.maximum(middle @ arrays["d2"], 0)
        out: Vectors = np.tanh(middle @ arrays["p3"] + inner @ arrays["d3"])
        return out


ORDERS = (2, 3, 5)
"""The window, in pieces, of each of the three convolution branches."""

PARTS = 17
PART_ROWS = 7530
"""17 times 7530 rows: a few more than the 128 000 pieces."""


def _shapes() -> dict[str, tuple[int, ...]]:
    """The arrays in `weights.bin` after the table, in order, all of 32-bit floats."""
    dims, narrow, hidden = FACTS.dims, 256, 320
    shapes: dict[str, tuple[int, ...]] = {"scale": (PARTS,), "lo": (PARTS,)}
    for order in ORDERS:
        window = (order * narrow, narrow)
        shapes |= {f"proj{order}": (dims, narrow), f"proj_b{order}": (narrow,)}
        shapes |= {f"ln_g{order}": (narrow,), f"ln_b{order}": (narrow,)}
        shapes |= {f"w1_{order}": window, f"b1_{order}": (narrow,)}
        shapes |= {f"w2_{order}": window, f"b2_{order}": (narrow,)}
    wide = dims + len(ORDERS) * narrow
    shapes |= {"ln_g": (wide,), "ln_b": (wide,), "cnn_W": (wide, dims), "cnn_b": (dims,)}
    shapes |= {"d0": (dims, hidden), "d1": (hidden, hidden), "p1": (dims, hidden)}
    return shapes | {"d2": (hidden, dims), "p3": (hidden, dims), "d3": (dims, dims)}


def _mapped(path: Path) -> tuple[NDArray[np.uint8], dict[str, Vectors]]:
    """The table and the arrays as views of a memory map: only pages that are used are read."""
    import numpy as np

    whole = np.memmap(path, dtype=np.uint8, mode="r")
    at = PARTS * PART_ROWS * FACTS.dims
    if len(whole) < at:
        raise ValueError(f"{path.name} ends inside the table")
    table = whole[:at].reshape(PARTS, PART_ROWS, FACTS.dims)
    arrays: dict[str, Vectors] = {}
    for name, shape in _shapes().items():
        size = 4 * math.prod(shape)
        if at + size > len(whole):
            raise ValueError(f"{path.name} ends before {name!r}")
        arrays[name] = whole[at : at + size].view(np.float32).reshape(shape)
        at += size
    return table, arrays


def _convolve(rows: Vectors, weight: Vectors, order: int) -> Vectors:
    """A convolution over `order` rows with zero padding at both ends."""
    import numpy as np

    count, width = rows.shape
    before = (order - 1) // 2
    padded = np.zeros((count + order - 1, width), dtype=np.float32)
    padded[before : before + count] = rows
    product: Vectors = padded[:count] @ weight[:width]
    for shift in range(1, order):
        product += padded[shift : shift + count] @ weight[shift * width : (shift + 1) * width]
    return product


def _layer_norm(rows: Vectors, gain: Vectors, shift: Vectors) -> Vectors:
    """Layer normalisation: each row with mean 0 and deviation 1, then gain and shift."""
    import numpy as np

    centred = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + np.float32(EPSILON))
    normed: Vectors = centred / deviation * gain + shift
    return normed
