"""Where common words stand, as arrays: for a process that has loaded numpy and was asked before.

FTS5 reads the size of each chunk that has a word, for every question. A list of a thousand chunks,
once read, is added to the others in a few microseconds. `postings` does the same without numpy,
for short lists.

The arithmetic is that of `postings`, term by term, so the same chunks are chosen.
"""

from __future__ import annotations

from array import array
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from notewell.core import TermCounts, TextMatches, least_gap
from notewell.index.sqlite.postings import (
    HEADING_WEIGHT,
    K1,
    LEAST_IDF,
    NAME_WEIGHT,
    B,
    select_places,
    sizes_in,
)
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw
    from numpy.typing import NDArray

    from notewell.core import TextQuery
    from notewell.index.sqlite.full_text import Totals

    Ids: TypeAlias = NDArray[np.int64]
    Counts: TypeAlias = NDArray[np.int32]

_FIELDS = {"body": 0, "heading": 1, "name": 2}


class PostingArrays(NamedTuple):
    """The chunks that have one form of a word, ascending, a row for each."""

    ids: Ids
    parts: NDArray[np.float64]
    """What it adds to FTS5's rank."""
    fields: tuple[Counts, Counts, Counts]
    """How often it stands in body, heading and name."""
    lengths: Counts
    """The words of the body."""
    starts: Counts
    """Of each row, and the end of the last one, in `places`."""
    places: Counts
    """Where it stands in the body, in words; ascending in each row."""

    def places_of(self, row: int) -> list[int]:
        places: list[int] = self.places[self.starts[row] : self.starts[row + 1]].tolist()
        return places


_NOWHERE = PostingArrays(
    np.empty(0, np.int64),
    np.empty(0),
    (np.empty(0, np.int32),) * 3,
    np.empty(0, np.int32),
    np.zeros(1, np.int32),
    np.empty(0, np.int32),
)


def read_posting(db: apsw.Connection, form: str, totals: Totals) -> PostingArrays:
    """Of a form that the index has. Only what filters may have it, and then there are no rows."""
    found = [row for row in select_places(db, form) if row[1] in _FIELDS]
    if not found:
        return _NOWHERE
    docs, columns, offsets = zip(*found, strict=True)
    fields = np.array([_FIELDS[column] for column in columns], np.int8)
    ids, rows = np.unique(np.array(docs, np.int64), return_inverse=True)
    counts = [np.bincount(rows[fields == one], minlength=len(ids)) for one in range(3)]
    lengths, words = _sizes(db, ids)
    in_body = np.flatnonzero(fields == _FIELDS["body"])
    places = np.array(offsets, np.int32)[in_body]
    return PostingArrays(
        ids,
        _rank_parts(counts, words, totals),
        (_small(counts[0]), _small(counts[1]), _small(counts[2])),
        lengths,
        _small(np.concatenate([[0], np.cumsum(counts[0])])),
        places[np.lexsort((places, rows[in_body]))],
    )


def _small(numbers: NDArray[np.int64]) -> Counts:
    return numbers.astype(np.int32)


def _sizes(db: apsw.Connection, ids: Ids) -> tuple[Counts, Counts]:
    """Of each chunk: the words of its body, and of all fields."""
    sizes = sizes_in(db, array("q", ids.tobytes()))
    body, words = zip(*sizes.values(), strict=True)
    return np.array(body, np.int32), np.array(words, np.int32)


def _rank_parts(
    counts: Sequence[NDArray[np.int64]], words: Counts, totals: Totals
) -> NDArray[np.float64]:
    body, heading, name = counts
    frequencies = body.astype(np.float64)
    for field, weight in ((heading, HEADING_WEIGHT), (name, NAME_WEIGHT)):
        for times in range(int(field.max(initial=0))):  # Not multiplied: FTS5 adds one by one.
            frequencies[field > times] += weight
    number, mean = len(body), totals.words / totals.chunks
    idf = log((totals.chunks - number + 0.5) / (number + 0.5))
    idf = idf if idf > 0 else LEAST_IDF
    saturation = K1 * (1 - B + B * words.astype(np.float64) / mean)
    parts: NDArray[np.float64] = idf * (frequencies * (K1 + 1.0) / (frequencies + saturation))
    return parts


# -- from arrays to matches ----------------------------------------------------------------------


def matches_in(query: TextQuery, postings: Mapping[str, PostingArrays], limit: int) -> TextMatches:
    """As a `TermCounter` counts. `postings` are those of the forms that the index has, at least
    one, in the order of the query."""
    best = _best(list(postings.values()), limit)
    chosen = np.sort(best)
    terms = [
        _Term([postings[form] for form in group if form in postings], chosen)
        for group in query.groups
    ]
    lengths: dict[int, int] = {}
    for term in terms:
        lengths |= term.lengths
    gaps = [
        {
            chunk_id: least_gap(one.places_of(chunk_id), other.places_of(chunk_id))
            for chunk_id in one.counts.body.keys() & other.counts.body.keys()
        }
        for one, other in pairwise(terms)
    ]
    return TextMatches(best.tolist(), lengths, [term.counts for term in terms], gaps)


def _best(postings: Sequence[PostingArrays], limit: int) -> Ids:
    """The chunks with the highest sums, best first; of equal ones the older chunk, as FTS5 sorts
    them."""
    ids, rows = np.unique(np.concatenate([one.ids for one in postings]), return_inverse=True)
    # In the order of the terms, which the last digit of a sum depends on.
    scores = np.bincount(rows, np.concatenate([one.parts for one in postings]))
    if limit < len(scores):
        cut = len(scores) - limit
        near = np.flatnonzero(scores >= np.partition(scores, cut)[cut])
        ids, scores = ids[near], scores[near]
    best: Ids = ids[np.lexsort((ids, -scores))[:limit]]
    return best


class _Term:
    """One term in the chunks that were chosen: a term and its variants are one."""

    def __init__(self, forms: Iterable[PostingArrays], chosen: Ids) -> None:
        self.counts = TermCounts({}, {}, {})
        self.lengths: dict[int, int] = {}
        self._rows: list[tuple[PostingArrays, dict[int, int]]] = []
        for form in forms:
            self._add(form, _rows_of(form.ids, chosen))

    def _add(self, form: PostingArrays, rows: NDArray[np.intp]) -> None:
        ids: list[int] = form.ids[rows].tolist()
        self._rows.append((form, dict(zip(ids, rows.tolist(), strict=True))))
        self.lengths |= zip(ids, form.lengths[rows].tolist(), strict=True)
        for field, counts in zip(form.fields, self.counts, strict=True):
            for chunk_id, count in zip(ids, field[rows].tolist(), strict=True):
                if count:
                    counts[chunk_id] = counts.get(chunk_id, 0) + count

    def places_of(self, chunk_id: int) -> list[int]:
        """In the body."""
        found = [
            place
            for form, rows in self._rows
            if chunk_id in rows
            for place in form.places_of(rows[chunk_id])
        ]
        return sorted(found) if len(self._rows) > 1 else found


def _rows_of(ids: Ids, chosen: Ids) -> NDArray[np.intp]:
    """Where those of the chosen ones are that `ids` has; both ascend."""
    rows = np.minimum(np.searchsorted(ids, chosen), len(ids) - 1)
    found: NDArray[np.intp] = rows[ids[rows] == chosen]
    return found
