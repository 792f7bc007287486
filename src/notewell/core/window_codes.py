"""The vectors of a chunk's windows in a quarter of their bytes: as they are cached and stored.

    version, one byte │ int8, one a dimension │ the next window │ …

A row is scaled so that its largest number becomes 127. The scale is not kept: a cosine needs the
direction only, and the error is below .002. Packing what was unpacked would change it, so that a
store and a cache hand these bytes on as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class WindowCosines(Mapping[int, Sequence[float]]):
    """The cosine of each window, by the id of the chunk; chunks without windows are left out.
    Rounded to nine digits. Only those of the few chunks that become hits are read one by one."""

    def __init__(
        self, places: Mapping[int, tuple[int, int]], rows: Sequence[float], best: Sequence[float]
    ) -> None:
        """`places` is where the windows of a chunk are in `rows`."""
        self._places = places
        self._rows = rows
        self.best: Mapping[int, float] = dict(zip(places, best, strict=True))
        """That of the best window of each chunk."""

    def __getitem__(self, chunk_id: int) -> Sequence[float]:
        start, end = self._places[chunk_id]
        return self._rows[start:end]

    def windows_of(self, chunk_id: int) -> Sequence[float]:
        """In order; none for a chunk without windows."""
        start, end = self._places.get(chunk_id, (0, 0))
        return self._rows[start:end]

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


NO_WINDOWS = WindowCosines({}, (), ())


def window_cosines(vector: Vectors, packed: Mapping[int, bytes]) -> WindowCosines:
    return WindowTable(packed, len(vector)).cosines(vector) if packed else NO_WINDOWS


class WindowTable:
    """The windows of some chunks, unpacked."""

    def __init__(self, packed: Mapping[int, bytes], dims: int) -> None:
        import numpy as np

        packed = {one: blob for one, blob in packed.items() if len(blob) > dims}
        counts = [len(blob) // dims for blob in packed.values()]
        joined = b"".join([blob[1:] for blob in packed.values()])
        self._codes = np.frombuffer(joined, np.int8).reshape(-1, dims).astype(np.float64)
        lengths = np.sqrt(np.vecdot(self._codes, self._codes))
        # The cosine of a window of zeros is 0.
        self._lengths = np.where(lengths > 0, lengths, 1.0)
        ends = list(accumulate(counts))
        self._starts = [0, *ends[:-1]]
        self._places = dict(zip(packed, zip(self._starts, ends, strict=True), strict=True))
        self._last: tuple[Vectors, WindowCosines] | None = None

    def cosines(self, vector: Vectors) -> WindowCosines:
        if not self._places:
            return NO_WINDOWS
        # A search asks twice: about its candidates, and about the other chunks around the hits.
        last = self._last
        if last is None or last[0] is not vector:
            self._last = last = (vector, self._cosines(vector))
        return last[1]

    def _cosines(self, vector: Vectors) -> WindowCosines:
        import numpy as np

        # In float64 and row by row: a matrix product rounds differently depending on where a row
        # is.
        products = np.vecdot(self._codes, vector.astype(np.float64))
        rows = (products / self._lengths).round(9)
        best = np.maximum.reduceat(rows, self._starts).tolist()
        return WindowCosines(self._places, rows.tolist(), best)
