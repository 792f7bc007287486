"""A JSON Schema of the settings, for editors: completion, types and one line on each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.config.key import Key
from notewell.config.registry import tree

if TYPE_CHECKING:
    from notewell.config.registry import Tree

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """What a file of ours may say, in draft 2020-12."""
    body = _object(tree())
    body["properties"] = {"$schema": {"type": "string"}, **body["properties"]}
    return {"$schema": DIALECT, "title": "Notewell settings", **body}


def _schema(known: Tree | Key) -> dict[str, Any]:
    if isinstance(known, Key):
        return _leaf(known)
    if "[]" in known:
        return {"type": "array", "items": _schema(known["[]"])}
    return _object(known)


def _object(known: Tree) -> dict[str, Any]:
    named = {name: _schema(below) for name, below in known.items() if name != "*"}
    others: Any = _schema(known["*"]) if "*" in known else False
    return {"type": "object", "properties": named, "additionalProperties": others}


def _leaf(key: Key) -> dict[str, Any]:
    schema = {**key.check.schema(), "description": key.meaning}
    if key.default not in (None, {}, ()):
        schema["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    return schema
