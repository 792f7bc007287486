"""The last check before a store keeps vectors: right size, finite, not zero, then length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import EmbedderFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.ports import Vectors


def unit_rows(vectors: NDArray[np.float32], dims: int) -> Vectors:
    """The same vectors with length 1. Raises `EmbedderFailed` for one that must not be stored.

    A NaN compares false with everything, so one of them would end up at the top or the bottom of
    every answer without an error. A zero vector has no cosine.
    """
    import numpy as np

    if vectors.ndim != 2 or vectors.shape[1] != dims:
        got = " x ".join(str(side) for side in vectors.shape)
        raise _refused(f"its vectors are {got}, but this index holds {dims} dimensions")
    lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0.0))
    if len(bad):
        kind = "zero" if lengths[bad[0]] == 0.0 else "not finite"
        raise _refused(f"vector {bad[0] + 1} of {len(vectors)} is {kind}")
    unit: Vectors = (vectors / lengths[:, None]).astype("<f4")
    return unit


def _refused(why: str) -> EmbedderFailed:
    # A store does not know the provider's name. The embedder's own check does and comes first, so
    # this message appears only if that check has a gap.
    return EmbedderFailed("configured", f"{why}; nothing was stored")
