"""What FTS5 is asked and what it counts: the expression of a query, and the terms of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from notewell.core import TermCounts, TextMatches, chunk_words, least_gap, without_markers
from notewell.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from notewell.core import TextQuery

COLUMNS = ("source", "body", "heading", "name")
_BODY, _HEADING = 1, 2
_SOURCE_MARK = "_"

# Not `ORDER BY rank`: for that, FTS5 sorts all matches, with the places of their words, before it
# gives the first one; for an expression, SQLite keeps no more rows than the limit allows.
# The source only filters: with a weight of 0 it does not change the rank.
BEST_CHUNKS = """
SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?
AND (? IS NULL OR rowid IN (SELECT value FROM json_each(?)))
ORDER BY bm25(chunks_fts, 0.0, 1.0, 0.6, 0.4), rowid LIMIT ?
"""
"""Best first, of equal ones the older chunk."""
# `+rowid`: FTS5 would look up each row by itself. In 10 000 chunks that takes ten times as long as
# passing over all others, in 300 000 as long. Not counted while it ranks: that would count rows
# that are among the best only for a while.
COUNTS_OF_CHUNKS = """
SELECT notewell_counts(chunks_fts, ?) FROM chunks_fts WHERE chunks_fts MATCH ?
AND +rowid IN (SELECT value FROM carray(?))
"""


class Totals(NamedTuple):
    """The number of chunks and words of an index."""

    chunks: int
    body_words: int
    words: int


def register_counts(db: apsw.Connection) -> None:
    """Registers an FTS5 function that counts the terms of a row for a `TermCounter`.

    FTS5 has them in its lists; computing them again from the text would cost a search twice.
    """
    db.register_fts5_function("notewell_counts", _count)


def _count(api: apsw.FTS5ExtensionApi, *values: apsw.SQLiteValue) -> None:
    cast("TermCounter", values[0]).count(api)


class TermCounter:
    """The counts of one query. It is bound to the statement as an object, because an FTS5 function
    returns one value, and JSON would take as long as the counting."""

    def __init__(self, query: TextQuery, filters: int) -> None:
        """The expression has so many phrases of `filters` before the terms."""
        self._filters = filters
        # For each phrase after them the number of its term: a term and its variants are one.
        self._terms = [number for number, group in enumerate(query.groups) for _ in group]
        self.totals = Totals(0, 0, 0)
        """Known after the first match."""
        self._counts = [TermCounts({}, {}, {}) for _ in query.terms]
        self._gaps: list[dict[int, int]] = [{} for _ in query.terms[1:]]
        self._lengths: dict[int, int] = {}

    def matches(self, ids: Sequence[int]) -> TextMatches:
        """Of these chunks, which are all that were counted."""
        return TextMatches(ids, self._lengths, self._counts, self._gaps)

    def count(self, api: apsw.FTS5ExtensionApi) -> None:
        if not self._lengths:
            words = api.column_total_size(_BODY), api.column_total_size()
            self.totals = Totals(api.row_count, *words)
        row, counts = api.rowid, self._counts
        self._lengths[row] = api.column_size(_BODY)
        body: dict[int, list[int]] = {}
        # Most phrases are not in a row: to ask for the columns takes less than for the places.
        for phrase, term in enumerate(self._terms, self._filters):
            for column in api.phrase_columns(phrase):
                places = api.phrase_column_offsets(phrase, column)
                if column == _BODY:
                    # A chunk is in one language, so nearly none has two forms of a term.
                    body[term] = sorted(body[term] + places) if term in body else places
                else:
                    field = counts[term][1 if column == _HEADING else 2]
                    field[row] = field.get(row, 0) + len(places)
        for term, places in body.items():
            counts[term].body[row] = len(places)
            if after := body.get(term + 1):
                self._gaps[term][row] = least_gap(places, after)


def source_word(source: str) -> str:
    """The word that stands for a source in the index; no word of `core` starts with `_`."""
    return f"{_SOURCE_MARK}{source}"


def row_words(source: str, name: str, text: str, heading: str) -> tuple[str, str, str, str]:
    """The words of a chunk for each column; `name` are those of its path."""
    # The marker of an entry is ours, not the user's: its id must not match a query.
    words = chunk_words(without_markers(text), heading)
    return source_word(source), words.body, words.heading, name


def match_expression(query: TextQuery, sources: Sequence[str]) -> str:
    """The chunks of `sources` with a term; of all chunks, if there are no `sources`: a filter that
    every chunk passes would cost as much as a very common word.

    Every word is quoted, so that no text of a user is taken for an operator of FTS5.
    """
    # They need no column: no term is a word of the column `source`.
    terms = " OR ".join([_quoted(form) for form in query.forms])
    if not sources:
        return terms
    wanted = " OR ".join(_quoted(source_word(source)) for source in sources)
    return f"source : ({wanted}) AND ({terms})"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
