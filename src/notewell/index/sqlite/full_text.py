"""What FTS5 is asked and what it counts: the expression of a query, and the terms of a row."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast

from notewell.core import TextMatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from notewell.core import TextQuery

    Places = list[list[list[int]]]
    """For each phrase and column, the positions in a row."""

_SOURCE_MARK = "_"
# The source only filters: with a weight of 0 it does not change the rank.
RANK = "bm25(0.0, 1.0, 0.6, 0.4)"


def register_counts(db: apsw.Connection) -> None:
    """Registers an FTS5 function that counts the terms of a row for a `TermCounter`.

    FTS5 knows them while it ranks; computing them again from the text would cost a search twice.
    """
    db.register_fts5_function("notewell_counts", _count)


def _count(api: apsw.FTS5ExtensionApi, *values: apsw.SQLiteValue) -> None:
    cast("TermCounter", values[0]).count(api)


class TermCounter:
    """The counts of one query. It is bound to the statement as an object, because an FTS5 function
    returns one value, and JSON would take as long as the counting."""

    def __init__(self, query: TextQuery, filters: int) -> None:
        """The expression has so many phrases of `filters` before the terms."""
        # A term and its variants are one.
        self._sizes = [len(group) for group in query.groups] if query.variants else None
        self._filters = filters
        self._phrases = range(0)
        self.chunks = 0
        """How many the index has, and how many words; known after the first match."""
        self.words = 0
        self.matches: dict[int, TextMatch] = {}

    def count(self, api: apsw.FTS5ExtensionApi) -> None:
        if not self.matches:
            self.chunks, self.words = api.row_count, api.column_total_size(1)
            self._phrases = range(self._filters, api.phrase_count)
        places = [api.phrase_locations(phrase) for phrase in self._phrases]
        if self._sizes is not None:
            places = _joined(places, self._sizes)
        _, body, heading, name = zip(*places, strict=True)
        gaps = [_gap(one, other) if one and other else 0 for one, other in pairwise(body)]
        self.matches[api.rowid] = TextMatch(
            api.rowid,
            tuple(map(len, body)),
            tuple(map(len, heading)),
            tuple(map(len, name)),
            api.column_size(1),
            tuple(gaps),
        )


def _joined(places: Places, sizes: Sequence[int]) -> Places:
    """One list of places for a term and its variants."""
    joined, first = [], 0
    for size in sizes:
        group = [place for place in places[first : first + size] if any(place)]
        first += size
        if len(group) < 2:  # A chunk is in one language, so nearly none has two forms of a term.
            joined.append(group[0] if group else places[first - 1])
        else:
            columns = zip(*group, strict=True)
            joined.append([sorted(at for one in column for at in one) for column in columns])
    return joined


def _gap(one: Sequence[int], other: Sequence[int]) -> int:
    """The least distance between two terms."""
    # Both lists ascend, so one pass as in a merge meets the smallest distance.
    least, i, j = 0, 0, 0
    while i < len(one) and j < len(other):
        gap = abs(one[i] - other[j])
        least = min(least, gap) if least else gap
        i, j = (i + 1, j) if one[i] < other[j] else (i, j + 1)
    return least


def source_word(source: str) -> str:
    """The word that stands for a source in the index; no word of `core` starts with `_`."""
    return f"{_SOURCE_MARK}{source}"


def match_expression(query: TextQuery, sources: Sequence[str]) -> str:
    """The chunks of `sources` with a term; of all chunks, if there are no `sources`: a filter that
    every chunk passes would cost as much as a very common word.

    Every word is quoted, so that no text of a user is taken for an operator of FTS5.
    """
    # They need no column: no term is a word of the column `source`.
    terms = " OR ".join(_quoted(form) for group in query.groups for form in group)
    if not sources:
        return terms
    wanted = " OR ".join(_quoted(source_word(source)) for source in sources)
    return f"source : ({wanted}) AND ({terms})"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
