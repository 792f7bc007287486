"""A YAML reader that keeps the line of every value.

PyYAML parses the text into events that have lines; this module builds the tree from them, for
three reasons. Plain scalars follow YAML 1.2: in YAML 1.1, which PyYAML implements, `citations: on`
means true. PyYAML's own composer in C recurses on the C stack, so that enough brackets crash the
process. And the size of expanded aliases must be counted before they are expanded ("billion
laughs"). Tags are ignored, so no file can construct an object.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.document import (
    MAX_DEPTH,
    MAX_VALUES,
    ConfigFinding,
    Data,
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
    """A value, and what an alias of it costs."""

    data: Data
    values: int
    height: int


def read_yaml(text: str, file: str) -> tuple[Located, tuple[ConfigFinding, ...]]:
    """The tree of a YAML text, and its duplicate keys; raises `Malformed`."""
    import yaml

    # The base loader resolves nothing: every scalar comes as text, with its style.
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
        self.findings: list[ConfigFinding] = []

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
        # Registered after the value is complete, so that no value can contain itself.
        if event.anchor:
            self._anchors[event.anchor] = built
        return built

    def _alias(self, anchor: str, line: int, depth: int) -> _Built:
        built = self._anchors.get(anchor)
        if built is None:
            raise Malformed(f"not valid YAML: found undefined alias {shown(anchor)}", line)
        # An alias counts as much as the value that it stands for, though it shares the object.
        self._values += built.values - 1
        self._within(line, depth + built.height)
        return built

    def _within(self, line: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise Malformed(f"more than {MAX_DEPTH} levels: no configuration has so many", line)
        if self._values > MAX_VALUES:
            raise Malformed(f"more than {MAX_VALUES} values, with aliases expanded", line)

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
                message = f"set twice; first in line {members[event.value].line}"
                self.findings.append(
                    ConfigFinding("error", self._file, line, event.value, message)
                )
            members[event.value] = Located(built.data, line)
        # Own members win over merged ones, and of two merged objects the first wins.
        for mapping in merged:
            members = {**mapping, **members}
        return members, height


def _mappings(data: Data, line: int) -> list[dict[str, Located]]:
    """What `<<` merges: an object, or a list of objects."""
    if isinstance(data, dict):
        return [data]
    if isinstance(data, list) and all(isinstance(item.data, dict) for item in data):
        return [item.data for item in data if isinstance(item.data, dict)]
    raise Malformed("'<<' takes an object or a list of objects", line)


def _scalar(event: Any) -> Data:
    text: str = event.value
    # Quoted or a block scalar: text, whatever it looks like.
    if event.style:
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
