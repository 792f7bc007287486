"""Where the words of a question stand, read once and kept: for words that few chunks have.

FTS5 reads its lists again for every question. In a small memory, and for rare words in a large
one, they are short: they are kept until somebody commits, and counting means to look into them.

    stori ─▶ Posting: chunk 7 at words 3 and 41, chunk 12 at word 9; in the heading of chunk 12
"""

from __future__ import annotations

from array import array
from itertools import count, pairwise
from math import log
from typing import TYPE_CHECKING, ClassVar, cast

import apsw

from notewell.core import TermCounts, TextMatches, least_gap
from notewell.core.layout import Layout
from notewell.index.sqlite.connect import select
from notewell.index.sqlite.full_text import Totals
from notewell.last_values import LastValues
from notewell.records import NamedTuple
from notewell.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notewell.core import TextQuery
    from notewell.index.sqlite.posting_arrays import PostingArrays

MOST_PLACES = 512
"""If the words of a question have more chunks, FTS5 is quicker."""
SMALL_INDEX = 256
"""Chunks. To look at all of more takes longer than to look at those that a question finds."""
KEPT_SIZES = 4096
KEPT_PLACES = 60_000
"""Some 15 MB, in all memories of a process."""

LEAST_ROWS, MOST_ROWS = 128, 16_384
"""If the words of a question have so many chunks, arrays answer it: with fewer, dictionaries are
quicker, and to read more would delay the question that reads them."""
KEPT_ROWS = 400_000
"""Some 16 MB, in all memories of a process."""
ROWS_OF_A_WORD = 25
"""The arrays of a word that one chunk has take as many bytes as these rows."""
KEPT_ASKED = 4096

PLACES_TABLE = """
CREATE VIRTUAL TABLE temp.chunks_places USING fts5vocab (main, chunks_fts, instance);
"""
"""Each place of each word. It belongs to a connection: the file of an older index has none."""
_AVERAGES = 1
"""The row of `chunks_fts_data` with the number of rows and words (FTS5's averages record)."""

K1, B = 1.2, 0.75
LEAST_IDF = 1e-6
HEADING_WEIGHT, NAME_WEIGHT = 0.6, 0.4
"""FTS5's bm25, with the weights of `full_text.BEST_CHUNKS`."""


class Posting(NamedTuple):
    """The chunks that have one form of a word."""

    places: Mapping[int, Sequence[int]]
    """Where it stands in the body, in words; ascending."""
    counts: TermCounts
    """How often."""
    parts: dict[int, float]
    """What it adds to FTS5's rank of each chunk; computed by `best_chunks`."""

    @classmethod
    def of(
        cls,
        places: Mapping[int, Sequence[int]],
        heading: dict[int, float],
        name: dict[int, float],
    ) -> Posting:
        body: dict[int, float] = {chunk_id: len(one) for chunk_id, one in places.items()}
        return cls(places, TermCounts(body, heading, name), {})


class Sizes(NamedTuple):
    """The number of words of a chunk."""

    body: int
    all_fields: int


class PostingReader:
    """Of one state of an index. What it has read is dropped when somebody commits."""

    _states = count()
    _kept = LastValues[Posting](KEPT_PLACES)
    _kept_arrays: ClassVar[LastValues[PostingArrays]] = LastValues(KEPT_ROWS)

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._asked: set[str] = set()
        self._state = next(self._states)
        self._sizes: dict[int, Sizes] = {}
        self._bodies: dict[int, int] = {}
        """The same of the body alone."""
        self._totals: Totals | None = None
        self._layout: Layout | None = None

    def posting(self, form: str, chunks: int) -> Posting:
        """`chunks` is how many have it."""
        if not chunks:
            return _NOWHERE
        key = (self._state, form)
        return self._kept.get(key, chunks, lambda: _read_posting(self._db, form))

    def arrays(self, having: Mapping[str, int]) -> dict[str, PostingArrays] | None:
        """By the forms of a question. None if one of them is new: most questions of a process that
        asks one, or after each commit, would wait for lists that nobody needs again."""
        if not having.keys() <= self._asked:
            if len(self._asked) > KEPT_ASKED:
                self._asked.clear()
            self._asked |= having.keys()
            return None
        from notewell.index.sqlite.posting_arrays import read_posting

        totals = self.totals()
        found = {
            form: self._kept_arrays.get(
                (self._state, form),
                chunks + ROWS_OF_A_WORD,
                lambda form=form: read_posting(self._db, form, totals),  # type: ignore[misc]
            )
            for form, chunks in having.items()
        }
        return found if all(len(one.ids) for one in found.values()) else None

    def sizes(self, ids: Iterable[int]) -> dict[int, Sizes]:
        if len(self._sizes) > KEPT_SIZES:  # Others may still use the old ones.
            self._sizes, self._bodies = {}, {}
        known = self._sizes
        missing = [chunk_id for chunk_id in ids if chunk_id not in known]
        if missing:
            found = sizes_in(self._db, array("q", sorted(missing)))
            known |= found
            self._bodies |= {chunk_id: one.body for chunk_id, one in found.items()}
        return known

    def body_sizes(self, ids: Iterable[int]) -> dict[int, int]:
        """Of these chunks and others."""
        self.sizes(ids)
        return self._bodies

    def totals(self) -> Totals:
        if self._totals is None:
            sql = "SELECT block FROM chunks_fts_data WHERE id = ?"
            rows = select(self._db, sql, (_AVERAGES,))
            chunks, *fields = _varints(rows[0][0]) if rows else (0,)
            if not chunks or len(fields) < 2:
                raise apsw.CorruptError("chunks_fts_data has no averages")
            self._totals = Totals(chunks, fields[1], sum(fields))
        return self._totals

    def layout(self) -> Layout | None:
        """That of all chunks; None if there are many, of which a question finds few."""
        totals = self.totals()
        if self._layout is None and totals.chunks <= SMALL_INDEX:
            rows = select(self._db, "SELECT id, path, start_line, end_line FROM chunks")
            places = {chunk_id: (path, Span(*lines)) for chunk_id, path, *lines in rows}
            mean = totals.body_words / totals.chunks
            self._layout = Layout.of(places, self.body_sizes(places), mean)
        return self._layout


_NOWHERE = Posting.of({}, {}, {})


def _read_posting(db: apsw.Connection, form: str) -> Posting:
    body: dict[int, list[int]] = {}
    fields: dict[str, dict[int, float]] = {"heading": {}, "name": {}}
    for chunk_id, column, place in select_places(db, form):
        if column == "body":
            body.setdefault(chunk_id, []).append(place)
        elif column != "source":  # Which only filters.
            chunks = fields[column]
            chunks[chunk_id] = chunks.get(chunk_id, 0) + 1
    return Posting.of(body, fields["heading"], fields["name"])


def select_places(db: apsw.Connection, form: str) -> list[tuple[int, str, int]]:
    """Chunk, column and place of each occurrence of a word."""
    sql = "SELECT doc, col, offset FROM temp.chunks_places WHERE term = ?"
    return cast("list[tuple[int, str, int]]", select(db, sql, (form,)))


def sizes_in(db: apsw.Connection, ids: array[int]) -> dict[int, Sizes]:
    """Of these chunks, which ascend."""
    rows = select(
        db,
        "SELECT id, sz FROM carray(?) CROSS JOIN chunks_fts_docsize ON id = value",
        (apsw.carray(ids),),
    )
    if len(rows) < len(ids):  # FTS5 would say the same.
        raise apsw.CorruptError("chunks_fts_docsize lacks rows of the index")
    return {chunk_id: _sizes_of(packed) for chunk_id, packed in rows}


def _sizes_of(packed: bytes) -> Sizes:
    # Of most chunks each number is a byte.
    fields = packed if packed.isascii() else _varints(packed)
    return Sizes(fields[1], sum(fields))


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
    scores: dict[int, float] = {}
    for form, posting in postings.items():
        if posting is not _NOWHERE:
            parts = _rank_parts(posting, having[form], reader)
            if not scores:
                scores = dict(parts)
                continue
            for chunk_id, part in parts.items():
                scores[chunk_id] = scores.get(chunk_id, 0.0) + part
    # Of equal ones the older chunk, as FTS5 sorts them: both sorts are stable.
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)


def _rank_parts(posting: Posting, number: int, reader: PostingReader) -> Mapping[int, float]:
    """The same for every question about this state of the index."""
    parts = posting.parts
    if not parts:
        totals, frequencies = reader.totals(), _frequencies(posting.counts)
        sizes, mean = reader.sizes(frequencies), totals.words / totals.chunks
        idf = log((totals.chunks - number + 0.5) / (number + 0.5))
        idf = idf if idf > 0 else LEAST_IDF
        for chunk_id, frequency in frequencies.items():
            saturation = K1 * (1 - B + B * sizes[chunk_id].all_fields / mean)
            parts[chunk_id] = idf * (frequency * (K1 + 1.0) / (frequency + saturation))
    return parts


def _frequencies(counts: TermCounts) -> dict[int, float]:
    frequencies = {chunk_id: float(times) for chunk_id, times in counts.body.items()}
    for field, weight in ((counts.heading, HEADING_WEIGHT), (counts.name, NAME_WEIGHT)):
        for chunk_id, times in field.items():
            for _ in range(int(times)):  # Not multiplied: FTS5 adds one by one.
                frequencies[chunk_id] = frequencies.get(chunk_id, 0.0) + weight
    return frequencies


def as_matches(
    query: TextQuery,
    postings: Mapping[str, Posting],
    ids: Sequence[int],
    limit: int,
    reader: PostingReader,
) -> TextMatches:
    """The same counts as a `TermCounter` makes; `ids` are all chunks that have a term, best
    first."""
    if query.variants:
        terms = [_joined([postings[form] for form in group]) for group in query.groups]
    else:
        terms = list(postings.values())
    best, counts = ids[:limit], [term.counts for term in terms]
    if len(best) < len(ids):
        chosen = frozenset(best)
        counts = [_among(one, chosen) for one in counts]
    return TextMatches(best, reader.body_sizes(ids), counts, _gaps(terms), reader.layout())


def _among(counts: TermCounts, ids: frozenset[int]) -> TermCounts:
    return TermCounts(*[{one: of[one] for one in ids & of.keys()} for of in counts])


def _joined(forms: Sequence[Posting]) -> Posting:
    """A term and its variants are one."""
    first, *others = forms
    if not any(other is not _NOWHERE for other in others):
        return first
    places = {chunk_id: list(own) for chunk_id, own in first.places.items()}
    heading, name = dict(first.counts.heading), dict(first.counts.name)
    for other in others:
        for chunk_id, more in other.places.items():
            places[chunk_id] = sorted([*places.get(chunk_id, ()), *more])
        for counts, others_counts in ((heading, other.counts.heading), (name, other.counts.name)):
            for chunk_id, number in others_counts.items():
                counts[chunk_id] = counts.get(chunk_id, 0) + number
    return Posting.of(places, heading, name)


def _gaps(terms: Sequence[Posting]) -> list[dict[int, int]]:
    return [
        {
            chunk_id: least_gap(one.places[chunk_id], other.places[chunk_id])
            for chunk_id in one.places.keys() & other.places.keys()
        }
        for one, other in pairwise(terms)
    ]
