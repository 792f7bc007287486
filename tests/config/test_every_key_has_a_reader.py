"""Every key of the table has an effect; there are no exceptions."""

from __future__ import annotations

import ast
import re
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

from scripts.docs.settings_tests_page import settings_tests_page
from tests.config.field_reads import reads
from tests.config.proofs import proofs

from notewell import EmbedderSettings, QmdSettings, Settings
from notewell.config.checks import Key, Unused
from notewell.config.registry import all_keys
from notewell.entries import EntriesSettings

SOURCE = Path(__file__).parents[2] / "src" / "notewell"

USED_BY_CONFIG = {
    "memorySearch.enabled": "memorySearch.enabled",
    "memorySearch.experimental.sessionMemory": "memorySearch.experimental.sessionMemory",
    "memorySearch.query.preset": "memorySearch.query.preset",
    "memorySearch.query.hybrid.textWeight": "textWeight",
    "workspace": "workspace",
    "agents.list[].id": "id",
    "agents.list[].default": "default",
    "memory.backend": "memory.backend",
    "plugins.slots.memory": "plugins.slots.memory",
    "plugins.entries.memory-lancedb.enabled": "plugins.entries.memory-lancedb.enabled",
    "bindings[].agentId": "agentId",
    "bindings[].match.channel": "match.channel",
    "bindings[].match.accountId": "match.accountId",
    "bindings[].match.peer.kind": "match.peer.kind",
    "bindings[].match.peer.id": "match.peer.id",
    "bindings[].match.guildId": "guildId",
    "bindings[].match.teamId": "teamId",
}
"""Keys that are no field of `Settings`, because the configuration itself needs them; each with
the words by which its modules name the key. Bindings become `Configuration.bindings`, by which
`open_memory` finds the agent of a message."""

FOR_PEOPLE = {"bindings[].comment"}


def by_own_path() -> dict[str, Key]:
    """Each key once: what an agent's entry repeats of `agents.defaults` is left out."""
    keys = {path.removeprefix("agents.defaults."): key for path, key in all_keys().items()}
    return {
        path: key
        for path, key in keys.items()
        if not (path.startswith("agents.list[].") and path.removeprefix("agents.list[].") in keys)
    }


def settings_groups() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The class of each group by its path, and the fields of each class with their classes."""
    everything = Settings(
        embedder=EmbedderSettings(), qmd=QmdSettings(), entries=EntriesSettings()
    )
    classes: dict[str, str] = {}
    groups: dict[str, dict[str, str]] = {}
    waiting: list[tuple[str, object]] = [("", everything)]
    for path, group in waiting:
        name = type(group).__name__
        classes[path] = name
        groups[name] = {}
        assert is_dataclass(group)
        for field in fields(group):
            value = getattr(group, field.name)
            is_group = type(value).__name__.endswith("Settings")
            groups[name][field.name] = type(value).__name__ if is_group else ""
            if is_group:
                waiting.append((f"{path}.{field.name}".lstrip("."), value))
    return classes, groups


@cache
def fields_read() -> set[tuple[str, str]]:
    return reads(SOURCE, settings_groups()[1])


def test_every_field_that_a_key_decides_is_read() -> None:
    classes, groups = settings_groups()
    found = fields_read()
    for path, key in by_own_path().items():
        if key.field:
            group, _, name = key.field.rpartition(".")
            assert name in groups[classes[group]], f"{path} names no field: {key.field}"
            assert (classes[group], name) in found, f"nobody reads {key.field}, set by {path}"


def test_every_field_of_a_group_is_read() -> None:
    """Not only those that have a key."""
    _, groups = settings_groups()
    found = fields_read()
    unread = {f"{name}.{field}" for name in groups for field in groups[name]} - {
        f"{name}.{field}" for name, field in found
    }
    assert unread == set()


def test_every_key_decides_a_field_or_is_listed() -> None:
    unmapped = {
        path
        for path, key in by_own_path().items()
        if not key.field and not isinstance(key.check, Unused)
    }
    assert unmapped == {*USED_BY_CONFIG, *FOR_PEOPLE}


def test_the_configuration_names_the_keys_that_it_uses() -> None:
    modules = [
        path
        for path in (SOURCE / "config").glob("*.py")
        if not path.name.startswith("keys_") and path.name != "registry.py"
    ]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in modules]
    texts = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    for path, name in USED_BY_CONFIG.items():
        assert name in texts or any(text.endswith(f".{name}") for text in texts), path


def test_every_key_has_a_test_that_exists() -> None:
    used = {
        path
        for path, key in by_own_path().items()
        if path not in FOR_PEOPLE and not isinstance(key.check, Unused)
    }
    assert set(proofs()) == used
    for path, test in proofs().items():
        file, _, name = test.partition("::")
        text = (SOURCE.parents[1] / file).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), f"{path}: no {test}"


def test_the_page_of_tests_is_not_stale() -> None:
    # `python -m scripts.docs.settings_tests_page > docs/reference/settings-tests.md` writes it.
    page = SOURCE.parents[1] / "docs" / "reference" / "settings-tests.md"
    assert page.read_text(encoding="utf-8") == settings_tests_page()
