"""Where the words of a question stand, read once and kept: for words that few chunks have.

FTS5 reads its lists again for every question. In a small memory, and for rare words in a large
one, they are short: they are kept until somebody commits, and counting means to look into them.

    stori ─▶ Posting: chunk 7 at words 3 and 41, chunk 12 at word 9; in the heading of chunk 12
"""

from __future__ import annotations

from array import array
from itertools import count, pairwise
from math import log
from typing import TYPE_CHECKING, Any

import apsw

from notewell.core import TextMatch, least_gap
from notewell.index.sqlite.connect import select
from notewell.index.sqlite.full_text import Totals
from notewell.last_values import LastValues
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from notewell.core import TextQuery

MOST_PLACES = 512
"""If the words of a question have more chunks, FTS5 is quicker."""
KEPT_SIZES = 4096
KEPT_PLACES = 100_000
"""Some 15 MB, in all memories of a process."""

PLACES_TABLE = """
CREATE VIRTUAL TABLE temp.chunks_places USING fts5vocab (main, chunks_fts, instance);
"""
"""Each place of each word. It belongs to a connection: the file of an older index has none."""
_AVERAGES = 1
"""The row of `chunks_fts_data` with the number of rows and words (FTS5's averages record)."""

_K1, _B = 1.2, 0.75
_HEADING_WEIGHT, _NAME_WEIGHT = 0.6, 0.4
"""FTS5's bm25, with the weights of `full_text.RANK`."""


class Posting(NamedTuple):
    """The chunks that have one form of a word."""

    body: Mapping[int, Sequence[int]]
    """Where it stands, in words; ascending."""
    heading: Mapping[int, int]
    """How often."""
    name: Mapping[int, int]


class Sizes(NamedTuple):
    """The number of words of a chunk."""

    body: int
    all_fields: int


class PostingReader:
    """Of one state of an index. What it has read is dropped when somebody commits."""

    _states = count()
    _kept = LastValues[Posting](KEPT_PLACES)

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._state = next(self._states)
        self._sizes: dict[int, Sizes] = {}
        self._totals: Totals | None = None

    def posting(self, form: str, chunks: int) -> Posting:
        """`chunks` is how many have it."""
        if not chunks:
            return _NOWHERE
        key = (self._state, form)
        return self._kept.get(key, chunks, lambda: _read_posting(self._db, form))

    def sizes(self, ids: Iterable[int]) -> dict[int, Sizes]:
        if len(self._sizes) > KEPT_SIZES:
            self._sizes.clear()
        known = self._sizes
        missing = [chunk_id for chunk_id in ids if chunk_id not in known]
        if missing:
            rows = select(
                self._db,
                "SELECT id, sz FROM carray(?) CROSS JOIN chunks_fts_docsize ON id = value",
                (apsw.carray(array("q", sorted(missing))),),
            )
            if len(rows) < len(missing):  # FTS5 would say the same.
                raise apsw.CorruptError("chunks_fts_docsize lacks rows of the index")
            for chunk_id, packed in rows:
                fields = _varints(packed)
                known[chunk_id] = Sizes(fields[1], sum(fields))
        return known

    def totals(self) -> Totals:
        if self._totals is None:
            sql = "SELECT block FROM chunks_fts_data WHERE id = ?"
            rows = select(self._db, sql, (_AVERAGES,))
            chunks, *fields = _varints(rows[0][0]) if rows else (0,)
            if not chunks or len(fields) < 2:
                raise apsw.CorruptError("chunks_fts_data has no averages")
            self._totals = Totals(chunks, fields[1], sum(fields))
        return self._totals


_NOWHERE = Posting({}, {}, {})


def _read_posting(db: apsw.Connection, form: str) -> Posting:
    body: dict[int, list[int]] = {}
    fields: dict[str, dict[int, int]] = {"heading": {}, "name": {}}
    sql = "SELECT doc, col, offset FROM temp.chunks_places WHERE term = ?"
    for chunk_id, column, place in select(db, sql, (form,)):
        if column == "body":
            body.setdefault(chunk_id, []).append(place)
        elif column != "source":  # Which only filters.
            chunks = fields[column]
            chunks[chunk_id] = chunks.get(chunk_id, 0) + 1
    return Posting(body, fields["heading"], fields["name"])


def _varints(packed: bytes) -> list[int]:
    """SQLite's integers of variable length: seven bits a byte, the high ones first."""
    numbers, number = [], 0
    for byte in packed:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    return numbers


# -- from postings to matches --------------------------------------------------------------------


def best_chunks(
    postings: Mapping[str, Posting], having: Mapping[str, int], reader: PostingReader
) -> list[int]:
    """In the order of FTS5's own bm25: the same arithmetic, so that the same chunks are chosen."""
    ids = set[int]()
    for posting in postings.values():
        ids.update(posting.body, posting.heading, posting.name)
    if not ids:
        return []
    totals, sizes = reader.totals(), reader.sizes(ids)
    mean = totals.words / totals.chunks
    saturation = {one: _K1 * (1 - _B + _B * sizes[one].all_fields / mean) for one in ids}
    scores = dict.fromkeys(ids, 0.0)
    for form, posting in postings.items():
        number = having.get(form, 0)
        idf = log((totals.chunks - number + 0.5) / (number + 0.5))
        idf = idf if idf > 0 else 1e-6
        for chunk_id, frequency in _frequencies(posting).items():
            share = frequency * (_K1 + 1.0) / (frequency + saturation[chunk_id])
            scores[chunk_id] += idf * share
    # Of equal ones the older chunk, as FTS5 sorts them.
    ranked = sorted([(-score, chunk_id) for chunk_id, score in scores.items()])
    return [chunk_id for _, chunk_id in ranked]


def _frequencies(posting: Posting) -> dict[int, float]:
    frequencies = {chunk_id: float(len(places)) for chunk_id, places in posting.body.items()}
    for counts, weight in ((posting.heading, _HEADING_WEIGHT), (posting.name, _NAME_WEIGHT)):
        for chunk_id, times in counts.items():
            for _ in range(times):  # Not multiplied: FTS5 adds one by one.
                frequencies[chunk_id] = frequencies.get(chunk_id, 0.0) + weight
    return frequencies


def as_matches(
    query: TextQuery, postings: Mapping[str, Posting], ids: Iterable[int], reader: PostingReader
) -> list[TextMatch]:
    """The same counts as a `TermCounter` makes while FTS5 ranks."""
    terms = [_joined([postings[form] for form in group]) for group in query.groups]
    nowhere, no_gaps = (0,) * len(terms), (0,) * (len(terms) - 1)
    bodies = _rows([term.body for term in terms], len)
    headings = _rows([term.heading for term in terms], int)
    names = _rows([term.name for term in terms], int)
    gaps = _gaps([term.body for term in terms])
    sizes = reader.sizes(ids)
    return [
        TextMatch(
            chunk_id,
            bodies.get(chunk_id, nowhere),
            headings.get(chunk_id, nowhere),
            names.get(chunk_id, nowhere),
            sizes[chunk_id].body,
            gaps.get(chunk_id, no_gaps),
        )
        for chunk_id in ids
    ]


def _joined(forms: Sequence[Posting]) -> Posting:
    """A term and its variants are one."""
    first, *others = forms
    if not any(other is not _NOWHERE for other in others):
        return first
    body = {chunk_id: list(places) for chunk_id, places in first.body.items()}
    heading, name = dict(first.heading), dict(first.name)
    for other in others:
        for chunk_id, places in other.body.items():
            body[chunk_id] = sorted([*body.get(chunk_id, ()), *places])
        for counts, more in ((heading, other.heading), (name, other.name)):
            for chunk_id, number in more.items():
                counts[chunk_id] = counts.get(chunk_id, 0) + number
    return Posting(body, heading, name)


def _rows(
    terms: Sequence[Mapping[int, Any]], number_of: Callable[[Any], int]
) -> dict[int, tuple[int, ...]]:
    """By chunk, a number for each term."""
    rows: dict[int, list[int]] = {}
    for at, chunks in enumerate(terms):
        for chunk_id, value in chunks.items():
            row = rows.get(chunk_id)
            if row is None:
                rows[chunk_id] = row = [0] * len(terms)
            row[at] = number_of(value)
    return {chunk_id: tuple(row) for chunk_id, row in rows.items()}


def _gaps(terms: Sequence[Mapping[int, Sequence[int]]]) -> dict[int, tuple[int, ...]]:
    gaps: dict[int, list[int]] = {}
    for at, (one, other) in enumerate(pairwise(terms)):
        for chunk_id in one.keys() & other.keys():
            row = gaps.setdefault(chunk_id, [0] * (len(terms) - 1))
            row[at] = least_gap(one[chunk_id], other[chunk_id])
    return {chunk_id: tuple(row) for chunk_id, row in gaps.items()}
