"""Checks on vectors. No vector leaves this package unless it is usable: the right count and
length, finite, not zero, normalised. A text that a model cannot read whole gets the mean of the
vectors of its parts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from notewell.errors import EmbedderFailed, TextTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.ports import Vectors

Rows: TypeAlias = "Sequence[Any]"
"""One row of numbers for each text, in the order of the texts; not yet checked."""

MIN_LENGTH = 1e-6
"""A shorter vector has no direction: what is left of it is rounding error."""

LENGTH_TOLERANCE = 1e-2
"""How far from 1 the length of a stored vector may be: rounding errors are far smaller, and
damage is seldom this small."""


class NotRows(Exception):
    """These are not usable rows; the message says what is wrong with them."""


def unit_vectors(rows: Rows, count: int, dims: int | None) -> Vectors:
    """The rows as float32 of length 1; raises `NotRows`. `dims` None takes the first row's."""
    import numpy as np

    if len(rows) != count:
        raise NotRows(f"{len(rows)} vectors for {count} texts")
    try:
        # In float64: the squares of large float32 numbers overflow float32.
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NotRows("vectors that are not rows of numbers, all of one length") from None
    if table.ndim != 2 or table.shape[1] == 0:
        raise NotRows("vectors that are not rows of numbers")
    if dims is not None and table.shape[1] != dims:
        raise NotRows(f"vectors of {table.shape[1]} dimensions, not {dims}")
    if not np.isfinite(table).all():
        raise NotRows("a vector with a number that is not finite")
    # Scaled by the largest number first, so that the squares of huge numbers do not overflow.
    largest = np.abs(table).max(axis=1, keepdims=True)
    if (largest < MIN_LENGTH / np.sqrt(table.shape[1])).any():
        raise NotRows("a vector of zeros")
    table /= largest
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    return table.astype(np.float32)


def unit_vector(row: Vectors, provider: str) -> Vectors:
    """Length 1, so that a dot product is the cosine; raises for a row without a direction."""
    import numpy as np

    length = float(np.linalg.norm(row.astype(np.float64)))
    if not math.isfinite(length) or length < MIN_LENGTH:
        raise EmbedderFailed(provider, f"the model gave a vector of length {length}")
    return (row / length).astype(np.float32)


def is_sound(vector: Vectors, dims: int) -> bool:
    """Whether a stored vector can be used; a cache may be damaged or edited.

    `dims` 0: the length is unknown, and every length is accepted. The cache was opened for one
    model, so all of its vectors have the same length.
    """
    import numpy as np

    if vector.ndim != 1 or (dims and vector.size != dims) or not np.isfinite(vector).all():
        return False
    # In float64, because the squares of a damaged vector may overflow float32.
    return abs(float(np.linalg.norm(vector.astype(np.float64))) - 1.0) <= LENGTH_TOLERANCE


# -- texts that are too long ---------------------------------------------------------------------

MIN_PART_CHARS = 200
"""Every model reads this much. A shorter text was refused for another reason."""

MAX_SPLIT_DEPTH = 4
"""Sixteen parts. A chunk needs two or four; a text that needs more is no chunk of ours."""


def embed_in_halves(
    text: str,
    refused: TextTooLarge,
    ask: Callable[[Sequence[str]], Vectors],
    depth: int = 1,
) -> Vectors:
    """One row for `text`: the mean of its halves, weighted by their length.

    Raises `refused`, the first error, if the model refuses smaller parts as well.
    """
    import numpy as np

    halves = split_in_half(text)
    if depth > MAX_SPLIT_DEPTH or min(len(half) for half in halves) < MIN_PART_CHARS:
        raise refused
    rows: list[Vectors] = []
    for half in halves:
        try:
            row = ask([half])
        except TextTooLarge:
            row = embed_in_halves(half, refused, ask, depth + 1)
        rows.append(row[0] * len(half))
    mean = np.sum(rows, axis=0)
    length = float(np.linalg.norm(mean))
    if length < MIN_LENGTH:  # Opposite halves cancel out; the first one is better than nothing.
        mean, length = rows[0], len(halves[0])
    unit: Vectors = np.asarray(mean / length, dtype=np.float32)
    return unit[None]


def split_in_half(text: str) -> tuple[str, str]:
    """At the white space nearest to the middle, or in the middle if there is none."""
    middle = len(text) // 2
    for distance in range(middle):
        for at in (middle - distance, middle + distance):
            if at < len(text) and text[at].isspace():
                return text[:at], text[at:]
    return text[:middle], text[middle:]
