"""Writes the weights of the encoder as an ONNX graph of 8-bit matrices.

    input_ids [1, n] ──▶ rows + positions ──▶ LayerNorm ──▶ 12 layers ──▶ states [1, n, 384]

    a layer:  attention ──▶ matrix ──▶ add, LayerNorm
              ──▶ matrix ──▶ gelu ──▶ matrix ──▶ add, LayerNorm

One text in each run, so there is no batch, no padding and no mask. `model.onnx` has the graph and
the short arrays; every matrix is in `weights.bin`, which onnxruntime maps into memory: a process
that asks one question reads only the rows of its pieces out of the embedding table.

How numbers are rounded. Training has to repeat this, or the file is worse than what was trained:

    weights      int8, symmetric, one scale for each output row of [out, in]:
                 scale = max |row| / 64, level = round(row / scale), -64..64.
                 Not 127: processors without VNNI add two products of uint8 and int8 in 16 bits,
                 and 2 x 255 x 64 is the most that fits. With 127 the sums are cut off there, and
                 the same text has another vector than on a newer machine.
    word rows    int8, symmetric, one scale for each row, max |row| / 127, -127..127.
    activations  the input of every matrix (QKV together, attention output, both matrices of the
                 inner layer): uint8, asymmetric, one scale for the whole tensor [n, dims] of a
                 text, [CLS] and [SEP] included: low = min(0, min x), high = max(0, max x),
                 scale = (high - low) / 255, zero = round(-low / scale),
                 level = clip(round(x / scale) + zero, 0, 255). Halves are rounded to even.
    the rest     32-bit floats: positions (with the row of token type 0 added), biases, sums,
                 attention (scores, softmax, mix), LayerNorm, gelu (with erf, not tanh).

Choices that were measured (283 pieces, one thread): QAttention instead of a matrix, a split and
MultiHeadAttention is 2 % slower and has a third of the nodes; SkipLayerNormalization instead of
Add and LayerNormalization takes seven times as long; BiasGelu and FastGelu gain nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from model.architecture import (
    EPSILON,
    HEADS,
    WEIGHT_LEVELS,
    WORD_LEVELS,
    WORDS,
    layer_count,
    rounded,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from model.architecture import State

GRAPH_FILE = "model.onnx"
WEIGHTS_FILE = "weights.bin"

OPSET = 18
IR_VERSION = 8
"""Of 2022: every onnxruntime since 1.14 reads both."""

FUSED = "com.microsoft"
"""The operators of onnxruntime itself."""

ALIGNMENT = 4096
"""A page: an array that starts at one is mapped, the others would be copied."""

INLINE_BYTES = 8192
"""Shorter arrays stay in the graph: a mapping of their own costs more than the copy."""


def write_onnx(state: State, folder: Path) -> None:
    """Write both files into `folder`. The same state gives the same bytes."""
    graph = _Graph()
    states = _embeddings(graph, state)
    for number in range(layer_count(state)):
        states = _layer(graph, state, f"encoder.layer.{number}", states)
    model = graph.finished(states, dims=state["embeddings.LayerNorm.weight"].shape[0])
    _move_arrays_out(model, folder / WEIGHTS_FILE)
    (folder / GRAPH_FILE).write_bytes(model.SerializeToString(deterministic=True))


class _Graph:
    """Nodes and arrays in the order of their use; every value has the name of its maker."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._arrays: list[onnx.TensorProto] = []

    def array(self, name: str, values: NDArray[Any]) -> str:
        self._arrays.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, operator: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        """One node with one output; both are called `name`."""
        self.add_many(operator, inputs, [name], **attributes)
        return name

    def add_many(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
    ) -> None:
        self._nodes.append(
            helper.make_node(operator, inputs, outputs, name=outputs[0], **attributes)
        )

    def finished(self, states: str, *, dims: int) -> onnx.ModelProto:
        self.add("Identity", [states], "states")
        graph = helper.make_graph(
            self._nodes,
            "notewell-embed",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "pieces"])],
            [helper.make_tensor_value_info("states", TensorProto.FLOAT, [1, "pieces", dims])],
            self._arrays,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="notewell"
        )


def _embeddings(graph: _Graph, state: State) -> str:
    words = rounded(state[WORDS], WORD_LEVELS)
    kind = state["embeddings.token_type_embeddings.weight"][0]
    positions = state["embeddings.position_embeddings.weight"] + kind
    levels = graph.add("Gather", [graph.array("words", words.levels), "input_ids"], "levels")
    scales = graph.array("word_scales", words.scales[:, None])
    scales = graph.add("Gather", [scales, "input_ids"], "scales")
    rows = graph.add("Cast", [levels], "levels_as_floats", to=TensorProto.FLOAT)
    rows = graph.add("Mul", [rows, scales], "rows")
    count = graph.add("Shape", ["input_ids"], "count", start=1, end=2)
    start = graph.array("start", np.zeros(1, dtype=np.int64))
    places = graph.add("Slice", [graph.array("positions", positions), start, count], "places")
    return _add_and_norm(graph, state, "embeddings.LayerNorm", rows, places)


def _layer(graph: _Graph, state: State, name: str, states: str) -> str:
    mixed = _attention(graph, state, f"{name}.attention.self", states)
    mixed = _linear(graph, state, f"{name}.attention.output.dense", mixed)
    states = _add_and_norm(graph, state, f"{name}.attention.output.LayerNorm", states, mixed)
    inner = _linear(graph, state, f"{name}.intermediate.dense", states)
    inner = graph.add("Gelu", [inner], f"{name}.gelu", domain=FUSED)
    inner = _linear(graph, state, f"{name}.output.dense", inner)
    return _add_and_norm(graph, state, f"{name}.output.LayerNorm", states, inner)


def _attention(graph: _Graph, state: State, name: str, states: str) -> str:
    """Queries, keys and values are one matrix: they have the same input, which is rounded once."""
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    weight = rounded(np.concatenate([state[f"{part}.weight"] for part in parts]), WEIGHT_LEVELS)
    bias = np.concatenate([state[f"{part}.bias"] for part in parts])
    levels, scale, zero = f"{name}.levels", f"{name}.scale", f"{name}.zero"
    graph.add_many("DynamicQuantizeLinear", [states], [levels, scale, zero])
    inputs = [
        levels,
        graph.array(f"{name}.weight", weight.levels.T),
        graph.array(f"{name}.bias", bias),
        scale,
        graph.array(f"{name}.weight_scales", weight.scales),
        "",  # No mask: nothing is padded.
        zero,
    ]
    return graph.add("QAttention", inputs, name, domain=FUSED, num_heads=HEADS)


def _linear(graph: _Graph, state: State, name: str, states: str) -> str:
    weight = rounded(state[f"{name}.weight"], WEIGHT_LEVELS)
    inputs = [
        states,
        graph.array(f"{name}.weight", weight.levels.T),
        graph.array(f"{name}.weight_scales", weight.scales),
        "",  # No zero point: the scales are symmetric.
        graph.array(f"{name}.bias", state[f"{name}.bias"]),
    ]
    return graph.add("DynamicQuantizeMatMul", inputs, name, domain=FUSED)


def _add_and_norm(graph: _Graph, state: State, name: str, states: str, more: str) -> str:
    total = graph.add("Add", [states, more], f"{name}.sum")
    weight = graph.array(f"{name}.weight", state[f"{name}.weight"])
    bias = graph.array(f"{name}.bias", state[f"{name}.bias"])
    return graph.add("LayerNormalization", [total, weight, bias], name, epsilon=EPSILON)


def _move_arrays_out(model: onnx.ModelProto, path: Path) -> None:
    """Long arrays one after the other, each at the start of a page."""
    with path.open("wb") as file:
        for array in model.graph.initializer:
            if len(array.raw_data) <= INLINE_BYTES:
                continue
            file.write(bytes(-file.tell() % ALIGNMENT))
            place = {"location": path.name, "offset": file.tell(), "length": len(array.raw_data)}
            file.write(array.raw_data)
            array.ClearField("raw_data")
            array.data_location = TensorProto.EXTERNAL
            array.external_data.extend(
                onnx.StringStringEntryProto(key=key, value=str(value))
                for key, value in place.items()
            )
