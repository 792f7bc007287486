"""The encoder: a BERT of 12 layers and 384 dimensions, in PyTorch.

    ids ──▶ embeddings ──▶ layer ──▶ … ──▶ layer ──▶ states ──┬──▶ first row        = the text
                                                              └──▶ mean of some rows = a window

The names of the parameters are those of BERT, because the base model has them.

With `rounded`, every matrix is multiplied as the exported file does it: weights and inputs are
rounded to 8 bits. Without this in training, the export cost .02 of the answers across languages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.architecture import (
    EPSILON,
    HEADS,
    POSITIONS,
    WEIGHT_LEVELS,
    WORD_LEVELS,
    WORDS,
    layer_count,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class Shape(NamedTuple):
    words: int
    layers: int = 12
    dims: int = 384
    inner: int = 1536


def rounded_rows(weight: Tensor, levels: int) -> Tensor:
    """Each row on a scale of its own. The gradient passes as if nothing was rounded."""
    scale = weight.detach().abs().amax(-1, keepdim=True).clamp_min(1e-12) / levels
    return weight + ((weight / scale).round() * scale - weight).detach()


def rounded_input(states: Tensor, mask: Tensor) -> Tensor:
    """Each text on a scale of its own, 0..255 around a zero point. What `mask` excludes has no
    part in the scale: the export runs one text at a time, without filling."""
    with torch.no_grad():
        seen = states.masked_fill(~mask[..., None], 0).flatten(1)
        low, high = seen.amin(1).float().clamp_max(0), seen.amax(1).float().clamp_min(0)
        scale = ((high - low) / 255).clamp_min(1e-12)
        # In floats: PyTorch checks integers one by one, and waits for the device each time.
        zero = (-low / scale).round()
    return torch.fake_quantize_per_channel_affine(states.float(), scale, zero, 0, 0, 255)


class Linear(nn.Linear):
    """A matrix that can be rounded once for all texts of a step."""

    ready: Tensor | None = None

    def prepare(self, *, rounded: bool) -> None:
        self.ready = rounded_rows(self.weight, WEIGHT_LEVELS) if rounded else None

    def forward(self, states: Tensor) -> Tensor:
        return functional.linear(
            states, self.weight if self.ready is None else self.ready, self.bias
        )


class Attention(nn.Module):
    """Its parts are called as BERT calls them, also where that is `self`."""

    def __init__(self, dims: int) -> None:
        super().__init__()
        self.self = nn.ModuleDict({name: Linear(dims, dims) for name in ("query", "key", "value")})
        self.output = _Residual(dims, dims)

    def forward(self, states: Tensor, mask: Tensor, *, rounded: bool) -> Tensor:
        texts, length, dims = states.shape
        near = rounded_input(states, mask) if rounded else states
        heads = (
            self.self[name](near).view(texts, length, HEADS, dims // HEADS).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(*heads, attn_mask=mask[:, None, None, :])
        mixed = mixed.transpose(1, 2).reshape(texts, length, dims)
        return self.output(mixed, states, mask, rounded=rounded)


class _Residual(nn.Module):
    def __init__(self, inner: int, dims: int) -> None:
        super().__init__()
        self.dense = Linear(inner, dims)
        self.LayerNorm = nn.LayerNorm(dims, eps=EPSILON)

    def forward(self, inner: Tensor, states: Tensor, mask: Tensor, *, rounded: bool) -> Tensor:
        near = rounded_input(inner, mask) if rounded else inner
        return self.LayerNorm(states + self.dense(near))


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = Attention(shape.dims)
        self.intermediate = nn.ModuleDict({"dense": Linear(shape.dims, shape.inner)})
        self.output = _Residual(shape.inner, shape.dims)

    def forward(self, states: Tensor, mask: Tensor, *, rounded: bool) -> Tensor:
        states = self.attention(states, mask, rounded=rounded)
        near = rounded_input(states, mask) if rounded else states
        inner = functional.gelu(self.intermediate["dense"](near))
        return self.output(inner, states, mask, rounded=rounded)


class Encoder(nn.Module):
    """Token ids to states, one for each id."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.rounded = False
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(shape.words, shape.dims),
                "position_embeddings": nn.Embedding(POSITIONS, shape.dims),
                "token_type_embeddings": nn.Embedding(2, shape.dims),
                "LayerNorm": nn.LayerNorm(shape.dims, eps=EPSILON),
            }
        )
        layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.encoder = nn.ModuleDict({"layer": layers})

    def prepare(self, *, rounded: bool) -> None:
        """Call it before the texts of each step: the weights have changed."""
        self.rounded = rounded
        for module in self.modules():
            if isinstance(module, Linear):
                module.prepare(rounded=rounded)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The states of all pieces; `mask` is False after the end of a text."""
        rows = self.embeddings["word_embeddings"](ids)
        if self.rounded:
            rows = rounded_rows(rows, WORD_LEVELS)
        rows = rows + self.embeddings["position_embeddings"].weight[: ids.shape[1]]
        rows = rows + self.embeddings["token_type_embeddings"].weight[0]
        states = self.embeddings["LayerNorm"](rows)
        for layer in self.encoder["layer"]:
            states = layer(states, mask, rounded=self.rounded)
        return states


def shape_of(state: Mapping[str, Tensor]) -> Shape:
    words, dims = state[WORDS].shape
    inner = state["encoder.layer.0.intermediate.dense.weight"].shape[0]
    return Shape(words, layer_count(state), dims, inner)


def encoder_of(state: Mapping[str, Tensor]) -> Encoder:
    encoder = Encoder(shape_of(state))
    encoder.load_state_dict(state)
    return encoder


def state_of(encoder: Encoder) -> dict[str, Tensor]:
    return {name: value.detach() for name, value in encoder.state_dict().items()}


def text_vectors(states: Tensor) -> Tensor:
    """The unit state of [CLS]."""
    return functional.normalize(states[:, 0].float(), dim=-1)


def window_vectors(states: Tensor, owners: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """The unit mean of the states `starts[i]` to `ends[i]` (exclusive) of text `owners[i]`."""
    sums = functional.pad(states.float().cumsum(1), (0, 0, 1, 0))
    return functional.normalize(sums[owners, ends] - sums[owners, starts], dim=-1)
