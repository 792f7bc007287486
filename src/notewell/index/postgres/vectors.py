"""Vectors and windows of chunks: their form in a row, and the nearest ones.

Vectors are float32, as in the SQLite store: the cosines are the same in both, to the last digit.
There is no approximate index: with a filter by agent it loses neighbours without a word. A scan of
the vectors of one agent is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from notewell.ports import WindowedVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.index.postgres.generations import GenerationRows
    from notewell.ports import Vectors

_HEADER = 4  # The number of dimensions, and two bytes that pgvector keeps free.


def vector_text(vector: Vectors) -> str:
    """As pgvector reads it; `repr` of a float32 gives every digit that counts."""
    return "[" + ",".join(map(repr, vector.astype(np.float64).tolist())) + "]"


def vector_of(data: bytes) -> Vectors:
    """From the binary form of pgvector, in which the most significant byte comes first."""
    vector: Vectors = np.frombuffer(data, ">f4", offset=_HEADER).astype("<f4")
    return vector


def read_vectors(rows: GenerationRows, ids: Sequence[int] | None) -> dict[int, WindowedVector]:
    """Of these chunks, or of all; ascending by id."""
    found = rows.select(
        "SELECT id, vector, windows FROM notewell.vectors WHERE {own} "
        "AND (%s::bigint[] IS NULL OR id = ANY(%s))",
        (*[None if ids is None else list(ids)] * 2,),
    )
    return {one: WindowedVector(vector_of(data), windows) for one, data, windows in sorted(found)}


def nearest_ids(
    rows: GenerationRows, vector: Vectors, sources: Sequence[str], k: int
) -> list[int]:
    """By a scan on the server. Vectors have length 1, so the inner product is the cosine."""
    found = rows.select(
        "SELECT id FROM notewell.vectors WHERE {own} AND source = ANY(%s) "
        "ORDER BY vector <#> %s::vector, id LIMIT %s",
        (list(sources), vector_text(vector), k),
    )
    return [one for (one,) in found]


def exact_cosines(
    vector: Vectors, known: Mapping[int, WindowedVector | None], ids: Sequence[int]
) -> dict[int, float]:
    """Ascending by id; chunks without a vector are left out."""
    rows = {one: known[one] for one in sorted(set(ids))}
    found = {one: row.vector for one, row in rows.items() if row is not None}
    if not found:
        return {}
    # In float64 and row by row: a matrix product rounds differently depending on where a row is.
    stacked = np.stack(list(found.values())).astype(np.float64)
    exact = np.vecdot(stacked, vector.astype(np.float64)).round(9)
    return dict(zip(found, exact.tolist(), strict=True))
