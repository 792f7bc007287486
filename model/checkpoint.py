"""Weights in a file: matrices as integers with a scale for each row, as the export has them.

The student is trained with this rounding, so nothing is lost. The teacher is not: it is saved with
twice as many levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model.architecture import WEIGHT_LEVELS, WORD_LEVELS, WORDS, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from model.architecture import Floats, State

FLOATS = ("position_embeddings", "token_type_embeddings")
"""Matrices that stay as they are: they are small."""


def save(path: Path, state: State, *, levels: int = WEIGHT_LEVELS) -> None:
    """`levels` is for matrices; rows of words always have `WORD_LEVELS`."""
    arrays: dict[str, NDArray[np.float32] | NDArray[np.int8]] = {}
    for name, value in state.items():
        if value.ndim == 2 and not any(part in name for part in FLOATS):
            integers, scales = rounded(value, WORD_LEVELS if name == WORDS else levels)
            arrays[f"{name}|int8"], arrays[f"{name}|scale"] = integers, scales[:, None]
        else:
            arrays[name] = value.astype(np.float32)
    _write(path, arrays)


def _write(path: Path, arrays: Mapping[str, NDArray[np.float32] | NDArray[np.int8]]) -> None:
    """Replaces the file in one step: whoever copies it at any time gets a whole one."""
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    unfinished.replace(path)


def load(path: Path) -> dict[str, Floats]:
    state: dict[str, Floats] = {}
    with np.load(path) as arrays:
        for name in arrays.files:
            if name.endswith("|int8"):
                plain = name.removesuffix("|int8")
                state[plain] = arrays[name].astype(np.float32) * arrays[f"{plain}|scale"]
            elif not name.endswith("|scale"):
                state[name] = arrays[name].astype(np.float32)
    return state
