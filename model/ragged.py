"""Texts of different lengths as token ids, on the device that trains, and batches of them.

A file with prepared texts is an `.npz`. A column `x` of texts is two arrays in it:

    x.ids      the ids of all texts, one text after the other, without [CLS] and [SEP]
    x.lengths  how many each text has

A column with windows has two more: `x.heads`, how many of a text's ids are its heading, and
`x.windows`, rows of (text, first id, end).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

CLS, SEP = 101, 102
"""As in the vocabulary of the base model, which ours begins with."""

STEP = 8
"""Lengths are filled up to a multiple of this: matrices of such sizes are faster."""


class Batch(NamedTuple):
    ids: Tensor
    mask: Tensor
    """False where an id only fills up."""


class Ragged:
    """Texts of different lengths.

    The ids are on the device, the lengths are not: whoever makes batches needs them at once, and
    must not wait for the device.
    """

    def __init__(self, ids: Tensor, lengths: Tensor) -> None:
        self.ids = ids
        self.lengths = lengths
        self.starts = lengths.cumsum(0) - lengths

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], name: str, device: str) -> Ragged:
        ids = torch.from_numpy(arrays[f"{name}.ids"].astype(np.int32)).to(device)
        return cls(ids, torch.from_numpy(arrays[f"{name}.lengths"].astype(np.int64)))

    def __len__(self) -> int:
        return len(self.lengths)

    def send(self, rows: Tensor) -> Tensor:
        """To the device of the ids."""
        return rows.to(self.ids.device, non_blocking=True)

    def batch(self, rows: Tensor, limit: int, before: Sequence[int] = ()) -> Batch:
        """`[CLS] before text [SEP]` of each row; of a longer text, the first `limit` ids."""
        lengths = self.lengths[rows].clamp_max(limit)
        shift = 1 + len(before)
        width = -(-(int(lengths.max()) + shift + 1) // STEP) * STEP
        at = torch.arange(width, device=self.ids.device)[None]
        ends = self.send(lengths)[:, None] + shift
        places = (self.send(self.starts[rows])[:, None] + at - shift).clamp(0, len(self.ids) - 1)
        ids = torch.where((at >= shift) & (at < ends), self.ids[places].long(), 0)
        ids = torch.where(at == ends, SEP, ids)
        ids[:, 0] = CLS
        if before:
            ids[:, 1:shift] = self.send(torch.tensor(before))
        return Batch(ids, at <= ends)


def joined(sets: Sequence[Ragged]) -> Ragged:
    """The texts of all sets, one set after the other."""
    ids = torch.cat([texts.ids for texts in sets])
    return Ragged(ids, torch.cat([texts.lengths for texts in sets]))


class Windowed(NamedTuple):
    """Texts, which windows they have, and where those are."""

    texts: Ragged
    heads: Tensor
    owners: Tensor
    starts: Tensor
    ends: Tensor
    first: Tensor
    """Of each text, the number of its first window; one more than texts."""

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], name: str, device: str) -> Windowed:
        texts = Ragged.load(arrays, name, device)
        heads = torch.from_numpy(arrays[f"{name}.heads"].astype(np.int64))
        windows = torch.from_numpy(arrays[f"{name}.windows"].astype(np.int64))
        owners, starts, ends = windows.T.contiguous()
        edges = torch.arange(len(texts) + 1)
        return cls(texts, heads, owners, starts, ends, torch.searchsorted(owners, edges))

    def of(self, rows: Tensor, limit: int) -> tuple[Tensor, Tensor]:
        """The windows of these texts, and for each the place of its text in `rows`.

        Windows that end behind `limit` ids are left out.
        """
        counts = self.first[rows + 1] - self.first[rows]
        owners = torch.repeat_interleave(torch.arange(len(rows)), counts)
        offsets = torch.arange(len(owners)) - (counts.cumsum(0) - counts)[owners]
        windows = self.first[rows][owners] + offsets
        kept = self.ends[windows] <= limit
        return windows[kept], owners[kept]
