"""Every setting there is, and the tree a file is held against.

The table is the one place that knows the keys: checking, the page of settings, the JSON Schema,
`config show` and the resolved values all come from it.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from notewell.config.key import AGENTS, Key
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
"""What later OpenClaw calls things, and what is written one floor too high."""


def agent_keys() -> dict[str, Key]:
    """What can be set for each agent, by its path below the agent."""
    search = (key._replace(path=f"memorySearch.{key.path}") for key in SEARCH_KEYS)
    return {key.path: key for key in (*AGENT_KEYS, *search)}


def global_keys() -> dict[str, Key]:
    """What is set once for all agents, without the entries of lists."""
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
        *above, last = path.replace("[]", ".[]").split(".")
        inner = root
        for name in above:
            below = inner.setdefault(name, {})
            assert isinstance(below, dict)  # noqa: S101 - the table names no key inside a key
            inner = below
        inner[last] = key
    return root
