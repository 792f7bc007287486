"""YAML, read so that every value keeps its line.

PyYAML cuts the text into events with lines; the tree is put together here, for three reasons. What
a plain word means is decided by YAML 1.2, not by 1.1, where `citations: on` says true. Its own
tree builder in C follows nesting on the C stack, and enough brackets crash the process. And what
aliases unfold to has to be counted while it is small. Tags are not obeyed, so nothing in a file
can make an object.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.positions import (
    MAX_DEPTH,
    MAX_VALUES,
    Data,
    Finding,
    Located,
    Malformed,
    shown,
)
from notewell.config.read_json5 import MAX_NUMBER_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_ODD_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MERGE = "<<"


class _Built(NamedTuple):
    """A value with what an alias of it costs."""

    data: Data
    values: int
    height: int


def read_yaml(text: str, file: str) -> tuple[Located, tuple[Finding, ...]]:
    """The tree of a YAML text, and what is odd about it; raises `Malformed`."""
    import yaml

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        builder = _Builder(iter(yaml.parse(text, loader)), file)
        return builder.document(), tuple(builder.findings)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise Malformed(f"not valid YAML: {error.problem}", line) from error
    except (yaml.YAMLError, ValueError) as error:
        raise Malformed(f"not valid YAML: {shown(str(error))}", 1) from error


class _Builder:
    def __init__(self, events: Iterator[Any], file: str) -> None:
        self._events = events
        self._file = file
        self._values = 0
        self._anchors: dict[str, _Built] = {}
        self.findings: list[Finding] = []

    def _next(self) -> tuple[str, Any, int]:
        event = next(self._events)
        return type(event).__name__.removesuffix("Event"), event, event.start_mark.line + 1

    def document(self) -> Located:
        self._next()  # The stream's start.
        kind, _, _ = self._next()
        if kind == "StreamEnd":
            return Located({}, 1)
        kind, event, line = self._next()
        root = Located(self._built(kind, event, line, 0).data, line)
        self._next()  # The document's end.
        kind, _, line = self._next()
        if kind != "StreamEnd":
            raise Malformed("more than one document in the file", line)
        return root

    def _built(self, kind: str, event: Any, line: int, depth: int) -> _Built:
        self._values += 1
        if kind == "Alias":
            return self._alias(event.anchor, line, depth)
        self._within(line, depth)
        before = self._values
        if kind == "Scalar":
            built = _Built(_scalar(event), 1, 0)
        elif kind == "SequenceStart":
            data, height = self._items(depth + 1)
            built = _Built(data, self._values - before + 1, height + 1)
        else:
            members, height = self._members(depth + 1)
            built = _Built(members, self._values - before + 1, height + 1)
        if event.anchor:  # Known only from here on, so that nothing can contain itself.
            self._anchors[event.anchor] = built
        return built

    def _alias(self, anchor: str, line: int, depth: int) -> _Built:
        built = self._anchors.get(anchor)
        if built is None:
            raise Malformed(f"not valid YAML: found undefined alias {shown(anchor)}", line)
        self._values += built.values - 1
        self._within(line, depth + built.height)
        return built

    def _within(self, line: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise Malformed(f"more than {MAX_DEPTH} levels: no configuration is", line)
        if self._values > MAX_VALUES:
            raise Malformed(f"more than {MAX_VALUES} values, aliases unfolded", line)

    def _items(self, depth: int) -> tuple[list[Located], int]:
        items: list[Located] = []
        height = 0
        while True:
            kind, event, line = self._next()
            if kind == "SequenceEnd":
                return items, height
            built = self._built(kind, event, line, depth)
            height = max(height, built.height)
            items.append(Located(built.data, line))

    def _members(self, depth: int) -> tuple[dict[str, Located], int]:
        members: dict[str, Located] = {}
        merged: list[dict[str, Located]] = []
        height = 0
        while True:
            kind, event, line = self._next()
            if kind == "MappingEnd":
                break
            if kind != "Scalar":
                raise Malformed("a key must be a word", line)
            built = self._built(*self._next(), depth)
            height = max(height, built.height)
            if event.value == _MERGE and not event.style:
                merged += _mappings(built.data, line)
                continue
            if event.value in members:
                message = f"said twice; the first time in line {members[event.value].line}"
                self.findings.append(Finding("error", self._file, line, event.value, message))
            members[event.value] = Located(built.data, line)
        for mapping in merged:
            members = {**mapping, **members}
        return members, height


def _mappings(data: Data, line: int) -> list[dict[str, Located]]:
    """What `<<` merges in: an object, or a list of them of which the first wins."""
    if isinstance(data, dict):
        return [data]
    if isinstance(data, list) and all(isinstance(item.data, dict) for item in data):
        return [item.data for item in data if isinstance(item.data, dict)]
    raise Malformed("'<<' takes an object or a list of objects", line)


def _scalar(event: Any) -> Data:
    text: str = event.value
    if event.style:  # Quoted or a block: a text, whatever it looks like.
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_NUMBER_CHARS:
        return text
    if _WHOLE.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if _ODD_NUMBER.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text
