"""What the network, the file of its weights and the exported graph must agree on.

Only numpy is imported here: the export needs no PyTorch, and the training no ONNX.
`graph.py` describes the rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
State: TypeAlias = Mapping[str, Floats]
"""Parameters by BERT's names; matrices are [out, in]."""

WORDS = "embeddings.word_embeddings.weight"

HEADS = 12
POSITIONS = 512
EPSILON = 1e-12
"""Of every LayerNorm."""

WEIGHT_LEVELS = 64
WORD_LEVELS = 127


class Rounded(NamedTuple):
    levels: NDArray[np.int8]
    scales: Floats
    """One for each row."""


def rounded(matrix: Floats, levels: int) -> Rounded:
    """Each row on its own symmetric scale, `-levels..levels`. A row of zeros stays zeros."""
    highest = np.abs(matrix).max(axis=1)
    scales = np.where(highest > 0, highest / levels, 1).astype(np.float32)
    return Rounded(np.rint(matrix / scales[:, None]).astype(np.int8), scales)


def layer_count(names: Mapping[str, object]) -> int:
    return 1 + max(int(name.split(".")[2]) for name in names if name.startswith("encoder.layer."))
