"""No vector leaves this room unless it is one: right count, right length, finite, not zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders.provider import NotRows

if TYPE_CHECKING:
    from notewell.embedders.provider import Rows
    from notewell.ports import Vectors

LEAST_LENGTH = 1e-6
"""A vector shorter than this points nowhere: what is left of it is rounding."""


def unit_vectors(rows: Rows, count: int, dims: int | None) -> Vectors:
    """The rows as float32 of length 1; raises `NotRows`. `dims` None takes what the first has."""
    import numpy as np

    if len(rows) != count:
        raise NotRows(f"{len(rows)} vectors for {count} texts")
    try:
        # In float64: the squares of a large float32 do not fit into one.
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NotRows("vectors that are not rows of numbers, all of one length") from None
    if table.ndim != 2 or table.shape[1] == 0:
        raise NotRows("vectors that are not rows of numbers")
    if dims is not None and table.shape[1] != dims:
        raise NotRows(f"vectors of {table.shape[1]} dimensions, not {dims}")
    if not np.isfinite(table).all():
        raise NotRows("a vector with a number that is not finite")
    # Scaled first, so that not even the squares of huge numbers overflow.
    largest = np.abs(table).max(axis=1, keepdims=True)
    if (largest < LEAST_LENGTH / np.sqrt(table.shape[1])).any():
        raise NotRows("a vector of zeros")
    table /= largest
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    return table.astype(np.float32)
