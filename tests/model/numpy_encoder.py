"""The encoder in numpy, twice: in floats, and with the rounding that model/graph.py describes."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from model.architecture import EPSILON, HEADS, WEIGHT_LEVELS, WORD_LEVELS, Floats, State, rounded

Multiply: TypeAlias = Callable[[Floats, Floats], Floats]
"""States [n, in] and a weight [out, in] to [n, out]."""


def small_state(*, words: int = 64, dims: int = 48, layers: int = 2, seed: int = 7) -> State:
    """Random weights of the size that training gives them: gains near 1, a few large values."""
    random = np.random.default_rng(seed)

    def matrix(*shape: int) -> Floats:
        return (random.standard_t(5, shape) / math.sqrt(shape[-1])).astype(np.float32)

    def norm(name: str) -> dict[str, Floats]:
        gains = (1 + random.normal(size=dims) / 10).astype(np.float32)
        return {f"{name}.weight": gains, f"{name}.bias": matrix(dims)}

    state = {
        "embeddings.word_embeddings.weight": matrix(words, dims),
        "embeddings.position_embeddings.weight": matrix(512, dims),
        "embeddings.token_type_embeddings.weight": matrix(2, dims),
        **norm("embeddings.LayerNorm"),
    }
    inner = 4 * dims
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        sizes = {f"attention.self.{part}": (dims, dims) for part in ("query", "key", "value")}
        sizes |= {"attention.output.dense": (dims, dims), "intermediate.dense": (inner, dims)}
        for name, (out, inputs) in (sizes | {"output.dense": (dims, inner)}).items():
            state[f"{layer}.{name}.weight"] = matrix(out, inputs)
            state[f"{layer}.{name}.bias"] = matrix(out)
        state |= norm(f"{layer}.attention.output.LayerNorm") | norm(f"{layer}.output.LayerNorm")
    return state


def float_states(state: State, pieces: Sequence[int]) -> Floats:
    return _states(state, pieces, state["embeddings.word_embeddings.weight"], _multiply)


def rounded_states(state: State, pieces: Sequence[int]) -> Floats:
    levels, scales = rounded(state["embeddings.word_embeddings.weight"], WORD_LEVELS)
    return _states(state, pieces, levels * scales[:, None], _multiply_rounded)


def _multiply(states: Floats, weight: Floats) -> Floats:
    product: Floats = states @ weight.T
    return product


def _multiply_rounded(states: Floats, weight: Floats) -> Floats:
    low, high = min(states.min(), np.float32(0)), max(states.max(), np.float32(0))
    scale = np.float32((high - low) / 255)
    zero = np.rint(-low / scale)
    near = np.clip(np.rint(states / scale) + zero, 0, 255) - zero
    levels, scales = rounded(weight, WEIGHT_LEVELS)
    product: Floats = (near @ levels.T.astype(np.float32)) * (scale * scales)
    return product


def _states(state: State, pieces: Sequence[int], words: Floats, multiply: Multiply) -> Floats:
    kind = state["embeddings.token_type_embeddings.weight"][0]
    places = state["embeddings.position_embeddings.weight"][: len(pieces)]
    states = _norm(state, "embeddings.LayerNorm", words[list(pieces)] + places + kind)
    layers = sum(name.endswith(".intermediate.dense.bias") for name in state)
    for number in range(layers):
        states = _layer(state, f"encoder.layer.{number}", states, multiply)
    return states


def _layer(state: State, name: str, states: Floats, multiply: Multiply) -> Floats:
    def linear(part: str, inputs: Floats) -> Floats:
        weight, bias = state[f"{name}.{part}.weight"], state[f"{name}.{part}.bias"]
        return multiply(inputs, weight) + bias

    mixed = _attention(*(linear(f"attention.self.{p}", states) for p in ("query", "key", "value")))
    mixed = linear("attention.output.dense", mixed)
    states = _norm(state, f"{name}.attention.output.LayerNorm", states + mixed)
    inner = linear("output.dense", _gelu(linear("intermediate.dense", states)))
    return _norm(state, f"{name}.output.LayerNorm", states + inner)


def _attention(query: Floats, key: Floats, value: Floats) -> Floats:
    count, dims = query.shape

    def heads(rows: Floats) -> Floats:
        return rows.reshape(count, HEADS, -1).transpose(1, 0, 2)

    scores = heads(query) @ heads(key).transpose(0, 2, 1) / math.sqrt(dims / HEADS)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed: Floats = (shares @ heads(value)).transpose(1, 0, 2).reshape(count, dims)
    return mixed.astype(np.float32)


def _gelu(states: Floats) -> Floats:
    erf = np.vectorize(math.erf, otypes=[np.float32])
    activated: Floats = (states / 2 * (1 + erf(states / math.sqrt(2)))).astype(np.float32)
    return activated


def _norm(state: State, name: str, states: Floats) -> Floats:
    centred = states - states.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
    normed: Floats = centred / deviation * state[f"{name}.weight"] + state[f"{name}.bias"]
    return normed
