"""What FTS5 is asked and what it counts: the expression of a query, and the terms of a row."""

from __future__ import annotations

import json
from itertools import chain, pairwise
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from notewell.core import TextQuery

BODY, HEADING, NAME = 1, 2, 3  # Columns of chunks_fts; column 0 is the source.
_SOURCE_MARK = "_"
# The source only filters: with a weight of 0 it does not change the rank.
RANK = "bm25(0.0, 1.0, 0.6, 0.4)"


def register_counts(db: apsw.Connection) -> None:
    """Registers an FTS5 function that returns the term counts of a row.

    FTS5 knows them while it ranks; computing them again from the text would cost a search twice.
    """
    db.register_fts5_function("notewell_counts", _counts)


def _counts(api: apsw.FTS5ExtensionApi, *values: apsw.SQLiteValue) -> str:
    # The sources come first in the expression (see match_expression) and are no terms.
    sources = cast("int", values[0])
    places = [api.phrase_locations(phrase) for phrase in range(sources, api.phrase_count)]
    if values[1] is not None:
        places = _joined(places, json.loads(cast("str", values[1])))
    fields = [[len(place[field]) for place in places] for field in (BODY, HEADING, NAME)]
    body = [place[BODY] for place in places]
    gaps = [_gap(term, following) for term, following in pairwise(body)]
    sizes = (api.column_size(BODY), api.row_count, api.column_total_size(BODY))
    return json.dumps([*fields, gaps, *sizes])  # An FTS5 function returns one value.


def _joined(places: list[list[list[int]]], sizes: Sequence[int]) -> list[list[list[int]]]:
    """One list of places for a term and its variants."""
    forms = iter(places)
    groups = ([next(forms) for _ in range(size)] for size in sizes)
    return [[sorted(chain(*columns)) for columns in zip(*group, strict=True)] for group in groups]


def _gap(one: Sequence[int], other: Sequence[int]) -> int:
    """The least distance between two terms; 0 if one of them does not occur."""
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
    """Every word is quoted, so that no text of a user is taken for an operator of FTS5."""
    wanted = " OR ".join(_quoted(source_word(source)) for source in sources)
    terms = " OR ".join(_quoted(form) for group in query.groups for form in group)
    return f"source : ({wanted}) AND {{body heading name}} : ({terms})"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
