"""Values that belong to a name by their position: columns of an INSERT, `read`, an assignment of several.

INSERT INTO users (name, password) VALUES ('anna', '…')      read -r user pass <<< "anna …"
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.declared import is_declared_secret, secret_kind
from notewell.redaction.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_ROWS_BYTES = 4000

_NAME = r"[\"'`\[]?[\w.]+[\"'`\]]?"
POSITION_RULES = (
    Rule(
        "",
        rf"\binsert\s+(?:\w+\s+)?into\s+\S{{1,80}}?\s*\((?P<names>\s*{_NAME}(?:\s*,\s*{_NAME}){{0,60}}\s*)\)\s*values\s*(?P<values>\()",
        ("insert",),
        any_case=True,
        proof="position",
        spans_lines=True,
        says="a column of an INSERT: `INSERT INTO users (name, password) VALUES ('anna', '…')`",
    ),
    Rule(
        "",
        r"\bread[ ](?:-\w+[ ])*(?P<names>\w+(?:[ ]\w+){0,6})[ ]*<<<[ ]*(?P<values>[\"']?)",
        ("<<<",),
        proof="position",
        says='`read -r user pass <<< "anna …"`',
    ),
    Rule(
        "",
        r"(?m)^[ \t>+]*(?:\d{1,4}[ ]{1,3})?(?:my|local|let|const|var)?[ ]?\(?(?P<names>[$\w.]+(?:,[ ]?[$\w.]+){1,6})\)?[ ]?:?=[ ]?(?P<values>[\"'(])",
        (
            ", pass",
            ",pass",
            ", pw",
            ", token",
            ", secret",
            ", api",
            "pass,",
            "password,",
            "pwd,",
            "token,",
            "secret,",
            ", key",
        ),
        any_case=True,
        proof="position",
        says="`user, password = 'anna', '…'`",
    ),
)

_NAMES = re.compile(rb"[\w.]+")
_SQL_VALUE = re.compile(
    rb"\s*(?:[NEx]?'(?P<a>(?:[^'\\\n]|''|\\.){0,200})'|\"(?P<b>[^\"\n]{0,200})\"|(?P<c>[^\s,()'\"]{1,80}(?:\([^()]{0,80}\))?))\s*(?P<end>[,)]|$|\n)"
)
_ROW = re.compile(rb"\s*,\s*\(")
_WORD = re.compile(rb"[^\s\"']+")


def position_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    names = _NAMES.findall(match.group("names"))
    kinds = [secret_kind(name.decode("utf-8", "replace")) for name in names]
    if not any(kinds):
        return
    data: bytes = match.string
    at = match.end(match.re.groupindex["values"])
    if match.group(0).startswith(b"read"):
        end = data.find(b"\n", at)
        places = [
            found.span() for found in _WORD.finditer(data, at, len(data) if end < 0 else end)
        ]
        yield from _secrets(data, kinds, places)
        return
    is_sql = b"(" in match.group("values")
    at -= 0 if is_sql else 1
    for places in _rows(data, at, match.end() + MAX_ROWS_BYTES):
        if len(places) == len(kinds):
            yield from _secrets(data, kinds, places)
        if not is_sql:
            return


def _rows(data: bytes, at: int, limit: int) -> Iterator[list[tuple[int, int]]]:
    """The spans of the values of each row."""
    while at < limit:
        places = []
        while found := _SQL_VALUE.match(data, at):
            at = found.end()
            group = next(name for name in "abc" if found[name] is not None)
            places.append(found.span(group))
            if found["end"] != b",":
                break
        yield places
        row = _ROW.match(data, at)
        if not row or not places:
            return
        at = row.end()


def _secrets(
    data: bytes, kinds: Sequence[str | None], places: list[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    for kind, (start, end) in zip(kinds, places, strict=False):
        if kind and data[start - 1 : start] in {b"'", b'"', b" "}:
            value = data[start:end].decode("utf-8", "replace")
            if is_declared_secret(kind, value):
                yield start, end, "api-key" if kind == "key" else kind
