"""A parser for JSON and JSON5 that keeps the line of every value.

No parser on PyPI gives positions without a parser generator of its own, and the format is small: a
regular expression cuts the text into tokens, and a recursive descent builds objects, lists and
values. JSON is a subset of JSON5, so one parser reads both. Beyond JSON5 it accepts a file without
the outermost braces: OpenClaw's documentation prints examples that way, and people paste them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from notewell.config.document import (
    MAX_DEPTH,
    MAX_VALUES,
    ConfigFinding,
    Located,
    Malformed,
    shown,
)

MAX_NUMBER_CHARS = 64
"""int() takes quadratic time, and Python refuses more than 4300 digits with its own error."""

_TOKEN = re.compile(
    r"""
      (?P<space>[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*(?s:.*?)\*/)
    | (?P<mark>[{}\[\]:,])
    | (?P<text>"(?:[^"\\\n\r]|\\(?s:.))*"|'(?:[^'\\\n\r]|\\(?s:.))*')
    | (?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN
        |(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
        (?![\w$]))
    | (?P<name>(?:[^\W\d]|[$_])(?:\w|[$\u200c\u200d])*)
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|(?s:.))")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_LINE_ENDS = ("\n", "\r", "\r\n", "\u2028", "\u2029")
_WORDS = {"true": True, "false": False, "null": None}


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def read_json5(text: str, file: str) -> tuple[Located, tuple[ConfigFinding, ...]]:
    """The tree of a JSON or JSON5 text, and its duplicate keys; raises `Malformed`."""
    reader = _Reader(_tokens(text), file)
    return reader.document(), tuple(reader.findings)


def _tokens(text: str) -> list[_Token]:
    tokens = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise Malformed(f"unexpected text {shown(text[at : at + 20])}", line)
        kind, token = match.lastgroup or "", match.group()
        if kind != "space":
            tokens.append(_Token(kind, token, line))
        # Comments and strings with a continued line span several lines.
        line += token.count("\n")
        at = match.end()
    tokens.append(_Token("end", "the end of the file", line))
    return tokens


class _Reader:
    def __init__(self, tokens: list[_Token], file: str) -> None:
        self._tokens = tokens
        self._file = file
        self._next = 0
        self._values = 0
        self.findings: list[ConfigFinding] = []

    def document(self) -> Located:
        first = self._tokens[0]
        if first.kind == "end":
            return Located({}, 1)
        # `key: …` at the top is an object without its braces.
        if first.text != "{" and len(self._tokens) > 2 and self._tokens[1].text == ":":
            return Located(self._members("end", 1), first.line)
        value = self._value(0)
        after = self._take()
        if after.kind != "end":
            raise Malformed(f"expected the end of the file, not {shown(after.text)}", after.line)
        return value

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        # The last token is never passed, so that every error can name the line of the end.
        if token.kind != "end":
            self._next += 1
        return token

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _value(self, depth: int) -> Located:
        token = self._take()
        self._values += 1
        # The descent is recursive: without the limit, many brackets would end in a RecursionError.
        if depth > MAX_DEPTH or self._values > MAX_VALUES:
            what = f"{MAX_DEPTH} levels" if depth > MAX_DEPTH else f"{MAX_VALUES} values"
            raise Malformed(f"more than {what}: no configuration has so many", token.line)
        if token.text == "{":
            return Located(self._members("}", depth + 1), token.line)
        if token.text == "[":
            return Located(self._items(depth + 1), token.line)
        if token.kind == "text":
            return Located(_unescaped(token), token.line)
        if token.kind == "number":
            return Located(_number(token), token.line)
        if token.text in _WORDS:
            return Located(_WORDS[token.text], token.line)
        raise Malformed(f"expected a value, not {shown(token.text)}", token.line)

    def _members(self, end: str, depth: int) -> dict[str, Located]:
        members: dict[str, Located] = {}
        while not self._ends(end):
            token = self._take()
            if token.kind not in ("text", "name"):
                raise Malformed(f"expected a key, not {shown(token.text)}", token.line)
            key = _unescaped(token) if token.kind == "text" else token.text
            colon = self._take()
            if colon.text != ":":
                raise Malformed(f"expected ':' after {shown(key)}", colon.line)
            if key in members:
                message = f"set twice; first in line {members[key].line}"
                self.findings.append(ConfigFinding("error", self._file, token.line, key, message))
            # The line of the key, not of the value: an editor shows the problem at the key.
            members[key] = Located(self._value(depth).data, token.line)
            self._comma(end)
        return members

    def _items(self, depth: int) -> list[Located]:
        items = []
        while not self._ends("]"):
            items.append(self._value(depth))
            self._comma("]")
        return items

    def _ends(self, end: str) -> bool:
        token = self._peek()
        if end == token.kind == "end" or token.text == end:
            self._take()
            return True
        return False

    def _comma(self, end: str) -> None:
        token = self._peek()
        if token.text == ",":
            self._take()
        elif token.text != end and token.kind != end:
            raise Malformed(f"expected ',' before {shown(token.text)}", token.line)


def _number(token: _Token) -> int | float:
    text = token.text
    if len(text) > MAX_NUMBER_CHARS:
        raise Malformed(f"a number of {len(text)} characters", token.line)
    if "x" in text.lower():
        return int(text, 16)
    if "Infinity" in text or "NaN" in text:
        return float(text.lower())
    return float(text) if re.search(r"[.eE]", text) else int(text)


def _unescaped(token: _Token) -> str:
    text = _ESCAPE.sub(_unescape, token.text[1:-1])
    # Two \u escapes can be one character (a surrogate pair). Half a pair is no character, and
    # would fail much later, when the value is written as UTF-8.
    if any("\ud800" <= character <= "\udfff" for character in text):
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise Malformed("half of a surrogate pair in a text", token.line) from error
    return text


def _unescape(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if escaped[0] in "ux" and len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return "" if escaped in _LINE_ENDS else _ESCAPED.get(escaped, escaped)
