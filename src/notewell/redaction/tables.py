"""Tables with a column of secrets: Markdown, CSV, and columns that spaces keep apart.

The name is in the first row, and its values are below it, each in a line of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.plausible import is_password, is_token
from notewell.redaction.rules import Rule
from notewell.redaction.telling_words import (
    LATIN_PASSWORDS,
    LATIN_SECRETS,
    OTHER_PASSWORDS,
    OTHER_SECRETS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ROWS = 2000
MAX_HEAD_BYTES = 600
_CSV_WORDS = "password|passwd|pwd|passwort|token|secret|api_?key"

_CSV_LITERALS = tuple(
    literal
    for word in ("password", "passwd", "pwd", "passwort", "token", "secret", "api_key", "apikey")
    for separator in ",;\t"
    for literal in (f"{separator}{word}", f"{word}{separator}")
)

TABLE_RULES = (
    # The ruler below the first row; a table without one is read line by line, as settings.
    Rule(
        "",
        r"(?m)^[ \t>]*[|+:-][-+|:= \t]*--[-+|:= \t]*\r?$",
        ("--",),
        says="a column of a Markdown table, named by its first row",
    ),
    Rule(
        "",
        rf"(?m)(?:^|[,;\t])[ \"']?(?:[\w-]+[ _-])?(?:{_CSV_WORDS})[\"']?[ ]?(?:[,;\t\r]|$)",
        _CSV_LITERALS,
        any_case=True,
        says="a column of a CSV file, named by its first row",
    ),
)

_PASSWORD_CELL = re.compile(
    rf"(?i)(?:[\w.-]{{1,20}}[ _-])?(?:{LATIN_PASSWORDS}|{OTHER_PASSWORDS})"
    rf"(?:[ _-][\w.-]{{1,12}}|\s*\([^)]*\))?"
)
_SECRET_CELL = re.compile(
    rf"(?i)(?:[\w.-]{{1,20}}[ _-])?(?:{LATIN_SECRETS}|{OTHER_SECRETS})(?:\s*\([^)]*\))?"
)
_RULER = re.compile(rb"[-+|:= \t>\r]*")
_SPACES = re.compile(rb" {2,}|\t+")
_DECORATION = b" \t\"'`*|\r"


def table_spans(match: Any) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each secret in the rows below the first one, which `match` is."""
    data: bytes = match.string
    head, below = _head(data, match)
    separator = _separator(head)
    if separator is None:
        return
    cells = _cells(head, separator)
    columns = {at: kind for at, (_, cell) in enumerate(cells) if (kind := _column_kind(cell))}
    if len(cells) < 2 or not columns:
        return
    at = below
    for _ in range(MAX_ROWS):
        end = data.find(b"\n", at)
        row = data[at : len(data) if end < 0 else end]
        if not _RULER.fullmatch(row):
            row_cells = _cells(row, separator)
            # Another first row begins another table, so no row is read twice.
            if len(row_cells) != len(cells) or any(_column_kind(cell) for _, cell in row_cells):
                return
            yield from _row_spans(at, row_cells, columns)
        elif not row.strip():
            return
        if end < 0:
            return
        at = end + 1


def _head(data: bytes, match: Any) -> tuple[bytes, int]:
    """The first row, and where the rows below it begin."""
    start = data.rfind(b"\n", max(0, match.start() - MAX_HEAD_BYTES), match.start() + 1) + 1
    end = data.find(b"\n", match.end() - 1)
    end = len(data) if end < 0 else end
    line = data[start : min(end, start + MAX_HEAD_BYTES)]
    if not _RULER.fullmatch(line) or start < 2:
        return line, end + 1
    above = data.rfind(b"\n", max(0, start - MAX_HEAD_BYTES), start - 1) + 1
    return data[above : start - 1], end + 1


def _row_spans(
    at: int, cells: list[tuple[int, bytes]], columns: dict[int, str]
) -> Iterator[tuple[int, int, str]]:
    for number, kind in columns.items():
        offset, cell = cells[number]
        bare = cell.strip(_DECORATION)
        value = bare.decode("utf-8", "replace")
        if is_password(value) if kind == "password" else is_token(value):
            start = at + offset + cell.index(bare)
            yield start, start + len(bare), kind


def _column_kind(cell: bytes) -> str | None:
    name = cell.strip(_DECORATION).decode("utf-8", "replace")
    if _PASSWORD_CELL.fullmatch(name):
        return "password"
    return "secret" if _SECRET_CELL.fullmatch(name) else None


def _separator(head: bytes) -> bytes | None:
    if b"(" in head and b"|" not in head:  # A call, or a sentence.
        return None
    for separator in (b"|", b"\t", b";", b","):
        if separator in head:
            return separator
    return b"  " if _SPACES.search(head.strip()) else None


def _cells(row: bytes, separator: bytes) -> list[tuple[int, bytes]]:
    """The offset and the text of each cell."""
    cells, offset = [], 0
    if separator == b"  ":
        return [(found.start(), found[0]) for found in re.finditer(rb"\S+(?: \S+)*", row)]
    for cell in row.split(separator):
        cells.append((offset, cell))
        offset += len(cell) + len(separator)
    return cells
