"""All settings by path, the tree that files are checked against, and the JSON Schema for editors.

The table (`keys_search`, `keys_memory`) is the one place that knows the keys. Checking, the
reference page, the JSON Schema, `config show` and `Settings` are all made from it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

from notewell.config.checks import AGENTS, Key
from notewell.config.keys_memory import (
    AGENT_KEYS,
    BINDING_KEYS,
    ENTRY_KEYS,
    GLOBAL_KEYS,
    PROFILE_KEYS,
)
from notewell.config.keys_search import SEARCH_KEYS

Tree: TypeAlias = "dict[str, Tree | Key]"

RENAMED = {
    "memory.search": "agents.defaults.memorySearch",
    "memorySearch": "agents.defaults.memorySearch",
    "agents.entries": "agents.list",
    "extraPaths": "agents.defaults.memorySearch.extraPaths",
}
"""Names that later versions of OpenClaw use, and keys that people write one level too high."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def agent_keys() -> dict[str, Key]:
    """The keys of one agent, by their path below the agent."""
    search = (key._replace(path=f"memorySearch.{key.path}") for key in SEARCH_KEYS)
    return {key.path: key for key in (*AGENT_KEYS, *search)}


def global_keys() -> dict[str, Key]:
    """The keys that are set once for all agents, without those inside lists."""
    return {key.path: key for key in GLOBAL_KEYS if "[]" not in key.path and "*" not in key.path}


@cache
def all_keys() -> dict[str, Key]:
    """Every setting by its full path."""
    keys = {}
    for above in AGENTS:
        for key in (*agent_keys().values(), *PROFILE_KEYS):
            keys[f"{above}.{key.path}"] = key
    for key in ENTRY_KEYS:
        keys[f"agents.list[].{key.path}"] = key
    for key in BINDING_KEYS:
        keys[f"bindings[].{key.path}"] = key
    return keys | {key.path: key for key in GLOBAL_KEYS}


@cache
def tree() -> Tree:
    """The same as a tree: names, `[]` for the entries of a list, `*` for any name."""
    root: Tree = {}
    for path, key in all_keys().items():
        # `scope.rules[].action` becomes scope → rules → [] → action.
        *above, last = path.replace("[]", ".[]").split(".")
        inner = root
        for name in above:
            below = inner.setdefault(name, {})
            assert isinstance(below, dict)  # noqa: S101 - the table names no key inside a key
            inner = below
        inner[last] = key
    return root


# -- JSON Schema ---------------------------------------------------------------------------------


def json_schema() -> dict[str, Any]:
    """The schema of a configuration file (draft 2020-12): completion and types for editors."""
    body = _object(tree())
    # Without this an editor would reject the very line that names the schema.
    body["properties"] = {"$schema": {"type": "string"}, **body["properties"]}
    return {"$schema": DIALECT, "title": "Notewell settings", **body}


def _schema(node: Tree | Key) -> dict[str, Any]:
    if isinstance(node, Key):
        return _leaf(node)
    if "[]" in node:
        return {"type": "array", "items": _schema(node["[]"])}
    return _object(node)


def _object(node: Tree) -> dict[str, Any]:
    named = {name: _schema(below) for name, below in node.items() if name != "*"}
    # False makes editors underline unknown keys, as `config check` does.
    others: Any = _schema(node["*"]) if "*" in node else False
    return {"type": "object", "properties": named, "additionalProperties": others}


def _leaf(key: Key) -> dict[str, Any]:
    schema = {**key.check.schema(), "description": key.meaning}
    if key.default not in (None, {}, ()):
        schema["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    return schema
