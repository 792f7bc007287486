"""A vector for a text that the model cannot read whole: the mean of the vectors of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import TextTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.ports import Vectors

LEAST_CHARS = 200
"""No model is too small for this; a shorter text was refused for another reason."""

DEEPEST = 4
"""Sixteen parts: a chunk needs two or four, and what needs more is no chunk."""


def embed_in_halves(
    text: str,
    refused: TextTooLarge,
    ask: Callable[[Sequence[str]], Vectors],
    depth: int = 1,
) -> Vectors:
    """One row for `text`; raises `refused` when smaller parts are refused as well."""
    import numpy as np

    halves = cut(text)
    if depth > DEEPEST or min(len(half) for half in halves) < LEAST_CHARS:
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
    if length < 1e-6:  # Opposite halves; the first one still says more than nothing.
        mean, length = rows[0], len(halves[0])
    whole: Vectors = np.asarray(mean / length, dtype=np.float32)
    return whole[None]


def cut(text: str) -> tuple[str, str]:
    """In two, at the white space nearest to the middle, or in the middle of a text without any."""
    middle = len(text) // 2
    for distance in range(middle):
        for at in (middle - distance, middle + distance):
            if at < len(text) and text[at].isspace():
                return text[:at], text[at:]
    return text[:middle], text[middle:]
