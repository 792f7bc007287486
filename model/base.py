"""The base model: snowflake-arctic-embed-s (Apache-2.0), as numbers.

Its authors publish it in 8 bits as an ONNX file; README.md says where. This reads that file.
The rows of the vocabulary that are new start as the mean of the rows of their English meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from model.architecture import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from model.architecture import Floats, State

STOP_WORDS = "of the a an to in on for with and or sb sth one"
"""Of a meaning, these say nothing; `sb` and `sth` are how a dictionary writes objects."""


def base_weights(path: Path) -> dict[str, Floats]:
    """The parameters in float32, by the names that BERT gives them."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    values = {value.name: numpy_helper.to_array(value) for value in graph.initializer}
    state = {
        name: value
        for name, value in values.items()
        if value.dtype == np.float32
        and name.startswith(("encoder.", "embeddings."))
        and not name.endswith("_scale")
    }
    for kind in ("word", "token_type", "position"):
        name = f"embeddings.{kind}_embeddings.weight"
        state[name] = _restored(values, name)
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in values:
            # Matrices have the names of the exporter; the node that multiplies says which it is.
            weight = _restored(values, node.input[1].removesuffix("_quantized"))
            layer = node.name.strip("/").replace("/MatMul_quant", "").replace("/", ".")
            state[f"{layer}.weight"] = np.ascontiguousarray(weight.T)
    return state


def _restored(values: Mapping[str, NDArray[Any]], name: str) -> Floats:
    whole = values[f"{name}_quantized"].astype(np.float32)
    zero = values[f"{name}_zero_point"].astype(np.float32)
    restored: Floats = (whole - zero) * values[f"{name}_scale"]
    return restored


def with_rows(
    state: State, arrays: Mapping[str, NDArray[Any]], vocabulary: int
) -> dict[str, Floats]:
    """Rows for a larger vocabulary; `arrays` has the glosses (see `tokens.glosses`)."""
    old = state[WORDS]
    rows = np.zeros((vocabulary, old.shape[1]), np.float32)
    rows[: len(old)] = old
    mean, noise = old.mean(0), np.random.default_rng(0)
    stop = set(arrays["gloss.stop"].tolist())
    ends = arrays["gloss.lengths"].astype(np.int64).cumsum()
    for row, length, end in zip(arrays["gloss.rows"], arrays["gloss.lengths"], ends, strict=True):
        ids = [one for one in arrays["gloss.ids"][end - length : end] if one not in stop]
        rows[row] = old[ids].mean(0) if ids else mean + noise.normal(0, 0.02, len(mean))
    return {**state, WORDS: rows}
