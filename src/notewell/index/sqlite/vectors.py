"""How vectors are stored in an SQLite index: the protocol of a driver.

A driver stores one vector a chunk, in the same transaction as the chunk itself:

    segments     plain tables and numpy; nothing to install; the default
    sqlite-vec   the vec0 table of the sqlite-vec extension, for those who already use it

Both refuse vectors that would spoil every later answer (`unit_rows`), and both store unit vectors,
so that a dot product is the cosine, whatever the embedder promised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from notewell.ports import Vectors


def exact_cosines(rows: NDArray[np.floating], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Rounded to nine digits."""
    import numpy as np

    # In float64 and row by row: a matrix product rounds differently depending on where a row is
    # stored, and the same index would then give different scores.
    products: NDArray[np.float64] = np.vecdot(
        rows.astype(np.float64, copy=False), query.astype(np.float64)
    )
    return products.round(9)


class VectorReader(Protocol):
    """Answers queries; one for each thread. It may keep data in memory between queries."""

    def nearest(
        self, db: apsw.Connection, query: NDArray[np.float32], sources: Sequence[str], k: int
    ) -> list[tuple[int, float]]:
        """(chunk id, cosine) of the `k` nearest chunks, best first, ties by id."""
        ...

    def cosines(
        self, db: apsw.Connection, query: NDArray[np.float32], ids: Sequence[int]
    ) -> dict[int, float]:
        """As `exact_cosines`; chunks without a vector are left out. Rows that the last query had
        are not read again."""
        ...

    @property
    def answered_by(self) -> str:
        """How the last answer was computed: `exact`, `bits` or `sqlite-vec`."""
        ...


class VectorDriver(Protocol):
    """Writes vectors; every method but `reader` runs inside the caller's transaction."""

    @property
    def name(self) -> str: ...

    def load_error(self) -> str | None:
        """Why this driver cannot work on this machine; None if it can."""
        ...

    def create(self, db: apsw.Connection, dims: int) -> None:
        """Create the tables of a new index."""
        ...

    def add(self, db: apsw.Connection, source: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Store one row for each id. An id that had a vector once must never be used again."""
        ...

    def remove(self, db: apsw.Connection, ids: Sequence[int]) -> None:
        """Remove the vectors of these chunks; ids without a vector are skipped."""
        ...

    def stored(self, db: apsw.Connection, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        """The ids that have a vector, ascending, and their vectors."""
        ...

    def settle(self, db: apsw.Connection) -> None:
        """Merge what a sync added; answers do not change."""
        ...

    def purge(self, db: apsw.Connection) -> None:
        """Remove what is left of removed vectors; answers do not change."""
        ...

    def count(self, db: apsw.Connection, sources: Sequence[str]) -> int: ...

    def reader(self) -> VectorReader: ...
