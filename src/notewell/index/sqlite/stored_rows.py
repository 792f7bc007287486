"""The vectors of chunks as the index stores them, and those that were read last.

To read a row takes a page of its own with a checksum, many times as long as to copy it. A question
compares some three hundred rows exactly, and the next one many of the same. They are kept until
somebody commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

import apsw
import numpy as np

from notewell.index.sqlite.connect import select

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from notewell.ports import Vectors

    Ids: TypeAlias = NDArray[np.int64]

KEPT_BYTES = 48_000_000
"""Of all readers of a process: the rows of 30 000 chunks with 384 dimensions."""


class StoredRows:
    """Of one reader."""

    def __init__(self) -> None:
        _readers.add(self)
        self._known: dict[int, bytes] = {}
        self._version = b""

    def fetched(
        self, db: apsw.Connection, ids: Ids, dims: int, version: bytes
    ) -> tuple[Ids, Vectors]:
        """As `fetched`; `version` is that of the vectors of the index."""
        if db.txn_state() == apsw.SQLITE_TXN_WRITE:  # A rollback would make them invalid.
            return fetched(db, ids, dims)
        if version != self._version:
            self._known.clear()
            self._version = version
        ascending = np.sort(ids)
        known, wanted = self._known, ascending.tolist()
        try:
            rows = b"".join([known[one] for one in wanted])
        except KeyError:
            missing = [one for one in wanted if one not in known]
        else:
            return ascending, np.frombuffer(rows, "<f4").reshape(-1, dims)
        if len(known) + len(missing) > KEPT_BYTES // len(_readers) // (4 * dims):
            known.clear()
            missing = wanted
        known |= _rows(db, np.array(missing, np.int64))
        found = [one for one in wanted if one in known]
        return _as_arrays(found, [known[one] for one in found], dims)


_readers: WeakSet[StoredRows] = WeakSet()
"""Of the process."""


def fetched(db: apsw.Connection, ids: Ids, dims: int) -> tuple[Ids, Vectors]:
    """The stored vectors of these chunks, ascending by id; unknown ids are left out."""
    rows = _rows(db, np.sort(ids))
    return _as_arrays([one for one, _ in rows], [vector for _, vector in rows], dims)


def _as_arrays(ids: list[int], vectors: list[bytes], dims: int) -> tuple[Ids, Vectors]:
    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(ids), dims)
    return np.array(ids, np.int64), rows


def _rows(db: apsw.Connection, ids: Ids) -> list[tuple[int, bytes]]:
    """`ids` ascend, so that neighbours are read from one page. Joined, because `IN` would first
    copy the ids into a temporary B-tree."""
    if not len(ids):  # carray does not accept an empty array.
        return []
    sql = "SELECT id, vector FROM carray(?) CROSS JOIN chunks_vec ON id = value"
    return select(db, sql, (apsw.carray(ids),))
