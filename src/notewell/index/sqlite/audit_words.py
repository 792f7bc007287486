"""Comparing the words of the keyword index with the chunks, for `notewell verify`.

The table of the words is contentless: FTS5 cannot return the words of a row. But its vocabulary
lists every word with its row, its column and its position, and the chunks say which ones should be
there. A page in the place of another may be a sound page with the words of other rows.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from notewell.core import index_words
from notewell.index.sqlite.connect import select
from notewell.index.sqlite.full_text import COLUMNS, row_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

_VOCABULARY = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.chunk_terms USING "
    "fts5vocab (main, chunks_fts, instance)"
)
# As the tokenizer of the table splits them: see `schema`.
_TOKEN = re.compile("[0-9A-Za-z_\u0080-\U0010ffff]+")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_MASK = (1 << 64) - 1


def chunks_with_other_words(
    db: apsw.Connection, step: Callable[[int, int], None]
) -> Iterator[int]:
    """The ids of chunks whose words in the index are not those of their text."""
    total = int(select(db, "SELECT count(*) FROM chunks")[0][0])
    stored = _stored_words(db)
    names: dict[str, str] = {}
    rows = db.execute("SELECT id, path, source, heading, text FROM chunks ORDER BY path, id")
    for number, (chunk_id, path, source, heading, text) in enumerate(rows, 1):
        if path not in names:
            names = {path: index_words(path)}  # Chunks of one note follow each other.
        if stored[chunk_id] != _expected_words(row_words(source, names[path], text, heading)):
            yield int(chunk_id)
        step(number, total)


def _stored_words(db: apsw.Connection) -> Counter[int]:
    """A sum for each row: the words of all rows would not fit into memory."""
    db.execute(_VOCABULARY)
    sums: Counter[int] = Counter()
    for term, row, column, at in db.execute("SELECT term, doc, col, offset FROM chunk_terms"):
        sums[row] = (sums[row] + hash((column, at, term))) & _MASK
    return sums


def _expected_words(row: tuple[str, ...]) -> int:
    total = 0
    for column, words in zip(COLUMNS, row, strict=True):
        for at, term in enumerate(_TOKEN.findall(words)):
            total = (total + hash((column, at, term.translate(_LOWER)))) & _MASK
    return total
