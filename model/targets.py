"""Vectors of many texts by a fixed model: what a student shall learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from model.network import Encoder, text_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.ragged import Batch, Ragged

TOKENS_AT_ONCE = 400_000


def states_of(encoder: Encoder, batch: Batch) -> Tensor:
    """In bfloat16 on a GPU."""
    device = batch.ids.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        return encoder(batch.ids, batch.mask)


@torch.no_grad()
def vectors_of(encoder: Encoder, texts: Ragged, limit: int, before: Sequence[int] = ()) -> Tensor:
    """The vectors of all texts, without gradients.

    Texts of similar length run together, so that little is filled up.
    """
    order = texts.lengths.argsort()
    lengths = texts.lengths[order].clamp_max(limit).tolist()
    vectors = torch.empty(len(texts), encoder_dims(encoder), device=texts.ids.device)
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end - start + 1) * (lengths[end] + 16) <= TOKENS_AT_ONCE:
            end += 1
        rows = order[start:end]
        found = text_vectors(states_of(encoder, texts.batch(rows, limit, before)))
        vectors[texts.send(rows)] = found
        start = end
    return vectors


def vectors_in_parts(
    encoder: Encoder,
    texts: Ragged,
    rows: Tensor,
    limit: int,
    before: Sequence[int] = (),
    parts: int = 2,
) -> Tensor:
    """The vectors of some texts, for training: the short ones run together, and the long ones."""
    order = texts.lengths[rows].argsort()
    vectors = [
        text_vectors(states_of(encoder, texts.batch(part, limit, before)))
        for part in rows[order].chunk(parts)
    ]
    return torch.cat(vectors)[texts.send(order.argsort())]


def encoder_dims(encoder: Encoder) -> int:
    dims: int = encoder.embeddings["LayerNorm"].weight.shape[0]
    return dims
