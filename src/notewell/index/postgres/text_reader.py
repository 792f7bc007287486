"""Counts and ranks the words of a query, from the rows of `postings`.

The candidates are those of FTS5's `bm25` with the weights of the SQLite store, in the same order:
both stores hand the same chunks to `core`, which computes the scores.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from notewell.core import TextMatch, TextMatches, TextStats, least_gap
from notewell.index.postgres.postings import (
    BODY,
    FIELD_SHIFT,
    HEADING,
    LAST_POSITION,
    NAME,
    SLOT_SHIFT,
    SLOT_TYPE,
    SLOTS,
    SOURCES,
    bucket_of,
    unpack_slots,
    unpack_words,
)
from notewell.records import NamedTuple, dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from notewell.core import TextQuery
    from notewell.index.postgres.postings import SlotTable

FIELD_WEIGHTS = np.array([1.0, 0.6, 0.4])
"""Of body, heading and name, as in the SQLite store."""
K1, B = 1.2, 0.75  # The usual BM25 constants; FTS5 has the same.
LEAST_IDF = 1e-6  # Of a word that more than half of the chunks have; as in FTS5.


class _Places(NamedTuple):
    """Where a term is, in ascending order."""

    rows: NDArray[np.int64]
    """Numbers in the table of all chunks."""
    fields: NDArray[np.int64]
    positions: NDArray[np.int64]

    def chunks(self) -> int:
        """How many chunks have it."""
        return len(np.unique(self.rows))


_NOWHERE = _Places(*(np.empty(0, np.int64) for _ in range(3)))


@dataclass(slots=True)
class TextIndex:
    """What was read of the keyword index of one state."""

    table: SlotTable = field(default_factory=lambda: np.empty(0, SLOT_TYPE))
    """The slots of all blocks, one after the other; id 0 is a removed chunk."""
    starts: dict[int, int] = field(default_factory=dict)
    """Where each block begins in the table."""
    places: dict[str, _Places] = field(default_factory=dict)
    """By token. A token that no chunk has is kept, too: it need not be read again."""
    is_loaded: bool = False

    @property
    def chunks(self) -> int:
        return int(np.count_nonzero(self.table["id"]))


class TextReader:
    """Questions to a keyword index. `read` returns block, bucket and data of the rows of these
    buckets; what was read is kept in `index`."""

    def __init__(
        self, index: TextIndex, read: Callable[[list[int]], list[tuple[int, int, bytes]]]
    ) -> None:
        self._index = index
        self._read = read

    def having(self, terms: Sequence[str]) -> dict[str, int]:
        """The document frequency of each term; terms that no chunk contains are left out."""
        self._load(terms)
        counts = {term: self._index.places[term].chunks() for term in terms}
        return {term: count for term, count in counts.items() if count}

    def matching(
        self,
        query: TextQuery,
        sources: Sequence[str],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> tuple[TextMatches, TextStats]:
        if not query.terms or not sources:
            return TextMatches.of([]), TextStats(0, 0.0, ())
        forms = query.forms
        self._load(forms)
        found = self.having(forms)
        sums = [sum(found.get(form, 0) for form in group) for group in query.groups]
        groups = [[self._index.places[form] for form in group] for group in query.groups]
        rows = self._best(groups, sources, limit, among)
        if not len(rows):
            return TextMatches.of([]), TextStats(0, 0.0, tuple(sums))
        chunks = self._index.chunks
        table = self._index.table
        words = int(table["body"][table["id"] != 0].sum())
        stats = TextStats(chunks, words / chunks, tuple(min(chunks, one) for one in sums))
        matches = self._matches(rows, [_joined(group) for group in groups])
        return TextMatches.of(matches), stats

    # -- reading ---------------------------------------------------------------------------------

    def _load(self, tokens: Iterable[str]) -> None:
        index = self._index
        missing = {token for token in tokens if token not in index.places}
        buckets = {bucket_of(token) for token in missing}
        if not index.is_loaded:
            buckets.add(SLOTS)
        if not buckets:
            return
        rows = sorted(self._read(sorted(buckets)))
        if not index.is_loaded:
            _load_slots(index, [(block, data) for block, bucket, data in rows if bucket == SLOTS])
        parts: dict[str, list[_Places]] = {token: [] for token in missing}
        # Ascending by block, because the rows of the table are.
        for block, bucket, data in sorted(rows):
            if bucket != SLOTS:
                words = unpack_words(data)
                for token in missing & words.keys():
                    parts[token].append(_decoded(index, block, words[token]))
        index.places |= {token: _joined(found) for token, found in parts.items()}

    # -- ranking ---------------------------------------------------------------------------------

    def _best(
        self,
        groups: Sequence[Sequence[_Places]],
        sources: Sequence[str],
        limit: int,
        among: Sequence[int] | None,
    ) -> NDArray[np.int64]:
        """The rows of the candidates, best first, ties by id."""
        table, size = self._index.table, len(self._index.table)
        ids = table["id"].astype(np.int64)
        wanted = np.zeros(size, bool)
        for places in (one for group in groups for one in group):
            wanted[places.rows] = True
        wanted &= np.isin(table["source"], [SOURCES.index(one) for one in sources])
        if among is not None:
            wanted &= np.isin(ids, list(among))
        rows = np.flatnonzero(wanted)
        if not len(rows):
            return rows
        scores = self._bm25([one for group in groups for one in group])[rows]
        order = np.lexsort((ids[rows], -scores))[: max(0, limit)]
        best: NDArray[np.int64] = rows[order]
        return best

    def _bm25(self, forms: Sequence[_Places]) -> NDArray[np.float64]:
        """As FTS5 computes it, form by form, so that both stores have the same order."""
        table = self._index.table
        chunks = self._index.chunks
        mean = table["words"][table["id"] != 0].sum() / chunks
        norm = K1 * (1.0 - B + B * table["words"] / mean)
        scores = np.zeros(len(table))
        for places in forms:
            number = places.chunks()
            if not number:
                continue
            idf = math.log((chunks - number + 0.5) / (number + 0.5))
            counts = np.bincount(places.rows, FIELD_WEIGHTS[places.fields], len(table))
            scores += max(LEAST_IDF, idf) * (counts * (K1 + 1.0)) / (counts + norm)
        return scores

    def _matches(self, rows: NDArray[np.int64], terms: Sequence[_Places]) -> list[TextMatch]:
        table, size = self._index.table, len(self._index.table)
        counts = [
            # For each field, how often the term is in each candidate.
            [
                np.bincount(places.rows[places.fields == one], minlength=size)[rows].tolist()
                for one in (BODY, HEADING, NAME)
            ]
            for places in terms
        ]
        bodies = [_by_row(places, rows) for places in terms]
        matches = []
        for number, (row, chunk_id, length) in enumerate(
            zip(
                rows.tolist(),
                table["id"][rows].tolist(),
                table["body"][rows].tolist(),
                strict=True,
            )
        ):
            body, heading, name = (
                tuple(of_term[one][number] for of_term in counts) for one in (BODY, HEADING, NAME)
            )
            gaps = tuple(
                least_gap(one[row], other[row]) if row in one and row in other else 0
                for one, other in pairwise(bodies)
            )
            matches.append(TextMatch(chunk_id, body, heading, name, length, gaps))
        return matches


def _load_slots(index: TextIndex, blocks: Sequence[tuple[int, bytes]]) -> None:
    tables, start = [], 0
    for block, data in blocks:
        tables.append(unpack_slots(data))
        index.starts[block] = start
        start += len(tables[-1])
    if tables:
        index.table = np.concatenate(tables)
    index.is_loaded = True


def _decoded(index: TextIndex, block: int, places: NDArray[np.uint32]) -> _Places:
    """Without the places in removed chunks."""
    numbers = places.astype(np.int64)
    rows = (numbers >> SLOT_SHIFT) + index.starts[block]
    used = index.table["id"][rows] != 0
    fields = (numbers >> FIELD_SHIFT) & 3
    return _Places(rows[used], fields[used], (numbers & LAST_POSITION)[used])


def _joined(parts: Sequence[_Places]) -> _Places:
    """The places of a term and its variants, ascending."""
    parts = [one for one in parts if len(one.rows)]
    if len(parts) <= 1:
        return parts[0] if parts else _NOWHERE
    rows, fields, positions = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((positions, fields, rows))
    return _Places(rows[order], fields[order], positions[order])


def _by_row(places: _Places, rows: NDArray[np.int64]) -> Mapping[int, list[int]]:
    """The positions in the body, for those of these rows that have any."""
    in_body = places.fields == BODY
    own, positions = places.rows[in_body], places.positions[in_body]
    starts, ends = np.searchsorted(own, rows), np.searchsorted(own, rows, side="right")
    return {
        row: positions[start:end].tolist()
        for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)
        if end > start
    }
