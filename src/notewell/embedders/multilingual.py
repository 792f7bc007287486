"""The embedded model for what is not in Latin letters, and for questions across languages.

    text -> pieces -> a row each -> what its neighbours add -> sum -> dense layers -> length 1

The model is Google's universal-sentence-encoder-multilingual v3 (16 languages, 512 dimensions)
with its rows in six bits. It has no attention: each piece looks at windows of 2, 3 and 5 pieces,
and the rest is a sum, so a few matrix products of numpy run it three times as fast as the
attention model beside it.

Making the object costs nothing. The first `embed` maps the weights into memory after the digests
of the files were checked; of the 66 MB of rows only those are read whose pieces occur.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from notewell.embedders import weights
from notewell.errors import EmbedderFailed, EmbedderMissing
from notewell.ports import ModelFacts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from notewell.ports import Kind, Vectors

PROVIDER = "embedded"

MODEL = weights.USE_MULTILINGUAL_V3

FACTS = ModelFacts(
    provider=PROVIDER,
    model="use-multilingual-v3-6bit",
    dims=512,
    chunk_tokens=400,
    scripts="any",
    vector_weight=0.4,
    vector_weight_sure=0.4,
    # On ten sets of questions (Chinese, English and across both) a passage that does not answer
    # had a cosine of .03 to .25 in the middle, and half of the answers lay between .25 and .5.
    # With these ends and this weight a cosine of .13 passes the threshold by itself, and a Chinese
    # question finds its English answer in the first ten hits 94 times in 100; with .08, .6 and
    # .35 it was 69 times.
    cosine_floor=0.0,
    cosine_ceiling=0.45,
)

MAX_PIECES = 4096
"""A chunk of 1600 characters has 1600 at the very worst; what is no chunk is cut here."""

MAX_CHARS = MAX_PIECES * 16
"""No piece is longer than 16 characters, so what comes after these is never looked at."""

EPSILON = 1e-12
"""Keeps a division by the spread of a row from being one by zero; the makers' own value."""

TEXTS_AT_ONCE = 8
"""Well under a second of one core: all that a kill may cost."""

PULL = f"run `notewell model pull {MODEL.name}`"


class MultilingualEmbedder:
    """Looks for the weights in `folders`, in that order, and takes the first sound copy."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._loading = threading.Lock()
        self._model: _Encoder | None = None

    @property
    def facts(self) -> ModelFacts:
        return FACTS

    @property
    def texts_at_once(self) -> int:
        return TEXTS_AT_ONCE

    def missing(self) -> str | None:
        """Told from the names of the files alone; a damaged one shows when it is loaded."""
        if any(weights.is_complete(folder, MODEL) for folder in self._folders):
            return None
        return f"the weights of {MODEL.name} are not there; {PULL}"

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """The model was trained on questions and answers alike: `kind` makes no difference."""
        import numpy as np

        if not texts:
            return np.empty((0, FACTS.dims), dtype=np.float32)
        model = self._loaded()
        return np.stack([model.vector(text) for text in texts])

    def _loaded(self) -> _Encoder:
        with self._loading:
            if self._model is None:
                self._model = _Encoder(_sound_folder(self._folders))
            return self._model


class _Encoder:
    """The weights, and what is done with them; runs may come from several threads."""

    def __init__(self, folder: Path) -> None:
        from notewell.embedders.sentencepiece import SentencePiece

        try:
            self._pieces = SentencePiece.load(folder / "sp.model")
            self._table, self._arrays = _mapped(folder / "weights.bin")
        except (OSError, ValueError) as error:
            raise EmbedderFailed(PROVIDER, f"the model does not load: {error}") from error
        self._finish()

    def _finish(self) -> None:
        from threadpoolctl import ThreadpoolController  # after numpy, whose threads it counts

        # The three branches begin alike; side by side they are one product instead of three.
        self._proj = self._side_by_side("proj")
        self._proj_b = self._side_by_side("proj_b")
        self._proj_gain = self._side_by_side("ln_g")
        self._proj_shift = self._side_by_side("ln_b")
        self._blas = ThreadpoolController()

    def _side_by_side(self, name: str) -> Vectors:
        import numpy as np

        return np.concatenate([self._arrays[f"{name}{order}"] for order in ORDERS], axis=-1)

    def vector(self, text: str) -> Vectors:
        """One text a run: the same text has the same vector whatever stands beside it."""
        numbers = self._pieces.pieces(text[:MAX_CHARS])[: MAX_PIECES - 2]
        return self._vector_of([self._pieces.first, *numbers, self._pieces.last])

    def _vector_of(self, numbers: list[int]) -> Vectors:
        # Several threads spin while they wait for each other: on two cores of which others had
        # one, two threads gave 12 chunks a second where a single one gave 75.
        with self._blas.limit(limits=1, user_api="blas"):
            return _unit(self._dense(self._pooled(self._rows(numbers))))

    def _rows(self, numbers: list[int]) -> Vectors:
        """The table lies in 17 parts, dealt out piece by piece, each with its own scale."""
        import numpy as np

        part, row = np.array(numbers) % PARTS, np.array(numbers) // PARTS
        scale, lowest = self._arrays["scale"][part, None], self._arrays["lo"][part, None]
        rows: Vectors = self._table[part, row].astype(np.float32) * scale + lowest
        return rows

    def _pooled(self, rows: Vectors) -> Vectors:
        """Each piece beside what its neighbours make of it, summed; long texts are damped."""
        import numpy as np

        arrays, count = self._arrays, len(rows)
        narrow = rows @ self._proj + self._proj_b
        parts = np.split(_even(narrow, self._proj_gain, self._proj_shift), len(ORDERS), axis=1)
        seen = [rows]
        for order, own in zip(ORDERS, parts, strict=True):
            for layer in ("1", "2"):
                weight, bias = arrays[f"w{layer}_{order}"], arrays[f"b{layer}_{order}"]
                own = own + np.maximum(_neighbours(own, weight, order) + bias, 0)  # noqa: PLW2901
            seen.append(own)
        even = _even(np.concatenate(seen, axis=1), arrays["ln_g"], arrays["ln_b"])
        # The layer is linear, so the sum may come before it: one row instead of hundreds.
        summed: Vectors = even.sum(axis=0) @ arrays["cnn_W"] + count * arrays["cnn_b"]
        return summed / np.float32(math.sqrt(count))

    def _dense(self, pooled: Vectors) -> Vectors:
        """Two blocks of two layers, each with a way around it."""
        import numpy as np

        arrays = self._arrays
        inner = np.maximum(pooled @ arrays["d0"], 0)
        middle = np.maximum(pooled @ arrays["p1"] + inner @ arrays["d1"], 0)
        inner = np.maximum(middle @ arrays["d2"], 0)
        out: Vectors = np.tanh(middle @ arrays["p3"] + inner @ arrays["d3"])
        return out


ORDERS = (2, 3, 5)
"""How many neighbouring pieces each of the three branches looks at."""

PARTS = 17
PART_ROWS = 7530
"""17 times 7530 rows are a few more than the 128 000 pieces."""


def _shapes() -> dict[str, tuple[int, ...]]:
    """What stands in `weights.bin` behind the table, in order; 32-bit floats all of them."""
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
    """The table and the rest as views into the file: the kernel reads what is touched."""
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


def _neighbours(rows: Vectors, weight: Vectors, order: int) -> Vectors:
    """A convolution over `order` rows; what lies before the first and behind the last is zero."""
    import numpy as np

    count, width = rows.shape
    before = (order - 1) // 2
    padded = np.zeros((count + order - 1, width), dtype=np.float32)
    padded[before : before + count] = rows
    product: Vectors = padded[:count] @ weight[:width]
    for shift in range(1, order):
        product += padded[shift : shift + count] @ weight[shift * width : (shift + 1) * width]
    return product


def _even(rows: Vectors, gain: Vectors, shift: Vectors) -> Vectors:
    """Each row with mean 0 and spread 1, then as the model wants it."""
    import numpy as np

    centred = rows - rows.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + np.float32(EPSILON))
    even: Vectors = centred / spread * gain + shift
    return even


def _sound_folder(folders: Sequence[Path]) -> Path:
    folder = weights.find(folders, MODEL)
    if folder is not None:
        return folder
    problems = [weights.problem(folder, MODEL) or "sound by now" for folder in folders]
    raise EmbedderMissing(
        PROVIDER, "; ".join(problems) or "no folder to look for weights in", PULL
    )


def _unit(row: Vectors) -> Vectors:
    """Length 1, so that a dot product is the cosine; what has no direction is refused."""
    import numpy as np

    length = float(np.linalg.norm(row.astype(np.float64)))
    if not math.isfinite(length) or length < 1e-6:
        raise EmbedderFailed(PROVIDER, f"the model gave a vector of length {length}")
    return (row / length).astype(np.float32)
