"""The vectors of a large index once more, as 16-bit numbers in rows of their own.

A row of `vectors` has 3 kB: the vector, and those of its windows. To compare a question with a
hundred thousand of them the server reads 300 MB. A row of `half_vectors` has a fourth of that. The
answer is the same, because rounding has a bound: every chunk that can be among the nearest is read
and compared exactly.

`generations.half_commits` is the number of the commit up to which the copy is complete. A version
that does not know the copy adds one to `commits` alone: then a search reads the exact vectors, and
the next writer makes the copy again. So old and new versions can write the same index.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from notewell.index.postgres.vectors import vector_text
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.index.postgres.generations import GenerationRows
    from notewell.ports import Vectors

LARGE_MEMORY = 2048
"""Chunks with a vector. Below it, a scan of the exact vectors takes the server a few milliseconds,
and a copy would only cost room."""
_SPARE = 64
"""How many more than the wanted ones are asked for at first: for most questions these are enough,
and a row has 12 bytes."""


class RoundedDistance(NamedTuple):
    """A chunk and its distance from a question by half precision: the inner product, negated as
    pgvector has it."""

    id: int
    distance: float


def nearest_candidates(
    rows: GenerationRows, vector: Vectors, sources: Sequence[str], k: int
) -> list[int]:
    """The k nearest chunks, and every other one that rounding may have put behind them."""
    most, error = 2 * k + _SPARE, rounding_error(vector)
    text = vector_text(vector)
    near = _selected(rows, text, sources, "ORDER BY distance LIMIT %s", most)
    limit = farthest_candidate(near, k, error)
    if len(near) == most and near[-1].distance <= limit:
        near = _selected(rows, text, sources, "AND vector <#> %s::halfvec <= %s", text, limit)
    return [one.id for one in near if one.distance <= limit]


def farthest_candidate(near: Sequence[RoundedDistance], k: int, error: float) -> float:
    """The distance by half precision that no chunk among the k nearest can exceed. `near` are
    the nearest by half precision, in order."""
    if len(near) < k:
        return math.inf
    # k chunks are exactly as near as this plus the error; who is among them is as near, too, and
    # its own distance is off by the error at most.
    return near[k - 1].distance + 2 * error


def rounding_error(vector: Vectors) -> float:
    """The most by which a distance by half precision is off. Vectors have length 1."""
    exact = vector.astype(np.float64)
    of_question = float(np.linalg.norm(exact - vector.astype(np.float16)))
    # A 16-bit number has 11 bits; below 2^-14 it has fewer, and is off by 2^-25 at most.
    of_chunk = 2.0**-11 + math.sqrt(vector.size) * 2.0**-25
    of_sum = vector.size * 2.0**-24  # The server adds in 32 bits.
    return 1.001 * (of_question + of_chunk + of_sum)  # Lengths are 1 up to rounding, too.


def _selected(
    rows: GenerationRows, text: str, sources: Sequence[str], condition: str, *values: object
) -> list[RoundedDistance]:
    found = rows.select(
        "SELECT id, vector <#> %s::halfvec AS distance FROM notewell.half_vectors "  # noqa: S608
        f"WHERE {{own}} AND source = ANY(%s) {condition}",
        (text, list(sources), *values),
    )
    return [RoundedDistance(*row) for row in found]


# -- writing -------------------------------------------------------------------------------------


def copy_halves(rows: GenerationRows, ids: Sequence[int] | None) -> None:
    """Of these chunks, or of all: then what is there is replaced."""
    if ids is None:
        rows.execute("DELETE FROM notewell.half_vectors WHERE {own}")
    rows.execute(
        "INSERT INTO notewell.half_vectors (tenant, agent, generation, id, source, vector) "
        "SELECT tenant, agent, generation, id, source, vector::halfvec FROM notewell.vectors "
        "WHERE {own} AND (%s::bigint[] IS NULL OR id = ANY(%s))",
        (*[None if ids is None else list(ids)] * 2,),
    )


def remove_halves(rows: GenerationRows, ids: Sequence[int]) -> None:
    rows.execute("DELETE FROM notewell.half_vectors WHERE {own} AND id = ANY(%s)", (ids,))


def count_wrong_halves(rows: GenerationRows) -> int:
    """How many are missing, too many, or not the vector of their chunk."""
    ((count,),) = rows.select(
        "SELECT count(*) FROM (SELECT id, source, vector::halfvec AS vector "
        "FROM notewell.vectors WHERE {own}) AS exact FULL JOIN "
        "(SELECT id, source, vector FROM notewell.half_vectors WHERE {own}) AS half USING (id) "
        "WHERE exact.source IS DISTINCT FROM half.source "
        "OR exact.vector IS DISTINCT FROM half.vector"
    )
    return int(count)
