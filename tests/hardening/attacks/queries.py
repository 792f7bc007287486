"""Questions that mean to be a query: FTS5's own words, SQL, quotes, controls, every script."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

QUERIES: Final = 20_000

_WORDS_OF_FTS5 = "AND OR NOT NEAR NEAR( NEAR/2 -- /* */"
_OPERATORS = [*_WORDS_OF_FTS5.split(), *"(){}[]*^+-:,;%_?@#$=!<>|&~\\"]
_QUOTES = ['"', "'", "`", '""', "''", '"""', "“", "”", "„", "«", "＂", "\\'", '\\"', "'\"'", "$$"]
_COLUMNS = [
    "text:",
    "words:",
    "heading:",
    "rowid:",
    "rank:",
    "chunks_fts:",
    "col:x",
    "{a b}:",
    "-text:",
]
_SQL = [
    "'; DROP TABLE chunks; --",
    '" OR 1=1 --',
    "1; ATTACH DATABASE '/tmp/x' AS y",
    "') UNION SELECT sql FROM sqlite_schema --",
    "PRAGMA writable_schema=ON",
    "load_extension('x')",
    "x'53514c'",
    "rank MATCH 'bm25(10.0)'",
    "INSERT INTO chunks_fts(chunks_fts) VALUES('delete-all')",
    "INSERT INTO chunks_fts(chunks_fts, rank) VALUES('secure-delete', 1)",
]
_CONTROLS = [
    "\0",
    "\x01",
    "\x1b[31m",
    "\x7f",
    "\x85",
    "\r\n",
    "\n",
    "\t",
    "\u2028",
    "\ud800",
    "\udfff",
]
_SCRIPTS = [
    "温室", "สวัสดี", "한국어", "ひらがな", "עברית", "العربية", "ﷺ", "é", "e\u0301", "ß", "İ", "ǅ",
    "🇩🇪", "👩\u200d🚀",
    "\u202e", "\u200b", "\ufeff", "\U0010ffff", "ﬁ", "Å", "½", "Ⅷ",
]  # fmt: skip
_WORDS = [
    "walrus",
    "Basel",
    "walrus_id",
    "err-4711",
    "a",
    "the",
    "2026-11-15",
    "yesterday",
    "last week",
]
_KINDS: tuple[list[str], ...] = (_OPERATORS, _QUOTES, _COLUMNS, _SQL, _CONTROLS, _SCRIPTS, _WORDS)


def hostile_queries(seed: int, count: int = QUERIES) -> Iterator[str]:
    """The same for the same seed; one in a thousand is as long as a question may be."""
    dice = random.Random(seed)
    for number in range(count):
        if number % 1000 == 999:
            yield _huge(dice)
        elif number % 10 == 9:
            yield "".join(chr(_code(dice)) for _ in range(dice.randrange(60)))
        else:
            pieces = (dice.choice(dice.choice(_KINDS)) for _ in range(dice.randrange(1, 9)))
            yield dice.choice(("", " ", " ")).join(pieces)


def _code(dice: random.Random) -> int:
    return dice.choice((dice.randrange(0x80), dice.randrange(0x3000), dice.randrange(0x110000)))


def _huge(dice: random.Random) -> str:
    piece = dice.choice(dice.choice(_KINDS)) + dice.choice(("", " ", "x"))
    return (piece * 100_000)[: dice.choice((20_000, 100_000, 100_001))]
