"""Tables with a column of secrets: Markdown, CSV, and columns that spaces keep apart.

The name is in the first row, and its values are below it, each in a line of its own.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.declared import is_declared_secret
from notewell.redaction.labels import is_password_label
from notewell.redaction.names import family_of
from notewell.redaction.plausible import is_passphrase
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
_CSV_WORDS = (
    "pass[a-z]*|pwd|pw|psk|psw|kennwort|mdp|contrase[a-zñ]*|clave|senha|wachtwoord|ww|has[lł]o|heslo|parol[a-z]*|lozinka|geslo|salasana"
    r"|l[oö]senord|adgangskode|kodeord|jelsz[oó]|slaptazodis|sifre|mima|pin|\w*tok|\w*token|\w*secret|\w*api_?key|\w*_key|[a-z]*pw|пароль|密码|pasw[a-z]*|psswd|pswd"
)
_CSV_LITERALS = tuple(
    literal
    for word in (
        "password", "passwd", "passwort", "pass", "pwd", "pw", "psk", "kennwort", "mdp", "clave", "senha", "wachtwoord", "ww", "haslo", "hasło",
        "heslo", "parola", "lozinka", "geslo", "salasana", "losenord", "lösenord", "adgangskode", "kodeord", "jelszo", "slaptazodis", "sifre",
        "mima", "contrasena", "contraseña", "passe", "token", "secret", "api_key", "apikey", "_key", "tok", "parola_bd", "пароль", "密码", "psswd", "pswd", "passphrase", "pin",
    )
    for separator in (",", ";", "\t", "  ")
    for literal in (f"{separator}{word}", f"{separator} {word}", f"{word}{separator}", f"_{word}\n", f'{word}"{separator}', f'{word}"\n')
)  # fmt: skip
"""A first row has the name beside a separator, or at its end."""

TABLE_RULES = (
    # The ruler below the first row; a table without one is read line by line, as settings.
    Rule(
        "",
        r"(?m)^[ \t>]*[|+:-][-+|:= \t]*-[-+|:= \t]*\r?$",
        ("--", "|-", "-|"),
        proof="table",
        spans_lines=True,
        says="a column of a Markdown table, named by its first row",
    ),
    Rule(
        "",
        rf"(?m)(?:^|[,;\t]|[ ]{{2}})[ \"']?(?:[\w.-]*[ _.-])?(?:[\w]*(?-i:[a-z](?:Pass|Pw|Pwd|Kenn|Senha|Wacht|Passw))[a-z]*|{_CSV_WORDS})(?:[_.-]?\w{{1,10}})?[\"']?[ ]?(?:[,;\t\r]|[ ]{{2}}|$)",
        _CSV_LITERALS,
        any_case=True,
        proof="table",
        spans_lines=True,
        says="a column of a CSV file, named by its first row",
    ),
)

HTML_TABLE_RULE = Rule(
    "",
    r"<tr[^<>\n]*>\s*<t[hd][^<>\n]*>[^<>\n]{1,60}</t[hd]>(?:\s*<t[hd][^<>\n]*>[^<>\n]{0,60}</t[hd]>){1,12}\s*</tr>",
    ("<th",),
    proof="html",
    spans_lines=True,
    says="a column of a table in HTML",
)
MAX_HTML_BYTES = 8000
_HTML_ROW = re.compile(rb"\s*(?:</?t(?:head|body)>\s*)*<tr[^<>\n]*>(?P<cells>.*?)</tr>", re.DOTALL)
_HTML_CELL = re.compile(rb"<t[hd][^<>\n]{0,80}>\s{0,20}(?:<\w{1,10}>)?(?P<a>[^<>\n]{0,200})<")

_PASSWORD_CELL = re.compile(
    rf"(?i)(?:[\w.-]{{1,20}}[ _-]){{0,3}}(?:{LATIN_PASSWORDS}|{OTHER_PASSWORDS})"
    rf"(?:[ _-][\w.-]{{1,12}}|\s*\([^)]*\))?"
)
_SECRET_CELL = re.compile(
    rf"(?i)(?:[\w.-]{{1,20}}[ _-])?(?:{LATIN_SECRETS}|{OTHER_SECRETS})(?:\s*\([^)]*\))?"
)
_ABOUT_IT = re.compile(
    r"(?i)(?:^|[ _-])(?:chang|reset|expir|age\b|hash|leng|hint|date\b|time|at\b|updat|rotat|count|history|policy|last|stored|geändert|abgelaufen|required|used)"
)
"""What a table tells about a password: `last_password_change`."""
_IDENTIFIER = re.compile(r"[\w.-]{2,40}", re.ASCII)
_RULER = re.compile(rb"[-+|:= \t>\r]*")
_SPACES = re.compile(rb" {2,}|\t+")
_DECORATION = b" \t\"'`*|\r"


def table_spans(match: Any, _rule: Rule) -> Iterator[tuple[int, int, str]]:
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
    # `"pass",` is an element of a list.
    if separator != b"|" and not (cells[0][1].strip() and cells[-1][1].strip()):
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


def html_table_spans(match: Any, _rule: Rule) -> Iterator[tuple[int, int, str]]:
    """The secrets in the rows below the first one, which `match` is."""
    data: bytes = match.string
    heads = [_column_kind(cell["a"].strip()) for cell in _HTML_CELL.finditer(match.group(0))]
    if not any(heads):
        return
    at, limit = match.end(), match.end() + MAX_HTML_BYTES
    while row := _HTML_ROW.match(data, at, limit):
        cells = list(_HTML_CELL.finditer(data, row.start("cells"), row.end("cells")))
        for kind, cell in zip(heads, cells, strict=False):
            value = cell["a"].rstrip()
            if kind and _is_cell_secret(kind, value.decode("utf-8", "replace"), quoted=False):
                yield cell.start("a"), cell.start("a") + len(value), kind
        at = row.end()


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
        if _is_cell_secret(kind, value, quoted=cell.strip()[:1] in {b'"', b"'"}):
            start = at + offset + cell.index(bare)
            yield start, start + len(bare), kind


def _is_cell_secret(kind: str, value: str, *, quoted: bool) -> bool:
    if kind == "password" and quoted and " " in value:
        return is_passphrase(value) or any(map(str.isdigit, value))
    return is_declared_secret(kind, value)


def _column_kind(cell: bytes) -> str | None:
    name = cell.strip(_DECORATION).decode("utf-8", "replace")
    if _ABOUT_IT.search(name):
        return None
    if _PASSWORD_CELL.fullmatch(name) or (_IDENTIFIER.fullmatch(name) and is_password_label(name)):
        return "password"
    if _SECRET_CELL.fullmatch(name):
        return "secret"
    family = family_of(name) if _IDENTIFIER.fullmatch(name) else None
    return None if family == "key" else family


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
