"""The vectors of a chunk's windows in a quarter of their bytes: as they are cached and stored.

    version, one byte │ int8, one a dimension │ the next window │ …

A row is scaled so that its largest number becomes 127. The scale is not kept: a cosine needs the
direction only, and the error is below .002. Packing what was unpacked would change it, so that a
store and a cache hand these bytes on as they are.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.ports import Vectors

VERSION = 1
"""Changes with the spans of `core.find_windows`: windows of other spans must not be taken over
from an older index or a cache."""
LARGEST = 127


def pack_windows(vectors: Sequence[Vectors]) -> bytes:
    """One vector for each window, not zero; nothing for none."""
    import numpy as np

    if not len(vectors):
        return b""
    rows = np.stack(vectors)
    scale = np.abs(rows).max(axis=1, keepdims=True) / LARGEST
    codes: bytes = np.rint(rows / scale).astype(np.int8).tobytes()
    return bytes([VERSION]) + codes


def has_windows(packed: bytes, count: int, dims: int) -> bool:
    """Whether these are the packed vectors of so many windows."""
    if not count:
        return not packed
    return len(packed) == 1 + count * dims and packed[0] == VERSION


def window_cosines(vector: Vectors, packed: Mapping[int, bytes]) -> dict[int, tuple[float, ...]]:
    """The cosine of each window, by the id of the chunk; rounded to nine digits."""
    return WindowTable(packed, len(vector)).cosines(vector, packed) if packed else {}


class WindowTable:
    """The windows of some chunks, unpacked."""

    def __init__(self, packed: Mapping[int, bytes], dims: int) -> None:
        import numpy as np

        counts = [len(blob) // dims for blob in packed.values()]
        joined = b"".join([blob[1:] for blob in packed.values()])
        self._codes = np.frombuffer(joined, np.int8).reshape(-1, dims).astype(np.float64)
        self._lengths = np.sqrt(np.vecdot(self._codes, self._codes))
        ends = list(accumulate(counts))
        self._places = dict(zip(packed, zip([0, *ends], ends, strict=False), strict=True))

    def cosines(self, vector: Vectors, ids: Iterable[int]) -> dict[int, tuple[float, ...]]:
        """Of these chunks; those without windows are left out."""
        import numpy as np

        # In float64 and row by row: a matrix product rounds differently depending on where a row
        # is.
        products = np.vecdot(self._codes, vector.astype(np.float64))
        lengths = self._lengths
        cosines = np.divide(products, lengths, where=lengths > 0, out=np.zeros_like(products))
        rows = cosines.round(9).tolist()
        place_of = self._places.get
        places = [(chunk_id, place) for chunk_id in ids if (place := place_of(chunk_id))]
        return {chunk_id: tuple(rows[start:end]) for chunk_id, (start, end) in places}
